//! Words by which values are recognized: frequent names of persons, titles, and parts of names of illnesses.
//!
//! A name is recognized by the names it is mixed with: a column of names has some of the most frequent ones, a column
//! of occupations or towns has hardly any. So the lists are short.

/// Frequent first names of several languages, sorted.
#[rustfmt::skip]
const FIRST_NAMES: &[&str] = &[
    "achim", "adam", "adrian", "ahmed", "alan", "albert", "alejandro", "alessandro", "alex", "alexander",
    "alexandra", "ali", "alice", "alicia", "amanda", "amy", "ana", "anastasia", "andrea", "andreas", "andrew",
    "andrzej", "andré", "andrés", "angela", "anita", "ann", "anna", "anne", "annette", "anthony", "antoine",
    "antonio", "arthur", "ashley", "aurélie", "ayşe", "barbara", "beatrice", "ben", "benjamin", "benoît", "bernd",
    "betty", "birgit", "bob", "brandon", "brenda", "brian", "brigitte", "bruce", "camila", "camille", "carl",
    "carla", "carlos", "carmen", "carol", "caroline", "catherine", "chantal", "charles", "chiara", "chloé",
    "christian", "christina", "christine", "christoph", "christopher", "claire", "claudia", "claus", "cristina",
    "céline", "dale", "daniel", "daniela", "david", "davide", "deborah", "dennis", "diana", "diane", "diego",
    "dieter", "dirk", "donald", "donna", "dorothy", "douglas", "edward", "elena", "elisa", "elisabeth",
    "elizabeth", "emily", "emma", "enrique", "eric", "erika", "ernst", "esther", "eva", "evelyn", "fatma",
    "federica", "felix", "fernando", "florian", "frances", "francesca", "francesco", "francisco", "frank", "franz",
    "françois", "friedrich", "frédéric", "gabriel", "gabriele", "gary", "george", "gerald", "gerhard", "giorgio",
    "giovanni", "gisela", "giulia", "giuseppe", "gloria", "greg", "gregory", "guillaume", "günter", "günther",
    "hannah", "hans", "harold", "hasan", "heather", "heike", "heinz", "helen", "helga", "helmut", "henry",
    "herbert", "hermann", "horst", "hugo", "hélène", "ibrahim", "ines", "ingrid", "inés", "irene", "isabel",
    "isabelle", "ivan", "jack", "jacob", "jacqueline", "jamal", "james", "jan", "jane", "janet", "janice", "jason",
    "javier", "jean", "jeffrey", "jennifer", "jeremy", "jerry", "jessica", "jesús", "joan", "joao", "joe",
    "johann", "johannes", "john", "jonas", "jonathan", "jorge", "jose", "josef", "joseph", "joshua", "josé",
    "juan", "judith", "judy", "julia", "julie", "julien", "jérôme", "jürgen", "karen", "karin", "karl",
    "katarzyna", "katharina", "katherine", "kathleen", "keith", "kelly", "kenneth", "kevin", "kimberly", "klaus",
    "kurt", "larry", "lars", "laura", "laurent", "lea", "leon", "linda", "lisa", "louis", "luca", "lucas", "lucia",
    "lucía", "luis", "lukas", "léa", "manfred", "manon", "manuel", "marc", "marco", "marcus", "margaret", "maria",
    "marie", "mario", "marion", "mark", "markus", "marta", "martha", "martin", "martina", "martín", "mary",
    "maría", "mathieu", "matteo", "matthew", "matthias", "max", "mehmet", "melissa", "mia", "michael", "michaela",
    "michelle", "miguel", "mohamed", "mohammed", "monica", "monika", "mustafa", "nancy", "natalie", "nathalie",
    "nicholas", "nicolas", "nicole", "nina", "noah", "noémie", "olaf", "oliver", "olivia", "olivier", "oscar",
    "pablo", "pamela", "paola", "paolo", "pascal", "patricia", "patrick", "paul", "paula", "pedro", "peter",
    "petra", "philip", "philipp", "philippe", "pierre", "rachel", "rafael", "rainer", "ralf", "ralph", "ramón",
    "raymond", "raúl", "rebecca", "renate", "rené", "ricardo", "richard", "robert", "roberta", "roberto", "roger",
    "roland", "rolf", "ronald", "rosa", "roy", "ruth", "ryan", "sabine", "salvatore", "samantha", "samuel",
    "sandra", "sara", "sarah", "scott", "sean", "sebastian", "sergio", "sharon", "shirley", "silvia", "simon",
    "simona", "simone", "sofia", "sofía", "sophia", "sophie", "stefan", "stefanie", "stefano", "stephanie",
    "stephen", "steven", "stéphane", "sue", "susan", "susanne", "sven", "sylvia", "sylvie", "sébastien", "teresa",
    "theresa", "thibault", "thomas", "théo", "thérèse", "timothy", "tobias", "tom", "tyler", "tyrone", "ulrich",
    "ursula", "uwe", "valentina", "valérie", "vanessa", "victor", "victoria", "vincent", "virginia", "véronique",
    "walter", "werner", "wilhelm", "william", "wolfgang", "yannick", "yusuf", "yves", "zeynep", "élodie",
];

