//! Guesses written down as a policy to be edited.

use std::fmt::Write;

use moretta_core::schema::Role;
use moretta_core::{
    policy::{InputOptions, toml_key},
    privacy::{DraftColumn, DraftColumns, MODELS, ModelEntry, SectionForm},
    text::{count, listed, shown},
};

use super::{Guess, Guesses, Suggestion};

/// Comments are broken at this width.
const WIDTH: usize = 110;

const ROLES: &str = "\
# What each column is. A column that stands nowhere here is an error: nothing leaves by accident. The roles:
#   identifier        names a person outright: dropped
#   quasi-identifier  others may know it and could find a person by it: made less precise
#   sensitive         what nobody should learn about a person: kept as it is, guarded by rules under [privacy]
#   class             what the recipient wants to predict, at most one column: kept as it is
#   insensitive       neither: kept as it is, and nothing is promised about it
";

const RELEASE: &str = "
# How the release is written.
[release]
labels = \"node\"                       # or \"set\": a group of categories prints as the values in it, {a, b}
numbers = \"interval\"                  # or \"mean\", \"median\", \"midpoint\": how a group of numbers prints
order = \"shuffled\"                    # or \"input\": but the order of records identifies people too
";

/// A policy with all that was guessed, to be edited. It parses if there is at least one column.
pub fn policy_text(guesses: &Guesses, source_name: &str) -> String {
    let mut out = String::new();
    head(&mut out, guesses, source_name);
    privacy(&mut out, guesses);
    out.push_str(
        "\n[method]\nname = \"sweep\"                        # loses least, as a rule; `moretta methods` lists others\n\n",
    );
    out.push_str(ROLES);
    for name in &guesses.repeated {
        comment(&mut out, &format!("CONFIRM: {} is the name of several columns: rename them", toml_key(name)));
    }
    for (index, guess) in guesses.columns.iter().enumerate() {
        column(&mut out, index, guess, guesses.records);
    }
    out.push_str(RELEASE);
    input(&mut out, guesses);
    out
}

/// Appends a comment, broken into lines at blanks. Whatever the text holds, it stays a comment.
fn comment(out: &mut String, text: &str) {
    let mut width = 0;
    for word in text.split_whitespace() {
        let word: String = word.chars().filter(|character| !character.is_control()).collect();
        let length = word.chars().count();
        if width == 0 {
            out.push('#');
        } else if width + 1 + length > WIDTH {
            out.push_str("\n#  ");
            width = 0;
        }
        out.push(' ');
        out.push_str(&word);
        width += 1 + length;
    }
    out.push('\n');
}

/// A text as TOML writes it, in quotes.
fn quoted(text: &str) -> String {
    let key = toml_key(text);
    if key.starts_with('"') { key } else { format!("\"{key}\"") }
}

fn head(out: &mut String, guesses: &Guesses, source_name: &str) {
    let records = match guesses.complete {
        true => format!("{} records", count(guesses.records)),
        false => format!("the first {} records", count(guesses.records)),
    };
    comment(out, &format!("What may leave of {}, and how: a first guess from {records}.", shown(source_name)));
    comment(
        out,
        "Nothing is decided yet. Whoever knows the data reads every line with CONFIRM, corrects what is wrong and takes \
         the mark away. No value of the data stands in here, only how many there are.",
    );
    out.push_str("version = 1\n");
}

fn privacy(out: &mut String, guesses: &Guesses) {
    out.push_str("\n# What must hold in the release.\n[privacy]\n");
    comment(
        out,
        "CONFIRM: nobody can be told apart from at least k - 1 others by the quasi-identifiers. Usual: 5 to 50; the \
         larger, the safer and the less precise.",
    );
    if guesses.complete && guesses.records < 10 {
        comment(out, "There are fewer records than this k asks for in one group: no release can satisfy it.");
    }
    out.push_str(
        "k = 10\nmax-suppressed = 0                    # the share of records that may be suppressed: 0.02 is 2 %\n",
    );
    let of = |role: Role| guesses.columns.iter().filter(move |column| column.role == role);
    let mut guarded: Vec<&Guess> = of(Role::Sensitive).collect();
    let stand_in = guarded.is_empty();
    guarded.extend(of(Role::Class).filter(|_| stand_in));
    let models = || MODELS.iter().filter(|entry| entry.form != SectionForm::Key);
    out.push('\n');
    if guarded.is_empty() {
        let sections: Vec<String> = models().map(ModelEntry::header).collect();
        let text = "No column looks sensitive. With one, more can be asked for than k:";
        comment(out, &format!("{text} {}.", listed(&sections)));
        return;
    }
    comment(out, "k alone does not keep a secret that a whole group shares. The rules below do, in any number:");
    if stand_in {
        comment(out, "No column looks sensitive, so they show the class, which can be guarded too.");
    }
    let quasi_identifiers: Vec<String> = of(Role::QuasiIdentifier).map(|column| quoted(&column.name)).collect();
    let draft =
        |column: &&Guess| DraftColumn { name: quoted(&column.name), kind: column.kind, distinct: column.different };
    let guarded: Vec<DraftColumn> = guarded.iter().map(draft).collect();
    let columns = DraftColumns { quasi_identifiers: &quasi_identifiers, guarded: &guarded, has_sensitive: !stand_in };
    for section in models().filter_map(|entry| (entry.draft)(&columns)) {
        out.push_str("#\n");
        section.lines().for_each(|line| off(out, line));
    }
}

