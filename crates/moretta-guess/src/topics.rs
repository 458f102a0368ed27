//! Topics of column names: a table with the words used for each topic.
//!
//! A name is split into lower-case words (`dateOfBirth`, `date_of_birth` and `Date of birth` give the same three). A
//! topic matches if one of its `words` is among them, with or without digits behind it, or if one of its `parts` occurs
//! in all words written together, and if the values fit: a birthplace is no birth date. The first matching topic of the
//! table wins, so identifiers come before descriptions.

mod words;

use super::values::{Look, Shape};
pub(crate) use words::Words;

/// Role that a topic implies for a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
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
    /// A value to predict, if there are few distinct ones.
    Class,
    /// An amount of money.
    Amount,
    /// A range of amounts of money; with two or three values, a class.
    Money,
    /// Sensitive.
    Sensitive,
    /// An answer about what a person thinks, which others hardly know.
    Opinion,
    /// A property of the record and not of the person.
    Technical,
}

/// How whole numbers of a topic are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// As numbers: ages, counts, amounts.
    Numbers,
    /// As codes of categories, however many.
    Codes,
    /// The values decide.
    Either,
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Topic {
    pub meaning: Meaning,
    /// Completes "the name suggests …".
    pub what: &'static str,
    pub reads: Reads,
    /// Whether the values can be of this topic.
    fits: fn(&Look) -> bool,
    words: &'static [&'static str],
    parts: &'static [&'static str],
}

/// Description of the topic of postcodes, whose values are codes even if they are digits.
pub(crate) const POSTCODE: &str = "a postcode";

/// Description of the topic of numbers that an authority or a bank gives to one person.
pub(crate) const OFFICIAL_NUMBER: &str = "an official or account number";

/// Maximum number of ranges of amounts (`<=50K`, 1 to 9); more numbers are exact amounts. Not tuned.
const MAX_RANGES: u64 = 20;
/// Maximum number of values of a class column; not tuned.
const MAX_CLASSES: u64 = 20;

fn any(_: &Look) -> bool {
    true
}

fn dates(look: &Look) -> bool {
    match &look.shape {
        Shape::Dates(_) => true,
        Shape::Numbers(numbers) => numbers.are_years(),
        _ => false,
    }
}

/// Ages and age groups.
fn ages(look: &Look) -> bool {
    match &look.shape {
        Shape::Numbers(numbers) => numbers.low >= 0.0 && numbers.high <= 130.0,
        Shape::Texts | Shape::Code => look.different <= 150,
        _ => false,
    }
}

/// Names of persons, also a few.
fn names(look: &Look) -> bool {
    look.has_form_of_names
}

/// Several names of persons, not a title or a flag.
fn many_names(look: &Look) -> bool {
    (look.has_form_of_names || look.has_folded_words) && look.different > 20
}

fn numbers(look: &Look) -> bool {
    look.numbers().is_some()
}

fn amounts(look: &Look) -> bool {
    numbers(look) && look.different > MAX_RANGES
}

fn not_numbers(look: &Look) -> bool {
    !numbers(look)
}

fn no_dates(look: &Look) -> bool {
    !matches!(look.shape, Shape::Dates(_))
}

/// Long numbers that are unique and of the same length are ids, whatever they count or measure by their name.
fn measures(look: &Look) -> bool {
    look.numbers().is_some_and(|numbers| {
        let is_long = numbers.whole && numbers.digits.is_some_and(|digits| digits >= 5);
        !(is_long && look.nearly_unique())
    })
}

/// Counts begin at none or a few; numbers of rooms do not.
fn counts(look: &Look) -> bool {
    measures(look) && look.numbers().is_some_and(|numbers| numbers.low <= 10.0)
}

/// Two numbers are a yes and a no: `left_company` is no occupation.
fn no_flags(look: &Look) -> bool {
    no_dates(look) && !(numbers(look) && look.different <= 2)
}

fn classes(look: &Look) -> bool {
    // `5a` and `10d` are the classes of a school.
    let are_groups = look.shape == Shape::Texts && look.has_digits && look.different > 3;
    (2..=MAX_CLASSES).contains(&look.different) && no_dates(look) && !are_groups
}

fn five_digits(look: &Look) -> bool {
    look.longest == Some(5) && (look.shape == Shape::Code || look.numbers().is_some_and(|numbers| numbers.whole))
}

