//! Writes guesses as a policy to edit.

use std::fmt::Write;

use moretta_core::{
    notation::Notation,
    policy::{InputOptions, toml_key},
    privacy::{DraftColumn, DraftColumns, MODELS, ModelEntry, SectionForm},
    schema::Role,
    text::{count, listed, shown},
};

use super::{Dialect, FoundNotation, Guard, Guess, Guesses, Hierarchy, Suggestion, Trial};

/// Characters per line of a comment.
const WIDTH: usize = 110;

/// From more quasi-identifiers on, the draft warns of the loss. Not tuned.
const MANY: usize = 15;

const ROLES: &str = "\
# Columns and their roles. Every column of the input must be declared:
#   identifier        directly identifies a person: removed
#   quasi-identifier  an attacker may know it and find a person by it: made less precise
#   sensitive         an attacker should not learn it about a person: released unchanged, protected by [privacy]
#   class             to be predicted by the recipient, at most one column: released unchanged
#   insensitive       none of these: released unchanged, without any guarantee
#   person            number of the person, if a person has several records: removed; groups count persons
#   household         number of the household: removed; for the risk that one member is found by another
";

const RELEASE: &str = "
# Format of the release.
[release]
labels = \"node\"                       # categories: a node of the hierarchy, or \"set\" for the values {a, b}
numbers = \"interval\"                  # numbers: the interval of a group, or its \"mean\", \"median\" or \"midpoint\"
order = \"shuffled\"                    # or \"input\", but the order of the records can identify people
";

/// Returns the draft policy. It is valid if there is at least one column.
pub fn policy_text(guesses: &Guesses, source_name: &str) -> String {
    let mut out = String::new();
    head(&mut out, guesses, source_name);
    privacy(&mut out, guesses);
    out.push_str(
        "\n[method]\nname = \"best\"                         # tries several methods and improves the best result; `moretta methods` lists others\n\n",
    );
    out.push_str(ROLES);
    for name in &guesses.repeated {
        comment(&mut out, &format!("CONFIRM: several columns are named {}; rename them", toml_key(name)));
    }
    for (index, guess) in guesses.columns.iter().enumerate() {
        column(&mut out, index, guess, guesses.records);
    }
    out.push_str(RELEASE);
    input(&mut out, guesses);
    out
}

/// Appends a comment, wrapped at spaces. Control characters are removed, so the text cannot end the comment.
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

/// Returns the text as a quoted TOML string.
fn quoted(text: &str) -> String {
    let key = toml_key(text);
    if key.starts_with('"') { key } else { format!("\"{key}\"") }
}

fn head(out: &mut String, guesses: &Guesses, source_name: &str) {
    let first = if guesses.complete { "" } else { "the first " };
    let records = format!("{first}{} records", count(guesses.records));
    comment(out, &format!("Draft policy for {}, guessed from {records}.", shown(source_name)));
    comment(
        out,
        "Review every line marked CONFIRM: correct it if it is wrong, and remove the mark. This file contains no values \
         of the data, only counts.",
    );
    out.push_str("version = 1\n");
}

fn privacy(out: &mut String, guesses: &Guesses) {
    out.push_str("\n# Privacy guarantees of the release.\n[privacy]\n");
    let counted = if counts_persons(guesses) { "persons" } else { "records" };
    comment(
        out,
        &format!(
            "CONFIRM: every combination of quasi-identifier values is shared by at least k {counted}. Usual: 5 to 50; a \
             larger k gives more privacy and less precision."
        ),
    );
    if guesses.complete && guesses.records < 10 {
        comment(out, "The table has fewer than k records, so no release can satisfy this k.");
    }
    out.push_str(
        "k = 10\nmax-suppressed = 0                    # share of the records that may be suppressed: 0.02 is 2 %\n",
    );
    let of = |role: Role| guesses.columns.iter().filter(move |column| column.role == role);
    let quasi_identifiers: Vec<String> = of(Role::QuasiIdentifier).map(|column| quoted(&column.name)).collect();
    if quasi_identifiers.len() > MANY {
        let note = format!(
            "{} quasi-identifiers: records alike in all of them are rare, so a release loses much. Make those identifiers \
             that the recipient does not need and those insensitive that no attacker can know, or use LKC-privacy.",
            quasi_identifiers.len()
        );
        comment(out, &note);
    }
    let active = rules(out, guesses, &quasi_identifiers);
    let mut guarded: Vec<&Guess> = of(Role::Sensitive).collect();
    let stand_in = guarded.is_empty();
    guarded.extend(of(Role::Class).filter(|_| stand_in));
    let models = || MODELS.iter().filter(|entry| entry.form != SectionForm::Key && !active.contains(&entry.key));
    out.push('\n');
    if guarded.is_empty() {
        let sections: Vec<String> = models().map(ModelEntry::header).collect();
        let text = "No column looks sensitive. For sensitive columns there are more privacy models:";
        comment(out, &format!("{text} {}.", listed(&sections)));
        return;
    }
    if stand_in {
        comment(
            out,
            "No column looks sensitive. k does not protect a value that all records of a group share; these models do, and \
             the examples use the class, which can be protected too:",
        );
    } else {
        comment(out, "Other models for sensitive columns; use any of them:");
    }
    let draft =
        |column: &&Guess| DraftColumn { name: quoted(&column.name), kind: column.kind, distinct: column.different };
    let guarded: Vec<DraftColumn> = guarded.iter().map(draft).collect();
    let columns = DraftColumns { quasi_identifiers: &quasi_identifiers, guarded: &guarded, has_sensitive: !stand_in };
    for section in models().filter_map(|entry| (entry.draft)(&columns)) {
        out.push_str("#\n");
        section.lines().for_each(|line| write_disabled(out, line));
    }
}

