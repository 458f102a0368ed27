"""Features and pipelines: what the Rust code encodes equals a reference in Python, and scikit-learn's checks hold."""

from __future__ import annotations

import copy
import math
import pickle
import re
import subprocess
import sys
from typing import Any

import pytest

import moretta

np = pytest.importorskip("numpy")
pytest.importorskip("sklearn")
pa = pytest.importorskip("pyarrow")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from moretta.sklearn import Anonymizer, Encoder  # noqa: E402

LOCAL = ["best", "mondrian", "k-member", "local-top-down", "local-bottom-up", "sweep"]
GLOBAL = ["bottom-up-generalization", "top-down-disclosure", "genetic"]


def columns_of(table: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = pa.table(table).to_pydict()
    return found


def reference(released: Any, table: Any, policy: moretta.Policy, chosen: list[str]) -> tuple[list[str], list[list[float]]]:
    """The features of a table, from the labels of a release, as the documentation describes them."""

    def text(cell: Any) -> str:
        return "" if cell is None else str(cell)

    def path(label: str, declared: dict[str, Any]) -> tuple[str, ...]:
        if label == "*":
            return ()
        kept = label.rstrip("*")
        lengths = sorted(declared.get("hierarchy", {}).get("prefix", []))
        return (*(f"{kept[:length]}*" for length in lengths if length < len(kept)), label)

    def ends(label: str, widest: tuple[float, float]) -> tuple[float, float]:
        found = re.fullmatch(r"\[(.+), (.+)\]", label)
        if label == "*":
            return widest
        if found:
            return float(found[1]), float(found[2])
        return (float(label), float(label)) if label else (math.nan, math.nan)

    names: list[str] = []
    features: list[list[float]] = [[] for _ in next(iter(columns_of(table).values()))]
    for name in chosen:
        declared = policy.columns[name]
        labels, cells = ([text(cell) for cell in columns_of(source)[name]] for source in (released, table))
        if name == "income":
            names.append(name)
            for row, cell in zip(features, cells):
                row.append(float(cell))
        elif name == "age":
            known = [ends(label, (math.nan, math.nan)) for label in labels if label != "*"]
            widest = (min(low for low, _ in known), max(high for _, high in known))
            names += ["age_low", "age_high"]
            for row, cell in zip(features, cells):
                row.extend(ends(cell, widest))
        else:
            kept = declared["role"] != "quasi-identifier"
            paths = [(label,) if kept else path(label, declared) for label in labels]
            nodes = sorted({whole[:length] for whole in paths for length in range(1, len(whole) + 1)})
            names += [f"{name}={node[-1]}" for node in nodes]
            for row, cell in zip(features, cells):
                whole = (cell,) if kept else path(cell, declared)
                row.extend(float(whole[: len(node)] == node) for node in nodes)
    return names, features


@pytest.mark.parametrize("method", ["mondrian", "best", "bottom-up-generalization"])
def test_features_equal_the_reference(people: Any, policy: moretta.Policy, method: str) -> None:
    chosen = policy.with_(method=method).with_(columns={"age": {"role": "quasi-identifier", "hierarchy": "iotf"}})
    release = moretta.anonymize(people, chosen, seed=1, time_limit=2.0)
    assert any("*" in str(cell) for cell in columns_of(release)["postcode"])
    encoder = Encoder(policy).fit(release)
    used = ["age", "sex", "postcode", "marital-status", "income", "diagnosis"]
    for table in (release, people):
        names, features = reference(release, table, policy, used)
        assert list(encoder.get_feature_names_out()) == names
        np.testing.assert_array_equal(encoder.transform(table), np.asarray(features))


def test_a_record_activates_what_its_release_does(people: Any, policy: moretta.Policy) -> None:
    release = moretta.anonymize(people, policy, seed=1, shuffle=False)
    encoder = Encoder(policy, columns=["age", "sex", "postcode", "marital-status"]).fit(release)
    released, original = encoder.transform(release), encoder.transform(people)
    names = list(encoder.get_feature_names_out())
    low, high = names.index("age_low"), names.index("age_high")
    assert (released[:, low] <= original[:, low]).all() and (original[:, high] <= released[:, high]).all()
    others = [index for index in range(len(names)) if index not in (low, high)]
    assert (released[:, others] <= original[:, others]).all()


def test_every_frame_is_encoded_alike(people: Any, policy: moretta.Policy) -> None:
    release = moretta.anonymize(people, policy, seed=1)
    encoder = Encoder(policy).fit(release)
    expected = encoder.transform(people)
    frames = [people.to_pandas(), polars.from_arrow(people), moretta.demo(1000).people]
    for frame in frames:
        np.testing.assert_array_equal(encoder.transform(frame), expected)
    for frame in (release.to_pandas(), release.to_polars(), release.to_arrow()):
        again = Encoder(policy).fit(frame)
        np.testing.assert_array_equal(again.transform(people), expected)
    copies = [pickle.loads(pickle.dumps(encoder)), copy.deepcopy(encoder)]
    for again in copies:
        np.testing.assert_array_equal(again.transform(people), expected)
    named = encoder.set_output(transform="pandas").transform(people)
    assert list(named.columns) == list(encoder.get_feature_names_out())


def test_ordinal_categories(people: Any, policy: moretta.Policy) -> None:
    release = moretta.anonymize(people, policy, seed=1)
    encoder = Encoder(policy, columns=["postcode"], categories="ordinal").fit(release)
    names = list(encoder.get_feature_names_out())
    assert names == [f"postcode_level{level}" for level in range(1, len(names) + 1)]
    numbers = {
        label: row for label, row in zip(columns_of(release)["postcode"], encoder.transform(release).tolist())
    }
    assert numbers.get("*", [-1.0] * len(names)) == [-1.0] * len(names)
    for label, row in numbers.items():
        assert all((number >= 0) == (label != "*" and level < label_level(label)) for level, number in enumerate(row))


def label_level(label: str) -> int:
    return {2: 1, 3: 2, 5: 3}[len(label.rstrip("*"))]


def test_a_hierarchy_file_is_kept_in_the_encoder(tmp_path: Any) -> None:
    (tmp_path / "job.csv").write_text("cook;craft;*\nbaker;craft;*\nclerk;office;*\n", encoding="utf-8")
    columns = {"job": {"role": "quasi-identifier", "hierarchy": "job.csv"}}
    policy = moretta.Policy.from_dict({"privacy": {"k": 2}, "columns": columns}, folder=tmp_path)
    encoder = Encoder(policy).fit(pandas.DataFrame({"job": ["craft", "clerk", "*"]}))
    (tmp_path / "job.csv").unlink()
    assert list(encoder.get_feature_names_out()) == ["job=craft", "job=office", "job=clerk"]
    found = encoder.transform(pandas.DataFrame({"job": ["cook", "clerk", "craft", "*"]}))
    assert found.tolist() == [[1, 0, 0], [0, 1, 1], [1, 0, 0], [0, 0, 0]]
    assert pickle.loads(pickle.dumps(encoder)).transform(pandas.DataFrame({"job": ["baker"]})).tolist() == [[1, 0, 0]]


def test_wrong_cells_and_columns_are_one_error() -> None:
    encoder = Encoder().fit(pandas.DataFrame({"age": ["[1, 5]", "9"]}))
    with pytest.raises(moretta.InputError, match="`old` is neither a value nor a label") as caught:
        encoder.transform(pandas.DataFrame({"age": ["3", "old", "secret"]}))
    assert "secret" not in str(caught.value)
    with pytest.raises(ValueError, match="feature names"):
        encoder.transform(pandas.DataFrame({"other": ["3"]}))
    with pytest.raises(moretta.UsageError, match="categories"):
        Encoder(categories="other").fit(pandas.DataFrame({"age": ["3"]}))
    with pytest.raises(moretta.UsageError, match="does not declare the column `b`"):
        policy = {"privacy": {"k": 2}, "columns": {"a": "quasi-identifier"}}
        Encoder(policy, columns=["b"]).fit(pandas.DataFrame({"a": ["3"], "b": ["4"]}))


def global_policy(policy: moretta.Policy, method: str = "bottom-up-generalization") -> moretta.Policy:
    changed = policy.with_(
        method=method,
        columns={"age": {"role": "quasi-identifier", "type": "number", "hierarchy": {"widths": [5, 10, 20]}}},
    )
    return changed.with_(privacy={"k": 5})


@pytest.mark.parametrize("method", GLOBAL)
def test_the_release_of_a_pipeline(people: Any, policy: moretta.Policy, method: str) -> None:
    chosen = global_policy(policy, method)
    if method == "top-down-disclosure":
        chosen = chosen.with_(privacy={"k": 5, "template": [{"given": ["age", "sex"], "column": "diagnosis", "rarest": 0.5, "max-confidence": 0.9}]})
    expected = moretta.anonymize(people, chosen, seed=1, shuffle=False, time_limit=3.0)
    anonymizer = Anonymizer(chosen, seed=1, time_limit=3.0)
    for frame in (people.to_pandas(), polars.from_arrow(people), people):
        released = anonymizer.fit_transform(frame)
        assert type(released) is type(frame)
        if method != "genetic":
            assert columns_of(released) == columns_of(expected)
        assert moretta.check(released, chosen)
    assert list(anonymizer.get_feature_names_out()) == expected.columns
    # Records that are not suppressed have the labels of the release.
    labels, released = columns_of(anonymizer.transform(people)), columns_of(released)
    quasi = ["age", "sex", "postcode", "marital-status"]
    rows = list(zip(*(zip(labels[name], released[name]) for name in quasi)))
    suppressed = [row for row in rows if all(after == "*" for _, after in row)]
    assert all(before == after for row in rows if row not in suppressed for before, after in row)
    assert labels["income"] == columns_of(people)["income"]
    index = people.to_pandas().sample(frac=0.5, random_state=1)
    assert list(anonymizer.transform(index).index) == list(index.index)


@pytest.mark.parametrize("method", LOCAL)
def test_local_methods_are_refused(people: Any, policy: moretta.Policy, method: str) -> None:
    with pytest.raises(moretta.UsageError, match=f"`{method}` makes local recodings.*choose one of `bottom-up"):
        Anonymizer(policy.with_(method=method)).fit(people)
    assert {entry["name"] for entry in moretta.methods()} == {*LOCAL, *GLOBAL}
    with pytest.raises(moretta.UsageError, match="needs a policy"):
        Anonymizer().fit(people)


def test_the_target_takes_part_in_the_search(people: Any, policy: moretta.Policy) -> None:
    chosen = global_policy(policy)
    frame = people.to_pandas()
    features, target = frame.drop(columns="insured"), frame["insured"]
    whole = Anonymizer(chosen, seed=1).fit_transform(frame).drop(columns="insured")
    pandas.testing.assert_frame_equal(Anonymizer(chosen, seed=1).fit_transform(features, target), whole)
    without = features.drop(columns=["name", "occupation"])
    pandas.testing.assert_frame_equal(Anonymizer(chosen, seed=1).fit_transform(without, target), whole)
    with pytest.raises(moretta.InputError, match="`insured`"):
        Anonymizer(chosen, seed=1).fit(without)
    of_polars = Anonymizer(chosen, seed=1).fit_transform(polars.from_pandas(features), target)
    assert columns_of(of_polars) == columns_of(whole)
    of_arrow = Anonymizer(chosen, seed=1).fit_transform(pa.table(features), target)
    assert columns_of(of_arrow) == columns_of(whole)


def test_a_model_is_trained_on_the_release(people: Any, policy: moretta.Policy) -> None:
    chosen = global_policy(policy)
    frame = people.to_pandas().sample(frac=1.0, random_state=3)
    features, target = frame.drop(columns="insured"), frame["insured"]
    models = [HistGradientBoostingClassifier(max_iter=20), make_pipeline(StandardScaler(), LogisticRegression())]
    for model in models:
        pipeline = make_pipeline(Anonymizer(chosen, seed=1), Encoder(chosen), model)
        scores = cross_val_score(pipeline, features, target, cv=2, error_score="raise")
        assert min(scores) > 0.4
    pipeline.fit(features, target)
    again = pickle.loads(pickle.dumps(pipeline))
    assert list(again.predict(features)) == list(pipeline.predict(features))


TEXTS = "it subtracts results, and labels are texts; test_labels_of_arrays has what it checks"
#: Checks of scikit-learn that cannot hold for an Anonymizer, and why. All hold for an Encoder.
EXCEPTIONS = {
    "check_estimators_pickle": TEXTS,
    "check_fit2d_1sample": "one record alone satisfies no policy: Unsatisfiable, which is no ValueError",
    "check_fit_idempotent": TEXTS,
    "check_methods_sample_order_invariance": TEXTS,
    "check_methods_subset_invariance": TEXTS,
    "check_pipeline_consistency": TEXTS,
    "check_transformer_data_not_an_array": TEXTS,
    "check_transformer_general": TEXTS,
}


def of_arrays() -> Anonymizer:
    """An estimator for arrays with any number of columns."""
    columns = {"x*": {"role": "quasi-identifier", "hierarchy": "iotf", "missing": "category"}}
    tree = {"privacy": {"k": 2}, "method": {"name": "bottom-up-generalization"}, "columns": columns}
    return Anonymizer(moretta.Policy.from_dict(tree), seed=1)


@pytest.mark.filterwarnings("ignore::moretta.MorettaWarning")
def test_labels_of_arrays() -> None:
    numbers = np.random.default_rng(1).normal(size=(40, 3)).round(1)
    estimator = of_arrays()
    released = estimator.fit_transform(numbers)
    assert released.dtype == object and list(estimator.get_feature_names_out()) == ["x0", "x1", "x2"]
    _, groups = np.unique(released.astype(str), axis=0, return_counts=True)
    assert groups.min() >= 2
    labels = estimator.transform(numbers)
    assert (labels == released).all(), "nothing is suppressed here"
    again = of_arrays().fit(numbers)
    assert (again.transform(numbers) == labels).all() and (again.fit(numbers).transform(numbers) == labels).all()
    order = np.random.default_rng(2).permutation(40)
    assert (estimator.transform(numbers[order]) == labels[order]).all()
    assert (np.vstack([estimator.transform(numbers[[row]]) for row in range(40)]) == labels).all()
    assert (pickle.loads(pickle.dumps(estimator)).transform(numbers) == labels).all()
    assert (make_pipeline(of_arrays()).fit_transform(numbers) == released).all()
    assert (of_arrays().fit_transform(numbers.tolist()) == released).all()


def failed(estimator: Any) -> dict[str, str]:
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    return {result["check_name"]: repr(result["exception"]) for result in results if result["status"] == "failed"}


def test_the_encoder_is_an_estimator() -> None:
    assert failed(Encoder()) == {}


@pytest.mark.filterwarnings("ignore::moretta.MorettaWarning")
def test_the_anonymizer_is_an_estimator() -> None:
    found = failed(of_arrays())
    assert found.keys() == EXCEPTIONS.keys(), found


def test_the_package_does_not_import_scikit_learn() -> None:
    code = "import sys, moretta; print([name for name in ('sklearn', 'numpy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
