//! Parallel sorting of rows by their codes, for profiles and genetic search. Codes are packed into one integer of
//! 64 or 128 bits if they fit, which is nearly always.

use rayon::prelude::*;

/// Row indices in lexicographic order of their codes; equal rows keep their order. `sizes` has an exclusive upper bound
/// of the codes per column, `code(row, column)` returns a code.
pub(crate) fn sorted_rows(rows: usize, sizes: &[usize], code: impl Fn(usize, usize) -> u32 + Sync) -> Vec<u32> {
    let bits: Vec<u32> = sizes.iter().map(|size| usize::BITS - size.saturating_sub(1).leading_zeros()).collect();
    let code = &code;
    let codes = |row: usize| (0..sizes.len()).map(move |column| code(row, column)).zip(&bits);
    if bits.iter().sum::<u32>() <= 64 {
        sorted_by_key(rows, |row| {
            codes(row).fold(0u64, |key, (code, bits)| key.checked_shl(*bits).unwrap_or(0) | u64::from(code))
        })
    } else if bits.iter().sum::<u32>() <= 128 {
        sorted_by_key(rows, |row| {
            codes(row).fold(0u128, |key, (code, bits)| key.checked_shl(*bits).unwrap_or(0) | u128::from(code))
        })
    } else {
        let mut order: Vec<u32> = (0..rows as u32).collect();
        order.par_sort_unstable_by(|&a, &b| {
            let codes = |row: u32| (0..sizes.len()).map(move |column| code(row as usize, column));
            codes(a).cmp(codes(b)).then(a.cmp(&b))
        });
        order
    }
}

fn sorted_by_key<K: Ord + Send>(rows: usize, key: impl Fn(usize) -> K + Sync) -> Vec<u32> {
    let mut keyed: Vec<(K, u32)> = (0..rows).into_par_iter().map(|row| (key(row), row as u32)).collect();
    keyed.par_sort_unstable();
    keyed.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Five columns of 32 bits do not fit one integer, of 20 bits not the smaller one.
        #[test]
        fn rows_are_sorted_as_by_a_stable_sort(
            size in prop::sample::select(vec![3, 1 << 20, u32::MAX as usize]),
            rows in prop::collection::vec(prop::collection::vec(0u32..3, 5), 0..100),
        ) {
            let mut expected: Vec<u32> = (0..rows.len() as u32).collect();
            expected.sort_by_key(|&row| &rows[row as usize]);
            prop_assert_eq!(sorted_rows(rows.len(), &[size; 5], |row, column| rows[row][column]), expected);
        }
    }
}