/// Frequent surnames of several languages, sorted.
#[rustfmt::skip]
const SURNAMES: &[&str] = &[
    "adams", "aguilar", "allen", "alonso", "alvarez", "anderson", "andersson", "bailey", "baker", "barnes", "bauer",
    "baumann", "beck", "becker", "bell", "bennett", "berger", "bergmann", "bernard", "bertrand", "bianchi",
    "bonnet", "braun", "brooks", "brown", "busch", "butler", "campbell", "carter", "castillo", "castro", "chavez",
    "clark", "collins", "cook", "cooper", "costa", "cox", "cruz", "davies", "davis", "delgado", "demir", "diaz",
    "dietrich", "dominguez", "dubois", "dupont", "durand", "díaz", "edwards", "esposito", "evans", "fernandez",
    "fernández", "ferrari", "ferreira", "fischer", "fisher", "flores", "foster", "fournier", "franke", "friedrich",
    "fuchs", "garcia", "garcía", "garnier", "girard", "gomez", "gonzales", "gonzalez", "gonzález", "graf", "gray",
    "greco", "green", "griffin", "groß", "gutierrez", "gómez", "günther", "haas", "hahn", "hall", "hansen",
    "harris", "hartmann", "heinrich", "henderson", "hernandez", "hernández", "herrera", "herrmann", "hill",
    "hoffmann", "hofmann", "horn", "howard", "huber", "hughes", "ivanov", "jackson", "jansen", "janssen", "jenkins",
    "jimenez", "jiménez", "johansson", "johnson", "jones", "jung", "kaiser", "kaya", "keller", "kelly", "kim",
    "king", "klein", "koch", "kowalski", "kraus", "krause", "krüger", "kuhn", "könig", "kühn", "lambert", "lang",
    "lange", "laurent", "lee", "lefebvre", "lehmann", "leroy", "lewis", "lopez", "lorenz", "ludwig", "lópez",
    "maier", "marino", "martin", "martinez", "martínez", "mayer", "medina", "meier", "mendoza", "mercier", "meyer",
    "miller", "mitchell", "moore", "morales", "moreau", "morel", "moreno", "morgan", "morris", "murphy", "muñoz",
    "myers", "möller", "müller", "navarro", "nelson", "neumann", "nguyen", "nielsen", "nowak", "ortiz", "parker",
    "patel", "pereira", "perez", "perry", "peters", "petersen", "peterson", "petit", "pfeiffer", "phillips", "pohl",
    "popov", "powell", "price", "pérez", "ramirez", "ramos", "ramírez", "reed", "reyes", "ricci", "richard",
    "richardson", "richter", "rivera", "robert", "roberts", "robinson", "rodriguez", "rodríguez", "rogers",
    "romano", "romero", "ross", "rossi", "roth", "rousseau", "roux", "ruiz", "russell", "russo", "ryan", "sanchez",
    "sanders", "santos", "sauer", "schmid", "schmidt", "schmitt", "schmitz", "schneider", "scholz", "schreiber",
    "schröder", "schubert", "schulte", "schulz", "schulze", "schumacher", "schuster", "schwarz", "schäfer", "scott",
    "seidel", "silva", "simon", "smith", "sommer", "stein", "stewart", "suarez", "sullivan", "sánchez", "taylor",
    "thomas", "thompson", "torres", "turner", "vargas", "vazquez", "vincent", "vogel", "vogt", "wagner", "walker",
    "wang", "ward", "watson", "weber", "weiß", "werner", "white", "williams", "wilson", "winkler", "winter", "wolf",
    "wolff", "wood", "wright", "young", "yıldız", "yılmaz", "ziegler", "zimmermann", "şahin",
];

