//! "Did you mean": the valid word nearest to a misspelt one.

/// Maximum letters of a compared word; limits the quadratic comparison. Not tuned.
const MAX_LETTERS: usize = 64;

/// Candidate with the smallest edit distance to `word`, ignoring case; `None` if the distance exceeds a third of the
/// longer word's letters. Ties go to the earlier candidate.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let letters =
        |text: &str| -> Vec<char> { text.chars().take(MAX_LETTERS + 1).flat_map(char::to_lowercase).collect() };
    let word = letters(word);
    if word.is_empty() || word.len() > MAX_LETTERS {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other = letters(candidate);
        let allowed = (word.len().max(other.len()) / 3).max(1);
        if other.is_empty() || other.len() > MAX_LETTERS || word.len().abs_diff(other.len()) > allowed {
            continue;
        }
        let distance = edits(&word, &other);
        // A word of one letter is one edit from any other: there only a difference in case counts as near.
        let near = distance <= allowed && distance < word.len().min(other.len());
        if near && best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// A name without differences in case and surrounding blanks.
pub fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Edit distance (optimal string alignment): insertions, deletions, substitutions and swaps of neighboring letters.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut now = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        now[0] = i;
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            now[j] = replaced.min(last[j] + 1).min(now[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                now[j] = now[j].min(before_last[j - 2] + 1);
            }
        }
        std::mem::swap(&mut before_last, &mut last);
        std::mem::swap(&mut last, &mut now);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: &str, b: &str) -> usize {
        edits(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
    }

    #[test]
    fn edits_are_counted() {
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("role", "rloe"), 1);
        assert_eq!(distance("weight", "wieght"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("größe", "grösse"), 2);
    }

    #[test]
    fn the_nearest_is_suggested() {
        let keys = ["role", "type", "hierarchy", "weight", "missing"];
        assert_eq!(nearest("heirarchy", keys), Some("hierarchy"));
        assert_eq!(nearest("Role", keys), Some("role"));
        assert_eq!(nearest("ROLE", keys), Some("role"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest("x", ["k", "l", "t"]), None);
        assert_eq!(nearest("K", ["k", "l"]), Some("k"));
        assert_eq!(nearest(&"a".repeat(1000), keys), None);
        assert_eq!(folded(" Role"), folded("role"));
        assert_eq!(nearest("marital_status", ["marital-status", "status"]), Some("marital-status"));
    }
}
