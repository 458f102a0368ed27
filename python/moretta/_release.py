"""Releases, their reports, and saved recodings."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _native
from ._errors import UsageError
from ._frames import source
from ._hierarchy import Hierarchy
from ._html import table as html_table
from ._job import ProgressOption, job, seconds
from ._policy import Policy, read_policy, write_text

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

#: A path of a file.
PathLike = Union[str, "os.PathLike[str]"]


def policy_of(policy: Any, hierarchies: Mapping[str, Hierarchy] | None = None) -> Policy:
    """The policy of an argument: a policy, a path, or a dictionary."""
    if isinstance(policy, (str, os.PathLike)):
        policy = read_policy(policy)
    elif isinstance(policy, Mapping):
        policy = Policy.from_dict(policy)
    if not isinstance(policy, Policy):
        raise UsageError(f"a policy is a Policy, a path or a dictionary, not {type(policy).__name__}")
    return policy._with_hierarchies(hierarchies)


class Report:
    """Report on a release: the guarantees that hold, re-identification risk, and information loss."""

    def __init__(self, native: _native.Report, name: str) -> None:
        self._native = native
        self._name = name
        self._dict: dict[str, Any] | None = None
        #: The recoding of a release that was made by another engine, to apply to new records.
        self.recoding: Recoding | None = None

    def to_dict(self) -> dict[str, Any]:
        """The report as `--report report.json` of the command line has it."""
        if self._dict is None:
            self._dict = json.loads(self._native.json())
        return self._dict

    def to_json(self) -> str:
        """The report as JSON."""
        return self._native.json()

    def to_html(self) -> str:
        """The page for people who sign a release. It shows a few masked rows."""
        return self._native.html(self._name)

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Writes the report to a .html or .json file."""
        ending = Path(path).suffix.lower()
        if ending not in (".html", ".htm", ".json"):
            raise UsageError(f"{os.fspath(path)}: a report must be named .json or .html", path=os.fspath(path))
        write_text(path, self.to_json() if ending == ".json" else self.to_html(), overwrite=overwrite)

    @property
    def loss(self) -> float | None:
        """Information loss of the release, from 0 (unchanged) to 1 (nothing is disclosed): the measure gcp."""
        loss: float | None = self.measures.get("gcp")
        return loss

    @property
    def measures(self) -> dict[str, Any]:
        """All measures by name."""
        measures: dict[str, Any] = self.to_dict()["measures"]
        return measures

    @property
    def suppressed(self) -> int:
        """Number of suppressed records."""
        return int(self.to_dict()["suppressed_rows"])

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.to_dict()["groups"])

    @property
    def smallest_group(self) -> int:
        """Number of records (or persons) in the smallest group."""
        return int(self.to_dict()["privacy"]["smallest_group"])

    @property
    def models(self) -> list[dict[str, Any]]:
        """The verdict on each privacy model."""
        models: list[dict[str, Any]] = self.to_dict()["privacy"]["models"]
        return models

    @property
    def risk(self) -> dict[str, Any]:
        """Re-identification risk, before and after."""
        risk: dict[str, Any] = self.to_dict()["risk"]
        return risk

    def __repr__(self) -> str:
        return f"<Report {self.groups} groups, the smallest of {self.smallest_group}, loss {self.loss}>"

    def _repr_html_(self) -> str:
        report, risk = self.to_dict(), self.risk
        rows = [[model["model"], "holds" if model["holds"] else "does not hold", model["worst"]] for model in self.models]
        before, after = risk["before"]["prosecutor"], risk["after"]["prosecutor"]
        figures = [
            ["records", report["input"]["rows"]],
            ["groups", self.groups],
            ["smallest group", self.smallest_group],
            ["suppressed records", self.suppressed],
            ["information loss (gcp)", self.loss],
            ["highest risk of a record, before", before["highest"]],
            ["highest risk of a record, after", after["highest"]],
        ]
        losses = [[column["name"], column["ncp"]] for column in report["columns"]]
        return (
            html_table("Verified release", ["guarantee", "verdict", "worst group"], rows)
            + html_table("Figures", ["", ""], figures)
            + html_table("Loss per column", ["column", "ncp"], losses)
        )


