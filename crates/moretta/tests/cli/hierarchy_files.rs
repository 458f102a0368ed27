//! Hierarchy files as other programs write them, from the file to the check of the release.

use crate::folder::{Folder, real_data};

/// A province and a region with the name of their town, a repeated row, a root that is not `*`, and names of the
/// levels.
const TOWNS: &str = "\
town;province;region;country
Parma;Parma;Emilia;Italia
Fidenza;Parma;Emilia;Italia
Fidenza;Parma;Emilia;Italia
Modena;Modena;Emilia;Italia
Carpi;Modena;Emilia;Italia
Aosta;Aosta;Aosta;Italia
Cogne;Aosta;Aosta;Italia
";

const PEOPLE: &str = "\
town,age,ill
Parma,30,flu
Fidenza,30,asthma
Modena,30,flu
Carpi,30,asthma
Aosta,30,flu
Cogne,30,asthma
";

const POLICY: &str = "\
version = 1
privacy.k = 2
method.name = \"mondrian\"
[columns]
town = { role = \"quasi-identifier\", hierarchy = \"town.csv\" }
age = { role = \"quasi-identifier\", type = \"number\" }
ill.role = \"sensitive\"
";

fn towns() -> Folder {
    let folder = Folder::empty();
    folder.write("town.csv", TOWNS).write("people.csv", PEOPLE).write("policy.toml", POLICY);
    folder
}

/// First column of a release, sorted.
fn first_column(text: &str) -> Vec<&str> {
    let mut cells: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    cells.sort_unstable();
    cells
}

#[test]
fn groups_with_the_name_of_a_value_are_released_and_read_back() {
    let folder = towns();
    let run = folder.anonymize(&["--recoding", "recoding.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for note in [
        "town.csv: the first row was read as the names of 4 levels",
        "town.csv: 1 row repeats an earlier one and counts once",
        "town.csv: 3 groups have the label of a value or of another group, so they are released with their level",
    ] {
        assert!(run.stderr.contains(note), "{}", run.stderr);
    }
    let provinces = ["Aosta (region)", "Aosta (region)", "Modena (province)", "Modena (province)"];
    let expected: Vec<&str> = provinces.into_iter().chain(["Parma (province)", "Parma (province)"]).collect();
    assert_eq!(first_column(&folder.read("out.csv")), expected);
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
    folder.ok(&["measure", "people.csv", "out.csv", "-p", "policy.toml"]);
    folder.write("q.toml", "[[query]]\ncount = true\nwhere = { town = \"Parma (province)\" }\n");
    folder.ok(&["queries", "people.csv", "out.csv", "-p", "policy.toml", "--queries", "q.toml"]);
    // The saved recoding has the labels, and needs no file.
    std::fs::remove_file(folder.path("town.csv")).unwrap();
    folder.ok(&["apply", "people.csv", "--recoding", "recoding.json", "-o", "again.csv"]);
    assert_eq!(first_column(&folder.read("again.csv")), expected);
}

#[test]
fn a_cell_that_is_no_released_label_is_refused() {
    let folder = towns();
    assert_eq!(folder.anonymize(&[]).code, 0);
    // The label of the file, without its level, is that of the town.
    for label in ["Aosta (province)", "Italia", "Emilia (region)"] {
        let text = folder.read("out.csv").replacen("Aosta (region)", label, 1);
        let run = folder.write("forged.csv", text).run(&["check", "forged.csv", "-p", "policy.toml"]);
        assert_eq!(run.code, 2, "{label}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(&format!("`{label}` is not a released form")), "{}", run.stderr);
    }
}

#[test]
fn the_root_of_any_name_is_released_as_a_star() {
    let folder = towns();
    folder.edit("policy.toml", "privacy.k = 2", "privacy.k = 6");
    let run = folder.anonymize(&["--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(first_column(&folder.read("out.csv")), ["*"; 6]);
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
    folder.edit("policy.toml", "age = { role = \"quasi-identifier\", type = \"number\" }", "age.role = \"identifier\"");
    let run = folder.anonymize(&["--json", "--overwrite"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["starred_rows"], 6, "{report}");
}

#[test]
fn parquet_releases_have_the_same_labels() {
    let folder = towns();
    folder.ok(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.parquet"]);
    folder.ok(&["check", "out.parquet", "-p", "policy.toml"]);
}

#[test]
fn hierarchies_are_converted() {
    let folder = towns();
    let said = folder.ok(&["hierarchy", "convert", "town.csv", "town.json"]);
    assert_eq!(said, "wrote town.json: 6 values, 4 levels, 11 nodes\n");
    let json: serde_json::Value = serde_json::from_str(&folder.read("town.json")).unwrap();
    assert_eq!(json["#levels"][1], "province");
    assert_eq!(json["*"]["Emilia"]["Parma (province)"], serde_json::json!(["Parma", "Fidenza"]));
    let csv = folder.ok(&["hierarchy", "convert", "town.json"]);
    assert_eq!(csv, folder.ok(&["hierarchy", "convert", "town.csv"]));
    assert!(csv.starts_with("#levels;town;province;region;country\nParma;Parma (province);Emilia;*\n"), "{csv}");
    folder.ok(&["hierarchy", "convert", "town.json", "town.tsv"]);
    assert!(folder.read("town.tsv").contains("Carpi\tModena (province)\tEmilia\t*\n"));
    let comma = folder.ok(&["hierarchy", "convert", "town.tsv", "--delimiter", "comma"]);
    assert_eq!(comma.replace(',', ";"), csv);
    // Each form gives the same release.
    assert_eq!(folder.anonymize(&["--seed", "1"]).code, 0);
    let release = folder.read("out.csv");
    for file in ["town.json", "town.tsv"] {
        folder.write("policy.toml", POLICY.replace("town.csv", file));
        assert_eq!(folder.anonymize(&["--seed", "1", "--overwrite"]).code, 0);
        assert_eq!(folder.read("out.csv"), release, "{file}");
    }
    let run = folder.run(&["hierarchy", "show", "town.csv"]);
    assert!(run.stderr.contains("town.csv: the root `Italia` is released as `*`"), "{}", run.stderr);
    let shown = folder.ok(&["hierarchy", "show", "town.json"]);
    assert!(shown.contains("levels: town, province, region, country\n* (6 values)\n"), "{shown}");
}

#[test]
fn a_header_is_recognized_by_the_column() {
    let folder = towns();
    let rows = TOWNS.replace("country", "*").replace("Italia", "*");
    folder.write("places.csv", &rows);
    let run = folder.run(&["hierarchy", "check", "places.csv", "people.csv", "--column", "town"]);
    assert!(run.code == 0 && run.stderr.contains("the names of 4 levels"), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("6 of 6 values of `town` have a row; 0 rows are unused"), "{}", run.stdout);
    // Named after something else, the row is a value that does not occur.
    let run = folder.run(&["hierarchy", "show", "places.csv"]);
    assert!(run.stdout.contains("7 values") && !run.stderr.contains("the names of 4 levels"), "{}", run.stdout);
}

/// The forms of ARX: intervals without their upper end, bounds, and labels that are only words.
#[test]
fn intervals_of_other_programs_are_released_and_checked() {
    let folder = Folder::empty();
    let ages: String = (10..90).map(|age| format!("{age},flu\n")).collect();
    let row = |age: u32| {
        let (ten, forty) = (age / 10 * 10, age / 40 * 40);
        let decade = if age >= 80 { ">=80".to_owned() } else { format!("[{ten}, {}[", ten + 10) };
        format!("{age};{decade};{forty}-{};[0, 120[\r\n", forty + 39)
    };
    let rows: String = (0..100).map(row).collect();
    let policy = "version = 1\nprivacy.k = 10\nmethod.name = \"mondrian\"\n[columns]\n\
                  age = { role = \"quasi-identifier\", hierarchy = \"age.csv\" }\nill.role = \"insensitive\"\n";
    folder.write("people.csv", format!("age,ill\n{ages}")).write("age.csv", &rows).write("policy.toml", policy);
    let run = folder.anonymize(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let text = folder.read("out.csv");
    assert!(text.contains("\"[20, 30[\",flu") && text.contains(">=80,flu"), "{text}");
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
    folder.ok(&["measure", "people.csv", "out.csv", "-p", "policy.toml"]);
    folder.write("age.csv", rows.replace("30;[30, 40[", "30;[20, 30["));
    let run = folder.anonymize(&["--overwrite"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("`[20, 30[` does not contain its value `30`"), "{}", run.stderr);
}

/// Releases a table along every hierarchy of a folder, whose files are named `{prefix}{column}.csv`, and checks it.
fn release_along(table: &std::path::Path, hierarchies: &std::path::Path, prefix: &str, kind: &str) {
    let folder = Folder::empty();
    let header = std::fs::read_to_string(table).unwrap();
    let header = header.lines().next().unwrap().trim_start_matches('\u{feff}');
    let mut policy = "version = 1\nprivacy.k = 10\nmethod.name = \"mondrian\"\n".to_owned();
    let mut found = 0;
    for name in header.split([',', ';']).map(|name| name.trim_matches('"')) {
        let file = hierarchies.join(format!("{prefix}{name}.csv"));
        policy += &format!("[columns.'{name}']\n");
        if file.is_file() {
            let file = file.to_str().unwrap();
            let run = folder.run(&["hierarchy", "check", file, table.to_str().unwrap(), "--column", name]);
            assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
            policy += &format!("role = \"quasi-identifier\"\nhierarchy = '{file}'\n{kind}");
            found += 1;
        } else {
            policy += "role = \"identifier\"\n";
        }
    }
    let files = std::fs::read_dir(hierarchies).unwrap().count();
    assert_eq!(found, files, "every hierarchy of {} has a column", hierarchies.display());
    folder.write("policy.toml", policy);
    folder.ok(&["anonymize", table.to_str().unwrap(), "-p", "policy.toml", "-o", "out.csv"]);
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
}

#[test]
fn every_public_hierarchy_is_read_as_it_is() {
    let Some(data) = real_data("every_public_hierarchy_is_read_as_it_is") else { return };
    let adult = data.join("adult/adult_train.csv");
    release_along(&adult, &data.join("adult/hierarchies"), "", "");
    release_along(&adult, &data.join("adult/hierarchies-arx"), "", "");
    let more = data.join("more");
    if !more.is_dir() {
        return eprintln!("SKIPPED the tables of {}: there are none", more.display());
    }
    let cmc = more.join("cmc/hierarchies");
    // As numbers, ages are refused: 19 is in `16~20`, between values of `15~20`.
    release_along(&more.join("cmc/cmc.csv"), &cmc, "cmc_hierarchy_", "type = \"category\"\n");
    // Its groups are not intervals of the codes.
    let (table, hierarchies) = (more.join("mach2019/mach2019_int.csv"), more.join("mach2019/hierarchies"));
    release_along(&table, &hierarchies, "mach2019_int_hierarchy_", "type = \"category\"\n");
}
