"""Releases of tables in DuckDB, made inside the database.

>>> import duckdb, moretta
>>> from moretta import sql
>>> people, policy = moretta.demo(2000)
>>> database = duckdb.connect()
>>> _ = database.register("people", people)
>>> report = sql.anonymize(database, "people", policy.with_(k=5, method="mondrian"), "released", seed=1)
>>> bool(sql.check(database, "released", policy.with_(k=5)))
True

Everything is one transaction: both passes read the same state of the database, and the release appears with the commit,
after it was read back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from . import _native, _sql
from ._errors import InputError, UsageError
from ._job import ProgressOption
from ._release import Recoding, Report, policy_of
from ._results import Check

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["anonymize", "apply", "check"]

T = TypeVar("T")


class _DuckDb(_sql.Dialect):
    same = "IS NOT DISTINCT FROM"
    record_number = "row_number() OVER ()"

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def digest(self, secret: str, number: str) -> str:
        return f"sha256(concat({secret}, ':', {number}))"

    def numbers(self, first: str, last: str) -> str:
        return f"unnest(range({first}, {last} + 1))"

    def checksum(self, columns: Sequence[str]) -> str:
        return f"sum(hash({', '.join(columns)})::HUGEINT)"


class _Table(_sql.SqlTable):
    """A table of a connection. ``source`` is its name as statements have it."""

    def __init__(self, connection: DuckDBPyConnection, source: str, target: str | None = None) -> None:
        self._connection, self._source, self._target = connection, source, target
        name = f"table {source}"
        described = _guarded(
            name, "reading the columns", lambda: connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        )
        zone = _guarded(
            name, "reading the time zone", lambda: connection.execute("SELECT current_setting('TimeZone')").fetchall()
        )
        columns = [_column(str(column[0]), str(column[1]), str(zone[0][0])) for column in described]
        super().__init__(name, _DuckDb(), columns)

    def _query(self, statement: str) -> str:
        return f"WITH {self._statements.table('source')} AS (SELECT * FROM {self._source}) {statement}"

    def _fetch(self, statement: str, what: str, counted: Sequence[str]) -> Any:
        return _guarded(self.name, what, lambda: self._connection.sql(self._query(statement)))

    def _figures(self, statement: str, what: str) -> list[tuple[Any, ...]]:
        return _guarded(self.name, what, lambda: self._connection.execute(self._query(statement)).fetchall())

    def _write(self, plan: _native.Plan, statement: str, order: str) -> _Table:
        target, connection, secret = self._target, self._connection, self._statements.table("secret")
        if target is None:
            raise UsageError(f"{self.name}: there is no target")
        quoted = self._statements.dialect.quoted(order)
        tables = self._tables(plan)

        def write() -> None:
            connection.execute(f"CREATE TEMP TABLE {secret} (secret VARCHAR)")
            connection.execute(f"INSERT INTO {secret} VALUES (?)", [plan.secret])
            for name, table in tables.items():
                connection.register(name, table)
            query = f"SELECT * EXCLUDE ({quoted}) FROM ({self._query(statement)}) ORDER BY {quoted}"
            connection.execute(f"CREATE TABLE {target} AS {query}")
            connection.execute(f"DROP TABLE {secret}")

        try:
            _guarded(self.name, f"writing {target}", write)
        finally:
            for name in tables:
                connection.unregister(name)
        return _Released(connection, target)


class _Released(_Table):
    def publish(self) -> None:
        _guarded(self.name, "committing", self._connection.commit)


def _column(name: str, kind: str, zone: str) -> _sql.Column:
    fault = None
    if kind == "TIMESTAMP WITH TIME ZONE" and zone != "UTC":
        fault = f"depends on the time zone {zone} of the connection: SET TimeZone = 'UTC', or cast it to TIMESTAMP"
    return _sql.Column(name, kind == "VARCHAR", fault)


def _guarded(name: str, what: str, work: Callable[[], T]) -> T:
    """Runs a statement. The text of most errors is not shown: it may have values of any record."""
    import duckdb

    problem: UsageError | InputError
    try:
        return work()
    except duckdb.ConnectionException:
        problem = UsageError(f"{name}: the connection is closed", path=name)
    except (duckdb.CatalogException, duckdb.BinderException, duckdb.ParserException) as error:
        # They name tables and columns only.
        problem = UsageError(f"{name}: DuckDB failed while {what}: {str(error).splitlines()[0]}", path=name)
    except duckdb.Error as error:
        kind = type(error).__name__
        problem = InputError(f"{name}: DuckDB failed while {what} ({kind}); query the table to see why", path=name)
    # Outside of the handler, so that it is no context of the exception.
    raise problem


def _in_transaction(connection: DuckDBPyConnection, name: str, work: Callable[[], T], target: str | None = None) -> T:
    if target is not None:
        # In a transaction of its own, which fails unless the target exists.
        with _Transaction(connection, name):
            exists = _exists(connection, target)
        if exists:
            raise UsageError(f"table {target} exists already; a release is a new table", path=target)
    with _Transaction(connection, name):
        return work()


class _Transaction:
    """A transaction that is rolled back unless it was committed."""

    def __init__(self, connection: DuckDBPyConnection, name: str) -> None:
        self._connection, self._name = connection, f"table {name}"

    def __enter__(self) -> None:
        def number() -> Any:
            return self._connection.execute("SELECT txid_current()").fetchall()

        # Without a transaction, each statement is one of its own. BEGIN would make DuckDB abort one that is open.
        if _guarded(self._name, "looking at its transaction", lambda: number() == number()):
            raise UsageError(f"{self._name}: the connection has an open transaction; commit it first", path=self._name)
        _guarded(self._name, "starting a transaction", self._connection.begin)

    def __exit__(self, *_: object) -> None:
        import duckdb

        try:
            self._connection.rollback()
        except duckdb.Error:
            # It was committed.
            pass


def _exists(connection: DuckDBPyConnection, name: str) -> bool:
    import duckdb

    try:
        connection.execute(f"DESCRIBE SELECT * FROM {name}")
    except duckdb.Error:
        return False
    return True


def anonymize(
    connection: DuckDBPyConnection,
    source: str,
    policy: Any,
    target: str,
    *,
    seed: int | str | None = None,
    effort: str | None = None,
    at: int | None = None,
    bound: bool = False,
    time_limit: float | str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Report:
    """Makes a release of a table or view as a new table ``target``. Returns the report, which has the recoding.

    ``source`` and ``target`` are names as statements have them (``"people"``, ``'clinic."my table"'``). If anything
    fails, the transaction is rolled back.
    """
    value = policy_of(policy)

    def work() -> Report:
        return _sql.anonymize(
            _Table(connection, source, target),
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

    return _in_transaction(connection, source, work, target)


def apply(
    connection: DuckDBPyConnection,
    source: str,
    recoding: Recoding,
    target: str,
    *,
    seed: int | str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Report:
    """Makes a release of new records with a saved recoding."""

    def work() -> Report:
        table = _Table(connection, source, target)
        return _sql.apply(table, recoding, seed=seed, memory=memory, threads=threads, progress=progress)

    return _in_transaction(connection, source, work, target)


def check(
    connection: DuckDBPyConnection,
    released: str,
    policy: Any,
    *,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Check:
    """Checks a table or view against every model of a policy."""
    value = policy_of(policy)

    def work() -> Check:
        return _sql.check(_Table(connection, released), value, memory=memory, threads=threads, progress=progress)

    return _in_transaction(connection, released, work)
