"""The release of a table in memory is that of the command line on a file, cell by cell, from every kind of frame."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import moretta

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def command_line(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "moretta", *arguments], capture_output=True, text=True, check=False, timeout=300
    )


def cells(table: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pa.table(table).to_pylist()
    return found


def released_by_command_line(people: Any, policy_file: Path, seed: int = 7) -> list[dict[str, Any]]:
    """The release of the command line, from a Parquet file to one."""
    source, output = policy_file.with_name("people.parquet"), policy_file.with_name("out.parquet")
    pq.write_table(people, source)
    done = command_line("anonymize", str(source), "-p", str(policy_file), "-o", str(output), "--seed", str(seed))
    assert done.returncode == 0, done.stderr
    return cells(pq.read_table(output))


def frames(people: Any) -> dict[str, Any]:
    found = {"pyarrow": people, "batches": people.to_reader(max_chunksize=97), "release": None}
    found["batch"] = people.combine_chunks().to_batches()[0]
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    found["pandas"] = people.to_pandas()
    found["polars"] = polars.from_arrow(people)
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    found["duckdb"] = connection.from_arrow(people)
    assert pandas is not None
    del found["release"]
    return found


def test_every_frame_has_the_release_of_the_command_line(people: Any, policy: moretta.Policy, policy_file: Path) -> None:
    expected = released_by_command_line(people, policy_file)
    assert len(expected) == people.num_rows and "name" not in expected[0]
    for kind, frame in frames(people).items():
        release = moretta.anonymize(frame, policy, seed=7)
        assert cells(release) == expected, kind
    path = policy_file.with_name("people.parquet")
    for given in (path, str(path)):
        assert cells(moretta.anonymize(given, policy_file, seed=7)) == expected
    release = moretta.anonymize(people, policy, seed=7)
    assert cells(release.to_arrow()) == cells(pa.table(release.to_polars())) == expected
    assert release.to_pandas().to_dict("records") == pa.Table.from_pylist(expected).to_pandas().to_dict("records")


def test_all_types_of_columns(tmp_path: Path) -> None:
    count = 200
    day = datetime.date(2024, 2, 28)
    table = pa.table(
        {
            "int": pa.array([at % 7 for at in range(count)], pa.int16()),
            "float": [at % 5 / 4 for at in range(count)],
            "date": [day + datetime.timedelta(days=at % 9) for at in range(count)],
            "text": [f"t{at % 3}" for at in range(count)],
            "category": pa.array([f"c{at % 4}" for at in range(count)]).dictionary_encode(),
            "flag": [at % 2 == 0 for at in range(count)],
            "decimal": [Decimal(at % 3) + Decimal("0.25") for at in range(count)],
            "moment": [datetime.datetime(2024, 1, 1, at % 24) for at in range(count)],
            "nothing": pa.nulls(count),
            "kept": pa.array([None if at % 3 else at // 3 for at in range(count)], pa.int64()),
        }
    )
    columns = {name: {"role": "quasi-identifier"} for name in ("int", "float", "date", "text", "category")}
    columns |= {name: {"role": "insensitive"} for name in ("flag", "decimal", "moment", "nothing")}
    columns["kept"] = {"role": "identifier"}
    policy = moretta.Policy.from_dict(
        {"privacy": {"k": 10}, "method": {"name": "mondrian"}, "release": {"order": "input"}, "columns": columns}
    )
    path = tmp_path / "policy.toml"
    policy.save(path)
    expected = released_by_command_line(table, path)
    release = moretta.anonymize(table, policy, seed=7)
    assert cells(release) == expected
    assert release.to_arrow().schema.field("flag").type == pa.bool_()
    assert release.to_arrow().schema.field("moment").type == pa.timestamp("us")


def layouts(texts: list[str | None]) -> dict[str, Any]:
    longer = pa.array(["x", *texts, "y"])
    found = {
        "utf8": pa.array(texts, pa.string()),
        "large_utf8": pa.array(texts, pa.large_string()),
        "utf8_view": pa.array(texts, pa.string_view()),
        "sliced": longer.slice(1, len(texts)),
        "chunks": pa.chunked_array([texts[:1], [], texts[1:]], pa.string()),
        "dictionary": pa.array(texts).dictionary_encode(),
        "small_dictionary": pa.array(texts).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
        "large_dictionary": pa.array(texts).dictionary_encode().cast(pa.dictionary(pa.int32(), pa.large_string())),
        "sliced_dictionary": longer.dictionary_encode().slice(1, len(texts)),
    }
    indices = pa.array([None if text is None else "zab".index(text[0]) for text in texts], pa.int32())
    found["unused_category"] = pa.DictionaryArray.from_arrays(indices, ["z", "a", "b"])
    return found


def test_every_layout_of_texts() -> None:
    texts: list[str | None] = ["a", "b", "a", None, "b", "a", None, "a"]
    columns = {"q": {"role": "quasi-identifier", "missing": "category"}, "kept": "insensitive"}
    policy = moretta.Policy.from_dict(
        {"privacy": {"k": 2}, "method": {"name": "mondrian"}, "release": {"order": "input"}, "columns": columns}
    )
    results = {}
    for name, array in layouts(texts).items():
        release = moretta.anonymize(pa.table({"q": array, "kept": array}), policy, seed=1)
        results[name] = cells(release)
        assert [row["kept"] for row in results[name]] == texts, name
    assert all(result == results["utf8"] for result in results.values())
    assert {row["q"] for row in results["utf8"]} == {"a", "b", ""}


def text_frames(texts: list[str | None]) -> dict[str, Any]:
    """Frames with two columns of these texts, in the layouts of polars and pandas."""
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    plain = polars.Series(texts, dtype=polars.String)
    columns = {
        "polars": plain,
        "polars_categorical": plain.cast(polars.Categorical),
        "polars_enum_with_an_unused_value": plain.cast(polars.Enum(["z", "a", "b"])),
        "polars_sliced": polars.Series(["x", *texts, "y"]).slice(1, len(texts)),
        "polars_chunks": polars.Series(texts[:3]).append(polars.Series(texts[3:])),
    }
    found = {name: polars.DataFrame({"q": column, "kept": column}) for name, column in columns.items()}
    for name, cells in (
        ("pandas", pandas.Series(texts)),
        ("pandas_objects", pandas.Series(texts, dtype=object)),
        ("pandas_with_an_unused_category", pandas.Series(pandas.Categorical(texts, categories=["z", "a", "b"]))),
    ):
        found[name] = pandas.DataFrame({"q": cells, "kept": cells})
    return found


def test_texts_of_polars_and_pandas() -> None:
    texts: list[str | None] = ["a", "b", "a", None, "b", "a", None, "a"]
    columns = {"q": {"role": "quasi-identifier", "missing": "category"}, "kept": "insensitive"}
    policy = moretta.Policy.from_dict(
        {"privacy": {"k": 2}, "method": {"name": "mondrian"}, "release": {"order": "input"}, "columns": columns}
    )
    expected = [{"q": text or "", "kept": text} for text in texts]
    for name, frame in text_frames(texts).items():
        assert cells(moretta.anonymize(frame, policy, seed=1)) == expected, name
    nothing = pa.table({"q": pa.nulls(8), "kept": pa.nulls(8)})
    assert cells(moretta.anonymize(nothing, policy, seed=1)) == [{"q": "", "kept": None}] * 8


def test_tables_without_records(policy: moretta.Policy, people: Any) -> None:
    polars = pytest.importorskip("polars").from_arrow(people)
    frames = (polars.clear(), polars.to_pandas().head(0))
    for empty in (*frames, people.slice(0, 0), people.schema.empty_table(), pa.Table.from_batches([], people.schema)):
        with pytest.raises(moretta.InputError, match="no records"):
            moretta.anonymize(empty, policy)


def test_a_release_is_written_and_read_back(people: Any, policy: moretta.Policy, tmp_path: Path) -> None:
    release = moretta.anonymize(people, policy, seed=3)
    for name in ("out.parquet", "out.csv", "out.csv.gz", "out.arrow", "out.arrows"):
        path = tmp_path / name
        release.write(path)
        assert moretta.check(path, policy), name
        with pytest.raises(moretta.UsageError, match="exists"):
            release.write(path)
        release.write(path, overwrite=True)
    assert cells(pq.read_table(tmp_path / "out.parquet")) == cells(release)
    by_file = moretta.anonymize_file(people, tmp_path / "direct.csv", policy, seed=3)
    assert (tmp_path / "direct.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    assert by_file.to_dict()["privacy"] == release.report.to_dict()["privacy"]


def test_recodings_are_applied_to_new_records(people: Any, policy: moretta.Policy, tmp_path: Path) -> None:
    release = moretta.anonymize(people, policy.with_(privacy={"k": 5, "max-suppressed": 0.5}), seed=3)
    release.recoding.save(tmp_path / "recoding.json")
    loaded = moretta.Recoding.load(tmp_path / "recoding.json")
    again = loaded.apply(people, seed=4, shuffle=False)
    assert len(again) == people.num_rows and again.report.smallest_group >= 5
    pq.write_table(people, tmp_path / "people.parquet")
    done = command_line(
        "apply", str(tmp_path / "people.parquet"), "--recoding", str(tmp_path / "recoding.json"),
        "--output", str(tmp_path / "out.parquet"), "--seed", "4", "--keep-order",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert cells(pq.read_table(tmp_path / "out.parquet")) == cells(again)
    report = loaded.apply_file(people, tmp_path / "applied.csv", reports=[tmp_path / "r.html"], seed=4)
    assert report.smallest_group >= 5 and (tmp_path / "r.html").exists()
