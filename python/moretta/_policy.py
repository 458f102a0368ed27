"""Policies as values: every change returns another policy."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Union

from . import _native
from ._errors import PolicyError, UsageError
from ._frames import source
from ._hierarchy import Hierarchy
from ._html import table as html_table
from ._job import ProgressOption, job

#: A declaration of a column: its role, or its keys as in a policy file.
Column = Union[str, Mapping[str, Any]]

#: Sections of a policy that `with_` sets as a whole.
_SECTIONS = ("privacy", "method", "measure", "input", "release")
#: Keys of a guess that a column keeps under another role.
_VALUES = {"type", "format", "missing", "missing-texts"}
_KEYS_OF_ROLES: dict[str, set[str]] = {
    "quasi-identifier": _VALUES,
    "sensitive": _VALUES,
    "class": _VALUES,
    "insensitive": {"type"},
}
_MARK = "# CONFIRM: "


class Policy:
    """What each column is, which guarantees a release must have, and how it is made.

    A policy is a value: ``confirm`` and ``with_`` return another one. It is checked when it is made; the files that it
    names are read by each request, relative to ``folder``.
    """

    def __init__(
        self,
        text: str,
        *,
        name: str = "policy.toml",
        folder: str | os.PathLike[str] = "",
        hierarchies: Mapping[str, Hierarchy] | None = None,
    ) -> None:
        self._text = text
        self._name = name
        self._folder = os.fspath(folder)
        self._hierarchies = dict(hierarchies or {})
        trees = [(column, hierarchy._native) for column, hierarchy in self._hierarchies.items()]
        self._native = _native.PolicyValue(name, text, self._folder, trees)

    @classmethod
    def parse(
        cls, text: str, *, folder: str | os.PathLike[str] = "", hierarchies: Mapping[str, Hierarchy] | None = None
    ) -> Policy:
        """The policy of a text in TOML."""
        return cls(text, folder=folder, hierarchies=hierarchies)

    @classmethod
    def from_dict(
        cls,
        tree: Mapping[str, Any],
        *,
        folder: str | os.PathLike[str] = "",
        hierarchies: Mapping[str, Hierarchy] | None = None,
    ) -> Policy:
        """The policy of a dictionary with the sections of a policy file; a column may be given by its role only."""
        plain = _plain(tree)
        plain.setdefault("version", 1)
        columns = plain.get("columns", {})
        plain["columns"] = {name: {"role": c} if isinstance(c, str) else c for name, c in columns.items()}
        return cls(_written(plain, {}), folder=folder, hierarchies=hierarchies)

    @classmethod
    def guess(
        cls,
        data: Any,
        *,
        threads: int | None = None,
        memory: int | str | None = None,
        progress: ProgressOption = None,
    ) -> Policy:
        """A draft for a table. Every guess has its reason and is open until it is confirmed."""
        return cls(_native.draft(job(threads, memory, progress), source(data, "the table")))

    @property
    def columns(self) -> dict[str, dict[str, Any]]:
        """The declarations of the columns by name."""
        columns: dict[str, dict[str, Any]] = self.to_dict().get("columns", {})
        return columns

    @property
    def open(self) -> dict[str, str]:
        """The guesses that are not confirmed, with their reasons: by column, and by key for other sections."""
        return {key: reason for key, reason in _marks(self._text).items()}

    def to_dict(self) -> dict[str, Any]:
        """The sections of the policy."""
        tree: dict[str, Any] = json.loads(_native.tree_of_policy(self._text))
        return tree

    def to_toml(self) -> str:
        """The policy as text. Open guesses are marked CONFIRM."""
        return self._text

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the policy to a file."""
        write_text(path, self._text, overwrite=overwrite)

    def confirm(self, *names: str, **columns: Column) -> Policy:
        """Confirms guesses about columns: by name as they are, or with a role or the keys of the column.

        Keys are added to those of the guess, but for those that another role does not have; ``None`` removes one. A name that is no identifier of Python is given as
        ``confirm(**{"marital-status": "quasi-identifier"})``.
        """
        tree, marks = self.to_dict(), self.open
        declared = tree.setdefault("columns", {})
        for name in [*names, *columns]:
            if name not in declared:
                known = ", ".join(f"`{column}`" for column in declared)
                raise UsageError(f"the policy has no column `{name}`; its columns are {known}", column=name)
            marks.pop(name, None)
        for name, column in columns.items():
            keys = {"role": column} if isinstance(column, str) else _plain(column)
            guess = declared[name]
            if keys.get("role", guess.get("role")) != guess.get("role"):
                guess = {key: guess[key] for key in _KEYS_OF_ROLES.get(keys["role"], set()) & guess.keys()}
            merged = {**guess, **keys}
            declared[name] = {key: value for key, value in merged.items() if value is not None}
        return self._changed(tree, marks)

    def confirm_all(self) -> Policy:
        """Confirms every guess as it is, after it was reviewed."""
        return self._changed(self.to_dict(), {})

    def with_(
        self,
        *,
        k: int | None = None,
        max_suppressed: float | None = None,
        method: str | Mapping[str, Any] | None = None,
        **sections: Any,
    ) -> Policy:
        """Sets k, the share of records that may be suppressed, the method, or whole sections: ``with_(k=10, release={"order": "input"})``.

        ``columns`` adds or replaces columns; other sections are ``privacy``, ``measure``, ``input`` and ``release``.
        ``None`` removes a section. ``hierarchies`` gives hierarchies by column.
        """
        tree, marks = self.to_dict(), self.open
        hierarchies = {**self._hierarchies, **sections.pop("hierarchies", {})}
        for section, value in sections.items():
            if section == "columns":
                for name, column in value.items():
                    tree.setdefault("columns", {})[name] = (
                        {"role": column} if isinstance(column, str) else _plain(column)
                    )
                    marks.pop(name, None)
            elif section not in _SECTIONS:
                raise UsageError(f"a policy has no section `{section}`; it has {', '.join(_SECTIONS)}, columns")
            elif value is None:
                tree.pop(section, None)
            else:
                tree[section] = _plain(value)
            if section == "privacy":
                marks = {key: reason for key, reason in marks.items() if not key.startswith("privacy.")}
        if k is not None:
            tree.setdefault("privacy", {})["k"] = k
            marks.pop("privacy.k", None)
        if max_suppressed is not None:
            tree.setdefault("privacy", {})["max-suppressed"] = max_suppressed
        if method is not None:
            tree["method"] = {"name": method} if isinstance(method, str) else _plain(method)
        return self._changed(tree, marks, hierarchies)

    def _changed(
        self, tree: dict[str, Any], marks: dict[str, str], hierarchies: Mapping[str, Hierarchy] | None = None
    ) -> Policy:
        trees = self._hierarchies if hierarchies is None else hierarchies
        return Policy(_written(tree, marks), name=self._name, folder=self._folder, hierarchies=trees)

    def _without_identifiers(self, names: Iterable[str]) -> Policy:
        """The policy for a table with these columns, which may lack identifiers: they are not released anyway."""
        tree, kept = self.to_dict(), set(names)
        columns = tree["columns"]
        absent = [name for name in columns if columns[name].get("role") == "identifier" and name not in kept]
        absent = [name for name in absent if "*" not in name]
        if not absent:
            return self
        tree["columns"] = {name: column for name, column in columns.items() if name not in absent}
        return self._changed(tree, {key: reason for key, reason in self.open.items() if key not in absent})

    def _with_hierarchies(self, hierarchies: Mapping[str, Hierarchy] | None) -> Policy:
        """The policy with hierarchies in memory, which columns without a hierarchy file get, too."""
        if not hierarchies:
            return self
        tree, marks = self.to_dict(), self.open
        for name in hierarchies:
            column = tree.get("columns", {}).get(name)
            if column is None:
                raise PolicyError(f"there is a hierarchy for `{name}`, which the policy does not declare", column=name)
            declared = column.get("hierarchy")
            # A word such as "free" or "iotf" is no file.
            if not (isinstance(declared, str) and any(mark in declared for mark in "./\\")):
                column["hierarchy"] = f"{name}.csv"
        return self._changed(tree, marks, {**self._hierarchies, **hierarchies})

    def __reduce__(self) -> tuple[Any, ...]:
        return _policy_of_parts, (self._text, self._name, self._folder, self._hierarchies)

    def __repr__(self) -> str:
        roles = ", ".join(f"{name}: {column.get('role')}" for name, column in self.columns.items())
        return f"<Policy {roles}; {len(self.open)} open>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and (self.to_dict(), self.open) == (other.to_dict(), other.open)

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self) -> str:
        marks, rows = self.open, []
        for name, column in self.columns.items():
            more = {key: value for key, value in column.items() if key not in ("role", "type")}
            rows.append([name, column.get("role", ""), column.get("type", ""), more or "", marks.get(name, "")])
        privacy = self.to_dict().get("privacy", {})
        return html_table("Policy", ["column", "role", "type", "more", "to confirm"], rows, note=f"privacy: {privacy}")


