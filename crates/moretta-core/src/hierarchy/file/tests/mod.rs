mod reference;

use super::*;

fn problem(text: &str) -> (usize, HierarchyProblem) {
    let error = parse(text).unwrap_err();
    assert_eq!((error.faults.len(), error.more), (1, 0), "{error}");
    (error.row().unwrap(), error.faults.into_iter().next().unwrap().problem)
}

/// Rows of the tree of a file.
fn written(text: &str) -> String {
    write(&parse(text).unwrap())
}

fn notes(text: &str, column: Option<&str>) -> Vec<String> {
    read(text, column).unwrap().notes.iter().map(ToString::to_string).collect()
}

#[test]
fn leaves_may_sit_at_different_depths_and_siblings_may_be_apart() {
    let tree = parse("a;a;x;*\nb;b;y;*\nc;g;x;*\nd;g;x;*\n").unwrap();
    let labels: Vec<_> = (0..4).map(|code| tree.label(tree.leaf(code))).collect();
    assert_eq!(labels, ["a", "c", "d", "b"]);
    assert_eq!(tree.label(tree.cover(1, 2)), "g");
    assert_eq!(tree.label(tree.cover(0, 1)), "x");
    assert_eq!(tree.label(tree.cover(2, 3)), "*");
}

#[test]
fn other_delimiters_marks_and_quotes() {
    let plain = parse("a;x, y;*\nb;x, y;*\n").unwrap();
    assert_eq!(plain, parse("\u{feff}a\tx, y\t*\r\nb\tx, y\t*\r\n").unwrap());
    assert_eq!(plain, parse("a,\"x, y\",*\n\"b\", \"x, y\" ,*").unwrap());
    assert_eq!(plain, parse("a ; x, y;*;\r\n\r\n b;x, y ;*; \r\n").unwrap());
    assert_eq!(parse("\"say \"\"hi\"\"\";*").unwrap().label(NodeId(1)), "say \"hi\"");
}

#[test]
fn a_quoted_field_may_have_line_breaks() {
    let text = "\"a\nb\";\"x\r\ny\";*\nc;z;*\n";
    let tree = parse(text).unwrap();
    assert_eq!((tree.label(tree.leaf(0)), tree.label(NodeId(1))), ("a\nb", "x\r\ny"));
    assert_eq!(parse(&write(&tree)).unwrap(), tree);
    // Rows are counted in lines of the file.
    assert_eq!(problem("\"a\nb\";z;*\nc;z\nd;z;*"), (3, HierarchyProblem::Ragged { found: 2, expected: 3 }));
}

#[test]
fn contradictions_are_errors_that_name_the_row() {
    use HierarchyProblem::*;
    let row = Place::Row;
    assert_eq!(problem(""), (1, Empty));
    assert_eq!(problem("\n \r\n"), (1, Empty));
    assert_eq!(problem("a;*\nb;x;*"), (2, Ragged { found: 3, expected: 2 }));
    assert_eq!(problem("a|*"), (1, OneField));
    assert_eq!(problem("a;x;*\nb;;*"), (2, EmptyField { field: 2 }));
    assert_eq!(problem("a;x;*\nb;x;*\nc;x;y"), (3, NoRoot));
    assert_eq!(problem("*;*"), (1, RootBelow { field: 1 }));
    assert_eq!(problem("a;*;x;*"), (1, RootBelow { field: 2 }));
    assert_eq!(problem("a;*;x;All"), (1, RootBelow { field: 2 }));
    assert_eq!(problem("a;x;*\nb;x;*\na;y;*"), (3, LeafTwice { leaf: "a".into(), earlier: row(1) }));
    let two = TwoParents { label: "x".into(), field: 2, earlier: row(1) };
    assert_eq!(problem("a;x;y;*\nb;x;z;*"), (2, two));
    assert_eq!(problem("a;\"x;*"), (1, Quote));
    assert_eq!(problem("a;\"x\"y;*"), (1, Quote));
}

