"""The wheel: it needs nothing else, has the command line, and is small."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import moretta

#: Maximum bytes of the wheel of a release build.
MAX_WHEEL = 12_000_000


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(arguments), capture_output=True, text=True, check=False, timeout=300, cwd=cwd)


def test_nothing_else_is_imported() -> None:
    others = ["pandas", "polars", "pyarrow", "duckdb", "numpy", "sklearn"]
    code = f"import sys, moretta; people, policy = moretta.demo(200); moretta.anonymize(people, policy.with_(k=5, method='mondrian', privacy={{'k': 5}})); print([name for name in {others} if name in sys.modules])"
    done = run(sys.executable, "-c", code)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


def test_it_runs_where_nothing_else_is_installed(tmp_path: Path) -> None:
    code = "import moretta; people, policy = moretta.demo(200); print(len(moretta.anonymize(people, policy.with_(privacy={'k': 5}, method='mondrian'))))"
    package = Path(moretta.__file__).parents[1]
    (tmp_path / "moretta").symlink_to(package / "moretta")
    # Without site-packages.
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True, text=True, check=False, env={"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert (done.stdout.strip(), done.returncode) == ("200", 0), done.stderr


def test_the_wheel_requires_nothing() -> None:
    required = importlib.metadata.requires("moretta") or []
    assert [name for name in required if "extra ==" not in name] == []
    assert importlib.metadata.version("moretta") == moretta.__version__


def test_the_wheel_is_small() -> None:
    wheel = os.environ.get("MORETTA_WHEEL")
    if not wheel:
        pytest.skip("MORETTA_WHEEL names no wheel of a release build")
    assert os.path.getsize(wheel) < MAX_WHEEL
    assert "abi3" in os.path.basename(wheel)


def test_the_command_line(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("moretta")
    assert command.exists()
    assert run(str(command), "--version").stdout.split()[0] == "moretta"
    assert "anonymize" in run(sys.executable, "-m", "moretta", "--help").stdout
    assert run(str(command), "no-such-command").returncode == 2
    done = run(str(command), "demo", "--people", "500", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{command} anonymize" in done.stdout, "commands are printed as they can be run"
    folder = tmp_path / "moretta-demo"
    violated = run(str(command), "check", "people.csv", "-p", "policy.toml", cwd=folder)
    assert violated.returncode == 1
    # `compare` starts the same command line in other processes.
    policy = str(folder / "policy.toml")
    arguments = ["compare", "people.csv", "-p", policy, "--methods", "mondrian", "--k", "5,10", "--folds", "2", "--json"]
    done = run(str(command), *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert len(rows) == 2 and all(row["peak_memory_bytes"] > 0 for row in rows)
