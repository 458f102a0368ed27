"""Progress, interruption, time limits, other threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import moretta

#: Longest time from SIGINT to the exception, in seconds.
INTERRUPTED_WITHIN = 0.3


def test_progress_and_callbacks_that_raise(people: Any, policy: moretta.Policy) -> None:
    seen: list[moretta.Progress] = []
    threads = set()

    def watch(progress: moretta.Progress) -> None:
        seen.append(progress)
        threads.add(threading.get_ident())

    moretta.anonymize(people, policy, progress=watch, seed=1)
    stages = [progress.stage for progress in seen]
    assert stages[0] == "reading" and len(set(stages)) >= 4, stages
    assert threads == {threading.get_ident()}

    class Enough(Exception):
        pass

    def fail(_: moretta.Progress) -> None:
        raise Enough

    with pytest.raises(Enough):
        moretta.anonymize(people, policy, progress=fail)


def test_progress_is_a_line(people: Any, policy: moretta.Policy, capfd: pytest.CaptureFixture[str]) -> None:
    moretta.anonymize(people, policy, progress=True, seed=1)
    assert "searching" in capfd.readouterr().err


def test_a_time_limit_gives_the_best_result_so_far() -> None:
    people, policy = moretta.demo(20_000)
    start = time.monotonic()
    release = moretta.anonymize(people, policy, time_limit=1.0, seed=1)
    assert release.report.to_dict()["stop"] == "out-of-time" and time.monotonic() - start < 60
    assert moretta.check(release, policy)


def test_other_threads_run_on() -> None:
    people, policy = moretta.demo(20_000)
    count, done = 0, threading.Event()

    def work() -> None:
        nonlocal count
        while not done.is_set():
            count += 1
            time.sleep(0.005)

    other = threading.Thread(target=work)
    other.start()
    start = time.monotonic()
    moretta.anonymize(people, policy, time_limit=1.0, seed=1)
    seconds = time.monotonic() - start
    done.set()
    other.join()
    assert count > 20 * seconds, f"{count} steps in {seconds} s"


SCRIPT = """
import sys, time, moretta
people, policy = moretta.demo(int(sys.argv[1]))
if sys.argv[3] == "slow":
    import pyarrow
    table = pyarrow.table(people)
    def batches():
        while True:
            print("now", flush=True)
            time.sleep(0.02)
            yield table.to_batches()[0]
    source = pyarrow.RecordBatchReader.from_batches(table.schema, batches())
    run = lambda watch: moretta.anonymize(source, policy, progress=watch)
elif sys.argv[3] == "file":
    run = lambda watch: moretta.anonymize_file(people, "out.csv", policy, reports=["r.html"], progress=watch)
else:
    run = lambda watch: moretta.anonymize(people, policy.with_(method=sys.argv[3]), progress=watch)
def watch(progress):
    if progress.stage == sys.argv[2]:
        print("now", flush=True)
try:
    run(watch)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(3)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize(
    ("people", "stage", "what"),
    [
        (200_000, "reading", "mondrian"),
        (20_000, "searching", "best"),
        (200_000, "searching", "mondrian"),
        (200_000, "writing", "mondrian"),
        (200_000, "checking", "mondrian"),
        (20_000, "searching", "file"),
        # A source that never ends, in Python code on the thread of the request.
        (100, "none", "slow"),
    ],
)
def test_an_interrupt_raises_soon(people: int, stage: str, what: str, tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", SCRIPT, str(people), stage, what]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout is not None
    first = process.stdout.readline()
    assert first == "now\n", f"the stage {stage} never came"
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    while (line := process.stdout.readline()) == "now\n":
        pass
    seconds = time.monotonic() - start
    process.wait(timeout=60)
    if line:
        assert (line, process.returncode) == ("interrupted\n", 3)
        # Doubled, because tests run beside others.
        assert seconds < 2 * INTERRUPTED_WITHIN, f"{seconds:.2f} s"
    else:
        # The request ended before the signal came.
        assert process.returncode == 0 and stage != "searching"
    left = [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
    assert not left and (what != "file" or not os.listdir(tmp_path))
