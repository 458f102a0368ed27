"""Requests that return figures."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _native
from ._errors import Unsatisfiable, UsageError
from ._frames import source
from ._html import picture
from ._html import table as html_table
from ._job import ProgressOption, job, seconds
from ._policy import Policy, write_text
from ._release import PathLike, policy_of


class Figures:
    """A result as plain data: `to_dict` has what `--json` of the command line prints."""

    _title = "Figures"

    def __init__(self, text: str) -> None:
        self._text = text
        self._dict: Any = json.loads(text)

    def to_dict(self) -> dict[str, Any]:
        """The result as a dictionary."""
        found: dict[str, Any] = self._dict
        return found

    def to_json(self) -> str:
        """The result as JSON."""
        return self._text

    def __getitem__(self, name: str) -> Any:
        return self._dict[name]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(self._dict)}>"

    def _repr_html_(self) -> str:
        plain = [[name, value] for name, value in self._dict.items() if not isinstance(value, (dict, list))]
        return html_table(self._title, ["", ""], plain)


class Check(Figures):
    """Verdicts on a release. It is true if the release satisfies the policy."""

    _title = "Check"

    def __bool__(self) -> bool:
        return bool(self["holds"])

    @property
    def models(self) -> list[dict[str, Any]]:
        """The verdict on each privacy model."""
        models: list[dict[str, Any]] = self["privacy"]["models"]
        return models

    @property
    def smallest_group(self) -> int:
        """Number of records in the smallest group."""
        return int(self["privacy"]["smallest_group"])

    def raise_for_failure(self) -> None:
        """Raises Unsatisfiable unless the release satisfies the policy."""
        if not self:
            broken = [f"{model['model']}: {model['worst']}" for model in self.models if not model["holds"]]
            broken += [f"column `{name}` must not be released" for name in self["identifiers_present"]]
            broken = broken or ["kept columns single out records"]
            raise Unsatisfiable("the release does not satisfy the policy: " + "; ".join(broken))

    def __repr__(self) -> str:
        return f"<Check {'holds' if self else 'does not hold'}, smallest group {self.smallest_group}>"

    def _repr_html_(self) -> str:
        verdict = "holds" if self else "does not hold"
        rows = [[model["model"], "holds" if model["holds"] else "does not hold", model["worst"]] for model in self.models]
        return html_table(f"The policy {verdict}", ["guarantee", "verdict", "worst group"], rows)


class Measures(Figures):
    """Information loss of a release, by the names of `moretta measures`."""

    _title = "Information loss"


class Bound(Figures):
    """A proven lower bound on the loss of any release that satisfies a policy."""

    _title = "Lower bound"


class Linkage(Figures):
    """Figures on what several releases of one table disclose together. It is true if they satisfy the policy together."""

    _title = "Several releases together"

    def __bool__(self) -> bool:
        return bool(self["holds"])


class Evaluation(Figures):
    """Errors of a classifier that was trained on a release."""

    _title = "Classifier"

    @property
    def errors(self) -> dict[str, Any] | None:
        """Mean errors; ``None`` if no column has the role class."""
        errors: dict[str, Any] | None = self["errors"]
        return errors

    def _repr_html_(self) -> str:
        return html_table(self._title, ["error", ""], list((self.errors or {}).items()))


class Documented(Figures):
    """A result that can also be saved as documents."""

    _forms: tuple[str, ...] = ("json",)

    def __init__(self, native: _native.Document, name: str) -> None:
        super().__init__(native.render("json", name))
        self._native = native
        self._name = name

    def _render(self, form: str) -> str:
        return self._native.render(form, self._name)

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Writes the result to a file; its extension says in which form."""
        form = Path(path).suffix.lower().lstrip(".")
        if form not in self._forms:
            known = ", ".join(f".{known}" for known in self._forms)
            raise UsageError(f"{os.fspath(path)}: this result must be named {known}", path=os.fspath(path))
        write_text(path, self._render(form), overwrite=overwrite)


class Frontier(Documented):
    """The trade-off between privacy and loss: every step of a generalization path."""

    _title = "Trade-off"
    _forms = ("json", "csv", "svg", "html")

    def to_csv(self) -> str:
        """The steps as CSV."""
        return self._render("csv")

    def to_html(self) -> str:
        """A page with the curve."""
        return self._render("html")

    def to_svg(self) -> str:
        """The curve."""
        return self._render("svg")

    def _repr_html_(self) -> str:
        return picture(self.to_svg())


