"""Releases of Apache Spark DataFrames, made on the cluster.

    from moretta import spark
    report = spark.anonymize(session.read.parquet("lake/people"), "policy.toml", "lake/released")
    report.save("report.html")

Statements are plain SQL without functions in Python, so that workers need nothing installed. The driver gets the distinct
rows with their numbers, searches, and verifies. Workers rewrite the records into a folder that only its owner may read; the
files are read back, compared and checked, and the folder gets its name by a rename. If anything fails, the target is not
touched.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from . import _native, _sql
from ._errors import InputError, MemoryLimit, UsageError
from ._job import ProgressOption
from ._release import PathLike, Recoding, Report, policy_of
from ._results import Check

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["anonymize", "apply", "check"]

T = TypeVar("T")

#: Formats with types, nulls and all texts: what is read back is what was written.
_FORMATS = ("parquet", "orc")

#: File systems that rename a folder at once.
_RENAMING = ("file", "hdfs", "viewfs", "webhdfs", "ofs", "abfs", "abfss")

#: Rows of a result that are collected at once: the limit of a job's results is 1 GB by default.
_ROWS_AT_ONCE = 2_000_000

#: Rows of a table of the plan that every worker may hold: about 100 MB. Not tuned.
_BROADCAST_ROWS = 500_000


class _Spark(_sql.Dialect):
    same = "<=>"
    record_number = "monotonically_increasing_id()"

    def quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def digest(self, secret: str, number: str) -> str:
        return f"sha2(concat_ws(':', {secret}, CAST({number} AS STRING)), 256)"

    def numbers(self, first: str, last: str) -> str:
        return f"explode(sequence({first}, {last}))"

    def checksum(self, columns: Sequence[str]) -> str:
        # The hash passes over nulls, so that it needs to know where they are.
        cells = ", ".join(f"{column} IS NULL, {column}" for column in columns)
        return f"sum(CAST(xxhash64({cells}) AS DECIMAL(38, 0)))"

    def hint(self, name: str, rows: int) -> str:
        return f"/*+ {'BROADCAST' if rows <= _BROADCAST_ROWS else 'SHUFFLE_HASH'}({name}) */ "


class _Options:
    """How a release is written."""

    #: Where it is written.
    files: _Files

    def __init__(self, format: str, partitions: int | None, publish: str, max_distinct: int) -> None:
        self.format, self.partitions, self.max_distinct = format, partitions, max_distinct
        if format not in _FORMATS:
            raise UsageError(f'format must be "parquet" or "orc", not {format!r}: other files have no types or no nulls')
        if publish != "rename":
            raise UsageError(f'publish must be "rename", not {publish!r}')
        if partitions is not None and partitions < 1:
            raise UsageError("partitions must be at least 1")


class _Files:
    """The file system of a target."""

    def __init__(self, session: SparkSession, target: str) -> None:
        self.target = target
        self._hadoop, self._gateway = session._jvm.org.apache.hadoop.fs, session.sparkContext._gateway
        self._configuration = session._jsparkSession.sessionState().newHadoopConf()
        self.path = self._hadoop.Path(target)
        self.system = self._run("opening", lambda: self.path.getFileSystem(self._configuration))
        scheme = str(self.system.getUri().getScheme())
        if scheme not in _RENAMING:
            raise UsageError(
                f"{target}: {scheme}: has no rename, so a release could be seen before it is complete; write to a file "
                "system that has one",
                path=target,
            )
        self.path = self.path.makeQualified(self.system.getUri(), self.system.getWorkingDirectory())
        self.check_free()

    def _run(self, what: str, work: Callable[[], T]) -> T:
        return _guarded(self.target, f"{what} the target", work, UsageError)

    def check_free(self) -> None:
        if self._run("looking for", lambda: self.system.exists(self.path)):
            raise UsageError(f"{self.target} exists already; a release is a new folder", path=self.target)
        if self.path.getParent() is None:
            raise UsageError(f"{self.target} is no folder that can be written", path=self.target)

    def stage(self) -> Any:
        """Makes a folder beside the target that only its owner may read."""
        staging = self._hadoop.Path(self.path.getParent(), f".moretta-{secrets.token_hex(8)}")
        owner_only = self._hadoop.permission.FsPermission("700")

        def make() -> None:
            self.system.mkdirs(staging, owner_only)
            # The permission of mkdirs is subject to a mask.
            self.system.setPermission(staging, owner_only)

        self._run("making a folder beside", make)
        return staging

    def publish(self, staging: Any) -> None:
        self.check_free()
        context = self._hadoop.FileContext.getFileContext(self.path.toUri(), self._configuration)
        rename = getattr(self._hadoop, "Options$Rename")
        options = self._gateway.new_array(rename, 0)
        # Unlike FileSystem.rename, it fails if the target exists.
        self._run("renaming to", lambda: context.rename(self._hadoop.Path(staging, "data"), self.path, options))
        self.discard(staging)

    def discard(self, staging: Any) -> None:
        try:
            self.system.delete(staging, True)
        except Exception:
            pass


class _Table(_sql.SqlTable):
    """A DataFrame that gives the same records each time."""

    def __init__(self, frame: DataFrame, name: str, options: _Options | None, max_distinct: int) -> None:
        self._session = frame.sparkSession
        zone = _guarded(name, "reading the time zone", lambda: self._session.conf.get("spark.sql.session.timeZone"))
        columns = [_column(field, str(zone)) for field in _guarded(name, "analyzing it", lambda: frame.schema).fields]
        super().__init__(name, _Spark(), columns)
        self._frame, self._options, self._max_distinct = frame, options, max_distinct

    def _sql(self, statement: str, **tables: DataFrame) -> DataFrame:
        """Analyzes a statement with temporary views, which are gone afterwards."""
        views = {self._statements.table("source"): self._frame, **tables}
        try:
            for name, frame in views.items():
                frame.createOrReplaceTempView(name)
            return self._session.sql(statement)
        finally:
            for name in views:
                self._session.catalog.dropTempView(name)

    def _fetch(self, statement: str, what: str, counted: Sequence[str]) -> Any:
        def fetch() -> Any:
            result = self._sql(statement)
            if not counted:
                return result.toArrow()
            # It may be far smaller than the table, and is read twice.
            result.persist()
            try:
                return self._collected(result, counted)
            finally:
                result.unpersist()

        return _guarded(self.name, what, fetch)

    def _collected(self, result: DataFrame, counted: Sequence[str]) -> Any:
        import pyarrow
        from pyspark.sql import functions

        rows = result.count()
        if rows > self._max_distinct:
            numbers = [functions.approx_count_distinct(f"c{index}") for index in range(len(counted))]
            distinct = zip(result.agg(*numbers).collect()[0], counted)
            listed = ", ".join(f"`{name}` about {number:,}" for number, name in sorted(distinct, reverse=True))
            raise MemoryLimit(
                f"{self.name}: {rows:,} distinct rows are more than max_distinct, {self._max_distinct:,}; distinct values: "
                f"{listed}",
                path=self.name,
            )
        parts = -(-rows // _ROWS_AT_ONCE)
        if parts <= 1:
            return result.toArrow()
        part = functions.pmod(functions.xxhash64(*result.columns), functions.lit(parts))
        return pyarrow.concat_tables(result.where(part == number).toArrow() for number in range(parts))

    def _figures(self, statement: str, what: str) -> list[tuple[Any, ...]]:
        return _guarded(self.name, what, lambda: [tuple(row) for row in self._sql(statement).collect()])

    def _write(self, plan: _native.Plan, statement: str, order: str) -> _Table:
        import pyarrow
        from pyspark.sql import functions

        options, session, table = self._options, self._session, self._statements.table
        if options is None:
            raise UsageError(f"{self.name}: there is no target")
        files = options.files

        def frame(table: Any) -> DataFrame:
            return session.createDataFrame(pyarrow.table(table))

        def write(folder: str) -> None:
            tables = {name: frame(found) for name, found in self._tables(plan).items()}
            tables[table("secret")] = frame({"secret": [plan.secret]})
            released = self._sql(statement, **tables)
            numbers = () if options.partitions is None else (options.partitions,)
            quoted = self._statements.dialect.quoted
            shuffled = released.repartition(*numbers, quoted(order)).sortWithinPartitions(quoted(order))
            # Metadata of a column may name values.
            cells = [functions.col(quoted(name)).alias(name, metadata={}) for name in self._statements.released(plan)]
            shuffled.select(*cells).write.format(options.format).save(folder)

        staging = files.stage()
        try:
            folder = str(files._hadoop.Path(staging, "data").toString())
            _guarded(self.name, "writing the release", lambda: write(folder))
            read = _guarded(self.name, "reading the release", lambda: session.read.format(options.format).load(folder))
            return _Released(read, options, staging, self._max_distinct)
        except BaseException:
            files.discard(staging)
            raise


class _Released(_Table):
    """Written files, read by a new reader."""

    def __init__(self, frame: DataFrame, options: _Options, staging: Any, max_distinct: int) -> None:
        super().__init__(frame, options.files.target, None, max_distinct)
        self._files, self._staging = options.files, staging

    def publish(self) -> None:
        self._files.publish(self._staging)

    def discard(self) -> None:
        self._files.discard(self._staging)


def _column(field: Any, zone: str) -> _sql.Column:
    kind = field.dataType.typeName()
    fault = None
    if kind in ("array", "map", "struct", "variant", "binary") or kind.startswith(("interval", "udt")):
        fault = f"is of type {kind}, which has no plain text form: drop it, or convert it to text or a number first"
    elif kind == "timestamp" and zone != "UTC":
        fault = (
            f"depends on the time zone {zone} of the session: set spark.sql.session.timeZone to UTC, or cast it to "
            "timestamp_ntz"
        )
    elif kind in ("string", "char", "varchar"):
        collation = getattr(field.dataType, "collation", "UTF8_BINARY")
        if collation != "UTF8_BINARY":
            fault = f"has the collation {collation}, in which different texts are equal: cast it to STRING"
    return _sql.Column(field.name, kind in ("string", "char", "varchar"), fault)


def _guarded(
    name: str, what: str, work: Callable[[], T], problem: type[UsageError] | type[InputError] = InputError
) -> T:
    """Runs a statement. The text of an error is not shown: it may have values of any record."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return work()
    except PySparkException as error:
        kind = error.getCondition() or type(error).__name__
    except Py4JError as error:
        java = getattr(error, "java_exception", None)
        kind = type(error).__name__ if java is None else str(java.getClass().getSimpleName())
    # Outside of the handler, so that the error is no context of the exception.
    raise problem(f"{name}: Spark failed while {what} ({kind}); its log has the reason", path=name)


