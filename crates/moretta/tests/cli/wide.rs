//! Tables with many columns: patterns in a policy, and a policy as a table.

use crate::folder::Folder;

const POLICY: &str = "version = 1
privacy.k = 2
method.name = \"mondrian\"
[columns.\"na*\"]
role = \"identifier\"
[columns.\"*e*\"]
role = \"quasi-identifier\"
[columns.\"z*p\"]
role = \"quasi-identifier\"
[columns.\"d*\"]
role = \"sensitive\"
[columns.name]
role = \"identifier\"
[[privacy.l-diversity]]
column = \"diagnosis\"
l = 2
";

fn folder(policy: &str) -> Folder {
    let folder = Folder::with_people();
    folder.write("policy.toml", policy);
    folder
}

#[test]
fn patterns_stand_for_columns_in_every_command() {
    let folder = folder(POLICY);
    let run = folder.run(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--recoding", "r.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    // A new column of the table that a pattern takes is not released without a word.
    let noted = "the pattern `*e*` gives the role \"quasi-identifier\" to 2 columns: `age`, `sex`\n";
    assert!(run.stderr.contains(noted), "{}", run.stderr);
    // The release has no column that matches `na*`.
    assert!(folder.read("out.csv").starts_with("age,sex,zip,diagnosis\n"));
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
    folder.ok(&["measure", "people.csv", "out.csv", "-p", "policy.toml"]);
    folder.ok(&["queries", "people.csv", "out.csv", "-p", "policy.toml"]);
    folder.ok(&["inferences", "people.csv", "-p", "policy.toml"]);
    folder.ok(&["compare", "people.csv", "-p", "policy.toml", "--methods", "mondrian"]);
    folder.write("other.csv", folder.read("out.csv"));
    let linked = folder.run(&["linkage", "out.csv", "other.csv", "-p", "policy.toml"]);
    assert!(linked.code < 2, "{linked:?}");
    // The saved recoding names every column.
    let saved = folder.read("r.json");
    assert!(
        ["\"age\"", "\"sex\"", "\"zip\""].iter().all(|name| saved.contains(name)) && !saved.contains("z*p"),
        "{saved}"
    );
}

#[test]
fn a_wrong_pattern_is_one_message_with_its_line() {
    let refused = |from: &str, to: &str, expected: &str| {
        assert!(POLICY.contains(from), "{from}");
        let folder = folder(&POLICY.replace(from, to));
        let run = folder.run(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv"]);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains(expected), "{}", run.stderr);
        assert!(!folder.path("out.csv").exists());
    };
    refused("z*p", "lab_*", "policy.toml, line 8: the pattern `lab_*` matches no column of the table");
    let two = "policy.toml, line 10: column `zip` matches the patterns `z*p` and `*i*`, with the roles \
               \"quasi-identifier\" and \"sensitive\"";
    refused("\"d*\"", "\"*i*\"", two);
    refused(
        "column = \"diagnosis\"",
        "column = \"lab\"",
        "policy.toml, line 15: `column` names `lab`, which the policy does",
    );
}

#[test]
fn a_policy_is_edited_as_a_table() {
    let folder = Folder::with_people();
    let said = folder.ok(&["init", "people.csv", "--table", "columns.csv"]);
    assert_eq!(said, "wrote columns.csv, a line per column; review each, and set `confirmed` to yes\n");
    let table = folder.read("columns.csv");
    assert!(table.starts_with("column,role,type,hierarchy,missing,weight,guard,more,reason,confirmed\n"), "{table}");
    for name in ["privacy,policy", "name,identifier", "age,quasi-identifier", "diagnosis,sensitive"] {
        assert!(table.contains(&format!("\n{name},")), "{table}");
    }
    folder.ok(&["policy", "columns.csv", "--output", "draft.toml"]);
    folder.ok(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv"]);
    folder.ok(&["policy", "policy.toml", "--output", "own.csv"]);
    assert_eq!(folder.run(&["policy", "policy.toml", "--output", "own.csv"]).code, 2, "it exists");
    let printed = folder.ok(&["policy", "own.csv"]);
    assert!(
        printed.contains("[columns.zip]\nrole = \"quasi-identifier\"\ntype = \"category\"\nhierarchy = \"zip.csv\"\n")
    );
    folder.write("bad.csv", "column,role\nage,quasi-identifer\n");
    let run = folder.run(&["policy", "bad.csv", "-o", "new.toml"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("bad.csv, row 2, column `role`: `role` is \"quasi-identifer\""), "{}", run.stderr);
    assert!(run.stderr.contains("did you mean \"quasi-identifier\"?") && !folder.path("new.toml").exists());
}
