//! Errors, and answers of the user's own queries, as JSON.

use moretta_insight::evaluate::queries::{Answered, Answers, Conditions, Queries, QueryKind, errors, errors_by_class};
use serde_json::{Value, json};

use crate::json::{in_order, pretty};

/// Returns the JSON text: how random queries were drawn, or the answers of the user's own queries.
pub fn json(queries: &Queries) -> String {
    let mut document = json!({ "rows": queries.records });
    if let Answers::Random { draw, .. } = &queries.answers {
        document["seed"] = json!(draw.seed);
        // Requested queries of each kind, and columns per query (null: all).
        document["count"] = json!(draw.count);
        document["columns"] = json!(draw.columns);
    }
    let kinds = queries.kinds();
    document["workloads"] = kinds.iter().enumerate().map(|(index, kind)| workload_row(queries, index, kind)).collect();
    if let Answers::Own(own) = &queries.answers {
        document["queries"] = own.iter().map(answer_row).collect();
    }
    pretty(&document)
}

fn workload_row(queries: &Queries, index: usize, (kind, answered): &(QueryKind, Vec<Answered>)) -> Value {
    let mut workload = json!({ "aggregate": kind.aggregate(), "column": kind.column() });
    if let Answers::Random { workloads, .. } = &queries.answers {
        // Includes queries with the true answer 0.
        workload["drawn"] = json!(workloads[index].1.drawn);
    }
    workload["errors"] = json!(errors(answered));
    workload["by_selectivity"] = json!(errors_by_class(answered, queries.records));
    workload
}

fn answer_row(((kind, conditions), answered): &((QueryKind, Conditions), Answered)) -> Value {
    json!({
        "aggregate": kind.aggregate(),
        "column": kind.column(),
        "where": in_order(conditions.iter().map(|(column, text)| (column.as_str(), text.as_str()))),
        "records": answered.truth.records,
        "truth": answered.truth.answer,
        "answer": answered.answer,
        "error": answered.error(),
    })
}
