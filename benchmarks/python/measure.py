"""Measures a release of a polars DataFrame beside the command line on the same Parquet file, and writes docs/results/python.md.

benchmarks/run python installs a wheel of a release build with its requirements and runs this file. The frame has the
columns of the demo without names: nine columns. Each figure is the least of several runs, each in a process of its own.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: Bounds that the table shows: CPU over that of the command line, peak over input + 2 x output.
MAX_CPU, MAX_PEAK = 1.3, 1.0
POLICY = """version = 1
[privacy]
k = 10
l-diversity = [{ column = "diagnosis", l = 3 }]
[method]
name = "METHOD"
[release]
exact = ["diagnosis", "income"]
[columns]
age = { role = "quasi-identifier", type = "number", hierarchy = "free" }
sex = { role = "quasi-identifier", type = "category" }
postcode = { role = "quasi-identifier", type = "category", hierarchy = { prefix = [3, 2] } }
education = { role = "quasi-identifier", type = "category" }
occupation.role = "insensitive"
marital-status = { role = "quasi-identifier", type = "category" }
income.role = "insensitive"
diagnosis = { role = "sensitive", type = "category" }
insured = { role = "class", type = "category" }
"""


def peak() -> int:
    """Peak resident bytes of this process."""
    return status("VmHWM")


def status(name: str) -> int:
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{name}:"))


def release(folder: Path) -> dict[str, float]:
    """Makes a release of a frame, in this process."""
    import polars
    import pyarrow

    import moretta

    policy = moretta.read_policy(folder / "policy.toml")
    empty = status("VmRSS")
    people = polars.read_parquet(folder / "people.parquet")
    read_cpu = time.process_time()
    # The peak counts from here on; that of reading Parquet is of polars.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    steps: dict[str, int] = {}

    def watch(progress: moretta.Progress) -> None:
        steps[progress.stage] = max(steps.get(progress.stage, 0), status("VmRSS") - empty)

    start = time.monotonic()
    made = moretta.anonymize(people, policy, seed=1, progress=watch)
    wall, cpu = time.monotonic() - start, time.process_time()
    highest = peak() - empty
    return {
        "input": people.estimated_size(),
        "output": pyarrow.table(made).nbytes,
        "cpu": cpu,
        "request_cpu": cpu - read_cpu,
        "wall": wall,
        "peak": highest,
        "records": len(made),
        **{f"after {stage}": size for stage, size in steps.items()},
    }


def command_line(folder: Path) -> dict[str, float]:
    """Runs the command line on the same records."""
    arguments = ["anonymize", "people.parquet", "-p", "policy.toml", "-o", "out.parquet", "--seed", "1", "--overwrite"]
    start = time.monotonic()
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "moretta", *arguments], cwd=folder, stdout=log, stderr=log)
        _, code, usage = os.wait4(process.pid, 0)
    if code:
        raise SystemExit((folder / "log").read_text())
    return {
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": time.monotonic() - start,
        "peak": usage.ru_maxrss << 10,
    }


def least(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(run[name] for run in runs if name in run) for name in runs[0]}


def machine() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GB"


def document(records: int, found: list[tuple[str, dict[str, float], dict[str, float]]]) -> str:
    import polars

    import moretta

    rows, stages = [], []
    for method, frame, line in found:
        bound = frame["input"] + 2 * frame["output"]
        megabytes = [round(frame[name] / 1e6) for name in ("input", "output", "peak")]
        rows.append(
            f"| {method} | {line['cpu']:.2f} | {frame['cpu']:.2f} | {frame['cpu'] / line['cpu']:.2f} | {line['wall']:.2f} "
            f"| {frame['wall']:.2f} | {megabytes[0]} | {megabytes[1]} | {megabytes[2]} | {bound / 1e6:.0f} "
            f"| {frame['peak'] / bound:.2f} | {line['peak'] / 1e6:.0f} |"
        )
        sizes = ", ".join(f"{name[6:]} {size / 1e6:.0f}" for name, size in frame.items() if name.startswith("after "))
        stages.append(f"- `{method}`: {sizes}")
    newline = "\n"
    return f"""# Releases of data frames

Made by `benchmarks/run python` on {machine()}, {datetime.date.today()}; Python {platform.python_version()}, polars
{polars.__version__}, moretta {moretta.__version__}.

A release of {records:,} records with nine columns (the people of the demo, without names), from a polars DataFrame in memory
to a release in memory, beside the command line from the same records as Parquet to Parquet. *CPU* is user and system seconds of
the whole process, polars and its reading of the Parquet file included; it should be at most {MAX_CPU} times that of the command
line. *Peak* is the highest resident memory from the moment the frame is there, without that of Python and its imports; it
should be at most the frame and twice the release. A method with a generalization path takes longer than this comparison shows: the
report of a release in memory has the measures of every step, which the command line computes only for `--report`.

| method | CPU s, command line | CPU s, Python | ratio | s, command line | s, Python | frame, MB | release, MB | peak, MB | frame + 2 x release, MB | ratio | peak of the command line, MB |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{newline.join(rows)}

Highest resident memory seen in each stage, MB (looked at every 50 ms):

{newline.join(stages)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--methods", default="mondrian")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--folder", type=Path, help="makes one release of the people there and prints its figures as JSON")
    arguments = parser.parse_args()
    if arguments.folder:
        print(json.dumps(release(arguments.folder)))
        return
    import polars

    import moretta

    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        polars.DataFrame(moretta.demo(arguments.records).people).drop("name").write_parquet(folder / "people.parquet")
        for method in arguments.methods.split(","):
            (folder / "policy.toml").write_text(POLICY.replace("METHOD", method), encoding="utf-8")
            frames, lines = [], []
            for _ in range(arguments.runs):
                lines.append(command_line(folder))
                command = [sys.executable, __file__, "--folder", name]
                frames.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
            found.append((method, least(frames), least(lines)))
    text = document(arguments.records, found)
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
