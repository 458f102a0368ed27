//! Types of the columns of a Parquet file.
//!
//! Guarantee: fields have no metadata. A column has the type of the Arrow schema that some writers embed in a file,
//! unless the type that every reader finds in the Parquet schema says more: an embedded `Date64` of a Parquet date is a
//! `Date32`.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema};

/// Columns of a file whose embedded Arrow schema is `embedded` and whose types are `physical` without it.
pub(crate) fn columns(embedded: &Schema, physical: &Schema) -> Schema {
    Schema::new(merge_fields(embedded.fields(), physical.fields()))
}

fn merge_fields(embedded: &Fields, physical: &Fields) -> Fields {
    let physical = physical.iter().map(Some).chain(std::iter::repeat(None));
    embedded.iter().zip(physical).map(|(embedded, physical)| merge_field(embedded, physical)).collect()
}

fn merge_field(embedded: &Arc<Field>, physical: Option<&Arc<Field>>) -> Arc<Field> {
    let physical = physical.map(|field| field.data_type());
    let data_type = merge_types(embedded.data_type(), physical);
    Arc::new(Field::new(embedded.name(), data_type, embedded.is_nullable()))
}

fn merge_types(embedded: &DataType, physical: Option<&DataType>) -> DataType {
    use DataType::*;
    let item = physical.and_then(|physical| match physical {
        List(item) | LargeList(item) | ListView(item) | LargeListView(item) | FixedSizeList(item, _) | Map(item, _) => {
            Some(item)
        }
        _ => None,
    });
    match embedded {
        Date64 if physical == Some(&Date32) => Date32,
        Dictionary(key, value) => Dictionary(key.clone(), Box::new(merge_types(value, physical))),
        List(field) => List(merge_field(field, item)),
        LargeList(field) => LargeList(merge_field(field, item)),
        ListView(field) => ListView(merge_field(field, item)),
        LargeListView(field) => LargeListView(merge_field(field, item)),
        FixedSizeList(field, length) => FixedSizeList(merge_field(field, item), *length),
        Map(field, sorted) => Map(merge_field(field, item), *sorted),
        Struct(fields) => {
            let none = Fields::empty();
            Struct(merge_fields(fields, if let Some(Struct(physical)) = physical { physical } else { &none }))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn metadata_is_removed_and_dates_are_dates_at_any_depth() {
        let field = |name: &str, data_type| {
            let metadata = HashMap::from([("note".to_string(), "secret".to_string())]);
            Field::new(name, data_type, true).with_metadata(metadata)
        };
        let list = |item| DataType::LargeList(Arc::new(item));
        let embedded = Schema::new(vec![
            field("date", DataType::Date64),
            field("other", DataType::Date64),
            field("list", list(field("item", DataType::Struct(vec![field("a", DataType::Date64)].into())))),
        ]);
        let plain = |name: &str, data_type| Field::new(name, data_type, true);
        let physical = Schema::new(vec![
            plain("date", DataType::Date32),
            plain("other", DataType::Int64),
            plain(
                "list",
                DataType::List(Arc::new(plain("x", DataType::Struct(vec![plain("a", DataType::Date32)].into())))),
            ),
        ]);
        let expected = Schema::new(vec![
            plain("date", DataType::Date32),
            plain("other", DataType::Date64),
            plain("list", list(plain("item", DataType::Struct(vec![plain("a", DataType::Date32)].into())))),
        ]);
        assert_eq!(columns(&embedded, &physical), expected);
    }
}
