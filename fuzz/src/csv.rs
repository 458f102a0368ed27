//! CSV for the judge: written by quoting every cell that needs it, read character by character as RFC 4180 readers do.

/// Rows of texts; the first is the header.
pub type TextTable = Vec<Vec<String>>;

/// Delimiters that the program recognizes.
pub const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

/// Prints a table.
pub fn print(table: &TextTable, delimiter: char) -> String {
    let needs_quotes = |cell: &str| cell.contains([delimiter, '"', '\n', '\r']);
    let quoted = |cell: &String| {
        if needs_quotes(cell) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() }
    };
    let mut text = String::new();
    for row in table {
        text += &row.iter().map(quoted).collect::<Vec<_>>().join(&delimiter.to_string());
        text.push('\n');
    }
    text
}

/// Parses CSV. A lone CR ends a record, as it does for pandas, DuckDB and R.
pub fn parse(text: &str, delimiter: char) -> TextTable {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut any) = (false, false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        any = true;
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            '\r' if !quoted && characters.peek() == Some(&'\n') => {}
            '\n' | '\r' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
                any = false;
            }
            other if other == delimiter && !quoted => row.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    if any {
        row.push(cell);
        rows.push(row);
    }
    rows
}

/// Parses damaged CSV with the delimiter under which its first line names most of the `columns`, on ties with the one
/// that makes most cells. Cells alone do not decide: sets such as `{a, b}` have commas.
pub fn parse_most_likely(text: &str, columns: &[String]) -> TextTable {
    let score = |table: &TextTable| {
        let named = table.first().map_or(0, |first| first.iter().filter(|cell| columns.contains(cell)).count());
        (named, table.iter().map(Vec::len).sum::<usize>())
    };
    DELIMITERS.map(|delimiter| parse(text, delimiter)).into_iter().max_by_key(score).unwrap_or_default()
}

/// Parses CSV with the delimiter under which the header names all `columns` and every row is as long as the header.
pub fn parse_any(text: &str, columns: &[String]) -> Option<TextTable> {
    DELIMITERS.into_iter().map(|delimiter| parse(text, delimiter)).find(|table| {
        table.first().is_some_and(|header| {
            table.iter().all(|row| row.len() == header.len()) && columns.iter().all(|name| header.contains(name))
        })
    })
}
