//! Rows in order of their codes. Codes are packed into one integer where they fit, which they nearly always do.

use rayon::prelude::*;

pub(super) fn sorted_rows(rows: usize, maps: &[Vec<u32>], sizes: &[usize], raw: &[u32]) -> Vec<u32> {
    let width = maps.len();
    let code = |row: usize, column: usize| maps[column][raw[row * width + column] as usize];
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
            let codes = |row: u32| (0..width).map(move |column| code(row as usize, column));
            codes(a).cmp(codes(b)).then(a.cmp(&b))
        });
        order
    }
}