#[test]
fn a_fault_above_is_not_repeated_below() {
    let two = HierarchyProblem::TwoParents { label: "y".into(), field: 3, earlier: Place::Row(1) };
    assert_eq!(problem("a;x;y;u;*\nb;x;y;v;*"), (2, two));
}

#[test]
fn all_faults_are_listed_at_once() {
    let mut text = "v;x;g;*\n".to_owned();
    for index in 0..30 {
        text += &format!("w{index};x;h{index};*\n");
    }
    let error = parse(&text).unwrap_err();
    assert_eq!((error.faults.len(), error.more), (20, 10));
    let message = error.to_string();
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[21]), (22, "30 faults", "  and 10 more"));
    assert!(lines[1].starts_with("  row 2: `x` has another parent here than in row 1; "), "{message}");
    assert_eq!(lines[2], "  row 3: the group in field 2 has another parent in row 1");
    // A table of records is no hierarchy, and none of its texts is shown.
    let error = parse("name,ill\nAnn,flu\nBen,asthma\nCat,flu").unwrap_err().to_string();
    assert!(error.contains("row 1: ") && error.contains("row 3: ") && !error.contains("sthma"), "{error}");
}

#[test]
fn any_common_root_is_the_root() {
    assert_eq!(written("0;8;7\n1;8;7\n2;9;7\n"), "0;8;*\n1;8;*\n2;9;*\n");
    // A value or a group below may have the label of the root.
    assert_eq!(written("7;8;7\n1;8;7\n2;7;9;7\n".replace(";9", "").as_str()), "7;8;*\n1;8;*\n2;2;*\n");
    assert_eq!(written("a;All;b;All\nc;All;b;All\nd;e;f;All"), "a;All;b;*\nc;All;b;*\nd;e;f;*\n");
    assert_eq!(notes("a;All\nb;All", None), ["the root `All` is released as `*`"]);
}

#[test]
fn identical_rows_count_once() {
    let text = "a;x;*\nb;x;*\na;x;*\na;x;*\n";
    assert_eq!(written(text), "a;x;*\nb;x;*\n");
    assert_eq!(notes(text, None), ["2 rows repeat an earlier one and count once"]);
    assert_eq!(notes("a;*\na;*", None), ["1 row repeats an earlier one and counts once"]);
}

#[test]
fn a_group_with_the_label_of_a_value_is_released_with_its_level() {
    let text = "Parma;Parma;Emilia;*\nFidenza;Parma;Emilia;*\nAosta;Aosta;Aosta;*\n";
    assert_eq!(
        written(text),
        "Parma;Parma (level 2);Emilia;*\nFidenza;Parma (level 2);Emilia;*\nAosta;Aosta;Aosta;*\n"
    );
    let note =
        "1 group has the label of a value or of another group, so it is released with its level: `Parma (level 2)`";
    assert_eq!(notes(text, None), [note]);
    // Written labels are unique and read back unchanged.
    assert_eq!(written(&written(text)), written(text));
    // A label that already has this form is not taken twice.
    let taken = "Parma;Parma;*\nx;Parma;*\nParma (level 2);y;*\nz;y;*\n";
    assert_eq!(
        written(taken),
        "Parma;Parma (level 2) (level 2);*\nx;Parma (level 2) (level 2);*\nParma (level 2);y;*\nz;y;*\n"
    );
}

#[test]
fn groups_on_different_levels_may_have_one_label() {
    let text = "t;Trento;Trento;*\nr;Trento;Trento;*\nm;Bolzano;Trento;*\n";
    let provinces = "t;Trento (level 2);Trento (level 3);*\nr;Trento (level 2);Trento (level 3);*\n\
                     m;Bolzano;Trento (level 3);*\n";
    assert_eq!(written(text), provinces);
    // Not adjacent, where earlier versions saw a cycle.
    assert_eq!(written("a;b;a;*\nc;b;a;*"), "a;b;a (level 3);*\nc;b;a (level 3);*\n");
    // Repeated labels are filling as long as they make no difference.
    assert_eq!(written("a;x;x;*\nb;g;x;*\nc;g;x;*"), "a;a;x;*\nb;g;x;*\nc;g;x;*\n");
    assert_eq!(written("a;x;x;*\nb;x;x;*\nc;*;*;*"), "a;x;*\nb;x;*\nc;c;*\n");
}

