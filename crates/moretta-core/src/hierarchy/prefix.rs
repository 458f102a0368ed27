//! Hierarchy of codes by their first characters: with lengths 3 and 2, the postcode `12345` is `123*`, `12*`, `*`.
//!
//! A code that is not longer than a prefix has no node on that level. A label depends on the code alone, so the same
//! lengths give the same labels for any data.

use super::{
    numeric::from_levels,
    tree::{ROOT_LABEL, Tree},
};

/// Builds the tree over the distinct codes in ascending order; the lengths are in descending order.
pub(crate) fn build(texts: &[Box<str>], lengths: &[u32]) -> Tree {
    let mut levels: Vec<Vec<String>> = Vec::new();
    for &length in lengths.iter().rev() {
        let label = |code: usize, text: &str| {
            // `from_levels` makes no node for a label that repeats the level above or the code itself.
            let above = || levels.last().map_or_else(|| text.to_owned(), |above| above[code].clone());
            cut(text, length).map_or_else(above, |kept| format!("{kept}{ROOT_LABEL}"))
        };
        let level = texts.iter().enumerate().map(|(code, text)| label(code, text)).collect();
        levels.push(level);
    }
    from_levels(texts, &levels)
}

/// The first `length` characters; `None` if there are no more than these.
fn cut(text: &str, length: u32) -> Option<&str> {
    text.char_indices().nth(length as usize).map(|(end, _)| &text[..end])
}

/// Labels of the nodes above a code, or above a label of this hierarchy, from the shortest prefix on; at the end the text
/// itself. The lengths are in descending order.
pub fn prefix_path(text: &str, lengths: &[u32]) -> Vec<String> {
    let kept = text.strip_suffix(ROOT_LABEL).unwrap_or(text);
    let above = lengths.iter().rev().filter_map(|&length| cut(kept, length));
    above.map(|kept| format!("{kept}{ROOT_LABEL}")).chain([text.to_owned()]).collect()
}

/// Whether a text may be released in a column of codes: a whole code, or one cut at one of these lengths.
pub(crate) fn is_form(text: &str, lengths: &[u32]) -> bool {
    match text.strip_suffix(ROOT_LABEL) {
        Some(kept) => lengths.iter().any(|&length| kept.chars().count() == length as usize),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::file;
    use proptest::prelude::*;

    fn tree(texts: &[&str], lengths: &[u32]) -> Tree {
        build(&texts.iter().map(|text| (*text).into()).collect::<Vec<_>>(), lengths)
    }

    #[test]
    fn longer_prefixes_are_below_shorter_ones() {
        let rows = file::write(&tree(&["12345", "12399", "13000"], &[3, 2]));
        assert_eq!(rows, "12345;123*;12*;*\n12399;123*;12*;*\n13000;130*;13*;*\n");
    }

    #[test]
    fn a_short_code_has_no_node_where_nothing_is_cut() {
        let rows = file::write(&tree(&["1", "12", "123", "1234"], &[3, 2, 1]));
        assert_eq!(rows, "1;1;1;1;*\n12;12;12;1*;*\n123;123;12*;1*;*\n1234;123*;12*;1*;*\n");
    }

    #[test]
    fn characters_count_not_bytes() {
        assert_eq!(file::write(&tree(&["SW1A 1AA", "ÄÖ-Ü1"], &[4, 2])), "SW1A 1AA;SW1A*;SW*;*\nÄÖ-Ü1;ÄÖ-Ü*;ÄÖ*;*\n");
    }

    #[test]
    fn released_forms() {
        for (text, right) in
            [("12*", true), ("123*", true), ("1*", false), ("12345", true), ("*", false), ("ÄÖ*", true)]
        {
            assert_eq!(is_form(text, &[3, 2]), right, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_path_is_that_of_the_tree(mut texts in prop::collection::vec("[a-c]{1,5}", 1..20), lengths in 1u32..4) {
            texts.sort();
            texts.dedup();
            let lengths: Vec<u32> = (1..=lengths).rev().collect();
            let tree = tree(&texts.iter().map(String::as_str).collect::<Vec<_>>(), &lengths);
            for node in tree.nodes().filter(|node| tree.parent(*node).is_some()) {
                let above = std::iter::successors(Some(node), |node| tree.parent(*node)).map(|node| tree.label(node));
                let mut path: Vec<&str> = above.collect();
                path.pop();
                path.reverse();
                prop_assert_eq!(prefix_path(tree.label(node), &lengths), path);
            }
        }

        #[test]
        fn every_node_holds_what_starts_like_it(mut texts in prop::collection::vec("[a-c ä]{1,6}", 1..30), from in 1u32..5) {
            texts.sort();
            texts.dedup();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let lengths: Vec<u32> = (1..=from).rev().collect();
            let tree = tree(&texts, &lengths);
            prop_assert_eq!(tree.leaf_count(), texts.len());
            for node in tree.nodes().skip(1).filter(|node| !tree.is_leaf(*node)) {
                let start = tree.label(node).strip_suffix('*').unwrap();
                let (first, last) = tree.range(node);
                let inside = |text: &str| text.starts_with(start) && text != start;
                for (code, text) in (0u32..).zip(&texts) {
                    prop_assert_eq!((first..=last).contains(&code), inside(text), "{} in {}*", text, start);
                }
            }
        }
    }
}
