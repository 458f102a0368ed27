//! Mutations of files made of lines: drops, repeats, swaps, joins.

use super::copies;
use crate::rng::Rng;

/// Changes whole lines. Returns `false` if the text has too few.
pub fn lines(rng: &mut Rng, data: &mut Vec<u8>) -> bool {
    let mut lines: Vec<Vec<u8>> = data.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.len() < 3 {
        return false;
    }
    let (a, b) = (rng.below(lines.len()), rng.below(lines.len()));
    match rng.below(7) {
        0 | 1 => drop(lines.remove(a)),
        2 => lines.insert(b, lines[a].clone()),
        3 => lines.swap(a, b),
        4 => {
            let next = lines.remove(a);
            lines[b.min(a.saturating_sub(1))].extend(next);
        }
        5 => lines.truncate(a),
        _ => {
            let line = lines[a].clone();
            let number = copies(*rng.one(&[2, 50, 500]), line.len());
            lines.splice(b..b, std::iter::repeat_n(line, number));
        }
    }
    *data = lines.join(&b'\n');
    true
}