def _policy_of_parts(text: str, name: str, folder: str, hierarchies: dict[str, Hierarchy]) -> Policy:
    return Policy(text, name=name, folder=folder, hierarchies=hierarchies)


def read_policy(path: str | os.PathLike[str], *, hierarchies: Mapping[str, Hierarchy] | None = None) -> Policy:
    """Reads a policy file. Its hierarchy files are found relative to it."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}", path=str(file)) from None
    except UnicodeDecodeError:
        raise PolicyError(f"{file}: not UTF-8 text; save the file as UTF-8", path=str(file)) from None
    return Policy(text, name=str(file), folder=file.parent, hierarchies=hierarchies)


def write_text(path: str | os.PathLike[str], text: str, *, overwrite: bool) -> None:
    """Writes a text file that must not exist, unless it may be overwritten."""
    try:
        with open(path, "w" if overwrite else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        message = f"{os.fspath(path)} exists; name another file, or set overwrite=True"
        raise UsageError(message, path=os.fspath(path)) from None
    except OSError as error:
        raise UsageError(f"cannot write {os.fspath(path)}: {error.strerror}", path=os.fspath(path)) from None


def _plain(value: Any) -> Any:
    """A copy that consists of dictionaries, lists and plain values."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return copy.deepcopy(value)


def _marks(text: str) -> dict[str, str]:
    """The reasons of the marks CONFIRM by what they stand before: a column, or `section.key`."""
    marks: dict[str, str] = {}
    reason: list[str] = []
    section = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith(_MARK.strip()):
            reason = [line[len(_MARK.strip()) :].strip()]
            continue
        if line.startswith("#"):
            # A long reason goes on in lines that are indented further.
            if reason and line.startswith("#   "):
                reason.append(line[1:].strip())
            continue
        header = re.fullmatch(r"\[+(.*?)\]+", line)
        if header:
            section = header[1]
        if reason and line:
            marks[_marked(section, line, is_header=bool(header))] = " ".join(reason)
            reason = []
    return marks


