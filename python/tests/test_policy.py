"""Policies are values: drafts, confirmation, changes, text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import moretta


def test_a_draft_is_open_until_it_is_confirmed(people: Any) -> None:
    draft = moretta.Policy.guess(people)
    assert draft.columns["name"]["role"] == "identifier"
    assert {"name", "age", "diagnosis"} <= set(draft.open) and "privacy.k" in draft.open
    assert "names of persons" in draft.open["name"]
    confirmed = draft.confirm("name", age={"role": "quasi-identifier", "hierarchy": {"widths": [5, 10, 20]}})
    assert confirmed.columns["age"] == {
        "role": "quasi-identifier", "type": "number", "hierarchy": {"widths": [5, 10, 20]}
    }  # fmt: skip
    assert not {"name", "age"} & set(confirmed.open) and "age" in draft.open, "the draft is as it was"
    assert set(confirmed.open) == set(draft.open) - {"name", "age"}
    # The marks survive text.
    assert moretta.Policy.parse(confirmed.to_toml()) == confirmed
    assert confirmed.to_toml().count("# CONFIRM") == len(confirmed.open)
    assert "privacy.k" not in draft.with_(k=7).open and draft.with_(k=7).to_dict()["privacy"]["k"] == 7
    assert not draft.confirm_all().open
    assert "identifier" in draft._repr_html_()


def test_another_role_drops_the_keys_that_it_does_not_have(people: Any) -> None:
    draft = moretta.Policy.guess(people)
    assert draft.columns["postcode"].keys() == {"role", "type", "hierarchy"}
    for role in ("identifier", "person", "household", "insensitive", "sensitive", "class", "quasi-identifier"):
        changed = draft.confirm(postcode=role)
        keys = {"role"} if role in ("identifier", "person", "household") else {"role", "type"}
        assert changed.columns["postcode"].keys() == (keys if role != "quasi-identifier" else {*keys, "hierarchy"})
    again = draft.confirm(age={"role": "sensitive", "missing": "category"})
    assert again.columns["age"] == {"role": "sensitive", "type": "number", "missing": "category"}


def test_an_open_guess_is_noted(people: Any) -> None:
    draft = moretta.Policy.guess(people).with_(k=5, method="mondrian")
    with pytest.warns(moretta.MorettaWarning, match="CONFIRM"):
        release = moretta.anonymize(people, draft, seed=1)
    assert release.report.smallest_group >= 5


def test_columns_and_sections_are_changed(policy: moretta.Policy) -> None:
    changed = policy.with_(method="k-member", release={"order": "input"}, columns={"sex": "insensitive"})
    tree = changed.to_dict()
    assert (tree["method"], tree["release"]) == ({"name": "k-member"}, {"order": "input"})
    assert changed.columns["sex"] == {"role": "insensitive"} and policy.columns["sex"]["role"] == "quasi-identifier"
    assert "release" not in policy.with_(release=None).to_dict()
    odd = moretta.Policy.from_dict(
        {"privacy": {"k": 2}, "columns": {'a "b" c.d': "quasi-identifier", "ü": {"role": "identifier"}}}
    )
    assert list(moretta.Policy.parse(odd.to_toml()).columns) == ['a "b" c.d', "ü"]


def test_places_of_errors(policy: moretta.Policy, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text("version = 1\nprivacy.k = 0\n[columns.a]\nrole = \"quasi-identifier\"\n", encoding="utf-8")
    with pytest.raises(moretta.PolicyError) as raised:
        moretta.read_policy(path)
    assert (raised.value.path, raised.value.line) == (str(path), 2)
    assert isinstance(raised.value, (moretta.MorettaError, ValueError))
    with pytest.raises(moretta.PolicyError, match='did you mean "mondrian"'):
        policy.with_(method="mondrain")
    with pytest.raises(moretta.UsageError, match="no column `agee`"):
        policy.confirm(agee="identifier")
    with pytest.raises(moretta.UsageError, match="no section"):
        policy.with_(secrets={})
    with pytest.raises(moretta.UsageError, match="cannot read"):
        moretta.read_policy(tmp_path / "none.toml")
    with pytest.raises(moretta.PolicyError):
        moretta.Policy.parse("version = 1\n[columns")


def test_hierarchies_as_files_and_values(people: Any, policy: moretta.Policy, tmp_path: Path) -> None:
    widths = moretta.Hierarchy.build(people, "age", {"widths": [10, 50]})
    widths.write(tmp_path / "age.csv")
    checked = moretta.check_hierarchy(tmp_path / "age.csv", people)
    assert checked and checked.values > 50
    (tmp_path / "sex.csv").write_text("female;*\nother;*\n", encoding="utf-8")
    checked = moretta.check_hierarchy(tmp_path / "sex.csv", people)
    assert not checked and checked.unused == ["other"] and checked.without_row[0][0] == "male"
    with pytest.raises(moretta.Unsatisfiable, match="1 of 2 values"):
        checked.raise_for_failure()
    assert moretta.Hierarchy.read(tmp_path / "age.csv").to_csv() == widths.to_csv()
    assert "*" in widths.draw() and widths.to_svg().startswith("<svg") and "values" in repr(widths)
    by_value = moretta.anonymize(people, policy, hierarchies={"age": widths}, seed=1)
    with_file = policy.with_(columns={"age": {"role": "quasi-identifier", "type": "number", "hierarchy": "age.csv"}})
    (tmp_path / "policy.toml").write_text(with_file.to_toml(), encoding="utf-8")
    by_file = moretta.anonymize(people, tmp_path / "policy.toml", seed=1)
    assert by_value.to_arrow().equals(by_file.to_arrow())
    built = moretta.Hierarchy.build(people, "postcode", {"prefix": [3, 2]})
    assert "*" in built.to_csv()
    with pytest.raises(moretta.PolicyError):
        moretta.Hierarchy.build(people, "age", "iotff")
    with pytest.raises(moretta.MorettaError):
        moretta.Hierarchy.build(people, "agee", "iotf")
    with pytest.raises(moretta.PolicyError, match="does not declare"):
        moretta.anonymize(people, policy, hierarchies={"agee": widths})


def test_a_policy_becomes_a_table_and_back(policy_file: Path, tmp_path: Path) -> None:
    table = tmp_path / "columns.csv"
    moretta.convert_policy(policy_file, table)
    assert moretta.Policy.parse(moretta.convert_policy(table)).columns == moretta.read_policy(policy_file).columns