/// Forms of address and titles before a name, without a dot.
#[rustfmt::skip]
const TITLES: &[&str] = &[
    "mr", "mrs", "ms", "miss", "master", "dr", "prof", "professor", "sir", "herr", "herrn", "frau", "fräulein", "m",
    "mme", "mlle", "madame", "monsieur", "señor", "señora", "sr", "sra", "signor", "signora", "dott", "bay",
    "bayan", "pan", "pani", "dhr", "mevr",
];

/// Parts of names of illnesses and injuries: English, German, and the Greek and Latin stems that languages share.
#[rustfmt::skip]
const ILLNESSES: &[&str] = &[
    "disorder", "disease", "syndrom", "fracture", "fraktur", "infect", "infekt", "carcinom", "karzinom", "cancer",
    "krebs", "tumor", "neoplasm", "neubildung", "diabet", "hypertens", "hyperton", "asthma", "anemia", "anaemia",
    "anämie", "pregnan", "schwanger", "depress", "injury", "verletzung", "sprain", "fever", "fieber", "influenza",
    "grippe", "stroke", "infarct", "infarkt", "insufficien", "insuffizienz", "emboli", "thrombo", "chronic",
    "chronisch", "chronique", "acute ", "akute", "overdose", "allerg", "obesity", "adiposit", "epilep", "dementia",
    "demenz", "schizo", "migrain", "migräne", "pneumon", "bronch", "sinusit", "arthr", "gastr", "hepat", "nephr",
    "dermat", "krankheit", "erkrankung", "störung", "schmerz", "maladie", "trouble", "lésion", "fibrillation",
    "ischaem", "ischem", "ischäm", "psycho", "alkohol", "alcohol", "hiv", "aids", "sepsis", "ulcer", "ulkus",
    "hernia", "hernie", "lymphom", "leukemi", "leukämi", "asma", "cáncer", "depresión", "hipertens", "ipertens",
    "cardiopat", "enfermedad", "malattia", "patolog", "infección", "infezion", "fractur", "frattura", "fibrilaci", "ictus",
];

fn is_in(list: &[&str], word: &str) -> bool {
    list.binary_search(&word).is_ok()
}

/// Whether a text has the form of a name: one to five words of letters, each with a capital first letter or a particle
/// of a name (`van`, `de`), in any of the orders `Ada King`, `KING, Ada` and `King, Mrs. A. (Ada Byron)`. Digits at the
/// end of a word, as in synthetic data, are allowed.
pub(super) fn has_form_of_name(text: &str) -> bool {
    const PARTICLES: &[&str] = &[
        "van", "von", "der", "den", "de", "del", "della", "da", "di", "la", "le", "zu", "y", "bin", "al", "med",
        "dent", "rer", "nat", "phil",
    ];
    let mut words = 0;
    text.split_whitespace().all(|word| {
        words += 1;
        let plain = word.trim_matches(['(', ')', ',', '.', '"', '\'']).trim_end_matches(|c: char| c.is_ascii_digit());
        let mut characters = plain.chars();
        let capital = characters.next().is_some_and(char::is_uppercase);
        let letters = characters.all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’' | '.'));
        (capital && letters) || PARTICLES.contains(&plain)
    }) && (1..=8).contains(&words)
}

/// Words of a text in lower case, without punctuation and digits.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphabetic() && c != '\'').filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Whether a word of the text is a frequent first name or surname.
fn has_known_name(text: &str) -> bool {
    words(text).any(|word| is_in(FIRST_NAMES, &word) || is_in(SURNAMES, &word))
}

/// Whether a word of the text is a frequent first name.
fn has_first_name(text: &str) -> bool {
    words(text).any(|word| is_in(FIRST_NAMES, &word))
}

/// One or two words of lower-case letters, as in tables whose names were folded: `mary`, `garcia lopez`.
pub(super) fn is_folded_name(text: &str) -> bool {
    let mut words = 0;
    text.split_whitespace().all(|word| {
        words += 1;
        word.chars().all(|c| c.is_lowercase() || matches!(c, '-' | '\''))
    }) && (1..=2).contains(&words)
}

