"""Data frames as inputs of requests. Nothing is imported here that the user has not imported."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from . import _native
from ._errors import InputError, MorettaWarning


def source(data: Any, name: str) -> _native.Input:
    """The input of a request; ``name`` is the name of a table in memory in messages."""
    if isinstance(data, (str, os.PathLike)):
        return _native.Input(data, name)
    if is_pandas(data):
        data = _without_index(data)
    table = getattr(data, "table", None)
    if isinstance(table, _native.Table):
        # A release.
        data = table
    if not (hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")):
        raise InputError(f"{name}: {_no_table(data)}", path=name)
    try:
        return _native.Input(data, name)
    except KeyboardInterrupt:
        raise
    except Exception as error:
        problem = _conversion_problem(data) or (
            f"{type(data).__name__} cannot be converted to Arrow ({type(error).__name__}); "
            "convert it with its own library to see why"
        )
    # Outside of the handler: the text of that error may have values of any record.
    raise InputError(f"{name}: {problem}", path=name)


def is_pandas(data: Any) -> bool:
    """Whether it is a pandas DataFrame."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, pandas.DataFrame)


def is_polars(data: Any) -> bool:
    """Whether it is a polars DataFrame."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(data, polars.DataFrame)


def _without_index(data: Any) -> Any:
    if type(data.index).__name__ == "RangeIndex":
        return data
    warnings.warn(
        "the index of the DataFrame is dropped; use reset_index() to make it columns", MorettaWarning, stacklevel=4
    )
    return data.reset_index(drop=True)


def _no_table(data: Any) -> str:
    if is_pandas(data):
        return "this version of pandas has no Arrow interface; pandas 2.2 or later is needed, with pyarrow"
    return (
        f"{type(data).__name__} is no table: give a path, or a table with the Arrow interface "
        "(pandas 2.2 or later with pyarrow, polars, pyarrow, DuckDB)"
    )


def _conversion_problem(data: Any) -> str | None:
    """Why a pandas DataFrame cannot be converted, in types and names of columns, without values."""
    if not is_pandas(data):
        return None
    if "pyarrow" not in sys.modules:
        return "pandas needs pyarrow to give its tables; install pyarrow"
    names = [str(name) for name in data.columns]
    for name in names:
        if names.count(name) > 1:
            return f"two columns have the name `{name}`: every column needs a name of its own"
    for position, name in enumerate(names):
        column = data.iloc[:, position]
        if str(column.dtype) != "object":
            continue
        types = sorted({type(value).__name__ for value in column.dropna()})
        if len(types) > 1:
            return f"column `{name}` has values of the types {', '.join(types)}; convert it to one type"
    return None
