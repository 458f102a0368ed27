//! The exact sequence of the reference on random tables, ties included.

use proptest::prelude::*;

use super::{as_published, reference::Reference, run};
use crate::{
    hierarchy::{Hierarchies, Tree, TreeBuilder},
    ids::{ColumnId, NodeId},
    recoding::{Action, Step},
    search::{
        bottom_up_generalization::{BottomUpGeneralization, BottomUpParams},
        taxonomy::Taxonomy,
    },
    testing::TestTable,
};

/// A tree over the leaves `0..`, with unary nodes, leaves at different depths, and leaves that never occur.
fn tree(parents: &[usize]) -> Tree {
    let mut builder = TreeBuilder::default();
    for (index, parent) in parents.iter().enumerate() {
        builder.add(format!("n{}", index + 1), parent % (index + 1));
    }
    builder.build()
}

#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub columns: Vec<Vec<usize>>,
    pub rows: Vec<(Vec<u32>, u32, u64)>,
    pub k: u64,
}

pub(crate) fn recipes() -> impl Strategy<Value = Recipe> {
    let columns = prop::collection::vec(prop::collection::vec(0usize..40, 1..14), 1..5);
    let rows = prop::collection::vec((prop::collection::vec(any::<u32>(), 4), 0u32..3, 1u64..5), 1..60);
    // Few values and counts, for ties; sometimes a single class, so that every generalization loses no information.
    (columns, rows, 2u64..12, any::<bool>()).prop_map(|(columns, mut rows, k, one_class)| {
        rows.iter_mut().filter(|_| one_class).for_each(|row| row.1 = 0);
        Recipe { columns, rows, k }
    })
}

pub(crate) fn table(recipe: &Recipe, free: bool) -> TestTable {
    table_with(recipe, free, "")
}

/// With further settings in the policy.
pub(crate) fn table_with(recipe: &Recipe, free: bool, more: &str) -> TestTable {
    let mut policy = format!("{more}privacy.k = {}\ncolumns.class.role = \"class\"\n", recipe.k);
    let mut trees = Hierarchies::default();
    for (index, parents) in recipe.columns.iter().enumerate() {
        let name = format!("q{index}");
        let last_is_free = free && index + 1 == recipe.columns.len();
        let kind = if last_is_free { "type = \"number\"" } else { "type = \"category\", hierarchy = \"h.csv\"" };
        policy += &format!("columns.{name} = {{ role = \"quasi-identifier\", {kind} }}\n");
        if !last_is_free {
            trees.insert(name, tree(parents));
        }
    }
    let text = |column: usize, choice: u32| {
        let tree = tree(&recipe.columns[column]);
        let leaf = choice % tree.leaf_count() as u32;
        if free && column + 1 == recipe.columns.len() {
            leaf.to_string()
        } else {
            tree.label(tree.leaf(leaf)).to_owned()
        }
    };
    let row = |(choices, class, records): &(Vec<u32>, u32, u64)| {
        let mut cells: Vec<String> = (0..recipe.columns.len()).map(|column| text(column, choices[column])).collect();
        cells.push(format!("c{class}"));
        (cells.join(","), *records)
    };
    let rows: Vec<(String, u64)> = recipe.rows.iter().map(row).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|(row, records)| (row.as_str(), *records)).collect();
    TestTable::with_trees(&policy, trees, &rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_sequence_is_that_of_the_reference(recipe in recipes(), free: bool) {
        let table = table(&recipe, free);
        let records = table.profile.records();
        let outcome = run(as_published(), &table, 0);
        if records < recipe.k {
            prop_assert!(outcome.is_err());
            return Ok(());
        }
        let outcome = outcome.unwrap();
        let taxonomies = Taxonomy::of_columns(&table.profile);
        let step = |(column, node): (usize, NodeId)| Step {
            action: Action::Generalize,
            changes: vec![(ColumnId::from_index(column), taxonomies[column].cell(node))],
        };
        let expected: Vec<Step> = Reference::new(&table.profile).sequence(recipe.k).into_iter().map(step).collect();
        prop_assert_eq!(&outcome.path, &expected);
        let unpruned = BottomUpGeneralization(BottomUpParams { prune: false, ..as_published().0 });
        prop_assert_eq!(&run(unpruned, &table, 0).unwrap().path, &expected);
    }
}