/// Whether texts, with their numbers of records, are names of persons. The fewer there are, the more of them must be
/// known: a few towns and colors are names, too. Of many names most are rare, but those of most records are known.
pub(super) fn are_names(values: &[(&str, u64)]) -> bool {
    let share =
        |test: fn(&str) -> bool| values.iter().filter(|(text, _)| test(text)).count() as f64 / values.len() as f64;
    if values.len() < 5 {
        return false;
    }
    let known_records = || {
        let sum = |known: bool| {
            values.iter().filter(|(text, _)| !known || has_known_name(text)).map(|(_, n)| *n as f64).sum::<f64>()
        };
        sum(true) / sum(false)
    };
    let (has_form, is_folded) = (share(has_form_of_name) >= 0.9, share(is_folded_name) >= 0.9);
    if has_form && (share(has_title) >= 0.5 || share(has_first_name) >= 0.5) {
        return true;
    }
    // Occupations in lower case are surnames (`baker`), but hardly one in five.
    let min_share = if has_form { 0.125 } else { 0.2 };
    values.len() >= 20 && (has_form || is_folded) && (share(has_known_name) >= min_share || known_records() >= 0.4)
}

/// Whether the text begins with a title and goes on.
fn has_title(text: &str) -> bool {
    let mut words = words(text);
    words.next().is_some_and(|word| TITLES.contains(&word.as_str())) && words.next().is_some()
}

/// Whether the text has a part of a name of an illness or injury.
pub(super) fn names_an_illness(text: &str) -> bool {
    let lower = text.to_lowercase();
    ILLNESSES.iter().any(|part| lower.contains(part))
        || words(text).any(|word| word.len() > 6 && word.ends_with("itis"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(FIRST_NAMES.is_sorted() && SURNAMES.is_sorted());
    }

    #[test]
    fn few_names_and_folded_names() {
        let are_names = |texts: &[&str]| are_names(&texts.iter().map(|text| (*text, 1)).collect::<Vec<_>>());
        assert!(are_names(&["Frau Meier", "Herr Krause", "Frau Yılmaz", "Herr Dr. Voss", "Frau Lange-Bruns"]));
        assert!(are_names(&["Giulia", "Marco", "Luca", "Ludovica", "Ermenegilda", "Chiara"]));
        assert!(!are_names(&["Brown", "Green", "Gray", "Blue", "Hazel", "Amber"]), "colors");
        assert!(!are_names(&["San Marino", "Austria", "Germany", "Italy", "France", "Spain"]), "countries");
        let folded =
            ["mary", "james", "deshawn", "latoya", "kadeem"].map(|name| [name.to_owned(), format!("{name}lyn")]);
        let folded: Vec<String> = folded.iter().flatten().flat_map(|name| [name.clone(), format!("{name}a")]).collect();
        let mut folded: Vec<&str> = folded.iter().map(String::as_str).collect();
        folded.extend(["paul", "anna", "garcia lopez", "o'hara"]);
        assert!(are_names(&folded), "{folded:?}");
        let jobs = "cook carpenter smith nurse plumber driver clerk painter roofer waiter tailor teacher farmer miner \
                    welder printer dentist lawyer pilot porter sailor";
        let jobs: Vec<&str> = jobs.split_whitespace().collect();
        assert!(!are_names(&jobs));
        let frequent = |text: &'static str| (text, if text == "taylor" { 20 } else { 1 });
        assert!(super::are_names(
            &jobs.iter().map(|text| frequent(if *text == "tailor" { "taylor" } else { text })).collect::<Vec<_>>()
        ));
    }

    #[test]
    fn names_and_other_texts() {
        for name in
            ["José Eduardo181", "Gómez206", "van der Berg", "SMITH", "O'Hara", "Braund, Mr. Owen (Ann B.)", "Jean-Luc"]
        {
            assert!(has_form_of_name(name), "{name}");
        }
        for other in ["11 Main Street", "viral sinusitis", "A/5 21171", "", "B2-x", "12"] {
            assert!(!has_form_of_name(other), "{other}");
        }
        assert!(has_known_name("Smith, Zbigniew") && has_known_name("Ana12") && !has_known_name("Kirchheim"));
        assert!(has_title("Frau Kroneck") && has_title("Mr. X") && !has_title("Mr.") && !has_title("Master"));
        assert!(names_an_illness("Viral sinusitis (disorder)") && names_an_illness("Akute Bronchitis"));
        assert!(!names_an_illness("Wien") && !names_an_illness("craft-repair"));
    }
}