#[test]
fn levels_have_names() {
    let text = "#levels;town;province;region;*\nParma;Parma;Emilia;*\nFidenza;Parma;Emilia;*\n";
    let file = read(text, None).unwrap();
    assert_eq!(file.levels, ["town", "province", "region", "*"]);
    let named = "Parma;Parma (province);Emilia;*\nFidenza;Parma (province);Emilia;*\n";
    assert_eq!(write(&file.tree), named);
    let again = file.write(Form::Delimited(';')).unwrap();
    assert_eq!(again, format!("#levels;town;province;region;*\n{named}"));
    assert_eq!(read(&again, None).unwrap(), HierarchyFile { notes: Vec::new(), ..file.clone() });
    let json = file.write(Form::Json).unwrap();
    assert_eq!(read_json(&json).unwrap(), HierarchyFile { notes: Vec::new(), ..file });
    let wrong = HierarchyProblem::LevelCount { found: 2, expected: 3 };
    assert_eq!(problem("#levels;town;province\nParma;Emilia;*\n"), (1, wrong));
    let twice = HierarchyProblem::LevelName { name: "town".into(), level: 2 };
    assert_eq!(problem("#levels;town;town;*\nParma;Emilia;*\n"), (1, twice));
    // A value may have any label, if its row is like the others.
    assert_eq!(written("#levels;x;*\nb;x;*\n"), "#levels;x;*\nb;x;*\n");
}

#[test]
fn a_first_row_is_read_as_names_only_if_nothing_contradicts() {
    let rows = "Parma;Emilia;*\nFidenza;Emilia;*\n";
    let levels = |first: &str, column| read(&format!("{first}\n{rows}"), column).map(|file| file.levels);
    let header = Ok(vec!["town".to_owned(), "region".to_owned(), "*".to_owned()]);
    assert_eq!(levels("town;region;*", Some("Town")), header);
    assert_eq!(levels("town;region;country", None).unwrap()[2], "country");
    // Without a column of this name it is a value, and so it is if one of its labels has another use.
    for (first, column) in [("town;region;*", None), ("town;region;*", Some("place")), ("town;Emilia;*", Some("town"))]
    {
        assert_eq!(levels(first, column), Ok(Vec::new()), "{first}");
    }
    assert!(levels("Parma;Emilia;Italy", None).is_err());
    assert_eq!(
        notes(&format!("town;region;*\n{rows}"), Some("town")),
        ["the first row was read as the names of 3 levels; start it with `#levels` to say so"]
    );
    assert!(parse("b;a;c\na;a;a\nd;a;a").is_err());
    // With one other value, either row could be the header.
    assert!(parse("town;country\nParma;Italy\nParma;Italy").is_err());
    assert!(parse("town;country\nParma;Italy").is_err());
}