fn counts_persons(guesses: &Guesses) -> bool {
    guesses.columns.iter().any(|guess| guess.role == Role::Person)
}

/// Appends a rule for each sensitive column. Returns the keys of the models that it uses.
fn rules(out: &mut String, guesses: &Guesses, quasi_identifiers: &[String]) -> Vec<&'static str> {
    let mut keys = Vec::new();
    for (guess, guard) in guesses.columns.iter().filter_map(|guess| Some((guess, guess.guard?))) {
        let column = quoted(&guess.name);
        out.push('\n');
        match guard {
            Guard::Diversity { l } => {
                comment(
                    out,
                    "CONFIRM: each group has at least l different values of this sensitive column, so that who finds a \
                     person's group does not learn the person's value.",
                );
                _ = writeln!(out, "[[privacy.l-diversity]]\ncolumn = {column}\nl = {l}");
                keys.push("l-diversity");
                if counts_persons(guesses) {
                    comment(
                        out,
                        "Values are counted, not persons: one person with several records can have all l of them. kind = \
                         \"entropy\" weighs persons; it needs the method \"best\" (the default) or \"genetic\".",
                    );
                }
            }
            Guard::Rarest { share, max_confidence } => {
                comment(
                    out,
                    "CONFIRM: an attacker who knows the given columns infers none of the rarer values of this sensitive \
                     column with more than this confidence. rarest is the share of its values that are guarded.",
                );
                let given = quasi_identifiers.join(", ");
                _ = writeln!(
                    out,
                    "[[privacy.template]]\ngiven = [{given}]\ncolumn = {column}\nrarest = {share}\n\
                     max-confidence = {max_confidence}"
                );
                keys.push("template");
            }
        }
    }
    keys
}

/// Appends a line of a disabled section: commented out, unless it is a comment already.
fn write_disabled(out: &mut String, line: &str) {
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
    if matches!(guess.role, Role::Person | Role::Household) && guess.missing > 0 {
        let missing = count(guess.missing);
        _ = writeln!(out, "missing = \"category\"                  # CONFIRM: missing in {missing} records");
    }
    if matches!(guess.role, Role::Identifier | Role::Insensitive | Role::Person | Role::Household) {
        return;
    }
    _ = writeln!(out, "type = \"{}\"", guess.kind.name());
    if let Some(format) = guess.format {
        _ = writeln!(out, "format = {}", quoted(format));
    }
    missing_texts(out, guess);
    if guess.missing > 0 {
        let (missing, records) = (count(guess.missing), count(records));
        let other = if guess.role == Role::QuasiIdentifier { "; \"suppress\" releases it as *" } else { "" };
        _ = writeln!(
            out,
            "missing = \"category\"                  # CONFIRM: missing in {missing} of {records} records; treated as a value{other}"
        );
    }
    match (&guess.trial, &guess.hierarchy) {
        (Some(trial), _) => proposed(out, trial),
        (None, Some(suggestion)) => hierarchy(out, index, guess, suggestion),
        (None, None) => {}
    }
}

/// The hierarchy that lost least in a trial, with what each lost.
fn proposed(out: &mut String, trial: &Trial) {
    let figure = |(hierarchy, loss): &(Hierarchy, f64)| format!("{:.1} % with {}", 100.0 * loss, hierarchy.words());
    let figures: Vec<String> = trial.losses.iter().map(figure).collect();
    let (records, k) = (count(trial.records as u64), trial.k);
    comment(
        out,
        &format!(
            "In a trial ({records} records, k = {k}, k-member) the quasi-identifiers lost {}.",
            figures.join(", ")
        ),
    );
    let Some((least, _)) = trial.losses.first() else { return };
    _ = writeln!(out, "hierarchy = {}", least.toml());
    // The ends of other intervals are values of people, so round ones may be wanted although they lose more.
    for (other, _) in &trial.losses[1..] {
        if matches!(other, Hierarchy::Widths(_) | Hierarchy::Calendar) {
            _ = writeln!(out, "# hierarchy = {}", other.toml());
        }
    }
}