def _marked(section: str, line: str, *, is_header: bool) -> str:
    if section.startswith("columns."):
        name = section[len("columns.") :]
        return str(json.loads(name)) if name.startswith('"') else name.strip("'")
    if is_header:
        return section
    key = line.partition("=")[0].strip()
    if not section and key.startswith("columns."):
        return key.split(".")[1]
    return f"{section}.{key}" if section else key


def _written(tree: dict[str, Any], marks: dict[str, str]) -> str:
    """TOML with marks before the columns, and those of other sections at the top."""
    rest = {key: value for key, value in tree.items() if key != "columns"}
    columns = tree.get("columns", {})
    parts = [_native.write_policy(json.dumps(rest))]
    lines = parts[0].splitlines()
    for key, reason in marks.items():
        if key not in columns:
            lines = _insert(lines, key, f"{_MARK}{reason}")
    parts = ["\n".join(lines) + "\n"]
    for name, column in columns.items():
        mark = f"{_MARK}{marks[name]}\n" if name in marks else ""
        parts.append(mark + _native.write_policy(json.dumps({"columns": {name: column}})))
    return "\n".join(parts)


def _insert(lines: list[str], key: str, mark: str) -> list[str]:
    """Puts a mark before the line of a key or section, or at the top."""
    section = ""
    for index, line in enumerate(lines):
        header = re.fullmatch(r"\[+(.*?)\]+", line.strip())
        section = header[1] if header else section
        found = section if header else f"{section}.{line.partition('=')[0].strip()}"
        if found == key:
            return [*lines[:index], mark, *lines[index:]]
    return [mark, *lines]