def _check_session(session: SparkSession, name: str) -> None:
    if not hasattr(session, "_jsparkSession"):
        raise UsageError(
            f"{name}: a session of Spark Connect cannot rename files; run in a session on the driver itself", path=name
        )
    if _guarded(name, "looking at its session", lambda: session._jsc.sc().isStopped()):
        raise UsageError(f"{name}: the Spark session is closed", path=name)


def _stable(frame: DataFrame, name: str) -> DataFrame:
    """A DataFrame whose records stay the same: files as they are, anything else as a copy on the workers' disks.

    Statement 1 and 2 must see the same records, and a task that is repeated must number them as before. A scan of files
    does; a join or a query of a database need not.
    """
    plan = _guarded(name, "analyzing it", lambda: frame._jdf.queryExecution().optimizedPlan())
    nodes, waiting = set(), [plan]
    while waiting:
        node = waiting.pop()
        kind = str(node.getClass().getSimpleName())
        # A relation may also be a query of a database.
        nodes.add(str(node.relation().getClass().getSimpleName()) if kind == "LogicalRelation" else kind)
        children = node.children()
        waiting.extend(children.apply(index) for index in range(children.size()))
    if nodes <= {"HadoopFsRelation", "Project", "Filter", "Union"}:
        return frame
    return _guarded(name, "copying the records to the workers' disks", lambda: frame.localCheckpoint(eager=True))


