"""Releases inside DuckDB, and plans for other engines: the counts of the local engine, or nothing."""

from __future__ import annotations

from typing import Any

import pytest
import tables

import moretta
from moretta import sql

pytestmark = pytest.mark.filterwarnings("ignore::moretta.MorettaWarning")

pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

MODELS: list[dict[str, Any]] = [
    {"l-diversity": [{"column": "c0", "l": 2}]},
    {"t-closeness": [{"column": "c0", "t": 0.4, "distance": "equal"}]},
    {"delta-disclosure": [{"column": "order", "delta": 2.0}]},
    {"max-suppressed": 0.1},
]


def database(people: Any) -> Any:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("given", people)
    connection.execute("CREATE TABLE people AS SELECT * FROM given")
    connection.unregister("given")
    return connection


def released(connection: Any, name: str = "released") -> Any:
    return connection.sql(f"SELECT * FROM {name}").to_arrow_table()


@pytest.mark.parametrize("method", [method["name"] for method in moretta.methods()])
def test_every_method_has_the_counts_of_the_local_engine(method: str) -> None:
    people = tables.table(400)
    connection, value = database(people), tables.policy(method)
    report = sql.anonymize(connection, "people", value, "released", seed=3)
    tables.compared(released(connection), people, value, 3)
    assert report.to_dict()["input"]["rows"] == 400 and report.recoding is not None
    assert sql.check(connection, "released", value)
    # Nothing but the release is left.
    left = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
    assert left == [("people",), ("released",)]
    views = connection.execute("SELECT count(*) FROM duckdb_views() WHERE view_name LIKE 'moretta%'").fetchall()
    assert views == [(0,)]


@pytest.mark.parametrize("models", MODELS)
@pytest.mark.parametrize("method", ["mondrian", "bottom-up-generalization"])
def test_models_and_suppression(method: str, models: dict[str, Any]) -> None:
    for seed in range(3):
        people = tables.table(150 + 50 * seed, seed)
        connection, value = database(people), tables.policy(method, models)
        sql.anonymize(connection, "people", value, "released", seed=seed)
        tables.compared(released(connection), people, value, seed)


def test_the_order_is_that_of_the_seed_and_not_of_the_input() -> None:
    people = tables.table(300)
    people = people.append_column("number", pa.array(range(300)))
    value = tables.policy("mondrian", number={"role": "insensitive"})
    value = value.with_(release={"exact": ["h", "note", "c0", "order", "number"]})
    orders = []
    for seed in (1, 1, 2):
        connection = database(people)
        sql.anonymize(connection, "people", value, "released", seed=seed)
        orders.append(released(connection).column("number").to_pylist())
    assert orders[0] == orders[1] != orders[2] and sorted(orders[0]) == list(range(300)) != orders[0]


def test_a_recoding_is_applied_to_new_records() -> None:
    people, more = tables.table(400), tables.table(300, 9)
    value = tables.policy("mondrian", {"max-suppressed": 0.5})
    recoding = moretta.anonymize(people, value, seed=1).recoding
    connection = database(more)
    sql.apply(connection, "people", recoding, "released", seed=1)
    local = recoding.apply(more, seed=1)
    judged = [name for name in local.columns if name not in ("h", "note")]
    assert tables.tally(released(connection), judged) == tables.tally(local, judged)


def refused(connection: Any, kind: type[moretta.MorettaError], text: str, value: Any = None) -> None:
    before = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
    with pytest.raises(kind, match=text) as raised:
        sql.anonymize(connection, "people", value or tables.policy("mondrian"), "released", seed=1)
    assert type(raised.value) is kind and "it's" not in str(raised.value) and raised.value.__context__ is None
    assert connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall() == before


def test_bad_input_is_one_exception_and_nothing_is_written() -> None:
    people = tables.table(60)
    refused(database(people), moretta.Unsatisfiable, "60 records", tables.policy("mondrian", {"k": 100}))
    refused(database(people.drop_columns(["sex"])), moretta.InputError, "sex")
    refused(database(people.slice(0, 0)), moretta.InputError, "no records")
    lists = people.set_column(1, "age", pa.array([[1]] * 60))
    refused(database(lists), moretta.InputError, "column `age` is of type List")
    connection = database(people)
    connection.execute("CREATE TABLE released (a INT)")
    refused(connection, moretta.UsageError, "exists already")
    connection = database(people)
    connection.begin()
    refused(connection, moretta.UsageError, "open transaction")
    zoned = people.append_column("at", pa.array([0] * 60, pa.timestamp("us", "UTC")))
    connection = database(zoned)
    connection.execute("SET TimeZone = 'Europe/Berlin'")
    refused(connection, moretta.InputError, "time zone", tables.policy("mondrian", at={"role": "insensitive"}))
    connection = duckdb.connect()
    with pytest.raises(moretta.UsageError, match="people"):
        sql.anonymize(connection, "people", tables.policy("mondrian"), "released")
    connection.close()
    with pytest.raises(moretta.UsageError, match="closed"):
        sql.anonymize(connection, "people", tables.policy("mondrian"), "released")


