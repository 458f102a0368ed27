//! A file without a header: its first line is a person, and no command shows or writes a cell of it.

use crate::folder::{Folder, PEOPLE, POLICY};

/// The first line of the files without a header. One cell is the name of a column by chance, one occurs twice, and one
/// resembles the name of a column.
const PERSONS: &[&str] = &[
    "Zebulon,97,divers,99301,leprosy\n",
    "Zebulon,97,divers,zip,leprosy\n",
    "Zebulon,97,97,99301,leprosy\n",
    "Zebulon,97,divers,99301,diagnosys\n",
];

/// Cells of these lines that are no word of a message.
const CELLS: &[&str] = &["Zebulon", "97", "divers", "99301", "leprosy", "diagnosys"];

/// Commands that read the file or folder `bare`; `class.toml` has a class.
const COMMANDS: &[&str] = &[
    "anonymize bare -p policy.toml -o o.csv --report o.html",
    "risks bare --columns diagnosi",
    "apply bare --recoding r.json -o o.csv",
    "check bare -p policy.toml",
    "inferences bare -p policy.toml -o o.csv",
    "inferences bare -p policy.toml --json",
    "linkage out.csv bare -p policy.toml",
    "linkage out.csv out.csv -p policy.toml --original bare",
    "anonymize people.csv -p policy.toml -o o.csv --earlier bare",
    "measure bare out.csv -p policy.toml",
    "measure people.csv bare -p policy.toml",
    "bound bare -p policy.toml",
    "bound people.csv -p policy.toml --released bare",
    "queries bare out.csv -p policy.toml",
    "queries people.csv bare -p policy.toml",
    "frontier bare -p policy.toml -o o.csv",
    "evaluate bare -p class.toml",
    "evaluate people.csv -p class.toml --test bare",
    "compare bare -p class.toml --methods mondrian -o o.csv",
    "compare people.csv -p class.toml --methods mondrian,sweep --test bare -o o.csv",
    "hierarchy build bare --column age --method iotf",
    "hierarchy build bare --column diagnosi --method iotf",
    "hierarchy check zip.csv bare --column Sex",
    "hierarchy check zip.csv bare --column age",
];

/// Commands that read a first line like a record as one: the columns are called c1, c2, ..
const READING: &[&str] = &["init bare", "risks bare"];

/// Commands that read `bare` as something else than a table.
const MISTAKEN: &[&str] = &[
    "check people.csv -p bare",
    "apply people.csv --recoding bare -o o.csv",
    "queries people.csv out.csv -p policy.toml --queries bare",
    "hierarchy show bare",
    "hierarchy check bare people.csv --column age",
];

fn prepared() -> Folder {
    let folder = Folder::with_people();
    folder.write("class.toml", POLICY.replace("\"sensitive\"", "\"class\""));
    assert_eq!(folder.anonymize(&["--recoding", "r.json"]).code, 0);
    folder
}

fn assert_silent(folder: &Folder, command: &str, cells: &[&str]) {
    let before = folder.files();
    let run = folder.run(&command.split(' ').collect::<Vec<_>>());
    let said = format!("{}{}", run.stdout, run.stderr);
    assert_eq!((run.code, said.matches("error:").count()), (2, 1), "{command}: {said}");
    let shown: Vec<&&str> = cells.iter().filter(|cell| said.contains(**cell)).collect();
    assert!(shown.is_empty(), "{command} shows {shown:?}: {said}");
    assert!(folder.files() == before, "{command} wrote a file");
}

#[test]
fn no_command_shows_a_record_that_stands_where_the_header_should_be() {
    let folder = prepared();
    let records = PEOPLE.split_once('\n').unwrap().1;
    for (number, person) in PERSONS.iter().enumerate() {
        let file = format!("bare{number}.csv");
        folder.write(&file, format!("{person}{records}"));
        for command in COMMANDS {
            assert_silent(&folder, &command.replace("bare", &file), CELLS);
        }
        for command in MISTAKEN {
            assert_silent(&folder, &command.replace("bare", &file), CELLS);
        }
    }
    // These read the first line as a record, and name neither it nor its cells.
    for (number, _) in PERSONS.iter().enumerate() {
        for command in READING {
            let said = folder.ok(&command.replace("bare", &format!("bare{number}.csv")).split(' ').collect::<Vec<_>>());
            // `l-diversity` is in every draft.
            let texts = CELLS.iter().filter(|cell| cell.parse::<u32>().is_err() && **cell != "divers");
            assert!(said.contains("c5") && texts.clone().all(|cell| !said.contains(cell)), "{command}: {said}");
        }
    }
    // A delimiter that a hierarchy file does not have.
    folder.write("pipes.csv", "Zebulon|97|divers|leprosy\n");
    assert_silent(&folder, "hierarchy show pipes.csv", CELLS);
}

#[test]
fn no_command_shows_the_record_of_a_folder_with_one_headerless_part() {
    let folder = prepared();
    let bare = format!("{}{}", PERSONS[0], PEOPLE.split_once('\n').unwrap().1);
    folder.write("last/a.csv", PEOPLE).write("last/b.csv", &bare);
    folder.write("first/a.csv", &bare).write("first/b.csv", PEOPLE);
    for part in ["first", "last"] {
        for command in COMMANDS.iter().chain(READING) {
            assert_silent(&folder, &command.replace("bare", part), CELLS);
        }
    }
}

#[test]
fn a_wrong_name_of_a_column_is_still_found() {
    let folder = Folder::with_people();
    folder.edit("people.csv", "name,age,sex", "name,Age,sexx");
    let said = folder.anonymize(&[]).stderr;
    assert!(said.contains("`age` (did you mean `Age`?)") && said.contains("`sex` (did you mean `sexx`?)"), "{said}");
    assert!(said.contains("not in the policy: `sexx` and 1 other column,"), "{said}");
    let said = folder.run(&["hierarchy", "build", "people.csv", "--column", "age", "--method", "iotf"]).stderr;
    assert!(said.contains("people.csv: there is no column `age`; did you mean `Age`?"), "{said}");
}

/// A pattern matches any name, so it would declare the cells of a person as columns.
#[test]
fn no_pattern_makes_columns_of_a_record() {
    let folder = prepared();
    folder.write("bare.csv", "Zebulon,97,leprosy\nAda,31,flu\nIda,32,flu\nOtto,33,flu\n");
    folder.write("all.toml", "version = 1\nprivacy.k = 2\n[columns.\"*\"]\nrole = \"quasi-identifier\"\n");
    let before = folder.files();
    for arguments in
        [&["anonymize", "bare.csv", "-p", "all.toml", "-o", "o.csv"][..], &["check", "bare.csv", "-p", "all.toml"]]
    {
        let run = folder.run(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains("does not look like a name") && !run.stderr.contains("Zebulon"), "{}", run.stderr);
    }
    assert_eq!(folder.files(), before);
}
