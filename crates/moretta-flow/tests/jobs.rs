//! Several jobs in one process: each has its own progress, its own cancellation and its own threads.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use moretta_core::observer::{NoObserver, Observer, Stage, Stop};
use moretta_flow::{
    Anonymize, Compare, ErrorKind, Output, OutputFile, ReleaseOptions, Resources, Session, SplitOptions,
};
use moretta_synthetic::{COLUMNS, People, header, hierarchy, policy};

/// The demo's people, hierarchies and policy.
fn demo(folder: &Path, people: u64) {
    let mut text = header();
    (0..people).for_each(|index| People::new(1).person(index).write_csv(&mut text));
    fs::write(folder.join("people.csv"), text).expect("people");
    fs::write(folder.join("policy.toml"), policy()).expect("policy");
    fs::create_dir(folder.join("hierarchies")).expect("folder");
    for column in COLUMNS {
        if let Some(text) = hierarchy(column) {
            fs::write(folder.join(format!("hierarchies/{column}.csv")), text).expect("hierarchy");
        }
    }
}

fn request(folder: &Path, release: &str) -> Anonymize {
    Anonymize {
        input: folder.join("people.csv").display().to_string().into(),
        policy: folder.join("policy.toml").into(),
        output: Output { release: folder.join(release).into(), reports: Vec::new(), overwrite: false, format: None },
        recoding: None,
        earlier: moretta_flow::Earlier::default(),
        options: ReleaseOptions { seed: Some(7.into()), ..ReleaseOptions::default() },
    }
}

/// Waits for the other job when the search begins, and stops there on request.
struct Meeting<'a> {
    barrier: &'a Barrier,
    stop: bool,
    stages: AtomicU64,
}

impl Observer for Meeting<'_> {
    fn stage(&self, stage: Stage) {
        self.stages.fetch_add(1, Relaxed);
        if stage == Stage::Searching {
            self.barrier.wait();
        }
    }

    fn stop(&self) -> Option<Stop> {
        (self.stop && self.stages.load(Relaxed) >= 2).then_some(Stop::Cancelled)
    }
}

#[test]
fn one_of_two_jobs_is_cancelled_and_the_other_writes_the_same_bytes_as_alone() {
    let folder = tempfile::tempdir().expect("folder");
    let folder = folder.path();
    demo(folder, 3_000);
    let two = Resources { threads: Some(2), ..Resources::default() };
    Session::new(two, &NoObserver).expect("a session").anonymize(&request(folder, "alone.csv")).expect("a release");

    let barrier = Barrier::new(2);
    let observers = [true, false].map(|stop| Meeting { barrier: &barrier, stop, stages: AtomicU64::new(0) });
    let [cancelled, finished] = thread::scope(|scope| {
        let jobs = [("cancelled.csv", 1), ("finished.csv", 3)];
        let start = |((name, threads), observer): ((&'static str, u16), &'_ Meeting<'_>)| {
            let resources = Resources { threads: Some(threads), ..Resources::default() };
            Session::new(resources, observer).expect("a session").anonymize(&request(folder, name))
        };
        let [first, second] =
            [(jobs[0], &observers[0]), (jobs[1], &observers[1])].map(|job| scope.spawn(move || start(job)));
        [first.join().expect("no panic"), second.join().expect("no panic")]
    });
    assert_eq!(cancelled.map(|_| ()).map_err(|error| error.kind), Err(ErrorKind::Interrupted));
    finished.expect("the other job is not disturbed");
    assert_eq!(
        fs::read(folder.join("finished.csv")).expect("a file"),
        fs::read(folder.join("alone.csv")).expect("a file")
    );
    let left: Vec<PathBuf> = fs::read_dir(folder).expect("folder").map(|entry| entry.expect("entry").path()).collect();
    assert!(!left.iter().any(|path| path.ends_with("cancelled.csv") || path.extension().is_some_and(|of| of == "tmp")));
    assert!(observers.iter().all(|observer| observer.stages.load(Relaxed) >= 2), "each has its own progress");
}

#[test]
fn methods_are_compared_in_this_process_without_a_figure_of_memory() {
    let folder = tempfile::tempdir().expect("folder");
    let folder = folder.path();
    demo(folder, 500);
    let request = Compare {
        input: folder.join("people.csv").display().to_string().into(),
        policy: folder.join("policy.toml").into(),
        methods: ["mondrian", "k-member"].map(str::to_owned).to_vec(),
        k: vec![5],
        test: None,
        split_options: SplitOptions { folds: Some(2), hold_out: None },
        queries: 20,
        seed: 1,
        time_limit: None,
        output: OutputFile { path: Some(folder.join("c.csv")), overwrite: false },
    };
    let session = Session::new(Resources::default(), &NoObserver).expect("a session");
    let found = session.compare(&request).expect("a comparison");
    let results: Vec<_> = found.rows.iter().map(|row| row.found.as_ref().expect("figures")).collect();
    assert_eq!(results.len(), 2);
    for result in results {
        assert!(result.smallest_group >= 5 && result.errors.is_some() && result.peak_memory_bytes.is_none());
    }
    assert_eq!(fs::read_to_string(folder.join("c.csv")).expect("a file").lines().count(), 3);
}

#[path = "../examples/two_jobs.rs"]
#[allow(dead_code, reason = "its main reads arguments")]
mod two_jobs;

#[test]
fn the_example_makes_a_release_and_cancels_another() {
    let folder = tempfile::tempdir().expect("folder");
    demo(folder.path(), 300);
    let path = |name: &str| folder.path().join(name).display().to_string();
    two_jobs::release(path("people.csv"), path("policy.toml"), path("out.csv")).expect("the example");
    assert!(folder.path().join("out.csv").exists());
}
