//! Names of the encodings of text files. Engines read and write them; the core only knows their names.

use serde::{Serialize, Serializer};

/// Encoding of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8; a byte order mark is accepted and not written.
    Utf8,
    /// UTF-8; a byte order mark is accepted and written, for programs that expect one.
    Utf8Bom,
    /// Windows-1252, for Western European languages.
    Windows1252,
    /// ISO 8859-1, for Western European languages; without the euro sign.
    Latin1,
    /// UTF-16 with a byte order mark; written in little-endian order.
    Utf16,
    /// UTF-16 in little-endian order, written without a byte order mark.
    Utf16Le,
    /// UTF-16 in big-endian order, written without a byte order mark.
    Utf16Be,
}

/// Encodings by name. The first name of an encoding is the one that is written.
const NAMES: &[(&str, Encoding)] = &[
    ("utf-8", Encoding::Utf8),
    ("utf-8-bom", Encoding::Utf8Bom),
    ("windows-1252", Encoding::Windows1252),
    ("latin-1", Encoding::Latin1),
    ("utf-16", Encoding::Utf16),
    ("utf-16le", Encoding::Utf16Le),
    ("utf-16be", Encoding::Utf16Be),
    ("utf8", Encoding::Utf8),
    ("utf-8-sig", Encoding::Utf8Bom),
    ("cp1252", Encoding::Windows1252),
    ("iso-8859-1", Encoding::Latin1),
    ("latin1", Encoding::Latin1),
    ("utf16", Encoding::Utf16),
    ("utf-16-le", Encoding::Utf16Le),
    ("utf-16-be", Encoding::Utf16Be),
];

/// Number of entries of [`NAMES`] that are written; the others are other names.
const WRITTEN: usize = 7;

impl Encoding {
    /// The encoding of a name, in any case; `None` if it is not known.
    pub fn of_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, encoding)| *encoding)
    }

    /// The name in a policy.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].0
    }

    /// The names to suggest in messages.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        NAMES[..WRITTEN].iter().map(|(name, _)| *name)
    }

    /// Whether it is UTF-8, with or without a byte order mark.
    pub fn is_utf8(self) -> bool {
        matches!(self, Self::Utf8 | Self::Utf8Bom)
    }
}

impl Serialize for Encoding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_has_its_name() {
        for (index, (name, encoding)) in NAMES.iter().enumerate() {
            assert_eq!(Encoding::of_name(&name.to_uppercase()), Some(*encoding));
            assert_eq!(index < WRITTEN, encoding.name() == *name, "{name}");
        }
        assert_eq!(Encoding::of_name("utf-7"), None);
    }
}