/// A line of a section that applies once its `# ` is removed; a line that is a comment already stays as it is.
fn off(out: &mut String, line: &str) {
    let mark = if line.starts_with('#') { "" } else { "# " };
    _ = writeln!(out, "{mark}{line}");
}

fn column(out: &mut String, index: usize, guess: &Guess, records: u64) {
    out.push('\n');
    comment(out, &format!("CONFIRM: {}", guess.why));
    for note in &guess.notes {
        comment(out, note);
    }
    let role = guess.role.name();
    _ = writeln!(out, "[columns.{}]\nrole = \"{role}\"", toml_key(&guess.name));
    if matches!(guess.role, Role::Identifier | Role::Insensitive) {
        return;
    }
    _ = writeln!(out, "type = \"{}\"", guess.kind.name());
    if let Some(format) = guess.format {
        _ = writeln!(out, "format = {}", quoted(format));
    }
    if guess.missing > 0 {
        let (missing, records) = (count(guess.missing), count(records));
        let other = if guess.role == Role::QuasiIdentifier { "; or \"suppress\": released as *" } else { "" };
        _ = writeln!(
            out,
            "missing = \"category\"                  # CONFIRM: missing in {missing} of {records} records, a value of its own{other}"
        );
    }
    if let Some(suggestion) = &guess.hierarchy {
        hierarchy(out, index, guess, suggestion);
    }
}

fn hierarchy(out: &mut String, index: usize, guess: &Guess, suggestion: &Suggestion) {
    let advice = match suggestion {
        Suggestion::Widths(widths) => {
            let widths: Vec<String> = widths.iter().map(f64::to_string).collect();
            out.push_str("# Any interval may be released. For the same steps everywhere, for instance:\n");
            _ = writeln!(out, "# hierarchy = {{ widths = [{}] }}", widths.join(", "));
            return;
        }
        Suggestion::Prefix(lengths) => {
            let lengths: Vec<String> = lengths.iter().map(u32::to_string).collect();
            let choice = format!("hierarchy = {{ prefix = [{}] }}", lengths.join(", "));
            _ = writeln!(out, "{choice:<37} # so many of its first characters are kept");
            return;
        }
        Suggestion::Dates => {
            out.push_str("# A month, quarter, year or decade may be released (where there are times, a day too). For some of these only:\n");
            out.push_str("# hierarchy = { dates = [\"month\", \"year\"] }\n");
            return;
        }
        Suggestion::Groups => "A file that groups values that are alike keeps more than the choice of all or `*`:",
    };
    comment(out, advice);
    let plain = |character: char| if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '-' };
    let file: String = guess.name.chars().take(40).map(plain).collect();
    let file = match file.trim_matches('-') {
        "" => format!("column-{}", index + 1),
        file => file.to_owned(),
    };
    _ = writeln!(out, "# hierarchy = \"hierarchies/{file}.csv\"");
}

fn input(out: &mut String, guesses: &Guesses) {
    out.push_str("\n# How the input is read. What is left out is found out from the file.\n");
    let all: Vec<String> =
        InputOptions::default().missing.iter().chain(&guesses.markers).map(|text| quoted(text)).collect();
    let off = if guesses.markers.is_empty() { "# " } else { "" };
    _ = writeln!(out, "{off}[input]");
    if !guesses.markers.is_empty() {
        comment(
            out,
            "CONFIRM: these texts occur and look as if a value were missing. One that is a value of its own goes.",
        );
    }
    _ = writeln!(out, "{off}missing = [{}]", all.join(", "));
    out.push_str("# delimiter = \";\"\n");
    out.push_str(
        "# population = 1000000                # number of people the table was drawn from; the report's risk uses it\n",
    );
}
