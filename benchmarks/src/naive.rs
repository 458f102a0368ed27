//! Parts that both naive searches use: packed tuples, class counts and entropy.

use moretta_core::{ids::TupleId, profile::Profile};

/// Position of each column's number in a packed tuple, given how many numbers each column has.
pub fn shifts(sizes: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut next = 0;
    let shift = |size: usize| {
        let own = next;
        next += size.next_power_of_two().trailing_zeros();
        own
    };
    let shifts = sizes.map(shift).collect();
    assert!(next <= 64, "a tuple fits a word");
    shifts
}

/// Records by code of a column and class. Requires a class.
pub fn classes(profile: &Profile, column: usize) -> Vec<Vec<u64>> {
    let class = profile.class().expect("there is a class");
    let none = vec![0; profile.attributes()[class.index()].values.len()];
    let mut classes = vec![none; profile.columns()[column].domain.len()];
    for tuple in (0..profile.tuples() as u32).map(TupleId) {
        let of_code = &mut classes[profile.codes(tuple)[column] as usize];
        for variant in profile.variants_of(tuple) {
            of_code[profile.value(variant, class) as usize] += profile.variant_records(variant);
        }
    }
    classes
}

/// Records by class, summed over codes.
pub fn sum(classes: &[Vec<u64>]) -> Vec<u64> {
    let width = classes.first().map_or(0, Vec::len);
    (0..width).map(|class| classes.iter().map(|of_code| of_code[class]).sum()).collect()
}

/// Number of records and entropy of their class.
pub fn entropy(classes: &[u64]) -> (f64, f64) {
    let records = classes.iter().sum::<u64>() as f64;
    let shares = classes.iter().filter(|count| **count > 0).map(|&count| count as f64 / records);
    (records, shares.map(|share| -share * share.log2()).sum::<f64>())
}
