//! Errors in a policy: the message, its location in the text, and a suggestion.

use std::{fmt, ops::Range};

use super::tree::Span;

/// Reason why a policy was refused. `Display` writes one line: `line 12: message; help`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// Message without the location.
    pub message: String,
    /// Suggestion how to correct it.
    pub help: Option<String>,
    /// Bytes of the policy's text that the error is about; `None` if the policy was not read from TOML.
    pub span: Option<Range<usize>>,
    /// Line of the span, from 1; stored because `Display` does not have the text.
    line: Option<usize>,
    /// A key that its section does not have and that resembles none of the section's keys.
    unknown_key: Option<String>,
}

impl PolicyError {
    /// An error about a part of the text.
    pub fn new(span: &Span, message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, span: span.clone(), line: None, unknown_key: None }
    }

    /// Adds a suggestion.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Sets the suggestion, if there is one.
    pub fn maybe_help(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }

    pub(super) fn of_unknown_key(self, key: &str) -> Self {
        Self { unknown_key: Some(key.to_owned()), ..self }
    }

    /// If the error is about an unknown key, suggests the section that has the key; `section_of` returns it.
    pub(crate) fn suggest_section(self, section_of: impl Fn(&str) -> Option<String>) -> Self {
        match self.unknown_key.as_deref().and_then(section_of) {
            Some(section) => self.help(format!("it belongs {section}")),
            None => self,
        }
    }

    pub(crate) fn on_line(self, line: Option<usize>) -> Self {
        Self { line, ..self }
    }

    /// Sets the line number from the policy's text.
    pub(crate) fn in_text(self, text: &str) -> Self {
        let line = self.line_column(text).map(|(line, _)| line);
        self.on_line(line)
    }

    /// Line of the error, from 1; `None` if it is not known.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Line and column in the policy's text, both from 1; columns count characters.
    pub fn line_column(&self, text: &str) -> Option<(usize, usize)> {
        self.span.as_ref().map(|span| line_column(text, span.start))
    }
}

/// A location in a policy's text. The line is stored for errors that are found when the text is no longer available.
#[derive(Debug, Clone, Default)]
pub struct TextLocation {
    span: Option<Range<usize>>,
    line: Option<usize>,
}

impl TextLocation {
    /// Location of a span in a text.
    pub fn new(span: &Span, text: &str) -> Self {
        let line = span.as_ref().map(|span| line_column(text, span.start).0);
        Self { span: span.clone(), line }
    }

    /// An error at this location.
    pub fn error(&self, message: impl Into<String>) -> PolicyError {
        PolicyError::new(&self.span, message).on_line(self.line)
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for PolicyError {}

/// Line and column, from 1, of the character at (or around) a byte offset. An offset beyond the text is its end.
pub(super) fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let (mut line, mut column) = (1, 1);
    for (start, character) in text.char_indices() {
        if start + character.len_utf8() > offset {
            break;
        }
        if character == '\n' {
            (line, column) = (line + 1, 1);
        } else {
            column += 1;
        }
    }
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "größe = 1\nλ = \"é\"\n";
        assert_eq!(line_column(text, 0), (1, 1));
        assert_eq!(line_column(text, text.find('=').unwrap()), (1, 7));
        assert_eq!(line_column(text, text.find('é').unwrap()), (2, 6));
        assert_eq!(line_column(text, text.find('é').unwrap() + 1), (2, 6), "inside a character is at it");
        assert_eq!(line_column(text, text.len()), (3, 1));
        assert_eq!(line_column(text, usize::MAX), (3, 1));
        assert_eq!(line_column("", 3), (1, 1));
    }

    #[test]
    fn display_is_one_line() {
        let error = PolicyError::new(&Some(2..3), "no").help("yes");
        assert_eq!(error.to_string(), "no; yes");
        assert_eq!(error.in_text("\n\n\n").to_string(), "line 3: no; yes");
    }
}