def test_secret_and_labels_are_not_in_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    from moretta import _sql

    people, statements, secrets = tables.table(200), [], []
    rewrite = _sql.Statements.rewrite

    def noted(self: Any, plan: Any, order: str) -> str:
        secrets.append(plan.secret)
        statements.append(rewrite(self, plan, order))
        return statements[-1]

    monkeypatch.setattr(_sql.Statements, "rewrite", noted)
    connection = database(people)
    sql.anonymize(connection, "people", tables.policy("k-member"), "released", seed=1)
    labels = {label for label in released(connection).column("age").to_pylist() if label.startswith("[")}
    assert len(secrets) == 1 and secrets[0] not in statements[0] and len(labels) > 3
    assert not any(label in statements[0] for label in labels)


def counts_of(frame: Any, columns: list[str]) -> Any:
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    return duckdb.sql(f"SELECT {quoted}, count(*) AS n FROM frame GROUP BY {quoted}").to_arrow_table()


def planned(people: Any, value: moretta.Policy) -> tuple[moretta.Plan, Any]:
    """A plan, and the release that plain Python makes of it."""
    columns = people.column_names[1:]
    plan = moretta.plan(counts_of(people, columns), value, columns=people.column_names, seed=4)
    keys = lambda table: zip(*(pa.table(table).column(f"k{index}").to_pylist() for index in range(len(plan.key))))
    whole = dict(zip(keys(plan.rows), pa.table(plan.rows).column("grp").to_pylist()))
    splits = dict(zip(keys(plan.splits), pa.table(plan.splits).column("row").to_pylist()))
    shares = pa.table(plan.shares).to_pylist()
    labels = pa.table(plan.groups).to_pylist()
    seen: dict[int, int] = {}
    released = []
    for record in people.to_pylist():
        key = tuple(record[name] for name in plan.key)
        group = whole.get(key)
        if group is None:
            row = splits[key]
            seen[row] = number = seen.get(row, 0) + 1
            [group] = [s["grp"] for s in shares if s["row"] == row and s["first"] <= number <= s["last"]]
        record |= {name: labels[group][f"l{index}"] for index, name in enumerate(plan.rewritten)}
        released.append({name: cell for name, cell in record.items() if name not in plan.dropped})
    schema = [(n, pa.string() if n in plan.rewritten else people.schema.field(n).type) for n in columns]
    return plan, pa.Table.from_pylist(released, pa.schema(schema))


@pytest.mark.parametrize("method", ["k-member", "bottom-up-generalization"])
def test_a_plan_has_the_counts_of_the_local_engine(method: str) -> None:
    people = tables.table(300).drop_columns(["sex", "note"])
    people = people.append_column("note", pa.array(["n"] * 300))
    value = moretta.Policy.from_dict(
        {**tables.policy(method).to_dict(), "columns": {n: c for n, c in tables.COLUMNS.items() if n != "sex"}}
    )
    people = people.select(list(value.columns))
    plan, written = planned(people, value)
    report = plan.check(counts_of(written, written.column_names))
    assert report.recoding is not None
    tables.compared(written, people, value, 4)
    with pytest.raises(moretta.UsageError, match="checked before"):
        plan.check(counts_of(written, written.column_names))


def test_a_plan_refuses_what_was_written_otherwise() -> None:
    people = tables.table(300).drop_columns(["sex", "note"])
    columns = {n: c for n, c in tables.COLUMNS.items() if n not in ("sex", "note")}
    tree = {**tables.policy("mondrian").to_dict(), "columns": columns, "release": {"exact": ["h", "c0", "order"]}}
    value = moretta.Policy.from_dict(tree)
    for wrong in (lambda t: t.slice(1), lambda t: t.drop_columns(["h"]), lambda t: pa.concat_tables([t, t.slice(0, 1)])):
        plan, written = planned(people, value)
        with pytest.raises(moretta.Unsatisfiable, match="verification failed"):
            plan.check(counts_of(wrong(written), wrong(written).column_names))
    with pytest.raises(moretta.InputError, match="is not counted"):
        moretta.plan(counts_of(people, ["age", "c0"]), value, columns=people.column_names)
    with pytest.raises(moretta.InputError, match="number of records"):
        moretta.plan(people.select(["age", "c0"]), value)
    # A plan that is not used is no error.
    planned(people, value)
