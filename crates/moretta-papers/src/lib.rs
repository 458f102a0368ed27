//! The experiments of the five papers again, on the data at hand: published figures beside ours.
//!
//! For whoever has to know that the methods are what the papers say: [`PAPERS`] lists them, and each makes a
//! [`Document`] with tables and pictures in which every figure is computed when it is made. What the papers printed
//! stands in the code as constants. Each [`Claim`](document::Claim) says whether ours is the same; where it is not, the
//! document says why.
//!
//! [`data`] reads the data sets (they are not part of the project), [`adult`] prepares the columns that several papers
//! use, [`experiment`] makes one run, [`machine`] says on what. Nothing is written here: whoever asks gets texts.
//!
//! | module | paper |
//! | --- | --- |
//! | `bottom_up_generalization` | Wang, Yu, Chakraborty, ICDM 2004 |
//! | `top_down_disclosure` | Wang, Fung, Yu, KAIS 2007 |
//! | `numeric_hierarchies` | Campan, Cooper, Truta, SDM 2011 |
//! | `local_recoding` | Xu and others, KDD 2006 |
//! | `genetic_generalization` | Iyengar, KDD 2002 |

pub mod adult;
mod bottom_up_generalization;
pub mod data;
pub mod document;
pub mod error;
pub mod experiment;
mod genetic_generalization;
mod local_recoding;
pub mod machine;
mod numeric_hierarchies;
mod top_down_disclosure;

use std::fmt::Write as _;

use self::{
    data::Data,
    document::{Document, File, table_of},
    error::PaperError,
    experiment::Experiment,
};

/// A paper's number, its title, and what makes its results.
#[derive(Clone, Copy)]
pub struct Paper {
    /// Its number in the specification, and on the command line.
    pub number: u8,
    /// What it brought.
    pub title: &'static str,
    needs: &'static [&'static str],
    run: fn(&Experiment<'_>) -> Result<Document, PaperError>,
}

/// All of them.
pub const PAPERS: [Paper; 5] = [
    Paper {
        number: 1,
        title: "bottom-up generalization",
        needs: &["adult/adult_train.csv", "adult/adult_test.csv", "adult/hierarchies-arx/education.csv"],
        run: bottom_up_generalization::run,
    },
    Paper {
        number: 2,
        title: "top-down disclosure",
        needs: &["adult/adult_train.csv", "adult/adult_test.csv", "german/german.csv", "crx/crx.csv"],
        run: top_down_disclosure::run,
    },
    Paper {
        number: 3,
        title: "hierarchies for numbers",
        needs: &["adult/adult_train.csv", "adult/adult_test.csv"],
        run: numeric_hierarchies::run,
    },
    Paper { number: 4, title: "local recoding", needs: &["adult/adult_train.csv"], run: local_recoding::run },
    Paper {
        number: 5,
        title: "genetic search",
        needs: &["adult/adult_train.csv", "adult/adult_test.csv"],
        run: genetic_generalization::run,
    },
];

impl Paper {
    /// Whether the files are there that it reads, before anything takes time.
    pub fn check(&self, data: &Data) -> Result<(), PaperError> {
        self.needs.iter().try_for_each(|file| data.check(file))
    }

    /// Makes its experiments.
    pub fn reproduce(&self, experiment: &Experiment<'_>) -> Result<Document, PaperError> {
        (self.run)(experiment)
    }
}

/// One page on several papers: every claim, and where to read more.
pub fn overview(documents: &[Document], made: &str) -> File {
    let mut text = format!(
        "# The five papers reproduced\n\n{made}\n\nThe claims of each paper and our results. The page of each paper \
         has the details, and the reasons for differences.\n"
    );
    for document in documents {
        let _ = writeln!(text, "\n## [{}]({})", document.title(), document.file());
        text += &table_of(document.claims());
    }
    ("README.md".to_owned(), text)
}
