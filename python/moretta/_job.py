"""Options that all requests have: threads, memory, progress."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Union

from . import _native
from ._errors import MorettaWarning


@dataclass(frozen=True)
class Progress:
    """Progress of a request, for a callback.

    ``done`` of ``total`` units of the current ``stage``; ``total`` is 0 while it is not known. ``best`` is the best
    objective value that the search has found so far.
    """

    stage: str
    task: str
    done: int
    total: int
    best: float | None


#: Values of the option ``progress``: True shows a line on standard error, a function is called on the thread of the caller.
ProgressOption = Union[bool, Callable[[Progress], object], None]


def job(threads: int | None, memory: int | str | None, progress: ProgressOption) -> _native.Job:
    callback: Callable[[str, str, int, int, float | None], None] | None = None
    if progress is True:
        callback = _Line()
    elif callable(progress):
        user = progress

        def callback(stage: str, task: str, done: int, total: int, best: float | None) -> None:
            user(Progress(stage, task, done, total, best))

    return _native.Job(threads, None if memory is None else str(memory), callback, _note)


def _note(text: str) -> None:
    # The caller of the package: the frames between are those of this package.
    depth = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "moretta":
        frame = frame.f_back
        depth += 1
    warnings.warn(text, MorettaWarning, stacklevel=depth)


class _Line:
    """Progress as one line on standard error, in terminals and notebooks alike."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.width = 0
        self.stage = ""

    def __call__(self, stage: str, task: str, done: int, total: int, best: float | None) -> None:
        text = stage + (f": {task}" if task else "")
        if 0 < done < total:
            text += f"  {done * 100 // total} %"
        if best is not None:
            text += f"  best {best:.4f}"
        text += f"  {time.monotonic() - self.started:.0f} s"
        end = "\n" if self.stage and stage != self.stage else ""
        self.stage = stage
        sys.stderr.write(f"{end}\r{text:<{self.width}}")
        sys.stderr.flush()
        self.width = max(self.width, len(text))


def seconds(limit: float | str | None) -> str | None:
    """A time limit as the command line writes it: a number is in seconds."""
    if limit is None or isinstance(limit, str):
        return limit
    total_seconds = getattr(limit, "total_seconds", None)
    if total_seconds is not None:
        limit = total_seconds()
    return f"{float(limit):.3f}s"
