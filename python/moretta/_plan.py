"""Plans for engines that are not built in: counts in, tables to join with out, and a check of what was written.

The request of a plan runs on a thread of its own, as for every other engine, and waits at its second pass until the counts
of what was written are there. So order and checks are those of all releases.
"""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import InputError, UsageError
from ._frames import source
from ._hierarchy import Hierarchy
from ._job import ProgressOption, job
from ._release import Recoding, Report, arguments, policy_of, search_arguments

if TYPE_CHECKING:
    import pyarrow


class _Abandoned(Exception):
    """Ends a request whose plan is not needed any more."""


class _Counts:
    """A table of which the native part sees counts only."""

    def __init__(self, name: str, counts: Any, columns: list[str] | None) -> None:
        self.name = name
        self._counts, self._number = _arrow(name, counts)
        counted = [column for column in self._counts.column_names if column != self._number]
        self.columns = counted if columns is None else list(columns)

    def _grouped(self, columns: list[str]) -> pyarrow.Table:
        for column in columns:
            if column not in self._counts.column_names:
                raise InputError(
                    f"{self.name}: column `{column}` is not counted: group by all columns that are released, and by the "
                    "person",
                    path=self.name,
                    column=column,
                )
        grouped = self._counts.group_by(columns).aggregate([(self._number, "sum")])
        return grouped.select([*columns, f"{self._number}_sum"])

    def count(self, columns: list[str]) -> _native.Input:
        return source(self._grouped(columns), self.name)

    def sizes(self, sets: list[list[str]]) -> list[list[tuple[int, int]]]:
        return [[(int(size), 1) for size in self._grouped(columns).column(-1).to_pylist()] for columns in sets]

    def first(self, records: int) -> _native.Input:
        import pyarrow

        rows = self._counts.slice(0, records)
        empty = pyarrow.nulls(rows.num_rows, pyarrow.string())
        cells = [rows.column(name) if name in rows.column_names else empty for name in self.columns]
        return source(pyarrow.Table.from_arrays(cells, names=self.columns), self.name)

    def publish(self) -> None:
        """What was written is published by the caller, after ``Plan.check``."""

    def discard(self) -> None:
        """What was written is removed by the caller."""


class _Original(_Counts):
    def __init__(self, counts: Any, columns: list[str], events: _Events) -> None:
        super().__init__("the counts", counts, columns)
        self._events = events

    def rewrite(self, plan: _native.Plan) -> _Counts:
        self._events.put(plan)
        written = self._events.answers.get()
        if written is None:
            raise _Abandoned
        return _Counts("the counts of what was written", written, None)


class _Events:
    """What the thread of a request and its caller tell each other."""

    def __init__(self) -> None:
        self._results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def put(self, result: Any) -> None:
        self._results.put(result)

    def next(self) -> Any:
        result = self._results.get()
        if isinstance(result, BaseException):
            raise result
        return result


class Plan:
    """The second pass of a release as tables; any library with the Arrow interface takes them.

    A record whose key (``key``, in the columns ``k0``, ``k1``, ..) is in ``rows`` goes to the group ``grp``. The records of
    a key in ``splits`` are numbered from 1 in a random order; record number ``first`` to ``last`` of ``row`` goes to
    ``grp`` of ``shares``. The group has the labels ``l0``, ``l1``, .. of the columns ``rewritten`` in ``groups``. Columns
    ``dropped`` are not released, the others are copied.
    """

    def __init__(self, native: _native.Plan, events: _Events) -> None:
        self.key = native.key
        self.rewritten = native.rewritten
        self.dropped = native.dropped
        self.rows = native.rows
        self.splits = native.splits
        self.shares = native.shares
        self.groups = native.groups
        #: A key for the hash that orders records; the same for the same seed and release.
        self.secret = native.secret
        self._events = events
        self._checked = False
        # The thread waits for counts or for nothing.
        self._abandon = weakref.finalize(self, events.answers.put, None)

    def check(self, counts: Any) -> Report:
        """Compares the counts of what was written with what was verified, and checks every model again.

        ``counts`` has all released columns, in their order, and the number of records. Publish what was written only if
        this returns; it raises Unsatisfiable otherwise. The report has the recoding. A plan is checked once.
        """
        if self._checked:
            raise UsageError("this plan was checked before; make another one")
        self._checked = True
        self._events.answers.put(counts)
        report: Report = self._events.next()
        return report

    def __repr__(self) -> str:
        split = f", {len(self.splits)} split" if len(self.splits) else ""
        return f"<Plan {len(self.rows) + len(self.splits)} rows{split}, {len(self.groups)} groups>"


def plan(
    counts: Any,
    policy: Any,
    *,
    columns: list[str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    seed: int | str | None = None,
    effort: str | None = None,
    at: int | None = None,
    bound: bool = False,
    time_limit: float | str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Plan:
    """Plans a release of a table of which only the counts are here: for engines that join tables.

    ``counts`` is the result of a GROUP BY of the table by all its columns but identifiers: these columns, and last the
    number of records. A null and an empty text are one value: group by ``coalesce(column, '')``. ``columns`` are all
    columns of the table, in their order; by default those of the policy. Needs pyarrow.
    """
    value = policy_of(policy, hierarchies)
    if columns is None:
        columns = list(value.columns)
    events = _Events()
    table = _Original(counts, columns, events)
    options = arguments(seed=seed, time_limit=time_limit)
    search = search_arguments(effort=effort, at=at, bound=bound, earlier=(), if_linkable="refuse")
    request = job(threads, memory, progress)

    def run() -> None:
        try:
            made = _native.anonymize_table(request, table, value._native, options, search)
            report = Report(made.report, "the release")
            report.recoding = Recoding(made.recoding or "")
            events.put(report)
        except BaseException as error:
            events.put(error)

    # A daemon: a plan that is never checked must not keep the program from ending.
    threading.Thread(target=run, name="moretta plan", daemon=True).start()
    return Plan(events.next(), events)


def _arrow(name: str, counts: Any) -> tuple[pyarrow.Table, str]:
    try:
        import pyarrow
    except ImportError:
        raise UsageError("plans need pyarrow; install it") from None
    problem = None
    try:
        table = pyarrow.table(counts)
    except Exception as error:
        problem = f"{type(counts).__name__} cannot be converted to Arrow ({type(error).__name__})"
    if problem is None and (not table.num_columns or not pyarrow.types.is_integer(table.schema.types[-1])):
        problem = "the last column should be the number of records"
    if problem is None and len(set(table.column_names)) < table.num_columns:
        problem = "two columns have the same name"
    if problem is not None:
        raise InputError(f"{name}: {problem}", path=name)
    return table, table.column_names[-1]
