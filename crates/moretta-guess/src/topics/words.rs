//! The words of a column's name.

/// Words for an id.
const ID: &[&str] = &["id", "uid", "uuid", "guid", "pid", "identifier", "key", "rowid", "kennung", "schlüssel"];
/// Words for an id or a count; the values decide.
const NUMBER: &[&str] = &["number", "no", "nr", "nbr", "nummer", "index", "ref", "numéro", "numero", "número"];
/// Ends of words for an id: `fallnummer`, `UTILITYID`.
const ID_ENDS: &[&str] = &["id", "nr", "nbr", "no", "nummer", "number", "key", "kennung", "schlüssel"];
/// Words with such an end that mean something else.
#[rustfmt::skip]
const NO_IDS: &[&str] = &[
    "paid", "unpaid", "prepaid", "aid", "valid", "invalid", "covid", "mid", "solid", "acid", "thyroid", "steroid", "grid",
    "hybrid", "android", "opioid", "lipid", "rapid", "void", "kid", "bid", "liquid", "avoid", "did", "fluid", "hiv", "monkey",
    "turkey", "casino", "piano", "inno", "recid", "arachnoid", "typhoid", "medicaid", "plaid", "squid",
    "bescheid", "entscheid", "suizid", "pestizid",
];
/// Persons that have a number in a table.
#[rustfmt::skip]
const PERSONS: &[&str] = &[
    "person", "personen", "pers", "patient", "patienten", "pat", "customer", "cust", "client", "klient", "klienten", "kunde",
    "kunden", "subject", "subj", "proband", "probanden", "respondent", "member", "mitglied", "mitglieds", "student",
    "schüler", "schueler", "employee", "emp", "personal", "user", "beneficiary", "versicherten", "individual",
    "participant", "teilnehmer", "citizen", "voter", "insured", "asegurado", "asegurada", "pupil", "persona", "personne", "paciente", "paziente", "cliente",
    "assuré", "assure", "usager", "usuario", "utente", "assistito", "alumno", "alumna", "élève", "eleve", "étudiant", "etudiant",
];
/// Groups of persons that live together.
const HOUSEHOLDS: &[&str] = &[
    "household",
    "hh",
    "haushalt",
    "haushalts",
    "family",
    "fam",
    "familie",
    "familien",
    "dwelling",
    "ménage",
    "menage",
    "foyer",
    "hogar",
    "famiglia",
    "familia",
];
/// Names that mean the number of a household without a further word.
const HOUSEHOLD_IDS: &[&str] = &["hid", "hhid", "hhnr", "famid", "hhn"];

/// Characters of a name that are read. A question of a survey has some hundreds; a damaged header may have a million, which
/// every topic would search.
const MAX_CHARS: usize = 1000;

/// A column name split into words.
#[derive(Debug)]
pub(crate) struct Words {
    words: Vec<String>,
    joined: String,
}

impl Words {
    pub fn of(name: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        let (mut word, mut lower_before) = (String::new(), false);
        for character in name.chars().take(MAX_CHARS) {
            let starts = character.is_uppercase() && lower_before;
            if (starts || !character.is_alphanumeric()) && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if character.is_alphanumeric() {
                word.extend(character.to_lowercase());
            }
            lower_before = character.is_lowercase() || character.is_numeric();
        }
        if !word.is_empty() {
            words.push(word);
        }
        Self { joined: words.concat(), words }
    }

    /// Whether the name has a word for an id.
    pub fn says_id(&self) -> bool {
        let ends = |word: &String| {
            let stem = ID_ENDS.iter().filter_map(|end| word.strip_suffix(end)).any(|stem| stem.chars().count() >= 2);
            stem && !NO_IDS.contains(&word.as_str())
        };
        let counts = self.has_part(&["numberof", "noof", "nrof"]);
        self.has_any(ID) || (!counts && (self.has_any(NUMBER) || self.words.iter().any(ends)))
    }

    /// Whether the name says an id and cannot mean a count.
    pub fn says_only_id(&self) -> bool {
        let is_id = |word: &String| {
            ["id", "key", "kennung", "schlüssel"].iter().any(|end| word.ends_with(end))
                && !NO_IDS.contains(&word.as_str())
        };
        self.has_any(ID) || self.words.iter().any(is_id)
    }

    /// Whether a word of the name means an id, not only the end of one.
    pub fn has_word_for_id(&self) -> bool {
        self.has_any(ID)
    }

