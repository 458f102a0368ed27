"""Generalization hierarchies as values."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from . import _native
from ._errors import PolicyError
from ._frames import source
from ._html import table as html_table
from ._job import ProgressOption, job


class Hierarchy:
    """Generalization hierarchy of a column."""

    def __init__(self, native: _native.Hierarchy) -> None:
        self._native = native

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, column: str | None = None) -> Hierarchy:
        """Reads a hierarchy file: a row per value, from the value to the root, or JSON."""
        return cls(_native.Hierarchy.read(os.fspath(path), column))

    @classmethod
    def parse(cls, text: str) -> Hierarchy:
        """Reads the text of a hierarchy file."""
        try:
            return cls(_native.Hierarchy.parse(text))
        except ValueError as error:
            raise PolicyError(str(error)) from None

    @classmethod
    def build(
        cls,
        data: Any,
        column: str,
        method: str | Mapping[str, Any],
        *,
        type: str | None = None,
        format: str | None = None,
        missing: tuple[str, ...] = (),
        threads: int | None = None,
        memory: int | str | None = None,
        progress: ProgressOption = None,
    ) -> Hierarchy:
        """Builds the hierarchy that a policy would build with ``hierarchy = method`` for this column.

        ``method`` is a name (``"iotf"``, ``"chu"``, ..) or as in a policy: ``{"widths": [5, 10, 20]}``,
        ``{"prefix": [3, 2]}``, ``{"dates": ["month", "year"]}``.
        """
        if type is None:
            keys = set(method) if isinstance(method, Mapping) else set()
            type = "category" if "prefix" in keys else "date" if "dates" in keys else "number"
        hierarchy = method if isinstance(method, str) else dict(method)
        declared: dict[str, Any] = {"role": "quasi-identifier", "type": type, "hierarchy": hierarchy}
        if format is not None:
            declared["format"] = format
        tree = {"version": 1, "privacy": {"k": 2}, "columns": {column: declared}}
        policy = _native.write_policy(json.dumps(tree))
        options = job(threads, memory, progress)
        try:
            return cls(
                _native.Hierarchy.build(options, source(data, "the table"), column, policy, list(missing))
            )
        except PolicyError:
            raise
        except ValueError as error:
            from ._errors import MorettaError

            if isinstance(error, MorettaError):
                raise
            raise PolicyError(str(error), column=column) from None

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes a hierarchy file: a row per value, delimited by semicolons."""
        from ._policy import write_text

        write_text(path, self._native.text(), overwrite=overwrite)

    def to_csv(self) -> str:
        """The text of the hierarchy file."""
        return self._native.text()

    def draw(self, *, children: int = 12, depth: int | None = None) -> str:
        """A drawing of the tree as text."""
        return self._native.draw(children, depth)

    def to_svg(self, *, title: str = "hierarchy", children: int = 12, depth: int | None = None) -> str:
        """A drawing of the tree as SVG."""
        return self._native.svg(title, children, depth)

    def __reduce__(self) -> tuple[Any, ...]:
        return Hierarchy.parse, (self.to_csv(),)

    def __repr__(self) -> str:
        leaves, levels, nodes = self._native.size()
        return f"<Hierarchy {leaves} values, {levels} levels, {nodes} nodes>"

    def _repr_html_(self) -> str:
        leaves, levels, nodes = self._native.size()
        return html_table("Hierarchy", ["values", "levels", "nodes"], [[leaves, levels, nodes]])
