//! Everything, for programs.

use moretta_insight::evaluate::queries::{Answered, Answers, Conditions, Queries, QueryKind, errors, errors_by_class};
use serde_json::{Value, json};

use crate::json::{in_order, pretty};

/// As JSON. Random queries have how they were drawn, the user's own each answer.
pub fn json(queries: &Queries) -> String {
    let mut everything = json!({ "rows": queries.records });
    if let Answers::Random { draw, .. } = &queries.answers {
        everything["seed"] = json!(draw.seed);
        // How many were wanted of each kind, and how many columns each asks about; null if it is all.
        everything["count"] = json!(draw.count);
        everything["columns"] = json!(draw.columns);
    }
    let kinds = queries.kinds();
    everything["workloads"] = kinds.iter().enumerate().map(|(at, kind)| workload(queries, at, kind)).collect();
    if let Answers::Own(own) = &queries.answers {
        everything["queries"] = own.iter().map(answer).collect();
    }
    pretty(&everything)
}

fn workload(queries: &Queries, at: usize, (kind, answered): &(QueryKind, Vec<Answered>)) -> Value {
    let mut workload = json!({ "aggregate": kind.aggregate(), "column": kind.column() });
    if let Answers::Random { workloads, .. } = &queries.answers {
        // Those with the true answer 0 included.
        workload["drawn"] = json!(workloads[at].1.drawn);
    }
    workload["errors"] = json!(errors(answered));
    workload["by_selectivity"] = json!(errors_by_class(answered, queries.records));
    workload
}

fn answer(((kind, conditions), answered): &((QueryKind, Conditions), Answered)) -> Value {
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
