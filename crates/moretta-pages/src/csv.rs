//! CSV lines.

/// Returns one line; cells are quoted if needed.
pub fn line<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|cell| quoted(cell.as_ref())).collect();
    cells.join(",") + "\n"
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_would_break_a_line_is_quoted() {
        assert_eq!(super::line(["a", "", "b,c", "say \"d\"", "e\nf"]), "a,,\"b,c\",\"say \"\"d\"\"\",\"e\nf\"\n");
    }
}