def _table(df: DataFrame, target: PathLike, options: _Options) -> _Table:
    """The table of a request, after the checks that need no statement."""
    name = "the DataFrame"
    _check_session(df.sparkSession, name)
    options.files = _Files(df.sparkSession, os.fspath(target))
    return _Table(_stable(df, name), name, options, options.max_distinct)


def anonymize(
    df: DataFrame,
    policy: Any,
    target: PathLike,
    *,
    format: str = "parquet",
    seed: int | str | None = None,
    partitions: int | None = None,
    publish: str = "rename",
    max_distinct: int = 20_000_000,
    effort: str | None = None,
    at: int | None = None,
    bound: bool = False,
    time_limit: float | str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Report:
    """Makes a release of a DataFrame as a new folder ``target``. Returns the report, which has the recoding.

    ``partitions`` is the number of files (by default Spark decides). More than ``max_distinct`` distinct rows of the
    columns that the policy names as quasi-identifiers, sensitive or class are refused: the driver needs about 1 kB for
    each. ``memory`` and ``threads`` are those of the driver.
    """
    value = policy_of(policy)
    return _sql.anonymize(
        _table(df, target, _Options(format, partitions, publish, max_distinct)),
        value,
        seed=seed,
        time_limit=time_limit,
        effort=effort,
        at=at,
        bound=bound,
        memory=memory,
        threads=threads,
        progress=progress,
    )


def apply(
    df: DataFrame,
    recoding: Recoding,
    target: PathLike,
    *,
    format: str = "parquet",
    seed: int | str | None = None,
    partitions: int | None = None,
    publish: str = "rename",
    max_distinct: int = 20_000_000,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Report:
    """Makes a release of new records with a saved recoding, as ``anonymize`` does."""
    table = _table(df, target, _Options(format, partitions, publish, max_distinct))
    return _sql.apply(table, recoding, seed=seed, memory=memory, threads=threads, progress=progress)


def check(
    data: DataFrame | PathLike,
    policy: Any,
    *,
    format: str = "parquet",
    max_distinct: int = 20_000_000,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Check:
    """Checks a DataFrame, or the folder at a path, against every model of a policy. A path needs an active session."""
    value = policy_of(policy)
    name = "the DataFrame"
    if isinstance(data, (str, os.PathLike)):
        from pyspark.sql import SparkSession

        name, session = os.fspath(data), SparkSession.getActiveSession()
        if session is None:
            raise UsageError("there is no Spark session to read the path; give a DataFrame", path=name)
        data = _guarded(name, "reading it", lambda: session.read.format(format).load(name))
    table = _Table(data, name, None, max_distinct)
    return _sql.check(table, value, memory=memory, threads=threads, progress=progress)
