"""People of the demo in every kind of data frame, and a policy with a fast method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import moretta

COLUMNS = {
    "name": "identifier",
    "age": {"role": "quasi-identifier", "type": "number", "hierarchy": "free"},
    "sex": {"role": "quasi-identifier", "type": "category"},
    "postcode": {"role": "quasi-identifier", "type": "category", "hierarchy": {"prefix": [3, 2]}},
    "education": "identifier",
    "occupation": "identifier",
    "marital-status": {"role": "quasi-identifier", "type": "category"},
    "income": {"role": "insensitive"},
    "diagnosis": {"role": "sensitive", "type": "category"},
    "insured": {"role": "class", "type": "category"},
}
POLICY = {
    "privacy": {"k": 5, "l-diversity": [{"column": "diagnosis", "l": 2}]},
    "method": {"name": "mondrian"},
    "release": {"exact": ["income", "diagnosis"]},
    "columns": COLUMNS,
}


@pytest.fixture(scope="session")
def policy() -> moretta.Policy:
    return moretta.Policy.from_dict(POLICY)


@pytest.fixture(scope="session")
def people() -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table(moretta.demo(1000).people)


@pytest.fixture()
def policy_file(policy: moretta.Policy, tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(policy.to_toml(), encoding="utf-8")
    return path
