"""Releases of Spark DataFrames: the counts of the local engine on any number of partitions, or an untouched target."""

from __future__ import annotations

import itertools
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tables

import moretta

pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java 17 or later (java, or JAVA_HOME)", allow_module_level=True)

from pyspark.sql import SparkSession  # noqa: E402

from moretta import spark  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::moretta.MorettaWarning", "ignore::FutureWarning")
METHODS = [method["name"] for method in moretta.methods()]
SETTINGS = list(itertools.product([1, 3, 200], [True, False]))


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    builder = SparkSession.builder.master("local[2]").appName("moretta")
    options = {
        "spark.driver.memory": "2g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "OFF",
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture()
def people(tmp_path: Path) -> Any:
    """A table, and a folder of three files with it."""
    table = tables.table(500)
    write(table, tmp_path / "people")
    return table


def write(table: Any, folder: Path, files: int = 3) -> None:
    folder.mkdir()
    size = -(-table.num_rows // files)
    for number in range(files):
        pq.write_table(table.slice(number * size, size), folder / f"part-{number}.parquet")


def set_partitions(session: SparkSession, partitions: int, adaptive: bool) -> None:
    session.conf.set("spark.sql.shuffle.partitions", str(partitions))
    session.conf.set("spark.sql.adaptive.enabled", str(adaptive).lower())


def release(
    session: SparkSession, folder: Path, value: moretta.Policy, partitions: int | None = None, seed: int = 3
) -> Any:
    target = folder / "released"
    shutil.rmtree(target, ignore_errors=True)
    report = spark.anonymize(
        session.read.parquet(str(folder / "people")), value, target, seed=seed, partitions=partitions
    )
    assert sorted(path.name for path in folder.iterdir()) == ["people", "released"]
    assert report.recoding is not None and spark.check(target, value)
    return pa.concat_tables(pq.read_table(path) for path in sorted(target.glob("*.parquet")))


@pytest.mark.parametrize(("partitions", "adaptive"), SETTINGS)
def test_partitions_change_no_count(
    session: SparkSession, people: Any, tmp_path: Path, partitions: int, adaptive: bool
) -> None:
    set_partitions(session, partitions, adaptive)
    value = tables.policy("k-member")
    # Writing 200 files takes most of the time.
    files = min(partitions, 20) if adaptive else partitions
    tables.compared(release(session, tmp_path, value, files), people, value, 3)
    assert 1 <= len(list((tmp_path / "released").glob("*.parquet"))) <= files


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_the_counts_of_the_local_engine(
    session: SparkSession, people: Any, tmp_path: Path, method: str
) -> None:
    set_partitions(session, 3, METHODS.index(method) % 2 == 0)
    value = tables.policy(method)
    tables.compared(release(session, tmp_path, value), people, value, 3)


@pytest.mark.parametrize(
    "models",
    [
        {"l-diversity": [{"column": "c0", "l": 2}]},
        {"t-closeness": [{"column": "c0", "t": 0.4, "distance": "equal"}]},
        {"delta-disclosure": [{"column": "order", "delta": 2.0}], "max-suppressed": 0.1},
    ],
)
def test_models_and_large_plans(
    session: SparkSession, people: Any, tmp_path: Path, models: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Joins as those of large plans, and results in several parts.
    monkeypatch.setattr(spark, "_BROADCAST_ROWS", 0)
    monkeypatch.setattr(spark, "_ROWS_AT_ONCE", 100)
    set_partitions(session, 3, True)
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        value = tables.policy("local-bottom-up", models)
        tables.compared(release(session, tmp_path, value), people, value, 3)
    finally:
        session.conf.unset("spark.sql.autoBroadcastJoinThreshold")


def test_statements_run_no_python_and_show_no_secret(
    session: SparkSession, people: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_partitions(session, 3, True)
    plans: list[str] = []
    secrets: list[str] = []
    run, write = spark._Table._sql, spark._Table._write

    def explained(self: Any, statement: str, **frames: Any) -> Any:
        frame = run(self, statement, **frames)
        plans.append(statement + frame._jdf.queryExecution().toString())
        return frame

    def noted(self: Any, plan: Any, statement: str, order: str) -> Any:
        assert len(plan.splits) and len(plan.rows)
        secrets.append(plan.secret)
        return write(self, plan, statement, order)

    monkeypatch.setattr(spark._Table, "_sql", explained)
    monkeypatch.setattr(spark._Table, "_write", noted)
    released = release(session, tmp_path, tables.policy("k-member"))
    labels = {label for label in released.column("age").to_pylist() if label.startswith("[")}
    assert len(plans) > 5 and len(secrets) == 1 and len(labels) > 3
    for plan in plans:
        assert "Python" not in plan and "UDF" not in plan and secrets[0] not in plan
        assert not any(label in plan for label in labels)
    assert session.catalog.listTables() == []


def test_the_release_is_hidden_until_it_is_checked(session: SparkSession, people: Any, tmp_path: Path) -> None:
    seen: list[str] = []

    def look(progress: moretta.Progress) -> None:
        seen.append(progress.stage)
        assert not (tmp_path / "released").exists()
        for staging in tmp_path.glob(".moretta-*"):
            seen.append("staging")
            assert stat.S_IMODE(staging.stat().st_mode) == 0o700

    frame = session.read.parquet(str(tmp_path / "people"))
    spark.anonymize(frame, tables.policy("mondrian"), tmp_path / "released", progress=look)
    assert "staging" in seen and (tmp_path / "released").is_dir()


def test_frames_that_are_no_files(session: SparkSession, people: Any, tmp_path: Path) -> None:
    set_partitions(session, 3, True)
    frame = session.read.parquet(str(tmp_path / "people"))
    other = session.createDataFrame(pa.table({"of": ["m", "f"], "extra": ["x", "y"]}))
    joined = frame.join(other, frame["sex"] == other["of"]).drop("of", "extra").repartition(5)
    value = tables.policy("mondrian")
    spark.anonymize(joined, value, tmp_path / "joined", seed=3)
    of_join = people.filter(pa.compute.is_in(people["sex"], pa.array(["m", "f"])))
    tables.compared(pq.read_table(tmp_path / "joined"), of_join, value, 3)


def test_a_recoding_is_applied_to_new_records(session: SparkSession, people: Any, tmp_path: Path) -> None:
    set_partitions(session, 3, True)
    more = tables.table(300, 9)
    write(more, tmp_path / "more")
    recoding = moretta.anonymize(people, tables.policy("mondrian", {"max-suppressed": 0.5}), seed=1).recoding
    frame = session.read.parquet(str(tmp_path / "more"))
    spark.apply(frame, recoding, tmp_path / "released", seed=1)
    released, local = pq.read_table(tmp_path / "released"), recoding.apply(more, seed=1)
    judged = [name for name in local.columns if name not in ("h", "note")]
    assert tables.tally(released, judged) == tables.tally(local, judged)


def test_orc(session: SparkSession, people: Any, tmp_path: Path) -> None:
    frame = session.read.parquet(str(tmp_path / "people")).select("age", "sex", "c0")
    columns = {name: tables.COLUMNS[name] for name in frame.columns}
    value = moretta.Policy.from_dict({**tables.policy("mondrian").to_dict(), "columns": columns, "release": {}})
    spark.anonymize(frame, value, tmp_path / "released", seed=1, format="orc")
    released = session.read.orc(str(tmp_path / "released")).toArrow()
    assert tables.tally(released) == tables.tally(moretta.anonymize(people.select(frame.columns), value, seed=1))


def refused(
    frame: Any, target: Path, kind: type[moretta.MorettaError], text: str, value: Any = None, **options: Any
) -> None:
    before = sorted(target.parent.iterdir()) if target.parent.is_dir() else []
    with pytest.raises(kind, match=text) as raised:
        spark.anonymize(frame, value or tables.policy("mondrian"), target, seed=1, **options)
    assert type(raised.value) is kind and "it's" not in str(raised.value) and raised.value.__context__ is None
    assert (sorted(target.parent.iterdir()) if target.parent.is_dir() else []) == before


def test_bad_input_is_one_exception_and_nothing_is_written(session: SparkSession, people: Any, tmp_path: Path) -> None:
    set_partitions(session, 3, True)
    frame, target = session.read.parquet(str(tmp_path / "people")), tmp_path / "released"
    refused(frame, target, moretta.Unsatisfiable, "500 records", tables.policy("mondrian", {"k": 501}))
    refused(frame.drop("sex"), target, moretta.InputError, "sex")
    refused(frame.limit(0), target, moretta.InputError, "no records")
    refused(frame.selectExpr("*", "age AS AGE"), target, moretta.InputError, "two columns")
    refused(frame.selectExpr("* EXCEPT (age)", "array(age) AS age"), target, moretta.InputError, "of type array")
    at = tables.policy("mondrian", at={"role": "insensitive"})
    zoned = frame.selectExpr("*", "current_timestamp() AS at")
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    refused(zoned, target, moretta.InputError, "time zone", at)
    session.conf.set("spark.sql.session.timeZone", "UTC")
    collated = frame.selectExpr("* EXCEPT (c0)", "c0 COLLATE UTF8_LCASE AS c0")
    refused(collated, target, moretta.InputError, "collation")
    refused(frame, target, moretta.MemoryLimit, "max_distinct", max_distinct=10)
    refused(frame, tmp_path / "people", moretta.UsageError, "exists already")
    refused(frame, tmp_path / "people" / "part-0.parquet" / "x", moretta.UsageError, "the target")
    refused(frame, target, moretta.UsageError, "format", format="csv")
    failing = frame.selectExpr("* EXCEPT (c0)", "CAST(CAST(c0 AS INT) AS STRING) AS c0")
    refused(failing, target, moretta.InputError, "CAST_INVALID_INPUT")


def test_an_object_store_is_refused(session: SparkSession, people: Any, tmp_path: Path) -> None:
    # A file system without rename, by another name of the local one.
    configuration = session._jsc.hadoopConfiguration()
    configuration.set("fs.store.impl", "org.apache.hadoop.fs.RawLocalFileSystem")
    frame = session.read.parquet(str(tmp_path / "people"))
    with pytest.raises(moretta.UsageError):
        spark.anonymize(frame, tables.policy("mondrian"), "store:/bucket/released")


@pytest.mark.parametrize("change", ["values", "records", "gone"])
def test_a_source_that_changes_between_the_passes(
    session: SparkSession, people: Any, tmp_path: Path, change: str
) -> None:
    set_partitions(session, 3, True)

    def alter(progress: moretta.Progress) -> None:
        if progress.stage == "writing" and (tmp_path / "people" / "part-1.parquet").exists():
            shutil.rmtree(tmp_path / "people")
            other = tables.table(500, 2) if change == "values" else people.slice(0, 480)
            write(other, tmp_path / "people", 1 if change == "gone" else 3)

    frame = session.read.parquet(str(tmp_path / "people"))
    with pytest.raises((moretta.InputError, moretta.Unsatisfiable)):
        spark.anonymize(frame, tables.policy("mondrian"), tmp_path / "released", seed=1, progress=alter)
    assert [path.name for path in tmp_path.iterdir()] == ["people"]


def test_a_closed_session() -> None:
    # The session of this module must stay open for other tests, so another process closes one.
    import subprocess
    import sys

    program = """
import moretta, pyarrow, tables
from moretta import spark
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
frame = session.createDataFrame(tables.table(20))
session.stop()
try:
    spark.anonymize(frame, tables.policy("mondrian"), "/nowhere/released")
except moretta.UsageError as error:
    print("refused:", error)
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=120)
    assert "refused: the DataFrame: the Spark session is closed" in done.stdout, done.stderr
