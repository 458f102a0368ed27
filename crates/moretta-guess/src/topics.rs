//! Topics of column names: a table with the words used for each topic.
//!
//! A name is split into lower-case words (`dateOfBirth`, `date_of_birth` and `Date of birth` give the same three). A
//! topic matches if one of its `words` is among them, or if one of its `parts` occurs in all words written together.
//! The first matching topic of the table wins, so identifiers come before descriptions.

/// Role that a topic implies for a column, before its values are considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Directly identifies a person.
    Identifier,
    /// Identifies a person unless another word says otherwise: `city name`.
    WeakIdentifier,
    /// Weight of a record in a survey.
    SurveyWeight,
    /// An attacker may know it or find it out.
    Quasi,
    /// A body weight or a survey weight; the numbers decide.
    Weight,
    /// A year, if the numbers are years.
    Year,
    /// A value to predict, if there are few distinct ones.
    Class,
    /// A sensitive amount; with two or three distinct values, a class.
    Money,
    /// Sensitive.
    Sensitive,
}

/// A row of the table.
#[derive(Debug)]
pub(super) struct Topic {
    pub meaning: Meaning,
    /// Completes "the name suggests …".
    pub what: &'static str,
    words: &'static [&'static str],
    parts: &'static [&'static str],
}

const fn topic(
    meaning: Meaning,
    what: &'static str,
    words: &'static [&'static str],
    parts: &'static [&'static str],
) -> Topic {
    Topic { meaning, what, words, parts }
}

/// Description of the topic of postcodes, whose values are codes even if they are digits.
pub(super) const POSTCODE: &str = "a postcode";