class Recoding:
    """A saved recoding, with its policy and hierarchies: it makes a release of new records with the same labels."""

    def __init__(self, text: str) -> None:
        self._text = text

    @classmethod
    def load(cls, path: PathLike) -> Recoding:
        """Reads a recoding file."""
        try:
            return cls(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise UsageError(f"cannot read {os.fspath(path)}: {reason}", path=os.fspath(path)) from None

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Writes a recoding file, for ``Recoding.load`` and `moretta apply`."""
        if Path(path).suffix.lower() != ".json":
            raise UsageError(f"{os.fspath(path)}: a recoding must be named .json", path=os.fspath(path))
        write_text(path, self._text, overwrite=overwrite)

    def to_json(self) -> str:
        """The text of the recoding file."""
        return self._text

    @property
    def columns(self) -> dict[str, dict[str, Any]]:
        """The declarations of the columns by name, with the types that were found."""
        columns: dict[str, dict[str, Any]] = json.loads(self._text)["policy"]["columns"]
        return columns

    def apply(
        self,
        data: Any,
        *,
        seed: int | str | None = None,
        shuffle: bool = True,
        compare: bool = False,
        time_limit: float | str | None = None,
        memory: int | str | None = None,
        threads: int | None = None,
        progress: ProgressOption = None,
    ) -> Release:
        """Makes a release of new records; suppresses where it must, and verifies the result."""
        options = arguments(seed=seed, shuffle=shuffle, time_limit=time_limit)
        made = _native.apply(job(threads, memory, progress), source(data, "the table"), self._text, options, compare)
        return Release(made, self)

    def apply_file(
        self,
        input: Any,
        output: PathLike,
        *,
        reports: Iterable[PathLike] = (),
        overwrite: bool = False,
        seed: int | str | None = None,
        shuffle: bool = True,
        compare: bool = False,
        time_limit: float | str | None = None,
        memory: int | str | None = None,
        threads: int | None = None,
        progress: ProgressOption = None,
    ) -> Report:
        """Like ``apply``, from table or file to file."""
        options = arguments(
            output=output, reports=reports, overwrite=overwrite, seed=seed, shuffle=shuffle, time_limit=time_limit
        )
        made = _native.apply(job(threads, memory, progress), source(input, "the table"), self._text, options, compare)
        return Report(made.report, Path(output).name)

    def __repr__(self) -> str:
        return f"<Recoding of {len(self._text):,} characters>"

    def _repr_html_(self) -> str:
        rows = [[name, column["role"]] for name, column in self.columns.items()]
        return html_table("Recoding", ["column", "role"], rows)


class Release:
    """A verified release in memory, with its report and recoding."""

    def __init__(self, made: _native.Made, recoding: Recoding | None) -> None:
        if made.table is None:
            raise UsageError("the release is a file")
        self._native_report = made.report
        #: The released records; any library with the Arrow interface takes it.
        self.table: _native.Table = made.table
        #: The report on the release.
        self.report = Report(made.report, "the release")
        #: The recoding, to apply to new records.
        self.recoding = recoding if recoding is not None else Recoding(made.recoding or "")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.table)

    @property
    def columns(self) -> list[str]:
        """Names of the released columns."""
        return self.table.column_names

    def to_arrow(self) -> pyarrow.Table:
        """The release as a pyarrow Table."""
        import pyarrow

        return pyarrow.table(self.table)

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """The release as a pandas DataFrame; the options are those of ``pyarrow.Table.to_pandas``."""
        frame: pandas.DataFrame = self.to_arrow().to_pandas(**options)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The release as a polars DataFrame."""
        import polars

        return polars.DataFrame(self.table)

    def write(
        self,
        path: PathLike,
        *,
        overwrite: bool = False,
        memory: int | str | None = None,
        threads: int | None = None,
        progress: ProgressOption = None,
    ) -> None:
        """Writes the release to a file, which is read back and compared with the release before it gets its name.

        A file that you write yourself, from ``to_pandas`` for example, is not checked; ``moretta.check`` checks it.
        """
        _native.write_table(
            job(threads, memory, progress), self.table, self._native_report, os.fspath(path), overwrite
        )

    def __repr__(self) -> str:
        return f"<Release {len(self):,} records, columns {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


def arguments(
    *,
    output: PathLike | None = None,
    reports: Iterable[PathLike] = (),
    recoding: PathLike | None = None,
    overwrite: bool = False,
    seed: int | str | None = None,
    shuffle: bool = True,
    time_limit: float | str | None = None,
) -> dict[str, Any]:
    """Options of a request that makes a release."""
    return {
        "output": None if output is None else os.fspath(output),
        "reports": [os.fspath(report) for report in reports],
        "recoding": None if recoding is None else os.fspath(recoding),
        "overwrite": overwrite,
        "seed": None if seed is None else str(seed),
        "keep_order": not shuffle,
        "time_limit": seconds(time_limit),
    }


def search_arguments(
    *, effort: str | None, at: int | None, bound: bool, earlier: Iterable[Any], if_linkable: str
) -> dict[str, Any]:
    """Options of a search."""
    if if_linkable not in ("refuse", "warn"):
        raise UsageError('if_linkable must be "refuse" or "warn"')
    releases = [source(release, f"earlier release {number}") for number, release in enumerate(earlier, 1)]
    return {
        "effort": effort,
        "at": at,
        "bound": bound,
        "earlier": releases,
        "warn_if_linkable": if_linkable == "warn",
    }


def anonymize(
    data: Any,
    policy: Any,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    seed: int | str | None = None,
    shuffle: bool = True,
    effort: str | None = None,
    at: int | None = None,
    bound: bool = False,
    earlier: Iterable[Any] = (),
    if_linkable: str = "refuse",
    time_limit: float | str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Release:
    """Makes a release in memory: searches, verifies, rewrites, reads back, and only then hands it over.

    ``data`` is a table with the Arrow interface or a path, ``policy`` a Policy, a path or a dictionary. ``shuffle=False``
    keeps the order of the records. After ``time_limit`` (seconds, or "60s") the best result so far is released.
    """
    value = policy_of(policy, hierarchies)
    made = _native.anonymize(
        job(threads, memory, progress),
        source(data, "the table"),
        value._native,
        arguments(seed=seed, shuffle=shuffle, time_limit=time_limit),
        search_arguments(effort=effort, at=at, bound=bound, earlier=earlier, if_linkable=if_linkable),
    )
    return Release(made, None)


def anonymize_file(
    input: Any,
    output: PathLike,
    policy: Any,
    *,
    reports: Iterable[PathLike] = (),
    recoding: PathLike | None = None,
    overwrite: bool = False,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    seed: int | str | None = None,
    shuffle: bool = True,
    effort: str | None = None,
    at: int | None = None,
    bound: bool = False,
    earlier: Iterable[Any] = (),
    if_linkable: str = "refuse",
    time_limit: float | str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Report:
    """Like ``anonymize``, from table or file to file, with bounded memory. Returns the report."""
    value = policy_of(policy, hierarchies)
    made = _native.anonymize(
        job(threads, memory, progress),
        source(input, "the table"),
        value._native,
        arguments(
            output=output,
            reports=reports,
            recoding=recoding,
            overwrite=overwrite,
            seed=seed,
            shuffle=shuffle,
            time_limit=time_limit,
        ),
        search_arguments(effort=effort, at=at, bound=bound, earlier=earlier, if_linkable=if_linkable),
    )
    return Report(made.report, Path(output).name)
