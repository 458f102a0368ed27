//! Reproduction of the experiments of five papers: published figures beside figures computed now.
//!
//! It lets a reader check that the methods behave as published. [`PAPERS`] lists the papers; each makes a [`Document`]
//! with tables and charts, and every figure in it is computed when the document is made. Published figures are
//! constants in the code. Each [`Claim`](document::Claim) says whether the reproduced figure agrees; if not, the
//! document gives the reason.
//!
//! [`data`] reads the data sets (not part of the project), [`adult`] prepares the columns that several papers use,
//! [`experiment`] makes one run, [`machine`] describes the machine. Nothing is written to disk here: the caller gets
//! the texts.
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
    adult::{BOTH, TRAIN},
    data::Data,
    document::{Document, File, table_of},
    error::PaperError,
    experiment::Experiment,
};

/// Paper whose experiments can be reproduced.
#[derive(Clone, Copy)]
pub struct Paper {
    /// Number on the command line, from 1.
    pub number: u8,
    /// Subject of the paper.
    pub title: &'static str,
    /// Files that are read, relative to the data folder.
    needs: &'static [&'static str],
    run: fn(&Experiment<'_>) -> Result<Document, PaperError>,
}

/// All papers, by number.
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
    Paper { number: 3, title: "hierarchies for numbers", needs: BOTH, run: numeric_hierarchies::run },
    Paper { number: 4, title: "local recoding", needs: TRAIN, run: local_recoding::run },
    Paper { number: 5, title: "genetic search", needs: BOTH, run: genetic_generalization::run },
];

impl Paper {
    /// Checks that all required files exist, before the experiments begin.
    pub fn check(&self, data: &Data) -> Result<(), PaperError> {
        self.needs.iter().try_for_each(|file| data.check(file))
    }

    /// Runs the experiments and returns their results.
    pub fn reproduce(&self, experiment: &Experiment<'_>) -> Result<Document, PaperError> {
        (self.run)(experiment)
    }
}

/// Page with the claims of several papers and links to their pages.
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