#[rustfmt::skip]
static TOPICS: &[Topic] = &[
    topic(Meaning::Identifier, "a person's name",
        &["surname", "forename", "nickname", "vorname", "nachname", "prenom", "prénom", "nom"],
        &["firstname", "lastname", "fullname", "middlename", "familyname", "givenname", "maidenname", "birthname",
          "geburtsname", "familienname"]),
    topic(Meaning::Identifier, "an e-mail address", &["mail", "mails", "courriel"], &["email"]),
    topic(Meaning::Identifier, "a phone number",
        &["phone", "tel", "mobile", "fax", "telefon", "handy", "téléphone"],
        &["telephone", "phonen", "telefonn"]),
    topic(Meaning::Identifier, "an official or account number",
        &["ssn", "nin", "nhs", "passport", "iban", "vin", "imei", "insee", "ahv", "avs", "mrn", "pesel", "cpf", "nif",
          "kennzeichen", "steuernummer"],
        &["socialsecurity", "sozialversicherungs", "reisepass", "passportn", "steuerid", "taxid", "accountn",
          "kontonummer", "cardnumber", "kartennummer", "policynumber", "insurancen", "versichertenn", "medicalrecord",
          "patientid", "personid", "customerid", "userid", "studentid", "employeeid", "memberid", "clientid",
          "kundennummer", "personalnummer", "licenseplate", "licenceplate", "numberplate", "driverlicen",
          "sécuritésociale"]),
    topic(Meaning::Identifier, "an address",
        &["address", "adresse", "anschrift", "street", "strasse", "straße", "rue", "hausnummer"],
        &["housenumber", "streetname"]),
    topic(Meaning::Identifier, "an online name or address",
        &["username", "login", "url", "website", "ip", "twitter", "facebook", "instagram", "cookie"],
        &["username", "deviceid", "macaddr"]),
    topic(Meaning::SurveyWeight, "a survey weight",
        &["fnlwgt", "wgt", "pweight"],
        &["finalweight", "surveyweight", "samplingweight", "sampleweight", "personweight", "stichprobengewicht"]),
    topic(Meaning::Quasi, POSTCODE,
        &["zip", "zipcode", "postcode", "postal", "plz"],
        &["zipcode", "postcode", "postalcode", "postleitzahl", "codepostal"]),
    topic(Meaning::Quasi, "an age", &["age", "alter", "âge", "edad"], &["agegroup"]),
    topic(Meaning::Quasi, "a birth date",
        &["dob", "yob", "born", "birthday"], &["birth", "geburt", "geboren", "naissance"]),
    topic(Meaning::Quasi, "a sex or gender", &["sex", "gender", "geschlecht", "sexe"], &[]),
    topic(Meaning::Quasi, "a nationality or language",
        &["nationality", "citizen", "citizenship", "immigrant", "immigration", "migration", "foreign", "foreigner",
          "language", "staatsangehörigkeit", "staatsangehoerigkeit", "sprache", "nationalité", "nationalite", "langue"],
        &[]),
    topic(Meaning::Quasi, "a place",
        &["city", "town", "village", "municipality", "county", "district", "region", "state", "province", "country",
          "location", "place", "residence", "neighborhood", "neighbourhood", "borough", "canton", "kanton",
          "bundesland", "ort", "wohnort", "stadt", "land", "kreis", "gemeinde", "ville", "pays", "commune", "lat",
          "latitude", "lon", "lng", "longitude", "geo"],
        &["country"]),
    topic(Meaning::Quasi, "a race or an ethnic group", &["race", "ethnicity", "ethnic", "ethnie", "caste", "tribe"], &[]),
    topic(Meaning::Quasi, "a marital status",
        &["marital", "married", "spouse", "divorced", "familienstand", "zivilstand"],
        &["civilstatus", "familystatus", "étatcivil", "etatcivil"]),
    topic(Meaning::Quasi, "a family or household",
        &["relationship", "household", "children", "child", "kid", "dependent", "dependant", "family", "sibling",
          "housing", "kinder", "haushalt", "enfant"],
        &[]),
    topic(Meaning::Quasi, "an education",
        &["education", "educ", "school", "schooling", "degree", "qualification", "diploma", "university", "bildung",
          "schulabschluss", "ausbildung", "études"],
        &["education"]),
    topic(Meaning::Quasi, "an occupation",
        &["occupation", "job", "profession", "employment", "employer", "employed", "employee", "work", "worker",
          "industry", "sector", "company", "veteran", "beruf", "arbeitgeber", "branche", "métier", "metier", "emploi"],
        &["workclass", "occupation", "jobtitle"]),
    topic(Meaning::Quasi, "a form of address", &["salutation", "anrede", "title"], &[]),
    topic(Meaning::Quasi, "a visible property of a person",
        &["height", "bmi", "größe", "groesse", "gewicht", "taille", "poids", "handedness"],
        &["bodyweight", "haircolo", "eyecolo", "shoesize"]),
    topic(Meaning::Weight, "a weight", &["weight"], &[]),
    topic(Meaning::Quasi, "a date that an attacker may know",
        &["date", "datum", "admission", "discharge", "death", "timestamp"], &[]),
    topic(Meaning::Year, "a year", &["year", "jahr", "année"], &[]),
    topic(Meaning::Class, "a value to predict",
        &["class", "label", "target", "outcome", "risk", "approved", "approval", "churn", "churned", "default",
          "response", "y", "zielvariable", "klasse"],
        &[]),
    topic(Meaning::Money, "income or wealth",
        &["income", "salary", "wage", "earning", "pay", "compensation", "bonus", "wealth", "einkommen", "gehalt", "lohn",
          "vermögen", "revenu", "salaire"],
        &["networth"]),
    topic(Meaning::Sensitive, "debts or credit",
        &["credit", "debt", "loan", "bankruptcy", "bankrupt", "balance", "mortgage", "overdraft", "insolvency", "kredit",
          "schulden", "schufa"],
        &[]),
    topic(Meaning::Sensitive, "health",
        &["icd", "icd9", "icd10", "drg", "drug", "medicine", "hiv", "aids", "treatment", "therapy", "symptom", "disability",
          "disabled", "pregnant", "pregnancy", "disorder", "cancer", "diabetes", "depression", "allergy", "allergies",
          "surgery", "procedure", "prescription", "smoker", "smoking", "alcohol", "health", "illness", "blood",
          "cholesterol", "behandlung", "medikament", "maladie", "traitement"],
        &["diagnos", "disease", "medication", "krankheit", "genotype", "genetic"]),
    topic(Meaning::Sensitive, "beliefs or private life",
        &["religion", "religious", "faith", "church", "konfession", "belief", "political", "politics", "party", "vote",
          "voted", "union", "orientation", "sexuality"],
        &[]),
    topic(Meaning::Sensitive, "crimes or suspicions",
        &["crime", "criminal", "conviction", "convicted", "offence", "offense", "arrest", "arrested", "prison", "felony",
          "sentence", "recidivism", "straftat"],
        &[]),
    topic(Meaning::WeakIdentifier, "a person's name", &["name", "names", "person", "patient", "client"], &[]),
    topic(Meaning::WeakIdentifier, "an id", ID, &[]),
];

