//! A policy and its table mean the same; a wrong cell is one message with its place.

use moretta_core::{
    observer::NoObserver,
    policy::Policy,
    privacy::{MODELS, PrivacyModel, SectionForm},
    search::method_names,
    testing::conformance::{ColumnSpec, Dice, RandomColumns},
};
use std::sync::Arc;

use super::*;
use crate::{ConvertPolicy, OutputFile, Resources, Session};

fn convert(from: &str, to: &str, text: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join(from), folder.path().join(to));
    std::fs::write(&input, text).unwrap();
    let request = ConvertPolicy { input, output: OutputFile { path: Some(output.clone()), overwrite: false } };
    let session = Session::new(Resources::default(), &NoObserver).unwrap();
    let text = session.convert_policy(&request).map_err(|error| {
        assert!(!output.exists());
        error.message.replace(&format!("{}/", folder.path().display()), "")
    })?;
    assert_eq!(std::fs::read_to_string(&output).unwrap(), text);
    Ok(text)
}

fn to_table(policy: &str) -> Result<String, String> {
    convert("policy.toml", "columns.csv", policy)
}

fn to_policy(table: &str) -> Result<String, String> {
    convert("columns.csv", "policy.toml", table)
}

fn parsed(text: &str) -> Policy {
    Policy::parse(text, &method_names()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Whether two policies are equal, whatever the order of sections of one model.
fn mean_the_same(one: &Policy, other: &Policy) -> bool {
    let mut others: Vec<&Arc<dyn PrivacyModel>> = other.privacy.models.iter().collect();
    let is_there = |model: &Arc<dyn PrivacyModel>| {
        let at = others.iter().position(|other| ***other == **model);
        at.map(|at| others.remove(at)).is_some()
    };
    one.privacy.models.iter().all(is_there)
        && others.is_empty()
        && one.privacy.max_suppressed == other.privacy.max_suppressed
        && (&one.columns, &one.method, &one.measure) == (&other.columns, &other.method, &other.measure)
        && (&one.release, &one.input) == (&other.release, &other.input)
}

/// Help within a section is kept, and so is where a sentence begins. Examples of other models are not a reason.
#[test]
fn comments_are_reasons() {
    let policy = "version = 1\n\n# Guarantees.\n[privacy]\n# CONFIRM: shared by k records; larger\n#   is safer.\nk = 2 # persons\n\n\
                  # Other models:\n# [privacy.lkc]\n\n# CONFIRM: known to others\n# Read as codes: the name\n#   says so.\n\
                  [columns.\"a#b\"]\nrole = \"quasi-identifier\"\nmissing = \"category\" # CONFIRM: in 2 records\n\
                  # For groups use:\n# hierarchy = \"a.csv\"\n\n# next\n[columns.b]\nrole = \"insensitive\"\n";
    let table = to_table(policy).unwrap();
    let expected = "privacy,policy,,,,,,k = 2,Guarantees. shared by k records; larger is safer. k: persons,no\n\
                    a#b,quasi-identifier,,,category,,,,\"known to others. Read as codes: the name says so. missing: in 2 \
                    records. For groups use: hierarchy = \"\"a.csv\"\"\",no\nb,insensitive,,,,,,,next,yes\n";
    assert_eq!(table.split_once('\n').unwrap().1, expected);
    assert_eq!(to_table(&to_policy(&table).unwrap()).unwrap(), table);
}

/// Spreadsheets write `TRUE`, and their users begin words with a capital letter.
#[test]
fn words_have_no_case() {
    let table = "Column,Role,Type,Confirmed,More\nage,Quasi-Identifier,NUMBER,TRUE,\nprivacy,Policy,,False,k = 2\n";
    let policy = to_policy(table).unwrap();
    assert!(policy.contains("role = \"quasi-identifier\"\ntype = \"number\""), "{policy}");
    assert_eq!(policy.matches("CONFIRM").count(), 1, "{policy}");
}

/// A random policy with odd column names.
fn random(dice: &mut Dice) -> String {
    const NAMES: [&str; 8] = ["=1+1", "@a b", "+x", "'quoted'", "a,\"b\"", "-", " blank ", "größe #"];
    let quasi: Vec<ColumnSpec> =
        (0..1 + dice.below(4)).map(|index| ColumnSpec::quasi_identifier(dice, index)).collect();
    let attributes: Vec<ColumnSpec> =
        (0..1 + dice.below(3)).map(|index| ColumnSpec::attribute(dice, &format!("s{index}"))).collect();
    let (mut keys, mut sections) = (String::new(), String::new());
    for entry in MODELS {
        let columns = RandomColumns { quasi: &quasi, attributes: &attributes };
        let drawn =
            (entry.conformance.random)(dice, &columns).filter(|_| entry.form == SectionForm::Key || dice.chance(50));
        if entry.form == SectionForm::Key { &mut keys } else { &mut sections }.push_str(&drawn.unwrap_or_default());
    }
    let method = dice.one(&[
        "",
        "[method]\nname = \"mondrian\"\nrelaxed = true\n",
        "[method]\nname = \"k-member\"\n[measure]\nname = \"lm\"\n",
    ]);
    let release =
        dice.one(&["", "[release]\nnumbers = \"mean\"\n", "[input]\nmissing = [\"\", \"n/a\"]\ndelimiter = \";\"\n"]);
    let mut text = format!("version = 1\n[privacy]\nmax-suppressed = {:?}\n{keys}{sections}", dice.one(&[0.0, 0.02]));
    text += method;
    text += release;
    // Hierarchy files are not read.
    quasi.iter().for_each(|spec| text += &spec.toml("quasi-identifier"));
    attributes.iter().for_each(|spec| text += &spec.toml("sensitive"));
    for index in 0..dice.below(3) {
        let name = toml_key(NAMES[(index + dice.below(6)) % NAMES.len()]);
        if !text.contains(&format!("[columns.{name}]")) {
            text += &format!("# a note, {index}\n[columns.{name}]\nrole = \"insensitive\"\n");
        }
    }
    text
}

#[test]
fn a_policy_and_its_table_mean_the_same() {
    for seed in 0..400u64 {
        let choices = (0..300).scan(seed * 7919 + 1, |state, _| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Some((*state >> 40) as u16)
        });
        let policy = random(&mut Dice::new(choices.collect()));
        let table = to_table(&policy).unwrap_or_else(|error| panic!("{error}\n{policy}"));
        let back = to_policy(&table).unwrap_or_else(|error| panic!("{error}\n{policy}\n{table}"));
        assert!(mean_the_same(&parsed(&policy), &parsed(&back)), "{policy}\n{table}\n{back}");
        assert_eq!(to_table(&back).unwrap(), table, "{policy}");
        // No cell is a formula.
        for line in table.lines() {
            assert!(!line.starts_with(['=', '+', '-', '@']), "{line}");
        }
    }
}

const TABLE: &str = "column,role,type,hierarchy,missing,weight,guard,more,reason,confirmed\n\
                     privacy,policy,,,,,,k = 10,,yes\n\
                     age,quasi-identifier,number,\"{ widths = [5, 10] }\",,2,,,a person's age,yes\n\
                     ill,sensitive,category,,category,,\"l=3; t=0.2\",,,no\n\
                     lab_*,identifier,,,,,,,measurements,\n";

#[test]
fn a_table_becomes_a_policy() {
    let policy = to_policy(TABLE).unwrap();
    let expected = "version = 1\n\n[privacy]\nk = 10\n\n[[privacy.l-diversity]]\ncolumn = \"ill\"\nl = 3\n\n\
                    [[privacy.t-closeness]]\ncolumn = \"ill\"\nt = 0.2\ndistance = \"equal\"\n\n\
                    # a person's age\n[columns.age]\nrole = \"quasi-identifier\"\ntype = \"number\"\n\
                    hierarchy = { widths = [5, 10] }\nweight = 2\n\n# CONFIRM: not confirmed\n[columns.ill]\n\
                    role = \"sensitive\"\ntype = \"category\"\nmissing = \"category\"\n\n\
                    # CONFIRM: measurements\n[columns.\"lab_*\"]\nrole = \"identifier\"\n";
    assert_eq!(policy, expected);
    // A table may be separated by semicolons, as some spreadsheets write it, and lack columns.
    let short = "role;column;guard\npolicy;privacy;\nquasi-identifier;age;\nsensitive;ill;l=2\n";
    assert!(to_policy(short).unwrap().contains("# CONFIRM: not confirmed\n[columns.ill]"));
}

#[test]
fn a_wrong_cell_is_named() {
    let cases = [
        ("age,quasi-identifier", "age,quasi", "columns.csv, row 3, column `role`: `role` is \"quasi\"; it must be"),
        ("ill,sensitive", "age,sensitive", "columns.csv, row 4, column `column`: `age` is in row 3 already"),
        (",2,,,a", ",0,,,a", "columns.csv, row 3, column `weight`: `weight` is 0; it must be above 0"),
        (",2,,,a", ",\"2\nmissing = 3\",,,a", "columns.csv, row 3, column `weight`: "),
        (",2,,,a", ",two,,,a", "columns.csv, row 3, column `weight`: `two`: this is not TOML"),
        ("{ widths = [5, 10] }", "{ width = [5] }", "columns.csv, row 3, column `hierarchy`: "),
        ("l=3;", "l=0;", "columns.csv, row 4, column `guard`: `l` is 0"),
        ("l=3;", "m=3;", "columns.csv, row 4, column `guard`: `m=3` is no privacy model of a column"),
        ("k = 10", "k = ", "columns.csv, row 2, column `more`: `k =`: this is not TOML"),
        (
            "privacy,policy",
            "privacys,policy",
            "columns.csv, row 2, column `column`: `privacys` is not a key of the policy",
        ),
        ("age,yes", "age,sure", "columns.csv, row 3, column `confirmed`: `sure` is neither yes nor no"),
        (
            "column,role",
            "columns,role",
            "columns.csv, row 1: the header has `columns`; the columns of such a table are",
        ),
        ("column,role,type", "reason,role,type", "columns.csv"),
    ];
    for (from, to, expected) in cases {
        let error = to_policy(&TABLE.replacen(from, to, 1)).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    let error = to_policy("role,type\nidentifier,\n").unwrap_err();
    assert!(
        error.starts_with("columns.csv, row 1: the header has no `column`; begin the table with column,role,"),
        "{error}"
    );
    let error = to_table("version = 1\nprivacy.k = 2\n[columns.a]\nrole = \"x\"\n").unwrap_err();
    assert!(error.starts_with("policy.toml, line 4"), "{error}");
    let error = convert("policy.toml", "policy.toml.txt", "version = 1").unwrap_err();
    assert!(error.ends_with("the name must end with .csv"), "{error}");
}
