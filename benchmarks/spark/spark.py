"""Releases synthetic people with Spark and prints the seconds of each statement to docs/results/spark.md.

The people are kept in a folder, so that a second run reads the same files.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from pyspark.sql import SparkSession

import moretta
from moretta import spark

#: People that are made at once, and records of a file.
PIECE = 500_000
DRIVER_MEMORY = "4g"
ROOT = Path(__file__).parents[2]

COLUMNS = {
    "name": "identifier",
    "age": {"role": "quasi-identifier", "type": "number", "hierarchy": "free"},
    "sex": {"role": "quasi-identifier", "type": "category"},
    "postcode": {"role": "quasi-identifier", "type": "category", "hierarchy": {"prefix": [4, 3, 2, 1]}},
    "education": {"role": "insensitive"},
    "occupation": {"role": "insensitive"},
    "marital-status": {"role": "quasi-identifier", "type": "category"},
    "income": "identifier",
    "diagnosis": {"role": "sensitive", "type": "category"},
    "insured": {"role": "insensitive"},
}
POLICY = {
    "privacy": {"k": 10, "l-diversity": [{"column": "diagnosis", "l": 2}]},
    "method": {"name": "mondrian"},
    "columns": COLUMNS,
}


def people(records: int, folder: Path) -> None:
    """Writes the people to files, each with other people."""
    if folder.is_dir():
        return
    unfinished = folder.with_suffix(".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    for number, start in enumerate(range(0, records, PIECE)):
        table = pyarrow.table(moretta.demo(min(PIECE, records - start), seed=number + 1).people)
        pyarrow.parquet.write_table(table, unfinished / f"part-{number:03}.parquet")
    unfinished.rename(folder)


def processor_seconds(process: int | None) -> float:
    """Processor seconds of this process, or of another."""
    if process is None:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_bytes(process: int | str) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


class Clock:
    """Seconds of steps: wall, and processor of Spark and of the driver's Python."""

    def __init__(self, java: int) -> None:
        self.java = java
        self.steps: list[tuple[str, float, float, float]] = []

    def now(self) -> tuple[float, float, float]:
        return time.monotonic(), processor_seconds(self.java), processor_seconds(None)

    def timed(self, owner: Any, method: str, name: Any) -> None:
        """Times each call of a method."""
        run = getattr(owner, method)

        def wrapped(*arguments: Any, **options: Any) -> Any:
            before = self.now()
            try:
                return run(*arguments, **options)
            finally:
                after = self.now()
                step = tuple(end - start for start, end in zip(before, after))
                self.steps.append((name(*arguments), *step))

        setattr(owner, method, wrapped)


def step_name(table: Any, *arguments: Any) -> str:
    what = next(argument for argument in arguments if isinstance(argument, str) and not argument.startswith("SELECT"))
    return what + (" of the release" if isinstance(table, spark._Released) else "")


def main(records: int, folder: Path) -> None:
    source, target = folder / f"people-{records}", folder / "released"
    people(records, source)
    shutil.rmtree(target, ignore_errors=True)
    builder = SparkSession.builder.master("local[2]").appName("moretta")
    options = {
        "spark.driver.memory": DRIVER_MEMORY,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "OFF",
        "spark.local.dir": str(folder / "local"),
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    java = int(session._jvm.java.lang.ProcessHandle.current().pid())
    clock = Clock(java)
    clock.timed(spark._Table, "_fetch", step_name)
    clock.timed(spark._Table, "_figures", step_name)
    clock.timed(spark._Table, "_write", lambda *arguments: "statement 2: rewriting and writing")
    plans: list[Any] = []
    write = spark._Table._write

    def noted(self: Any, plan: Any, statement: str, order: str) -> Any:
        plans.append(plan)
        return write(self, plan, statement, order)

    spark._Table._write = noted  # type: ignore[method-assign]
    before = clock.now()
    report = spark.anonymize(session.read.parquet(str(source)), POLICY, target, seed=1)
    total = [end - start for start, end in zip(before, clock.now())]
    statements = [sum(step[column] for step in clock.steps) for column in (1, 2, 3)]
    figures, plan = report.to_dict(), plans[0]
    version = session.version
    peak = [peak_bytes(java) / 1e9, peak_bytes("self") / 1e9]
    session.stop()
    steps: dict[str, list[float]] = {}
    for name, *seconds in clock.steps:
        steps[name] = [old + new for old, new in zip(steps.get(name, [0.0] * 3), seconds)]
    rows = [(name, *seconds) for name, seconds in steps.items()]
    rows.append(("search, verification, plan, comparison (moretta)", *(t - s for t, s in zip(total, statements))))
    rows.append(("in all", *total))
    lines = [f"| {name} | {wall:.0f} | {java:.0f} | {python:.0f} |" for name, wall, java, python in rows]
    size = sum(file.stat().st_size for file in source.iterdir()) / 1e6
    text = f"""# Spark

Made by `benchmarks/spark/run {records}`: PySpark {version}, `local[2]`, {DRIVER_MEMORY[:-1]} GB for the JVM, 8 shuffle
partitions, {os.cpu_count()} cores, moretta of the profile `{os.environ.get("PROFILE", "release")}`. Wall seconds depend on the load of the machine, processor seconds hardly.

{records:,} synthetic people in {-(-records // PIECE)} Parquet files of {size:,.0f} MB together; `mondrian`, k = 10, distinct
l-diversity with l = 2; quasi-identifiers age, sex, postcode and marital status, sensitive diagnosis, three kept columns.
Distinct rows: {len(plan.rows) + len(plan.splits):,}, of which {len(plan.splits):,} are divided among several groups;
{len(plan.groups):,} groups. Information loss (gcp) {figures["measures"]["gcp"]:.4f}, smallest group {report.smallest_group}.

| Step | Seconds (wall) | Processor seconds, Spark | Processor seconds, Python with moretta |
| --- | ---: | ---: | ---: |
{chr(10).join(lines)}

Peak memory: {peak[0]:.1f} GB of the JVM (driver and both workers), {peak[1]:.1f} GB of the process of Python.
"""
    (ROOT / "docs/results/spark.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
