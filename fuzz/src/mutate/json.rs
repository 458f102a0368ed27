//! Mutations of a saved recoding: nodes of JSON are replaced, removed, repeated, moved.

use serde_json::{Value, json};

use super::{
    bytes::{EXTREME, ODD},
    copies,
};
use crate::rng::Rng;

/// Changes one node of a JSON document. Returns `false` if the text is not JSON.
pub fn json(rng: &mut Rng, data: &mut Vec<u8>) -> bool {
    let Ok(mut document) = serde_json::from_slice::<Value>(data) else { return false };
    let donor = at(&mut document, rng).clone();
    let node = at(&mut document, rng);
    *node = match rng.below(8) {
        0 => donor,
        1 => rng.one(&EXTREME).parse::<f64>().map_or(Value::Null, |number| json!(number)),
        2 => json!(rng.next() as i64),
        3 => json!(rng.one(&ODD)),
        4 => Value::Array(vec![node.clone(); copies(*rng.one(&[0, 2, 300]), node.to_string().len())]),
        5 => json!({ (*rng.one(&ODD)): node.clone() }),
        6 => json!(rng.below(4)),
        _ => Value::Null,
    };
    *data = document.to_string().into_bytes();
    if rng.chance(3) {
        let depth = *rng.one(&[100, 20_000]);
        *data = ["[".repeat(depth).into_bytes(), std::mem::take(data), "]".repeat(depth).into_bytes()].concat();
    }
    true
}

/// A random node, found by descending from the root; sometimes removes an entry on the way.
fn at<'a>(document: &'a mut Value, rng: &mut Rng) -> &'a mut Value {
    let mut node = document;
    loop {
        let children = match node {
            Value::Array(items) => items.len(),
            Value::Object(map) => map.len(),
            _ => 0,
        };
        if children == 0 || rng.chance(12) {
            return node;
        }
        let index = rng.below(children);
        let remove = rng.chance(2) && children > 1;
        node = match node {
            Value::Array(items) => {
                if remove {
                    items.remove(index);
                }
                &mut items[index.min(children - 1 - usize::from(remove))]
            }
            Value::Object(map) => {
                let key = map.keys().nth(index).cloned().unwrap_or_default();
                if remove && map.len() > 1 {
                    map.remove(&key);
                }
                let at = index.min(map.len() - 1);
                match map.values_mut().nth(at) {
                    Some(value) => value,
                    None => unreachable!("the map has an entry with this index"),
                }
            }
            _ => unreachable!("the node has children"),
        };
    }
}
