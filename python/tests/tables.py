"""Tables and policies for engines that speak SQL, and releases as counts of records."""

from __future__ import annotations

import collections
import datetime
import decimal
import random
from typing import Any

import moretta

#: Roles of the columns. Some names need quotes, and some are those of columns in statements.
COLUMNS: dict[str, Any] = {
    "name": "identifier",
    "age": {"role": "quasi-identifier", "type": "number", "hierarchy": "free", "missing": "suppress"},
    "sex": {"role": "quasi-identifier", "type": "category", "missing": "category"},
    "birth-day": {"role": "quasi-identifier", "type": "date"},
    "post.code `x` \"y\"": {"role": "quasi-identifier", "type": "category", "hierarchy": {"prefix": [2, 1]}},
    "c0": {"role": "sensitive", "type": "category"},
    "order": {"role": "class", "type": "category"},
    "h": {"role": "insensitive"},
    "note": {"role": "insensitive"},
}


def policy(method: str, models: dict[str, Any] | None = None, **columns: Any) -> moretta.Policy:
    """A policy with a method and further models or settings of `[privacy]`."""
    tree = {
        "privacy": {"k": 3, **(models or {})},
        "method": {"name": method},
        "release": {"exact": ["h", "note", "c0", "order"]},
        "columns": {**COLUMNS, **columns},
    }
    if method == "top-down-disclosure":
        tree["columns"] |= {"age": {**COLUMNS["age"], "hierarchy": {"widths": [10, 20]}}}
        tree["privacy"] |= {"template": [{"given": ["sex"], "column": "c0", "values": ["flu"], "max-confidence": 0.9}]}
    return moretta.Policy.from_dict(tree)


def table(records: int, seed: int = 1) -> Any:
    """Random records of many types, many of them equal; with nulls, empty texts and texts that need quotes."""
    import pyarrow

    dice = random.Random(seed)
    rows = range(records)
    day = datetime.date(1980, 1, 1)
    texts = ["x", "", None, "it's", 'a"b', "`ä`", "a,b;c\\d", "NULL"]
    ages = [dice.choice([None, *range(20, 32)]) for _ in rows]
    return pyarrow.table(
        {
            "name": [f"person {number}" for number in rows],
            "age": pyarrow.array(ages, pyarrow.int16()),
            "sex": [dice.choice(["m", "f", None, ""]) for _ in rows],
            "birth-day": [day + datetime.timedelta(days=31 * dice.randrange(6)) for _ in rows],
            "post.code `x` \"y\"": [dice.choice(["123", "124", "133", "211"]) for _ in rows],
            "c0": [dice.choice(["flu", "flu", "cold", "it's"]) for _ in rows],
            "order": [dice.random() < 0.4 for _ in rows],
            "h": [decimal.Decimal(dice.randrange(400)).scaleb(-2) for _ in rows],
            "note": [dice.choice(texts) for _ in rows],
        }
    )


def tally(released: Any, columns: list[str] | None = None) -> collections.Counter[tuple[str, ...]]:
    """Number of records of each combination of cells, by their texts; a null is none."""
    import pyarrow

    arrow = pyarrow.table(released)
    columns = arrow.column_names if columns is None else columns
    return collections.Counter(zip(*([str(cell) for cell in arrow.column(name).to_pylist()] for name in columns)))


def compared(released: Any, people: Any, value: moretta.Policy, seed: int) -> None:
    """Asserts that a release has the counts of one by the local engine, and the cells of copied columns."""
    local = moretta.anonymize(people, value, seed=seed)
    judged = [name for name in local.columns if name not in ("h", "note")]
    assert tally(released, judged) == tally(local, judged)
    assert tally(released, ["h", "note"]) == tally(people, ["h", "note"])
    # A record keeps its copied cells together.
    kept = ["c0", "order", "h", "note"]
    assert tally(released, kept) == tally(people, kept)