fn two(look: &Look) -> bool {
    look.different == 2 && no_dates(look)
}

fn few(look: &Look) -> bool {
    look.has_few_values() && no_dates(look)
}

type Test = fn(&Look) -> bool;

const fn topic(
    (meaning, what): (Meaning, &'static str),
    (reads, fits): (Reads, Test),
    words: &'static [&'static str],
    parts: &'static [&'static str],
) -> Topic {
    Topic { meaning, what, reads, fits, words, parts }
}

use Meaning::*;
use Reads::*;

#[rustfmt::skip]
static TOPICS: &[Topic] = &[
    topic((Identifier, "a person's name"), (Either, any),
        &["surname", "forename", "nickname", "vorname", "nachname", "rufname", "prenom", "prénom", "apellido", "cognome"],
        &["firstname", "lastname", "fullname", "middlename", "familyname", "givenname", "maidenname", "birthname",
          "geburtsname", "familienname", "mothername", "fathername"]),
    topic((Identifier, "a person's name"), (Either, many_names), &["first", "last", "nom", "nombre", "nome"], &[]),
    topic((Identifier, "a person's name"), (Either, names), &["maiden", "middle", "alias"], &[]),
    topic((Identifier, "an e-mail address"), (Either, any), &["mail", "mails", "courriel"], &["email"]),
    topic((Identifier, "a phone number"), (Either, any),
        &["phone", "tel", "mobile", "fax", "telefon", "handy", "téléphone", "telefono", "teléfono",
          "móvil", "movil", "cellulare"],
        &["telephone", "phonen", "telefonn"]),
    topic((Identifier, OFFICIAL_NUMBER), (Either, any),
        &["ssn", "nin", "nhs", "passport", "iban", "vin", "imei", "insee", "ahv", "avs", "mrn", "pesel", "cpf", "nif",
          "dni", "rvnr", "siret",
          "kennzeichen", "steuernummer", "drivers"],
        &["socialsecurity", "sozialversicherungs", "reisepass", "passportn", "steuerid", "taxid", "accountn",
          "kontonummer", "cardnumber", "kartennummer", "policynumber", "insurancen", "versichertenn", "medicalrecord",
          "codicefiscale", "seguridadsocial", "numerosecu", "licenseplate", "licenceplate", "numberplate", "driverlicen", "driverslicen", "sécuritésociale"]),
    topic((Identifier, "an address"), (Either, any),
        &["address", "adresse", "anschrift", "street", "strasse", "straße", "rue", "hausnummer", "hausnr",
          "dirección", "direccion", "domicilio", "calle", "indirizzo"],
        &["housenumber", "streetname"]),
    topic((Identifier, "an online name or address"), (Either, any),
        &["username", "login", "url", "website", "ip", "twitter", "facebook", "instagram", "cookie"],
        &["username", "deviceid", "macaddr"]),
    topic((SurveyWeight, "a survey weight"), (Numbers, numbers),
        &["fnlwgt", "wgt", "wt", "pweight", "perwt", "hhwt", "gewichtung", "hochrechnung", "calibration", "pondération",
          "ponderation"],
        &["finalweight", "surveyweight", "samplingweight", "sampleweight", "personweight", "stichprobengewicht",
          "hochrechnungs", "designgewicht", "designweight", "pwgt", "wgtp", "wtmec", "wtint", "factorexpan"]),
    topic((Quasi, POSTCODE), (Codes, no_dates),
        &["zip", "zipcode", "postcode", "postal", "plz"],
        &["zipcode", "postcode", "postalcode", "postleitzahl", "codepostal"]),
    topic((Quasi, POSTCODE), (Codes, five_digits), &["cap"], &[]),
    topic((Quasi, "an age"), (Numbers, ages), &["age", "alter", "âge", "edad", "eta", "età", "senior"], &["agegroup", "altersgruppe"]),
    topic((Quasi, "a birth date"), (Numbers, dates),
        &["dob", "yob", "born", "birthday", "geb", "gebj"], &["birth", "geburt", "geboren", "naissance", "nacimiento", "nascita",
         "gebdat", "gebjahr"]),
    topic((Quasi, "a date"), (Numbers, dates),
        &["date", "datum", "admission", "discharge", "death", "timestamp", "since", "seit", "year", "jahr", "année",
          "fecha", "data", "año", "anno"], &[]),
    topic((Quasi, "a count"), (Numbers, counts), &["times", "fois", "veces", "volte"], &[]),
    topic((Quasi, "a duration"), (Numbers, measures),
        &["hours", "days", "weeks", "months", "years", "duration", "dauer", "los", "stay", "stunden", "tage", "wochen",
          "monate", "jahre", "time", "since", "seit", "durée", "duree", "séjour", "sejour", "estancia", "degenza"],
        &["verweildauer", "lengthofstay", "timein"]),
    topic((Quasi, "a sex or gender"), (Codes, no_dates), &["sex", "gender", "geschlecht", "sexe", "sexo", "sesso", "género", "genero"], &[]),
    topic((Quasi, "a nationality or language"), (Codes, no_dates),
        &["nationality", "citizen", "citizenship", "immigrant", "immigration", "migration", "foreign", "foreigner",
          "language", "staatsangehörigkeit", "staatsangehoerigkeit", "sprache", "nationalité", "nationalite", "langue",
          "nacionalidad", "nazionalità", "nazionalita", "cittadinanza", "idioma", "lingua"],
        &[]),
    topic((Quasi, "coordinates"), (Numbers, numbers),
        &["lat", "latitude", "lon", "lng", "long", "longitude", "easting", "northing", "breitengrad", "längengrad"], &[]),
    topic((Quasi, "a place"), (Codes, no_dates),
        &["city", "town", "village", "municipality", "county", "district", "region", "state", "province", "country",
          "location", "place", "residence", "neighborhood", "neighbourhood", "borough", "canton", "kanton",
          "bundesland", "ort", "wohnort", "stadt", "land", "kreis", "gemeinde", "ags", "ville", "pays", "commune",
          "comune", "provincia", "regione", "región", "municipio", "ciudad", "país", "città", "citta", "paese", "residenza",
          "residencia", "luogo", "lugar", "département", "departement", "landkreis", "geo", "fips", "nuts"],
        &["country", "birthplace", "placeofbirth", "geburtsort", "lieudenaissance"]),
    topic((Quasi, "a race or an ethnic group"), (Codes, no_dates),
        &["race", "ethnicity", "ethnic", "ethnie", "etni", "caste", "tribe", "rasse"], &[]),
    topic((Quasi, "a marital status"), (Codes, no_dates),
        &["marital", "marriage", "married", "marstat", "spouse", "divorced", "familienstand", "zivilstand"],
        &["civilstatus", "familystatus", "étatcivil", "etatcivil", "maritalstat", "estadocivil", "statocivile",
          "situationfamiliale", "situationmatrimoniale"]),
    topic((Quasi, "a number of relatives"), (Numbers, numbers),
        &["children", "child", "kids", "dependents", "dependants", "siblings", "kinder", "enfants", "hijos", "figli"],
        &["householdsize", "familysize", "hhsize", "haushaltsgröße", "haushaltsgroesse"]),
    topic((Sensitive, "crimes or suspicions"), (Codes, not_numbers), &["charge", "charges"], &[]),
    topic((Quasi, "an education"), (Codes, no_dates),
        &["education", "educ", "edu", "school", "schooling", "degree", "qualification", "diploma", "university",
          "bildung", "schulabschluss", "ausbildung", "études", "diplôme", "diplome", "estudios", "educación", "educacion",
          "istruzione", "laurea"],
        &["education", "titolostudio", "titolodistudio"]),
    topic((Opinion, "an opinion"), (Codes, few),
        &["satisfaction", "satisfied", "opinion", "attitude", "likert", "zufriedenheit", "meinung", "satisfacción",
          "soddisfazione", "avis"], &["satisfaction", "zufriedenheit"]),
    topic((Quasi, "an occupation"), (Codes, no_flags),
        &["occupation", "occu", "occ", "job", "profession", "employment", "employer", "employed", "employee", "work",
          "worker", "working", "industry", "sector", "company", "veteran", "beruf", "arbeitgeber", "branche", "métier",
          "metier", "emploi", "isco", "nace", "ocupación", "ocupacion", "profesión", "profesion", "professione", "lavoro"],
        &["workclass", "occupation", "jobtitle", "occucode"]),
    topic((Quasi, "a unit or a physician"), (Codes, no_dates),
        &["ward", "station", "clinic", "hospital", "department", "abteilung", "klinik", "branch", "filiale", "gp",
          "specialty", "fachrichtung", "reparto", "servicio"], &["hausarzt"]),
    topic((Quasi, "a form of address"), (Codes, no_dates), &["salutation", "anrede", "title", "prefix", "suffix", "titel"], &[]),
    topic((Quasi, "a visible property of a person"), (Either, no_dates),
        &["height", "bmi", "größe", "groesse", "taille", "poids", "talla", "altura", "altezza", "peso", "handedness"],
        &["bodyweight", "körpergewicht", "haircolo", "eyecolo", "shoesize"]),
    topic((Weight, "a weight"), (Numbers, numbers), &["weight", "gewicht"], &[]),
    topic((Quasi, "a count"), (Numbers, counts),
        &["num", "count", "anzahl", "anz", "nof", "visits", "rooms", "size", "quantity", "menge", "nombre"], &["numberof"]),
    topic((Class, "a value to predict"), (Codes, two),
        &["severity", "schweregrad", "malignant", "malignancy", "benign", "bösartig"], &[]),
    topic((Class, "a value to predict"), (Codes, classes),
        &["class", "label", "target", "outcome", "risk", "approved", "approval", "churn", "churned", "default",
          "defaulted", "response", "y", "zielvariable", "klasse", "survived", "survival", "readmitted", "readmission",
          "recid", "recidivism", "recidivated", "fraud", "fraude", "betrug", "frode", "attrition", "exited", "converted", "passed", "relapse",
          "überlebt", "ueberlebt", "verstorben", "died", "deceased", "dead", "décédé", "fallecido",
          "deceduto", "kündigung", "ausfall", "wiederaufnahme", "réadmission", "reingreso", "esito"],
        &["recidivi"]),
    topic((Amount, "an amount of money"), (Numbers, amounts),
        &["income", "salary", "wage", "earning", "pay", "compensation", "bonus", "wealth", "einkommen", "gehalt", "lohn",
          "vermögen", "revenu", "salaire", "capital", "gain", "loss", "profit", "amount", "amt", "betrag", "price",
          "preis", "prix", "cost", "kosten", "coût", "fare", "fee", "expense", "expend", "expenditure", "spend",
          "spending", "saving", "asset", "money", "bill", "payment", "limit", "bal", "balance", "debt", "credit", "loan",
          "rent", "miete", "umsatz", "tax", "steuer", "revenue", "turnover", "ausgaben", "einnahmen", "saldo", "kredit",
          "kontostand", "budget", "purchase", "coverage", "claim", "schulden", "mortgage", "overdraft", "charges",
          "premium", "deposit", "eur", "usd", "euro", "ingresos", "sueldo", "salario", "nómina", "reddito", "stipendio",
          "retribuzione", "importe", "importo", "montant", "montante", "gasto", "spesa", "dépense"],
        &["networth", "einkommen", "gehalt", "betrag", "kosten"]),
    topic((Money, "income or wealth"), (Codes, any),
        &["income", "salary", "wage", "earning", "bonus", "wealth", "einkommen", "gehalt", "lohn",
          "vermögen", "revenu", "salaire", "ingresos", "sueldo", "salario", "reddito", "stipendio"],
        &["networth"]),
    topic((Quasi, "a family or household"), (Either, no_dates),
        &["relationship", "household", "children", "child", "kid", "dependent", "dependant", "family", "sibling",
          "housing", "kinder", "haushalt", "enfant"],
        &[]),
    topic((Sensitive, "debts or credit"), (Codes, no_dates),
        &["credit", "debt", "loan", "bankruptcy", "bankrupt", "balance", "mortgage", "overdraft", "insolvency", "kredit",
          "schulden", "schufa"],
        &[]),
    topic((Sensitive, "health"), (Either, no_dates),
        &["icd", "icd9", "icd10", "drg", "drug", "medicine", "hiv", "aids", "treatment", "therapy", "symptom", "disability",
          "disabled", "pregnant", "pregnancy", "disorder", "cancer", "diabetes", "depression", "allergy", "allergies",
          "surgery", "procedure", "prescription", "smoker", "smoking", "alcohol", "health", "illness", "blood",
          "cholesterol", "behandlung", "medikament", "maladie", "traitement", "diag", "dx", "ops", "raucher",
          "schwanger", "behinderung", "symptome", "befund", "condition",
          "severity", "schweregrad", "glucose", "serum", "hba1c", "pflegegrad", "pflegestufe", "gdb", "handicap",
          "handicapé", "förderbedarf", "förderschwerpunkt", "fumeur", "fumador", "fumadora", "fumatore", "enfermedad", "malattia", "patologia", "patología",
          "discapacidad", "disabilità", "invalidità", "embarazada", "enceinte", "incinta", "salud", "salute", "santé",
          "medicamento", "farmaco"],
        &["diagnos", "disease", "medication", "krankheit", "genotype", "genetic", "a1c"]),
    topic((Sensitive, "beliefs or private life"), (Codes, no_dates),
        &["religion", "religious", "relig", "faith", "church", "konfession", "belief", "political", "politics", "party",
          "vote", "voted", "union", "orientation", "sexuality", "partei", "gewerkschaft", "syndicat", "sindicato", "sindacato",
          "religión", "religione", "partido", "partito", "parti"],
        &[]),
    topic((Sensitive, "crimes or suspicions"), (Either, no_dates),
        &["crime", "criminal", "conviction", "convicted", "offence", "offense", "arrest", "arrested", "prison", "felony",
          "sentence", "straftat", "priors"],
        &[]),
    topic((Technical, "a property of the record"), (Codes, few),
        &["currency", "währung", "waehrung", "version", "wave", "welle", "imputed", "mandant", "schema"], &["codesystem"]),
    topic((WeakIdentifier, "a person's name"), (Either, not_numbers),
        &["name", "names", "person", "patient", "client", "physician", "doctor", "arzt", "ärztin", "nurse", "teacher",
          "judge", "officer", "therapist", "manager"], &[]),
];

