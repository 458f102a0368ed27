//! Notes on readings of a hierarchy file that a user may not expect.

use std::fmt;

use crate::text::{counted, shown};

/// A reading that another file would not need. `Display` is the sentence for people; it shows one label at most, like
/// an error, because a table of records may be given as a hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileNote {
    /// The first row was read as names of the levels.
    Header {
        /// Number of levels.
        levels: usize,
    },
    /// Rows that repeat an earlier one.
    Repeated {
        /// Number of rows.
        rows: u64,
    },
    /// Another label of the root than `*`.
    Root {
        /// Label as the file has it.
        label: String,
    },
    /// Groups whose label another group or a value has, too.
    Renamed {
        /// Number of groups.
        groups: u64,
        /// Label of the first of them as released.
        first: String,
    },
}

impl fmt::Display for FileNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { levels } => write!(
                f,
                "the first row was read as the names of {}; start it with `#levels` to say so",
                counted(*levels as u64, "level", "levels")
            ),
            Self::Repeated { rows: 1 } => f.write_str("1 row repeats an earlier one and counts once"),
            Self::Repeated { rows } => {
                write!(f, "{} an earlier one and count once", counted(*rows, "row repeats", "rows repeat"))
            }
            Self::Root { label } => write!(f, "the root `{}` is released as `*`", shown(label)),
            Self::Renamed { groups: 1, first } => write!(
                f,
                "1 group has the label of a value or of another group, so it is released with its level: `{}`",
                shown(first)
            ),
            Self::Renamed { groups, first } => write!(
                f,
                "{} the label of a value or of another group, so they are released with their level, such as `{}`",
                counted(*groups, "group has", "groups have"),
                shown(first)
            ),
        }
    }
}
