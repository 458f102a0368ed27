"""Bad input is one exception of one type, without data in its text, and nothing is left behind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import moretta

pa = pytest.importorskip("pyarrow")
SECRET = "Xanthippe"


def simple(**columns: Any) -> moretta.Policy:
    return moretta.Policy.from_dict({"privacy": {"k": 2}, "method": {"name": "mondrian"}, "columns": columns})


def refused(data: Any, policy: moretta.Policy, kind: type[moretta.MorettaError], text: str) -> moretta.MorettaError:
    with pytest.raises(kind) as raised:
        moretta.anonymize(data, policy)
    assert type(raised.value) is kind
    assert text in str(raised.value), str(raised.value)
    error: BaseException | None = raised.value
    while error is not None:
        assert SECRET not in str(error), "an exception shows data"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return raised.value


def test_unsupported_types() -> None:
    nested = pa.table({"a": [[SECRET], ["y"]]})
    found = refused(nested, simple(a="quasi-identifier"), moretta.InputError, "List")
    assert found.column == "a" or "`a`" in str(found)
    # A nested column that is not released is no problem.
    table = pa.table({"a": [[SECRET], ["y"]], "b": ["x", "x"]})
    assert len(moretta.anonymize(table, simple(a="identifier", b="quasi-identifier"))) == 2


def test_columns_with_the_same_name() -> None:
    twice = pa.Table.from_arrays([pa.array(["x", "x"]), pa.array([SECRET, "y"])], names=["a", "a"])
    refused(twice, simple(a="quasi-identifier"), moretta.InputError, "columns 1 and 2 have the same name")


def test_frames_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    policy = simple(a="quasi-identifier")
    mixed = pandas.DataFrame({"a": [1, SECRET]})
    refused(mixed, policy, moretta.InputError, "column `a` has values of the types int, str")
    twice = pandas.DataFrame([["x", SECRET]], columns=["a", "a"])
    refused(twice, policy, moretta.InputError, "two columns have the name `a`")
    indexed = pandas.DataFrame({"a": ["x", "x"]}, index=[SECRET, "y"])
    with pytest.warns(moretta.MorettaWarning, match="the index of the DataFrame is dropped"):
        assert moretta.anonymize(indexed, policy).columns == ["a"]


def test_a_table_for_another_policy() -> None:
    table = pa.table({"a": ["x", SECRET]})
    refused(table, simple(b="quasi-identifier"), moretta.InputError, "`b`")


def test_one_cell_at_fault_is_named() -> None:
    table = pa.table({"a": ["1", "2", "three"]})
    found = refused(table, simple(a={"role": "quasi-identifier", "type": "number"}), moretta.InputError, "three")
    assert (found.record, found.column, found.path) == (3, "a", "the table")


def test_what_cannot_be_satisfied() -> None:
    table = pa.table({"a": [SECRET, "y", "y"]})
    found = refused(table, simple(a="quasi-identifier").with_(k=4), moretta.Unsatisfiable, "3 records")
    assert isinstance(found, moretta.Unsatisfiable) and "3 records" in found.limits


def test_no_table() -> None:
    policy = simple(a="quasi-identifier")
    refused([SECRET], policy, moretta.InputError, "list is no table")
    refused("no-such-file.csv", policy, moretta.InputError, "no-such-file.csv")


def test_a_source_that_fails_half_way() -> None:
    schema = pa.schema({"a": pa.string()})

    def batches() -> Any:
        yield pa.record_batch({"a": ["x", "x"]}, schema)
        raise RuntimeError(SECRET)

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    refused(reader, simple(a="quasi-identifier"), moretta.InputError, "its source failed")


def test_a_stream_is_read_once() -> None:
    reader = pa.table({"a": ["x", "x"]}).to_reader()
    policy = simple(a="quasi-identifier")
    assert len(moretta.anonymize(reader, policy)) == 2
    with pytest.raises(moretta.InputError):
        moretta.anonymize(reader, policy)


def test_files_that_cannot_be_written(people: Any, policy: moretta.Policy, tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    output.write_text("mine", encoding="utf-8")
    with pytest.raises(moretta.UsageError, match="exists"):
        moretta.anonymize_file(people, output, policy)
    with pytest.raises(moretta.UsageError, match="does not exist"):
        moretta.anonymize_file(people, tmp_path / "none" / "out.csv", policy)
    with pytest.raises(moretta.UsageError, match="should end in"):
        moretta.anonymize_file(people, tmp_path / "out.xyz", policy)
    with pytest.raises(moretta.Unsatisfiable):
        moretta.anonymize_file(people, tmp_path / "new.csv", policy.with_(k=5000), reports=[tmp_path / "r.json"])
    assert os.listdir(tmp_path) == ["out.csv"] and output.read_text(encoding="utf-8") == "mine"


def test_options(people: Any, policy: moretta.Policy) -> None:
    for options in ({"memory": "lots"}, {"time_limit": "soon"}, {"seed": "seven"}, {"effort": "max"}):
        with pytest.raises(ValueError):
            moretta.anonymize(people, policy, **options)
    with pytest.raises(moretta.UsageError):
        moretta.anonymize(people, policy, memory=1000)
    with pytest.raises(moretta.MemoryLimit):
        moretta.anonymize(moretta.demo(400_000).people, policy, memory="100MB")