impl Words {
    /// Returns the first matching topic that fits the values.
    pub fn topic(&self, look: &Look) -> Option<&'static Topic> {
        TOPICS.iter().find(|topic| self.matches(topic) && (topic.fits)(look))
    }

    fn matches(&self, topic: &Topic) -> bool {
        self.has_any(topic.words) || self.has_part(topic.parts)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::ColumnFacts;

    fn look(values: &[&str]) -> Look {
        let values = values.iter().map(|text| ((*text).to_owned(), 50)).collect();
        Look::at(&ColumnFacts { values, records: 500, ..ColumnFacts::default() }, &HashSet::new())
    }

    fn what(name: &str, values: &[&str]) -> Option<&'static str> {
        Words::of(name).topic(&look(values)).map(|topic| topic.what)
    }

    #[test]
    fn what_identifies_stands_before_what_describes() {
        let texts = ["a", "b"];
        assert_eq!(what("birth name", &texts), Some("a person's name"));
        assert_eq!(what("city_name", &texts), Some("a place"));
        assert_eq!(what("Name", &texts), Some("a person's name"));
        assert_eq!(what("E-Mail", &texts), Some("an e-mail address"));
        assert_eq!(what("workclass", &texts), Some("an occupation"));
        assert_eq!(what("wages", &texts), Some("income or wealth"));
        assert_eq!(what("page", &texts), None, "age within another word is not an age");
    }

    #[test]
    fn a_topic_fits_the_values() {
        assert_eq!(what("Geburtsjahr", &["1980", "1990"]), Some("a birth date"));
        assert_eq!(what("BIRTHPLACE", &["Rome", "Oslo"]), Some("a place"));
        assert_eq!(what("birth_weight", &["3100", "2900"]), Some("a weight"));
        assert_eq!(what("admission_type_id", &["1", "2"]), None);
        assert_eq!(what("c_charge_degree", &["F", "M"]), Some("crimes or suspicions"));
        assert_eq!(what("age", &["30", "40"]), Some("an age"));
        assert_eq!(what("age", &["300", "4000"]), None);
        assert_eq!(what("bill_amt1", &["3"]), None, "ranges are no amounts");
        assert_eq!(what("hours-per-week", &["40", "20"]), Some("a duration"));
    }

    /// A word that only a later topic can match would be dead, unless the values can decide between the two.
    #[test]
    fn no_topic_hides_behind_another() {
        for (index, topic) in TOPICS.iter().enumerate() {
            for word in topic.words.iter().chain(topic.parts) {
                let words = Words::of(word);
                let first = TOPICS.iter().position(|met| words.matches(met)).expect("the topic itself matches");
                let by_values = TOPICS[first].fits as usize != topic.fits as usize;
                assert!(first == index || by_values, "{word}: {} before {}", TOPICS[first].what, topic.what);
            }
        }
    }
}
