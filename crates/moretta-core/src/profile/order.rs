//! Parallel sorting of rows by their codes, for profiles and genetic search. Codes are packed into one 128-bit integer
//! if they fit, which is nearly always.

use rayon::prelude::*;

/// Row indices in lexicographic order of their codes; equal rows keep their order. `sizes` has an exclusive upper bound
/// of the codes per column, `code(row, column)` returns a code.
pub(crate) fn sorted_rows(rows: usize, sizes: &[usize], code: impl Fn(usize, usize) -> u32 + Sync) -> Vec<u32> {
    let bits: Vec<u32> = sizes.iter().map(|size| usize::BITS - size.saturating_sub(1).leading_zeros()).collect();
    if bits.iter().sum::<u32>() <= 128 {
        let key = |row: usize| {
            bits.iter()
                .enumerate()
                .fold(0u128, |key, (column, bits)| key.checked_shl(*bits).unwrap_or(0) | u128::from(code(row, column)))
        };
        let mut keyed: Vec<(u128, u32)> = (0..rows).into_par_iter().map(|row| (key(row), row as u32)).collect();
        keyed.par_sort_unstable();
        keyed.into_iter().map(|(_, row)| row).collect()
    } else {
        let mut order: Vec<u32> = (0..rows as u32).collect();
        order.par_sort_unstable_by(|&a, &b| {
            let code = &code;
            let codes = |row: u32| (0..sizes.len()).map(move |column| code(row as usize, column));
            codes(a).cmp(codes(b)).then(a.cmp(&b))
        });
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Five columns of 32 bits do not fit one integer.
        #[test]
        fn rows_are_sorted_as_by_a_stable_sort(
            wide in any::<bool>(),
            rows in prop::collection::vec(prop::collection::vec(0u32..3, 5), 0..100),
        ) {
            let size = if wide { u32::MAX as usize } else { 3 };
            let mut expected: Vec<u32> = (0..rows.len() as u32).collect();
            expected.sort_by_key(|&row| &rows[row as usize]);
            prop_assert_eq!(sorted_rows(rows.len(), &[size; 5], |row, column| rows[row][column]), expected);
        }
    }
}