const ID: &[&str] = &["id", "uid", "uuid", "guid", "pid", "identifier", "key", "rowid"];

/// Words for an id or a count; the values decide.
const NUMBER: &[&str] = &["number", "no", "nr", "nummer", "index"];

/// A column name split into words.
#[derive(Debug)]
pub(super) struct Words {
    words: Vec<String>,
    joined: String,
}

impl Words {
    pub fn of(name: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        let (mut word, mut lower_before) = (String::new(), false);
        for character in name.chars() {
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

    /// Returns the first matching topic.
    pub fn topic(&self) -> Option<&'static Topic> {
        TOPICS
            .iter()
            .find(|topic| self.has_any(topic.words) || topic.parts.iter().any(|part| self.joined.contains(part)))
    }

    /// Whether the name has a word for an id.
    pub fn says_id(&self) -> bool {
        self.has_any(ID) || self.has_any(NUMBER)
    }

    /// Whether the name is one word.
    pub fn is_single(&self) -> bool {
        self.words.len() == 1
    }

    fn has_any(&self, candidates: &[&str]) -> bool {
        self.words.iter().any(|word| {
            let singular = word.strip_suffix('s').filter(|rest| rest.len() > 2).unwrap_or(word);
            candidates.iter().any(|candidate| candidate == word || *candidate == singular)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(name: &str) -> Option<&'static str> {
        Words::of(name).topic().map(|topic| topic.what)
    }

    #[test]
    fn a_name_is_cut_into_words_however_it_is_written() {
        for name in ["dateOfBirth", "date_of_birth", "Date of Birth", "DATE.OF-BIRTH", "  date//of birth "] {
            assert_eq!(Words::of(name).words, ["date", "of", "birth"], "{name}");
        }
        assert_eq!(Words::of("icd10Code").words, ["icd10", "code"]);
        assert_eq!(Words::of("SSN").words, ["ssn"]);
        assert!(Words::of("§ -").words.is_empty());
    }

    #[test]
    fn what_identifies_stands_before_what_describes() {
        assert_eq!(what("birth name"), Some("a person's name"));
        assert_eq!(what("city_name"), Some("a place"));
        assert_eq!(what("Name"), Some("a person's name"));
        assert_eq!(what("E-Mail"), Some("an e-mail address"));
        assert_eq!(what("workclass"), Some("an occupation"));
        assert_eq!(what("wages"), Some("income or wealth"));
        assert_eq!(what("Geburtsjahr"), Some("a birth date"));
        assert_eq!(what("hours-per-week"), None);
        assert_eq!(what("page"), None, "age within another word is not an age");
    }

    #[test]
    fn no_topic_hides_behind_another() {
        for topic in TOPICS {
            for word in topic.words.iter().chain(topic.parts) {
                assert!(Words::of(word).topic().is_some_and(|met| std::ptr::eq(met, topic)), "{word}: {}", topic.what);
            }
        }
    }
}
