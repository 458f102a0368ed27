"""The statements of both passes, for every engine that speaks SQL, and what such an engine does for a request.

A release of a table takes three statements: the distinct rows of the original with their numbers (1), the records
rewritten by the plan (2), and statement 1 again on what was written (3). Everything between them, the order of the steps
and all checks are the native part's, as for files. Data (labels, values, the secret) goes into tables of the engine, never
into a statement, because engines keep the texts of statements.

Why the counts are exact: ``row_number`` gives the records of a distinct row the numbers 1 to n, whatever their order, and
each number has its group in the plan. Only which of several equal records goes where depends on the hash.

Columns of statements are numbered (``c0``, ``c1``, ..), so that no name of a column can be that of another.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _native
from ._errors import InputError, UsageError
from ._frames import source
from ._job import ProgressOption, job
from ._policy import Policy
from ._release import Recoding, Report, arguments, search_arguments
from ._results import Check


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    #: Whether its values are texts.
    is_text: bool
    #: Why it cannot be released, and what to do; None if it can.
    fault: str | None = None


class Dialect(ABC):
    """What differs between engines."""

    #: Comparison in which two nulls are equal.
    same: str
    #: A number for each record, in a projection beside the scan.
    record_number: str

    @abstractmethod
    def quoted(self, name: str) -> str:
        """The name of a column in a statement."""

    @abstractmethod
    def digest(self, secret: str, number: str) -> str:
        """Keyed hash of a number, as a text."""

    @abstractmethod
    def numbers(self, first: str, last: str) -> str:
        """A row for each number of a range."""

    @abstractmethod
    def checksum(self, columns: Sequence[str]) -> str:
        """Sum over all records of a hash of their cells."""

    def hint(self, name: str, rows: int) -> str:
        """Advice on the join with a table of the plan of so many rows."""
        return ""


@dataclass(frozen=True)
class Statements:
    """The statements on a table with these columns. The tables in them have the names of ``table``."""

    dialect: Dialect
    columns: Sequence[Column]
    prefix: str

    def table(self, name: str) -> str:
        """Name of the source, the secret, or a table of the plan in statements."""
        return f"{self.prefix}_{name}"

    def _key(self, name: str) -> str:
        """A column as groups and joins see it: an empty text and a null are one value, as they are in a text file."""
        column = next(column for column in self.columns if column.name == name)
        quoted = self.dialect.quoted(name)
        return f"coalesce({quoted}, '')" if column.is_text else quoted

    def count(self, columns: Sequence[str]) -> str:
        """Statement 1: the distinct rows of some columns with their numbers of records."""
        keys = [self._key(name) for name in columns]
        selected = [f"{key} AS c{index}" for index, key in enumerate(keys)]
        selected.append("count(*) AS n")
        return f"SELECT {', '.join(selected)} FROM {self.table('source')} GROUP BY {', '.join(keys)}"

    def sizes(self, sets: Sequence[Sequence[str]]) -> str:
        """For each set of columns, the sizes of its groups and the number of groups of each size."""
        groups = []
        for index, columns in enumerate(sets):
            keys = ", ".join(self._key(name) for name in columns)
            groups.append(f"SELECT {index} AS s, count(*) AS n FROM {self.table('source')} GROUP BY {keys}")
        return f"SELECT s, n, count(*) AS g FROM ({' UNION ALL '.join(groups)}) t GROUP BY s, n"

    def checksum(self, columns: Sequence[str]) -> str:
        """Number of records, and a checksum of copied columns that does not depend on their order."""
        checksum = self.dialect.checksum([self.dialect.quoted(name) for name in columns]) if columns else "0"
        return f"SELECT count(*) AS n, {checksum} AS s FROM {self.table('source')}"

    def first(self, records: int) -> str:
        """The first records."""
        selected = [f"{self.dialect.quoted(column.name)} AS c{index}" for index, column in enumerate(self.columns)]
        return f"SELECT {', '.join(selected)} FROM {self.table('source')} LIMIT {int(records)}"

    def released(self, plan: _native.Plan) -> list[str]:
        """The columns of a release."""
        return [column.name for column in self.columns if column.name not in plan.dropped]

    def copied(self, plan: _native.Plan) -> list[str]:
        """The columns whose cells a release copies."""
        return [name for name in self.released(plan) if name not in plan.rewritten]

    def rewrite(self, plan: _native.Plan, order: str) -> str:
        """Statement 2: the released columns, and the text ``order`` by which the records are to be sorted."""
        dialect, copied = self.dialect, self.copied(plan)
        cells = [f"{dialect.quoted(name)} AS c{index}" for index, name in enumerate(copied)]
        keys = [f"{self._key(name)} AS k{index}" for index, name in enumerate(plan.key)]
        numbered = f"SELECT {', '.join([*cells, *keys])}, {dialect.record_number} AS i FROM {self.table('source')}"
        digest = dialect.digest("s.secret", "t.i")
        hashed = f"SELECT t.*, {digest} AS h FROM ({numbered}) t CROSS JOIN {self.table('secret')} s"
        equal = " AND ".join(f"n.k{index} {dialect.same} r.k{index}" for index in range(len(plan.key)))
        kept = "".join(f"n.c{index}, " for index in range(len(copied)))
        row, first, last = (dialect.quoted(name) for name in ("row", "first", "last"))
        branches = []
        if len(plan.rows) or not len(plan.splits):
            hint = dialect.hint("r", len(plan.rows))
            joined = f"({hashed}) n JOIN {self.table('rows')} r ON {equal}"
            branches.append(f"SELECT {hint}{kept}n.h, r.grp FROM {joined}")
        if len(plan.splits):
            hint = dialect.hint("r", len(plan.splits))
            joined = f"({hashed}) n JOIN {self.table('splits')} r ON {equal}"
            number = f"row_number() OVER (PARTITION BY r.{row} ORDER BY n.h)"
            ranked = f"SELECT {hint}{kept}n.h, r.{row} AS w, {number} AS j FROM {joined}"
            each = f"SELECT {row} AS w, grp, {dialect.numbers(first, last)} AS j FROM {self.table('shares')}"
            branches.append(f"SELECT {kept}n.h, s.grp FROM ({ranked}) n JOIN ({each}) s ON n.w = s.w AND n.j = s.j")
        cell = {name: f"u.c{index}" for index, name in enumerate(copied)}
        cell |= {name: f"g.l{index}" for index, name in enumerate(plan.rewritten)}
        cells = [f"{cell[name]} AS {dialect.quoted(name)}" for name in self.released(plan)]
        cells.append(f"u.h AS {dialect.quoted(order)}")
        hint = dialect.hint("g", len(plan.groups))
        joined = f"({' UNION ALL '.join(branches)}) u JOIN {self.table('groups')} g ON u.grp = g.grp"
        return f"SELECT {hint}{', '.join(cells)} FROM {joined}"


class SqlTable(ABC):
    """A table of an engine that speaks SQL, as the native part calls it."""

    def __init__(self, name: str, dialect: Dialect, columns: Sequence[Column]) -> None:
        #: Name in messages.
        self.name = name
        #: Names of the columns.
        self.columns = [column.name for column in columns]
        self._statements = Statements(dialect, columns, f"moretta_{secrets.token_hex(8)}")
        folded = [column.casefold() for column in self.columns]
        for column in self.columns:
            if folded.count(column.casefold()) > 1:
                raise InputError(
                    f"{name}: two columns have the name `{column}`, as SQL reads upper and lower case: rename one",
                    path=name,
                    column=column,
                )

    def _check(self, columns: Sequence[str]) -> None:
        for column in self._statements.columns:
            if column.fault is not None and column.name in columns:
                raise InputError(f"{self.name}: column `{column.name}` {column.fault}", path=self.name, column=column.name)

    @abstractmethod
    def _fetch(self, statement: str, what: str, counted: Sequence[str]) -> Any:
        """The result of a statement on this table, as a table with the Arrow interface. It has the distinct rows of the
        columns ``counted``, or few records if there are none."""

    @abstractmethod
    def _figures(self, statement: str, what: str) -> list[tuple[Any, ...]]:
        """The rows of a small result."""

    def _tables(self, plan: _native.Plan) -> dict[str, _native.Table]:
        """The tables that statement 2 joins, by their names in it; the secret is not among them."""
        tables = {"rows": plan.rows, "splits": plan.splits, "shares": plan.shares, "groups": plan.groups}
        return {self._statements.table(name): table for name, table in tables.items()}

    @abstractmethod
    def _write(self, plan: _native.Plan, statement: str, order: str) -> SqlTable:
        """Runs statement 2 and returns what was written, which only the data holder can reach."""

    def publish(self) -> None:
        """Makes what was written available under its target."""
        raise UsageError(f"{self.name}: this table was not written by moretta")

    def discard(self) -> None:
        """Removes what was written."""

    def count(self, columns: list[str]) -> _native.Input:
        self._check(columns)
        return source(self._fetch(self._statements.count(columns), "counting the distinct rows", columns), self.name)

    def sizes(self, sets: list[list[str]]) -> list[list[tuple[int, int]]]:
        for columns in sets:
            self._check(columns)
        found: list[list[tuple[int, int]]] = [[] for _ in sets]
        for index, size, groups in self._figures(self._statements.sizes(sets), "counting groups"):
            found[int(index)].append((int(size), int(groups)))
        return found

    def first(self, records: int) -> _native.Input:
        return source(self._fetch(self._statements.first(records), "reading the first records", []), self.name)

    def rewrite(self, plan: _native.Plan) -> SqlTable:
        order = "order"
        while order in (column.casefold() for column in self.columns):
            order += "_"
        written = self._write(plan, self._statements.rewrite(plan, order), order)
        try:
            # The native part compares everything else; copied cells never reach it.
            copied = self._statements.copied(plan)
            if self._checksum(copied) != written._checksum(copied):
                raise InputError(
                    f"{self.name}: verification failed: the copied cells of what was written are not those of the table; "
                    "nothing is published (did another program change the table meanwhile?)",
                    path=self.name,
                )
        except BaseException:
            written.discard()
            raise
        return written

    def _checksum(self, columns: list[str]) -> tuple[Any, ...]:
        return self._figures(self._statements.checksum(columns), "comparing the copied columns")[0]


def anonymize(
    table: SqlTable,
    policy: Policy,
    *,
    seed: int | str | None,
    time_limit: float | str | None,
    effort: str | None,
    at: int | None,
    bound: bool,
    memory: int | str | None,
    threads: int | None,
    progress: ProgressOption,
) -> Report:
    made = _native.anonymize_table(
        job(threads, memory, progress),
        table,
        policy._native,
        arguments(seed=seed, time_limit=time_limit),
        search_arguments(effort=effort, at=at, bound=bound, earlier=(), if_linkable="refuse"),
    )
    report = Report(made.report, table.name)
    report.recoding = Recoding(made.recoding or "")
    return report


def apply(
    table: SqlTable,
    recoding: Recoding,
    *,
    seed: int | str | None,
    memory: int | str | None,
    threads: int | None,
    progress: ProgressOption,
) -> Report:
    options = arguments(seed=seed)
    made = _native.apply_to_table(job(threads, memory, progress), table, recoding.to_json(), options)
    report = Report(made.report, table.name)
    report.recoding = recoding
    return report


def check(
    table: SqlTable, policy: Policy, *, memory: int | str | None, threads: int | None, progress: ProgressOption
) -> Check:
    return Check(_native.check_table(job(threads, memory, progress), table, policy._native))
