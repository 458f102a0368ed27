"""Every command of the command line has its function, with the same figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import moretta

pq = pytest.importorskip("pyarrow.parquet")


def printed(*arguments: object) -> Any:
    """What the command line prints as JSON."""
    command = [sys.executable, "-m", "moretta", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


@pytest.fixture()
def files(people: Any, policy: moretta.Policy, policy_file: Path) -> tuple[Path, Path]:
    """The original and a release of it."""
    original, released = policy_file.with_name("people.parquet"), policy_file.with_name("released.parquet")
    pq.write_table(people, original)
    moretta.anonymize(people, policy, seed=5).write(released)
    return original, released


def without(figures: Any, *names: str) -> Any:
    """The figures without running times and names of files."""
    if isinstance(figures, dict):
        return {name: without(value, *names) for name, value in figures.items() if name not in names}
    if isinstance(figures, list):
        return [without(value, *names) for value in figures]
    return figures


def test_figures_are_those_of_the_command_line(
    people: Any, policy: moretta.Policy, policy_file: Path, files: tuple[Path, Path]
) -> None:
    original, released = files
    after = pq.read_table(released)
    found = moretta.check(after, policy)
    assert found and found.smallest_group >= 5 and found.to_dict() == printed("check", released, "-p", policy_file)
    assert not moretta.check(people.drop(["name"]), policy)
    with pytest.raises(moretta.Unsatisfiable, match="k-anonymity"):
        moretta.check(people.drop(["name"]), policy).raise_for_failure()
    same = printed("measure", original, released, "-p", policy_file)
    assert moretta.measure(people, after, policy).to_dict() == same
    report = printed("evaluate", original, "-p", policy_file, "--seed", "0")
    evaluated = moretta.evaluate(people, policy)
    assert without(evaluated.to_dict(), "seconds") == without(report, "seconds")
    listing = printed("inferences", original, "-p", policy_file, "--above", "0.5")
    assert without(moretta.inferences(people, policy).to_dict(), "file") == without(listing, "file")
    curve = moretta.frontier(people, policy.with_(method="bottom-up-generalization"))
    assert "<svg" in curve.to_svg() and curve._repr_html_().startswith("<svg") and "<html" in curve.to_html() and curve.to_csv().count("\n") > 2
    found_risks = moretta.risks(people, columns=["age", "sex", "postcode"])
    expected = printed("risks", original, "--columns", "age,sex,postcode")
    assert without(found_risks.to_dict(), "file") == without(expected, "file")
    answers = moretta.queries(people, after, policy, count=50)
    expected = printed("queries", original, released, "-p", policy_file, "--count", "50")
    assert without(answers.to_dict(), "file") == without(expected, "file")
    linked = moretta.linkage([after, after], policy, original=people)
    expected = printed("linkage", released, released, "-p", policy_file, "--original", original)
    assert bool(linked) == expected["holds"]
    proof = moretta.bound(people, policy, released=after, time_limit=5)
    assert proof.to_dict().keys() == printed("bound", original, "-p", policy_file, "--time-limit", "5s", "--released", released).keys()


def test_methods_are_compared(people: Any, policy: moretta.Policy, tmp_path: Path) -> None:
    found = moretta.compare(people, policy, k=(5, 20), methods=["mondrian", "k-member"], queries=10, folds=2)
    assert [(row["method"], row["k"]) for row in found.rows] == [
        ("mondrian", 5), ("k-member", 5), ("mondrian", 20), ("k-member", 20)
    ]  # fmt: skip
    for name in ("c.csv", "c.html", "c.json", "c.svg"):
        found.save(tmp_path / name)
    with pytest.raises(moretta.UsageError, match="must be named"):
        found.save(tmp_path / "c.png")
    shown = found._repr_html_()
    assert "mondrian" in shown and shown.count("<svg") == 1 and shown.count("<polyline") == 2
    # One k has no line, but points.
    one = moretta.compare(people, policy, k=[5], methods=["mondrian"], queries=10, folds=2)
    assert one._repr_html_().count("<circle") == 1


def test_reports(people: Any, policy: moretta.Policy, tmp_path: Path) -> None:
    release = moretta.anonymize(people, policy, seed=5, bound=True)
    report = release.report
    assert report.smallest_group >= 5 and 0 < (report.loss or 0) < 1 and report.suppressed == 0
    assert {model["holds"] for model in report.models} == {True}
    assert report.risk["after"]["prosecutor"]["highest"] <= 0.2
    report.save(tmp_path / "report.html")
    report.save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["groups"] == report.groups
    with pytest.raises(moretta.UsageError):
        report.save(tmp_path / "report.txt")
    moretta.anonymize_file(people, tmp_path / "out.csv", policy, reports=[tmp_path / "file.html"], seed=5)
    assert "from a table in memory" in report.to_html() and "<caption>Files" not in report.to_html()
    assert moretta.verify_report(tmp_path / "file.html", tmp_path / "out.csv")
    other = moretta.anonymize_file(people, tmp_path / "other.csv", policy, seed=6)
    assert other.groups > 0 and not moretta.verify_report(tmp_path / "file.html", tmp_path / "other.csv")


def test_notebooks_show_figures_and_no_rows(people: Any, policy: moretta.Policy) -> None:
    release = moretta.anonymize(people, policy, seed=5)
    page = release._repr_html_() + release.recoding._repr_html_() + release.report._repr_html_()
    page += moretta.check(release, policy)._repr_html_() + moretta.inferences(people, policy)._repr_html_()
    assert "k-anonymity" in page and "smallest group" in page
    values = {value for column in ("diagnosis", "occupation", "name") for value in people[column].to_pylist()}
    assert not [value for value in values if value in page]


def test_lists_and_demo() -> None:
    assert "mondrian" in [method["name"] for method in moretta.methods()]
    assert moretta.models() == printed("models") and moretta.measures() == printed("measures")
    assert moretta.formats() == printed("formats")
    people, policy = moretta.demo(1000, seed=2)
    assert len(people) == 1000 and policy.columns["diagnosis"]["role"] == "sensitive"
    release = moretta.anonymize(people, policy.with_(method="mondrian"), seed=1)
    assert moretta.check(release, policy)
