"""Exceptions. Each has the place of the fault, and no message shows more of the data than the one cell at fault."""

from __future__ import annotations


class MorettaError(Exception):
    """Base of all exceptions of this package.

    ``path`` is the file or table at fault, ``line`` the line of a text file, ``record`` the record (from 1) and
    ``column`` the name of the column; each is ``None`` if the fault has no such place.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        record: int | None = None,
        column: str | None = None,
    ) -> None:
        super().__init__(message)
        self.path = path
        self.line = line
        self.record = record
        self.column = column


class UsageError(MorettaError, ValueError):
    """The request is invalid, or names files that cannot be read or written."""


class PolicyError(MorettaError, ValueError):
    """The policy, or a hierarchy that it names, is wrong."""


class InputError(MorettaError, ValueError):
    """The data is not what the policy declares, or cannot be read."""


class Unsatisfiable(MorettaError):
    """The data does not or cannot satisfy the policy; nothing was released (exit code 1 of the command line)."""

    @property
    def limits(self) -> str:
        """The limit of the policy and the figure of the table, in a sentence."""
        return str(self)


class MemoryLimit(MorettaError, MemoryError):
    """The request needs more memory than ``memory`` allows."""


class InternalError(MorettaError):
    """A defect of moretta."""


class MorettaWarning(UserWarning):
    """Something that a data holder should know, though the request goes on."""
