//! `moretta reproduce`: the experiments of the papers again, as pages with what was published beside it.

use std::{
    fs,
    io::IsTerminal,
    path::{Path, PathBuf},
};

use moretta_core::search::Stop;
use moretta_papers::{
    PAPERS, Paper,
    data::Data,
    document::{Document, File},
    error::PaperError,
    lab::Lab,
    machine, overview,
};

use crate::{
    arguments::{Papers, Reproduce, Resources},
    failure::Failure,
    inputs, summary,
    watch::Watch,
};

/// Runs it.
pub fn run(arguments: &Reproduce) -> Result<(), Failure> {
    let Papers(chosen) = arguments.papers;
    let papers: Vec<&Paper> =
        PAPERS.iter().filter(|paper| chosen.is_none_or(|number| paper.number == number)).collect();
    check_folder(&arguments.output, arguments)?;
    inputs::settings(&Resources { threads: arguments.threads, memory: None });
    let watch = Watch::new("papers");
    let tell = |what: &str| {
        if std::io::stderr().is_terminal() {
            summary::note(what);
        }
    };
    let lab = Lab { data: Data::new(&arguments.data), control: &Quietly(&watch), tell: &tell };
    let mut clock = crate::pipeline::Clock::start();
    let (mut documents, mut files): (Vec<Document>, Vec<File>) = (Vec::new(), Vec::new());
    for paper in papers {
        let document = paper.reproduce(&lab).map_err(failure)?;
        let how = format!("moretta reproduce {}", paper.number);
        files.extend(document.files(&made(&how, clock.lap())));
        documents.push(document);
    }
    if chosen.is_none() {
        files.push(overview(&documents, &format!("Made by `moretta reproduce all` on {}.", machine::described())));
    }
    write(&files, arguments)?;
    summary::print(&said(&documents, &arguments.output));
    Ok(())
}

/// The bar would show each of hundreds of searches; whether to go on is all that is asked.
struct Quietly<'a>(&'a Watch);

impl moretta_core::search::Control for Quietly<'_> {
    fn stop(&self) -> Option<Stop> {
        moretta_core::search::Control::stop(self.0)
    }
}

fn made(how: &str, seconds: f64) -> String {
    format!(
        "Made by `{how}` in {seconds:.0} s on {}. Every figure but the published ones is computed by it.",
        machine::described()
    )
}

fn failure(error: PaperError) -> Failure {
    match error {
        PaperError::Interrupted => Failure::interrupted(),
        error => Failure::input(error.to_string()),
    }
}

/// Better now than after the work.
fn check_folder(folder: &Path, arguments: &Reproduce) -> Result<(), Failure> {
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::input(format!("{} is a file; name a folder to write to", folder.display())));
    }
    let full = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if full && !arguments.overwrite {
        let message = "there are files in it; name another folder, or give --overwrite to replace results";
        return Err(Failure::input(format!("{}: {message}", folder.display())));
    }
    let within = |data: &PathBuf| folder.canonicalize().ok().zip(data.canonicalize().ok());
    if within(&arguments.data).is_some_and(|(folder, data)| folder == data) {
        return Err(Failure::input(format!("{} has the data; name another folder", folder.display())));
    }
    Ok(())
}

fn write(files: &[File], arguments: &Reproduce) -> Result<(), Failure> {
    let folder = &arguments.output;
    fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
    for (name, text) in files {
        inputs::write_text(&folder.join(name), text, arguments.overwrite)?;
    }
    Ok(())
}

fn said(documents: &[Document], folder: &Path) -> String {
    let mut text = String::new();
    for document in documents {
        let claims = document.claims();
        let same = claims.iter().filter(|claim| claim.holds).count();
        let file = folder.join(document.file());
        text += &format!(
            "{}: {same} of {} as published or better, see {}\n",
            document.title(),
            claims.len(),
            file.display()
        );
        for claim in claims.iter().filter(|claim| !claim.holds) {
            text += &format!("  differs: {}; published {}, ours {}\n", claim.what, claim.published, claim.ours);
        }
    }
    text
}
