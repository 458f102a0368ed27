"""Releases in scikit-learn: features of released and original records, and anonymization as a step of a pipeline.

>>> import moretta
>>> from moretta.sklearn import Encoder
>>> people, policy = moretta.demo(2000)
>>> release = moretta.anonymize(people, policy.with_(k=5, method="mondrian"), seed=1)
>>> encoder = Encoder(policy).fit(release)
>>> encoder.transform(release).shape == encoder.transform(people).shape
True

A model is trained on the features of a release and applied to those of original records, or of other releases. This module
needs scikit-learn 1.6 or later: ``pip install moretta[sklearn]``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from . import _native
from ._errors import InputError, UsageError
from ._frames import is_pandas, is_polars, source
from ._hierarchy import Hierarchy
from ._job import job
from ._policy import Policy
from ._release import anonymize, policy_of
from ._results import methods

__all__ = ["Anonymizer", "Encoder"]

#: Name of a table in messages.
_TABLE = "the table"


class _Records:
    """Records as a table with named columns; columns of an array are x0, x1, .."""

    def __init__(self, X: Any, estimator: BaseEstimator, *, needed: Iterable[str] | None) -> None:
        self.original = X
        self.is_array = not (hasattr(X, "__arrow_c_stream__") or is_pandas(X))
        reset = needed is None
        if self.is_array:
            X = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
            self.original = X
            self.names = [f"x{index}" for index in range(X.shape[1])]
            columns = [_cells(X[:, index]) for index in range(X.shape[1])]
            self.table: Any = _native.table_of_columns(self.names, columns)
            return
        self.names = _names(X)
        if len(self) == 0:
            raise InputError(f"{_TABLE}: Found array with 0 sample(s) while a minimum of 1 is required.", path=_TABLE)
        if hasattr(X, "shape") and (reset or not set(needed or ()) <= set(self.names)):
            # Other columns and another order are no fault, but a missing column is.
            validate_data(estimator, X, reset=reset, skip_check_array=True)
        elif reset:
            estimator.n_features_in_ = len(self.names)
            estimator.feature_names_in_ = np.asarray(self.names, dtype=object)
        # The index is that of the result.
        self.table = X.reset_index(drop=True) if is_pandas(X) else X

    def __len__(self) -> int:
        return len(self.original)

    def source(self) -> _native.Input:
        return source(self.table, _TABLE)

    def column(self, name: str) -> Any:
        """The values of a column, as the caller gave them."""
        X, index = self.original, self.names.index(name)
        if is_pandas(X):
            return X.iloc[:, index]
        return X[:, index] if self.is_array else X[name]

    def with_column(self, name: str, values: Any) -> Any:
        """The table with one more column."""
        cells = np.asarray(values)
        if self.is_array:
            columns = [_cells(self.original[:, index]) for index in range(len(self.names))]
            return _native.table_of_columns([*self.names, name], [*columns, _cells(cells)])
        if is_pandas(self.table):
            return self.table.assign(**{name: cells})
        if is_polars(self.table):
            return self.table.with_columns(**{name: _polars().Series(name, cells)})
        if hasattr(self.table, "append_column"):
            return self.table.append_column(name, [cells])
        raise UsageError(f"the policy declares `{name}`: give a table that has it, or a pandas or polars DataFrame")

    def released(self, names: list[str], labels: dict[str, Any]) -> Any:
        """These columns as a table of the caller's kind: labels, and values that are kept."""
        columns = {name: labels[name] if name in labels else self.column(name) for name in names}
        if is_pandas(self.original):
            import pandas

            return pandas.DataFrame(columns, index=self.original.index)
        if is_polars(self.original):
            return _polars().DataFrame(columns)
        if hasattr(self.original, "append_column"):
            import pyarrow

            return pyarrow.table(columns)
        cells = np.empty((len(self), len(columns)), dtype=object)
        for index, values in enumerate(columns.values()):
            cells[:, index] = values
        return cells


def _polars() -> Any:
    import polars

    return polars


def _names(X: Any) -> list[str]:
    names = getattr(X, "column_names", None)
    if names is None:
        names = X.columns
    return [str(name) for name in names]


def _cells(column: Any) -> list[Any]:
    """Cells of a column of an array: numbers, or texts."""
    if column.dtype.kind in "iuf":
        return [None if cell != cell else float(cell) for cell in column.tolist()]
    return [None if cell is None or cell != cell else str(cell) for cell in column.tolist()]


def _by_record(columns: list[tuple[str, list[str], bytearray]]) -> dict[str, Any]:
    """Texts by record of columns that are given by distinct texts and codes."""
    return {
        name: np.asarray([*texts, None], dtype=object)[:-1][np.frombuffer(codes, dtype=np.uint32)]
        for name, texts, codes in columns
    }


class Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Numeric features of the columns of a release, and of original records in the same way.

    Numbers and dates (in seconds since 1970) become both ends of their interval, ``age_low`` and ``age_high``; a value is
    both ends, and ``*`` the widest interval of the release. Categories become an indicator for each label of the release
    and each node above it, ``postcode=12*``: an original value activates the nodes that a recipient knows. With
    ``categories="ordinal"`` they become a number for each level of the hierarchy, -1 where nothing is known. Kept numbers
    are features as they are. Missing numbers are NaN; a missing category is a category.

    ``policy`` is a Policy, a path or a dictionary, and should be that of the release; without one, every column is encoded
    by its labels. ``columns`` are the columns to encode: by default all that the policy releases, but for those with the
    role ``class``. Tables to transform may have further columns.
    """

    def __init__(
        self, policy: Any = None, *, columns: list[str] | None = None, categories: str = "indicators"
    ) -> None:
        self.policy = policy
        self.columns = columns
        self.categories = categories

    def _ordinal(self) -> bool:
        if self.categories not in ("indicators", "ordinal"):
            raise UsageError('categories must be "indicators" or "ordinal"')
        return self.categories == "ordinal"

    def fit(self, X: Any, y: Any = None) -> Encoder:
        """Learns the features of a release."""
        ordinal = self._ordinal()
        policy = None if self.policy is None else policy_of(self.policy)
        records = _Records(X, self, needed=None)
        native = None if policy is None else policy._native
        columns = None if self.columns is None else list(self.columns)
        self._known, names, hierarchies = _native.fit_features(
            job(None, None, None), records.source(), native, columns, ordinal
        )
        self._names = np.asarray(names, dtype=object)
        # With its hierarchies, because their files may be gone when the encoder is used.
        trees = {column: Hierarchy.parse(text) for column, text in hierarchies}
        self._policy: Policy | None = None if policy is None else policy._with_hierarchies(trees)
        return self

    def transform(self, X: Any) -> Any:
        """Features of a release or of original records, as an array of 64-bit floats."""
        check_is_fitted(self, "_known")
        records = _Records(X, self, needed=[name for name, _, _ in self._known])
        native = None if self._policy is None else self._policy._native
        cells = _native.encode_features(
            job(None, None, None), records.source(), native, self._known, self._ordinal()
        )
        return np.frombuffer(cells, dtype=np.float64).reshape(-1, len(self._names))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the features."""
        check_is_fitted(self, "_known")
        return self._names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Anonymization as a step of a pipeline, for methods of global recoding.

    ``fit`` searches for a recoding. ``fit_transform`` returns the release, in input order: it satisfies the policy.
    ``transform`` gives other records the labels of the same recoding, so that a model that was trained on the release can
    be applied to them. **The result of ``transform`` is not a release**: nothing is suppressed or verified, and it must not
    be handed on (``Recoding.apply`` makes releases of new records). Under a local recoding a record has no label of its
    own, so other methods are refused.

    Results are tables of the kind that was given, with the columns that the policy releases; of arrays, whose columns have
    the names x0, x1, .., they are arrays of objects. Identifiers that ``X`` lacks are no fault. If it lacks one other
    column of the policy, ``y`` takes its place in the search and is not returned.

    ``recoding_`` is the recoding, ``report_`` the report on the release as a dictionary.
    """

    def __init__(
        self,
        policy: Any = None,
        *,
        seed: int | str | None = None,
        time_limit: float | str | None = None,
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        self.policy = policy
        self.seed = seed
        self.time_limit = time_limit
        self.memory = memory
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> Anonymizer:
        """Searches for a recoding."""
        self._release(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Makes a release, in input order."""
        records, release = self._release(X, y)
        texts = _by_record(_native.texts(job(None, None, None), source(release, "the release"), self._labeled))
        return records.released(self._released, texts)

    def transform(self, X: Any) -> Any:
        """Gives records the labels of the recoding. The result is not a release."""
        check_is_fitted(self, "recoding_")
        records = _Records(X, self, needed=self._released)
        options = job(self.threads, None if self.memory is None else str(self.memory), None)
        texts = _by_record(_native.relabel(options, records.source(), self.recoding_.to_json()))
        return records.released(self._released, texts)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the released columns."""
        check_is_fitted(self, "recoding_")
        return np.asarray(self._released, dtype=object)

    def _release(self, X: Any, y: Any) -> tuple[_Records, Any]:
        if self.policy is None:
            raise UsageError("Anonymizer needs a policy")
        policy = policy_of(self.policy)
        _check_global(policy)
        records = _Records(X, self, needed=None)
        policy = policy._without_identifiers(records.names)
        absent = [name for name in policy.columns if name not in records.names and "*" not in name]
        target = absent[0] if y is not None and len(absent) == 1 else None
        table = records.table if target is None else records.with_column(target, y)
        release = anonymize(
            table, policy, seed=self.seed, shuffle=False, time_limit=self.time_limit, memory=self.memory, threads=self.threads
        )
        self.recoding_ = release.recoding
        self.report_ = release.report.to_dict()
        self._released = [name for name in release.columns if name != target]
        columns = self.recoding_.columns
        self._labeled = [name for name in self._released if columns[name]["role"] == "quasi-identifier"]
        return records, release

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _check_global(policy: Policy) -> None:
    """Refuses methods of local recoding, before their search."""
    known = {method["name"]: method["summary"].startswith("global recoding") for method in methods()}
    name = policy.to_dict().get("method", {}).get("name", "best")
    if not known.get(name, True):
        able = ", ".join(f"`{name}`" for name, is_global in known.items() if is_global)
        raise UsageError(
            f"the method `{name}` makes local recodings, under which a record outside of the release has no label; "
            f"choose one of {able}"
        )