/// The texts that may mean a missing value in one column.
fn missing_texts(out: &mut String, guess: &Guess) {
    if guess.missing_texts.is_empty() {
        return;
    }
    comment(
        out,
        "CONFIRM: these texts are unlike all other values of the column, as if they meant a missing value. Remove those \
         that are real values.",
    );
    let texts: Vec<String> = guess.missing_texts.iter().map(|text| quoted(text)).collect();
    _ = writeln!(out, "missing-texts = [{}]", texts.join(", "));
}

fn hierarchy(out: &mut String, index: usize, guess: &Guess, suggestion: &Suggestion) {
    let advice = match suggestion {
        Suggestion::Widths(widths) => {
            let widths: Vec<String> = widths.iter().map(f64::to_string).collect();
            out.push_str("# Any interval may be released. For fixed intervals use, for example:\n");
            _ = writeln!(out, "# hierarchy = {{ widths = [{}] }}", widths.join(", "));
            return;
        }
        Suggestion::Prefix(lengths) => {
            let lengths: Vec<String> = lengths.iter().map(u32::to_string).collect();
            let choice = format!("hierarchy = {{ prefix = [{}] }}", lengths.join(", "));
            _ = writeln!(out, "{choice:<37} # leading characters kept at each level");
            return;
        }
        Suggestion::Dates => {
            out.push_str("# Any interval of days may be released. For the calendar use, for example:\n");
            out.push_str("# hierarchy = { dates = [\"month\", \"year\"] }\n");
            return;
        }
        Suggestion::Groups => {
            "A hierarchy file that groups similar values keeps more information than a choice of value or `*`:"
        }
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

/// How numbers are written, if not in plain notation.
fn notation(out: &mut String, found: &FoundNotation) {
    let Notation { decimal, thousands } = found.notation;
    let columns = |names: &[String]| {
        let named: Vec<String> = names.iter().take(5).map(|name| format!("`{}`", shown(name))).collect();
        let more = if names.len() > 5 { ", .." } else { "" };
        format!("{}{more}", named.join(", "))
    };
    if !found.conflicting.is_empty() {
        let text = "have numbers with a decimal comma or a separator of thousands, and other columns have a decimal point. \
                    One file has one notation; these columns are read as categories:";
        comment(out, &format!("CONFIRM: some columns {text} {}.", columns(&found.conflicting)));
    }
    if found.notation.is_plain() {
        return;
    }
    let other = if found.ambiguous {
        match decimal {
            ',' => " The commas may also separate thousands: then set decimal = \".\" and thousands = \",\".",
            _ => " The commas may also be decimal commas: then set decimal = \",\" and remove `thousands`.",
        }
    } else {
        ""
    };
    comment(out, &format!("CONFIRM: numbers are written like this in {}.{other}", columns(&found.columns)));
    if decimal != '.' {
        _ = writeln!(out, "decimal = \"{decimal}\"");
    }
    if let Some(thousands) = thousands {
        _ = writeln!(out, "thousands = \"{thousands}\"");
    }
}

fn input(out: &mut String, guesses: &Guesses) {
    out.push_str("\n# Format of the input. Settings that are not listed are detected.\n");
    let all: Vec<String> =
        InputOptions::default().missing.iter().chain(&guesses.markers).map(|text| quoted(text)).collect();
    let Dialect { delimiter, header, encoding, encoding_is_certain, numbers } = &guesses.dialect;
    let as_usual = delimiter.is_none() && encoding.is_none() && *header && numbers.notation.is_plain();
    let off = if guesses.markers.is_empty() { "# " } else { "" };
    _ = writeln!(out, "{}[input]", if as_usual { off } else { "" });
    if let Some(delimiter) = delimiter {
        let delimiter = if *delimiter == '\t' { "\\t".to_owned() } else { delimiter.to_string() };
        _ = writeln!(out, "delimiter = \"{delimiter}\"");
    }
    if let Some(encoding) = encoding {
        if !encoding_is_certain {
            comment(
                out,
                "CONFIRM: the file is not UTF-8 and has no byte order mark, so its encoding is guessed. If letters such as \
                 those with accents are wrong in a release, set another one.",
            );
        }
        _ = writeln!(out, "encoding = \"{}\"", encoding.name());
    }
    if !header {
        comment(
            out,
            "CONFIRM: the first line looks like a record and is read as one. If it names the columns, set header = true and \
             run `moretta init` again. Give the columns names in the order of the file, here and in [columns]:",
        );
        out.push_str("header = false\n# names = [\"..\", \"..\"]\n");
    }
    notation(out, numbers);
    if !guesses.markers.is_empty() {
        comment(out, "CONFIRM: these texts occur and look like missing values. Remove those that are real values.");
    }
    _ = writeln!(out, "{off}missing = [{}]", all.join(", "));
    if delimiter.is_none() {
        out.push_str("# delimiter = \";\"\n");
    }
    out.push_str(
        "# population = 1000000                # number of people the table was drawn from; used for the risk\n",
    );
}
