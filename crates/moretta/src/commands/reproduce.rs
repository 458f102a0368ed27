//! `moretta reproduce`: repeats the experiments of the papers and writes pages with published and computed results.

use std::{fs, io::IsTerminal, path::Path, time::Instant};

use moretta_core::observer::{CancelOnly, Observer};
use moretta_engine::{publish_all, write_pending};
use moretta_flow::FlowError;
use moretta_papers::{
    PAPERS, Paper,
    data::Data,
    document::{Document, File},
    error::PaperError,
    experiment::Experiment,
    machine, overview,
};

use super::run_request_with_progress;
use crate::{
    arguments::{Papers, Reproduce, Resources},
    stdout::print,
    summary,
};

/// Name of the page on all papers.
const OVERVIEW: &str = "README.md";

pub fn run(arguments: &Reproduce) -> Result<(), FlowError> {
    let Papers(chosen) = arguments.papers;
    let papers: Vec<&Paper> = PAPERS.iter().filter(|paper| chosen.is_none_or(|one| paper.number == one)).collect();
    let data = Data::new(&arguments.data);
    papers.iter().try_for_each(|paper| paper.check(&data)).map_err(failure)?;
    check_folder(&arguments.output, arguments)?;
    let resources = Resources { threads: arguments.threads, ..Resources::default() };
    let (documents, mut files) = run_request_with_progress(&resources, |session, progress| {
        session.install(|| reproduced(&papers, data, &CancelOnly(progress)))
    })?;
    match chosen {
        None => {
            files.push(overview(&documents, &format!("Made by `moretta reproduce all` on {}.", machine::described())))
        }
        Some(_) if arguments.output.join(OVERVIEW).is_file() => {
            summary::note(&format!("{OVERVIEW} is from an earlier run; `reproduce all` updates it"));
        }
        Some(_) => {}
    }
    write(&files, arguments)?;
    print(&said(&documents, &arguments.output))
}

/// Returns the document of each paper, and all files to write.
fn reproduced(papers: &[&Paper], data: Data, observer: &dyn Observer) -> Result<(Vec<Document>, Vec<File>), FlowError> {
    let report = |what: &str| {
        if std::io::stderr().is_terminal() {
            summary::note(what);
        }
    };
    let experiment = Experiment { data, observer, report: &report };
    let (mut documents, mut files) = (Vec::new(), Vec::new());
    for paper in papers {
        let start = Instant::now();
        let document: Document = paper.reproduce(&experiment).map_err(failure)?;
        let how = format!("moretta reproduce {}", paper.number);
        files.extend(document.files(&made(&how, start.elapsed().as_secs_f64())));
        documents.push(document);
    }
    Ok((documents, files))
}

fn made(how: &str, seconds: f64) -> String {
    let (threads, on) = (rayon::current_num_threads(), machine::described());
    format!(
        "Made by `{how}` in {seconds:.0} s with {threads} threads on {on}. Every figure but the published ones is \
         computed by it."
    )
}

fn failure(error: PaperError) -> FlowError {
    match error {
        PaperError::Interrupted => FlowError::interrupted(),
        error => FlowError::usage(error.to_string()),
    }
}

/// Refuses an unsuitable output folder before the work starts.
fn check_folder(folder: &Path, arguments: &Reproduce) -> Result<(), FlowError> {
    if folder.exists() && !folder.is_dir() {
        return Err(FlowError::usage(format!("{} is a file; name a folder", folder.display())));
    }
    let full = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if full && !arguments.overwrite {
        let message = "the folder has files; name another folder, or use --overwrite";
        return Err(FlowError::usage(format!("{}: {message}", folder.display())));
    }
    let places = arguments.data.canonicalize().ok().zip(nearest(folder).and_then(|place| place.canonicalize().ok()));
    if places.is_some_and(|(data, place)| place.starts_with(data)) {
        return Err(FlowError::usage(format!("{} is inside the data folder; name another folder", folder.display())));
    }
    if let Some(place) = nearest(folder) {
        // Tests write access; the temporary file is removed at once.
        drop(write_pending(place.join("moretta"), &[], false)?);
    }
    Ok(())
}

/// Returns the folder itself or its nearest existing ancestor.
fn nearest(folder: &Path) -> Option<&Path> {
    // The last ancestor of a relative path is empty and means the current folder.
    let here = |place| if place == Path::new("") { Path::new(".") } else { place };
    folder.ancestors().map(here).find(|place| place.is_dir())
}

/// Writes all files or none: temporary files are renamed after all were written.
fn write(files: &[File], arguments: &Reproduce) -> Result<(), FlowError> {
    let folder = &arguments.output;
    fs::create_dir_all(folder).map_err(|error| FlowError::io("create", folder, &error))?;
    let pending = |(name, text): &File| write_pending(folder.join(name), text.as_bytes(), arguments.overwrite);
    let pending = files.iter().map(pending).collect::<Result<Vec<_>, _>>()?;
    Ok(publish_all(pending)?)
}

fn said(documents: &[Document], folder: &Path) -> String {
    let mut text = String::new();
    for document in documents {
        let claims = document.claims();
        let compared = claims.iter().filter(|claim| claim.holds.is_some()).count();
        let same = claims.iter().filter(|claim| claim.holds == Some(true)).count();
        let (title, file) = (document.title(), folder.join(document.file()));
        text += &format!("{title}: {same} of {compared} as published or better, see {}\n", file.display());
        for claim in claims.iter().filter(|claim| claim.holds == Some(false)) {
            text += &format!("  differs: {}; published {}, computed {}\n", claim.what, claim.published, claim.ours);
        }
    }
    text
}