#[test]
fn json_trees() {
    let text = r##"{"#levels": ["job", "branch", "sector", "*"],
        "Services": {"Office": ["Clerk", "Typist"], "Sales": "Cashier"},
        "Farming": ["Farmer", {"Forestry": ["Forester", 7]}], "Farming": ["Vet"]}"##;
    let file = read_json(text).unwrap();
    let rows = "Clerk;Office;Services;*\nTypist;Office;Services;*\nCashier;Sales;Services;*\nFarmer;Farmer;Farming;*\n\
                Forester;Forestry;Farming;*\n7;Forestry;Farming;*\nVet;Vet;Farming;*\n";
    assert_eq!((write(&file.tree).as_str(), file.levels.len()), (rows, 4));
    let again = file.write(Form::Json).unwrap();
    assert_eq!(read_json(&again).unwrap(), file);
    assert_eq!(write(&read_json("[\"a\", \"b\"]").unwrap().tree), "a;*\nb;*\n");
    assert_eq!(write(&read_json(r#"{"*": {"x": ["a", "b"]}}"#).unwrap().tree), "a;x;*\nb;x;*\n");
    let same = r#"{"Emilia": {"Parma": ["Parma", "Fidenza"]}, "Aosta": {"Aosta": ["Aosta"]}}"#;
    assert_eq!(
        write(&read_json(same).unwrap().tree),
        "Parma;Parma (level 2);Emilia;*\nFidenza;Parma (level 2);Emilia;*\nAosta;Aosta;Aosta;*\n"
    );
}

#[test]
fn faults_of_json_name_the_place() {
    let faults = |text: &str| read_json(text).unwrap_err().to_string();
    assert_eq!(faults(r#"{"a": {"b": []}}"#), "/a/b: the group has no values; remove it, or list its values");
    let several = faults(r#"{"a": [1.5, null, ["x"]], "b": true}"#);
    let lines: Vec<&str> = several.lines().collect();
    assert_eq!((lines.len(), lines[0]), (5, "4 faults"));
    for (line, place) in lines[1..].iter().zip(["/a/1: ", "/a/2: `null`", "/a/3: an array", "/b: `true`"]) {
        assert!(line.trim_start().starts_with(place), "{several}");
    }
    assert_eq!(
        faults(r#"{"a": ["x"], "b": ["x"]}"#),
        "/b/1: the value `x` has another path in /a/1; each value has one"
    );
    assert!(
        faults("{\"a\": [\"secret\"").starts_with("row 1: not valid JSON: EOF"),
        "{}",
        faults("{\"a\": [\"secret\"")
    );
    assert!(!faults("{\"secret\" \"secret\"}").contains("secret"));
    assert!(faults("\"a\"").starts_with("top of the tree: "));
    assert!(faults(&"[".repeat(1000)).contains("recursion limit"));
    assert!(faults("{}").contains("no values"));
    assert!(faults(r##"{"#levels": "x", "a": ["b"]}"##).starts_with("/#levels: "));
    assert!(faults(r##"{"#levels": ["x", "*"], "a": ["b"]}"##).starts_with("/#levels: 2 names"));
}

#[test]
fn a_tree_too_deep_for_json_is_refused() {
    let path: Vec<String> = (0..200).map(|level| format!("n{level}")).collect();
    let file = read(&format!("{};*", path.join(";")), None).unwrap();
    let error = file.write(Form::Json).unwrap_err();
    assert_eq!(error.to_string(), "the hierarchy has 201 levels, and JSON holds at most 120; write CSV");
    let allowed = read(&format!("{};*", path[..119].join(";")), None).unwrap();
    assert_eq!(read_json(&allowed.write(Form::Json).unwrap()).unwrap().tree, allowed.tree);
}

#[test]
fn hierarchies_of_amnesia() {
    let text = "distinct\nname job\ntype string\nheight 3\n\nOffice has Clerk Typist \nSales has Cashier \n\n\
                Work has Office Sales \n\n";
    assert_eq!(written(text), "Clerk;Office;Work;*\nTypist;Office;Work;*\nCashier;Sales;Work;*\n".replace("Work;", ""));
    let lines = |body: &str| parse(&format!("distinct\nname job\n\n{body}")).unwrap_err().to_string();
    assert_eq!(lines("Office Clerk"), "row 4: not a line like `parent has child child`");
    assert!(lines("a has b c\nd has b").contains("row 5: `b` has another parent"));
    assert!(lines("a has b\nb has a").contains("above itself"));
    assert!(lines("a has b\nc has d").contains("all rows must end in the same label"));
    assert!(lines("a has b\nb has b c").contains("`b`"));
    let range = parse("range\nname age\ntype int\nheight 2\n\n0,99 has 0,9 10,99").unwrap_err().to_string();
    assert!(range.contains("{ widths = [..] }"), "{range}");
}

#[test]
fn a_large_file_is_read_in_one_pass() {
    let row = |index: usize| format!("v{index};v{};v{};v{};*\n", index / 3, index / 30, index / 900);
    let text: String = (0..100_000).map(row).collect();
    let file = read(&text, None).unwrap();
    assert_eq!(file.tree.leaf_count(), 100_000);
    assert_eq!(parse(&write(&file.tree)).unwrap(), file.tree);
}