    /// Whether the name says an illness.
    pub fn says_diagnosis(&self) -> bool {
        self.has_part(&["diag", "disease", "illness", "krankheit", "maladie", "enfermedad", "malattia", "patolog"])
            || self.has_any(&["icd", "icd9", "icd10", "dx"])
    }

    /// Whether the name is a word for an id and nothing else.
    pub fn is_only_id(&self) -> bool {
        !self.words.is_empty() && self.words.iter().all(|word| ID.contains(&word.as_str()))
    }

    /// Whether the name says the number of a person; also `patient` alone, if the values are ids.
    pub fn says_person(&self) -> bool {
        self.has_any(PERSONS) || self.is_number_of(PERSONS)
    }

    /// Whether the name says the number of a household.
    pub fn says_household_id(&self) -> bool {
        self.has_any(HOUSEHOLD_IDS) || (self.has_any(HOUSEHOLDS) && self.says_id()) || self.is_number_of(HOUSEHOLDS)
    }

    /// Whether the name is one of the words and an end for an id, as one word: `custno`.
    fn is_number_of(&self, words: &[&str]) -> bool {
        let is_id = |rest: &str| ID_ENDS.contains(&rest) || ID.contains(&rest);
        self.words.iter().any(|word| words.iter().filter_map(|start| word.strip_prefix(start)).any(is_id))
    }

    /// Whether the name is one word.
    pub fn is_single(&self) -> bool {
        self.words.len() == 1
    }

    /// Whether the name says that the values are codes: `occucode`, `payer_code`, `admission_type`.
    pub fn says_code(&self) -> bool {
        let ends = |word: &String| word.ends_with("code") || word.ends_with("schlüssel") || word.ends_with("typ");
        self.has_any(&[
            "code",
            "type",
            "typ",
            "art",
            "kind",
            "category",
            "kategorie",
            "group",
            "gruppe",
            "status",
            "kz",
            "flag",
            "psu",
            "stratum",
            "strata",
            "cluster",
        ]) || self.words.iter().any(ends)
    }

    /// Whether the name starts with a short word for a count: `NUMYOUNG`.
    pub fn starts_like_a_count(&self) -> bool {
        ["num", "anz", "nof", "nb"].iter().any(|start| self.joined.starts_with(start))
    }

    pub fn has_any(&self, candidates: &[&str]) -> bool {
        self.words.iter().any(|word| {
            let plain = word.trim_end_matches(|c: char| c.is_ascii_digit());
            let singular = |word: &str| {
                word.strip_suffix('s').filter(|rest| rest.len() > 2 && !rest.ends_with('s')).map(str::to_owned)
            };
            let forms = [Some(word.clone()), Some(plain.to_owned()), singular(word), singular(plain)];
            forms.into_iter().flatten().any(|form| candidates.contains(&form.as_str()))
        })
    }

    pub fn has_part(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.joined.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_into_words_however_it_is_written() {
        for name in ["dateOfBirth", "date_of_birth", "Date of Birth", "DATE.OF-BIRTH", "  date//of birth "] {
            assert_eq!(Words::of(name).words, ["date", "of", "birth"], "{name}");
        }
        assert_eq!(Words::of("icd10Code").words, ["icd10", "code"]);
        assert_eq!(Words::of("SSN").words, ["ssn"]);
        assert!(Words::of("§ -").words.is_empty());
        assert_eq!(Words::of(&"a_".repeat(600_000)).words.len(), MAX_CHARS / 2);
    }

    #[test]
    fn ids_of_persons_and_of_other_things() {
        let is = |test: fn(&Words) -> bool, name: &str| test(&Words::of(name));
        for name in
            ["id", "patient_nbr", "UTILITYID", "fallnummer", "caseid", "case nr", "hhid", "kundennr", "PATIENT_ID"]
        {
            assert!(is(Words::says_id, name), "{name}");
        }
        for name in ["paid", "covid", "age", "LAND", "is_recid", "id2text", "month", "number of clicks"] {
            assert!(!is(Words::says_id, name), "{name}");
        }
        for name in ["patient_nbr", "custno", "PATIENT", "Kundennummer", "personid", "subject id"] {
            assert!(is(Words::says_person, name), "{name}");
        }
        assert!(!is(Words::says_person, "caseid") && !is(Words::says_person, "patience"));
        for name in ["ori_hid", "hhid", "household_id", "HaushaltsNr", "family id"] {
            assert!(is(Words::says_household_id, name), "{name}");
        }
        assert!(!is(Words::says_household_id, "household") && !is(Words::says_household_id, "familysize"));
    }
}