class Comparison(Documented):
    """Methods side by side, for several k."""

    _title = "Comparison"
    _forms = ("json", "csv", "svg", "html")

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each method and k."""
        rows: list[dict[str, Any]] = self["rows"]
        return rows

    def to_csv(self) -> str:
        """The rows as CSV."""
        return self._render("csv")

    def to_html(self) -> str:
        """A page with tables and curves."""
        return self._render("html")

    def to_svg(self) -> str:
        """The information loss of each method by k."""
        return self._render("svg")

    def _repr_html_(self) -> str:
        rows = [
            [
                row["method"],
                row.get("k"),
                row.get("measures", {}).get("gcp"),
                row.get("smallest_group"),
                row.get("suppressed_rows"),
                row.get("seconds"),
                row.get("unsupported") or "",
            ]
            for row in self.rows
        ]
        header = ["method", "k", "loss (gcp)", "smallest group", "suppressed", "seconds", "why not"]
        # Without k, under templates only, there is no curve.
        curve = picture(self.to_svg()) if any(row.get("k") for row in self.rows) else ""
        return html_table(self._title, header, rows) + curve


class Inferences(Documented):
    """Sensitive values that an attacker could infer. The list is as confidential as the data."""

    _title = "Inferences"
    _forms = ("json", "csv")

    def to_csv(self) -> str:
        """The list as CSV; it has values of the data."""
        return self._render("csv")

    def _repr_html_(self) -> str:
        # The list itself has values of records.
        plain = [[name, value] for name, value in self.to_dict().items() if isinstance(value, (int, float))]
        return html_table(self._title, ["", ""], plain)


class Queries(Documented):
    """Answers to COUNT and SUM queries of a release, beside those of its original."""

    _title = "Queries"
    _forms = ("json", "csv", "svg")

    def to_csv(self) -> str:
        """The answers as CSV."""
        return self._render("csv")

    def to_svg(self) -> str:
        """A chart of the errors."""
        return self._render("svg")

    def _repr_html_(self) -> str:
        return picture(self.to_svg())


class Risks(Documented):
    """The columns that single people out."""

    _title = "Risks"
    _forms = ("json", "html")

    def to_html(self) -> str:
        """A page with all figures."""
        return self._render("html")


def check(
    released: Any,
    policy: Any,
    *,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Check:
    """Checks whether a table or file satisfies a policy. It is read alone, as a recipient would."""
    value = policy_of(policy)
    return Check(_native.check(job(threads, memory, progress), source(released, "the release"), value._native))


def measure(
    before: Any,
    after: Any,
    policy: Any,
    *,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Measures:
    """Measures the information loss of a release, from the original and the release."""
    value = policy_of(policy)
    options = job(threads, memory, progress)
    inputs = source(before, "the original"), source(after, "the release")
    return Measures(_native.measure(options, *inputs, value._native))


def queries(
    before: Any,
    after: Any,
    policy: Any,
    *,
    queries: PathLike | None = None,
    count: int = 1000,
    columns: int | None = None,
    sum: str | None = None,
    seed: int = 0,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Queries:
    """Compares COUNT and SUM answers of a release with the original: random queries, or those of a file."""
    value = policy_of(policy)
    path = None if queries is None else os.fspath(queries)
    options = {"queries": path, "count": count, "columns": columns, "sum": sum, "seed": seed}
    inputs = source(before, "the original"), source(after, "the release")
    return Queries(_native.queries(job(threads, memory, progress), *inputs, value._native, options), "the release")


def inferences(
    data: Any,
    policy: Any,
    above: float = 0.5,
    *,
    listed: int | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Inferences:
    """Lists the sensitive values that an attacker could infer from a table or a release, with confidence."""
    value = policy_of(policy)
    options = job(threads, memory, progress)
    found = _native.inferences(options, source(data, "the table"), value._native, above, listed)
    return Inferences(found, "the table")


def frontier(
    data: Any,
    policy: Any,
    *,
    seed: int = 0,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Frontier:
    """Follows a generalization path to its end and measures privacy and loss at every step."""
    value = policy_of(policy)
    found = _native.frontier(job(threads, memory, progress), source(data, "the table"), value._native, seed)
    return Frontier(found, "the table")


def risks(
    data: Any,
    *,
    columns: Iterable[str] = (),
    most: int = 3,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Risks:
    """Counts the records that columns, pairs and small sets of columns single out, before there is a policy."""
    options = job(threads, memory, progress)
    return Risks(_native.risks(options, source(data, "the table"), list(columns), most), "the table")


def linkage(
    releases: Iterable[Any],
    policy: Any,
    *,
    original: Any = None,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Linkage:
    """Counts what an attacker learns who holds several releases of one table."""
    value = policy_of(policy)
    inputs = [source(release, f"release {number}") for number, release in enumerate(releases, 1)]
    before = None if original is None else source(original, "the original")
    return Linkage(_native.linkage(job(threads, memory, progress), inputs, value._native, before))


def bound(
    data: Any,
    policy: Any,
    *,
    released: Any = None,
    time_limit: float | str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Bound:
    """Proves a lower bound on the information loss of any release that satisfies a policy."""
    value = policy_of(policy)
    after = None if released is None else source(released, "the release")
    options = job(threads, memory, progress)
    return Bound(_native.bound(options, source(data, "the table"), value._native, after, seconds(time_limit)))


def evaluate(
    data: Any,
    policy: Any,
    *,
    test: Any = None,
    folds: int | None = None,
    hold_out: float | None = None,
    seed: int | None = 0,
    time_limit: float | str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Evaluation:
    """Trains a classifier on a release and tests it on held-out records. By default 5 folds."""
    value = policy_of(policy)
    tests = _tests(test, folds, hold_out, time_limit)
    options = job(threads, memory, progress)
    return Evaluation(_native.evaluate(options, source(data, "the table"), value._native, seed, tests))


def compare(
    data: Any,
    policy: Any,
    *,
    k: Iterable[int] = (5, 10),
    methods: Iterable[str] | None = None,
    test: Any = None,
    folds: int | None = None,
    hold_out: float | None = None,
    queries: int = 1000,
    seed: int = 0,
    time_limit: float | str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Comparison:
    """Compares methods for several k; nothing is released. Runs in this process, so that there is no figure of memory."""
    value = policy_of(policy)
    options = {"methods": list(methods or ()), "k": list(k), "queries": queries, "seed": seed}
    tests = _tests(test, folds, hold_out, time_limit)
    found = _native.compare(
        job(threads, memory, progress), source(data, "the table"), value._native, options, tests
    )
    return Comparison(found, "the table")


def _tests(
    test: Any, folds: int | None, hold_out: float | None, time_limit: float | str | None
) -> dict[str, Any]:
    records = None if test is None else source(test, "the test records")
    return {"test": records, "folds": folds, "hold_out": hold_out, "time_limit": seconds(time_limit)}


def verify_report(report: PathLike, released: PathLike) -> bool:
    """Whether a report is about a file, by the SHA-256 that it names."""
    in_report, of_file = _native.verify_report(os.fspath(report), os.fspath(released))
    return in_report == of_file


@dataclass(frozen=True)
class HierarchyCheck:
    """Whether a hierarchy file covers a column. It is true if every value has a row."""

    #: Number of distinct values of the column.
    values: int
    #: Values without a row, their numbers of records, and a similar label ("group" if the value is a group).
    without_row: list[tuple[str, int, str | None]]
    #: Labels of rows whose value does not occur.
    unused: list[str]

    def __bool__(self) -> bool:
        return not self.without_row

    def raise_for_failure(self) -> None:
        """Raises Unsatisfiable unless every value has a row."""
        if not self:
            raise Unsatisfiable(f"{len(self.without_row)} of {self.values} values have no row in the hierarchy")


def check_hierarchy(
    file: PathLike,
    data: Any,
    *,
    column: str | None = None,
    missing: Iterable[str] = (),
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> HierarchyCheck:
    """Checks whether a hierarchy file has a row for every value of a column. By default the column is named like the file."""
    options = job(threads, memory, progress)
    inputs = source(data, "the table")
    return HierarchyCheck(*_native.check_hierarchy(options, os.fspath(file), inputs, column, list(missing)))


def convert_policy(input: PathLike, output: PathLike | None = None, *, overwrite: bool = False) -> str:
    """Turns a policy file into a table with a line per column (.csv), or such a table into a policy."""
    path = None if output is None else os.fspath(output)
    return _native.policy_table(job(None, None, None), os.fspath(input), path, overwrite)


def methods() -> list[dict[str, Any]]:
    """The anonymization methods and their parameters."""
    return _list("methods")


def measures() -> list[dict[str, Any]]:
    """The utility measures."""
    return _list("measures")


def models() -> list[dict[str, Any]]:
    """The privacy models."""
    return _list("models")


def formats() -> list[dict[str, Any]]:
    """The file formats of tables."""
    return _list("formats")


def _list(name: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(_native.lists(name))
    return entries


@dataclass(frozen=True)
class Demo:
    """Synthetic people and a policy for them: ``people, policy = moretta.demo()``."""

    people: _native.Table
    policy: Policy

    def __iter__(self) -> Iterator[Any]:
        return iter((self.people, self.policy))


def demo(people: int = 20_000, *, seed: int = 1) -> Demo:
    """Synthetic people, as a table with the Arrow interface, and a policy for them."""
    from ._hierarchy import Hierarchy

    table, text, texts = _native.demo(people, seed)
    hierarchies = {column: Hierarchy.parse(hierarchy) for column, hierarchy in texts}
    return Demo(table, Policy.parse(text, hierarchies=hierarchies))
