//! Words by which values are recognized: frequent names of persons, titles, and parts of names of illnesses.
//!
//! A name is recognized by the names it is mixed with: a column of names has some of the most frequent ones, a column of
//! occupations or towns has hardly any. So the lists are short.

/// Frequent first names of several languages, sorted.
#[rustfmt::skip]
const FIRST_NAMES: &[&str] = &[
    "achim", "adam", "adrian", "ahmed", "alan", "albert", "alejandro", "alessandro", "alex", "alexander",
    "alexandra", "ali", "alice", "alicia", "amanda", "amy", "ana", "anastasia", "andrea", "andreas", "andrew",
    "andrzej", "angela", "ann", "anna", "anne", "annette", "anthony", "antoine", "antonio", "arthur", "ashley",
    "ayşe", "barbara", "beatrice", "ben", "benjamin", "bernd", "betty", "birgit", "bob", "brandon", "brenda",
    "brian", "brigitte", "bruce", "camille", "carl", "carla", "carlos", "carmen", "carol", "caroline", "catherine",
    "chantal", "charles", "chiara", "christian", "christina", "christine", "christoph", "christopher", "claire",
    "claudia", "claus", "cristina", "céline", "dale", "daniel", "daniela", "david", "deborah", "dennis", "diana",
    "diane", "diego", "dieter", "dirk", "donald", "donna", "dorothy", "douglas", "edward", "elena", "elisabeth",
    "elizabeth", "emily", "emma", "enrique", "eric", "erika", "ernst", "esther", "eva", "evelyn", "fatma", "felix",
    "fernando", "florian", "frances", "francesca", "francesco", "francisco", "frank", "franz", "françois",
    "friedrich", "frédéric", "gabriel", "gabriele", "gary", "george", "gerald", "gerhard", "gisela", "giulia",
    "giuseppe", "gloria", "greg", "gregory", "guillaume", "günter", "günther", "hannah", "hans", "harold", "hasan",
    "heather", "heike", "heinz", "helen", "helga", "helmut", "henry", "herbert", "hermann", "horst", "hugo",
    "ibrahim", "ines", "ingrid", "irene", "isabel", "isabelle", "ivan", "jack", "jacob", "jacqueline", "james",
    "jan", "jane", "janet", "janice", "jason", "javier", "jean", "jeffrey", "jennifer", "jeremy", "jerry",
    "jessica", "jesús", "joan", "joao", "joe", "johann", "johannes", "john", "jonas", "jonathan", "jorge", "jose",
    "josef", "joseph", "joshua", "josé", "juan", "judith", "judy", "julia", "julie", "julien", "jürgen", "karen",
    "karin", "karl", "katarzyna", "katharina", "katherine", "kathleen", "keith", "kelly", "kenneth", "kevin",
    "kimberly", "klaus", "kurt", "larry", "lars", "laura", "laurent", "lea", "leon", "linda", "lisa", "louis",
    "luca", "lucas", "lucia", "luis", "lukas", "léa", "manfred", "manuel", "marc", "marco", "marcus", "margaret",
    "maria", "marie", "mario", "marion", "mark", "markus", "marta", "martha", "martin", "martina", "mary", "matteo",
    "matthew", "matthias", "max", "mehmet", "melissa", "mia", "michael", "michaela", "michelle", "miguel",
    "mohamed", "mohammed", "monica", "monika", "mustafa", "nancy", "natalie", "nathalie", "nicholas", "nicolas",
    "nicole", "nina", "noah", "olaf", "oliver", "olivia", "olivier", "oscar", "pablo", "pamela", "paola", "paolo",
    "pascal", "patricia", "patrick", "paul", "paula", "pedro", "peter", "petra", "philip", "philipp", "philippe",
    "pierre", "rachel", "rafael", "rainer", "ralf", "ralph", "ramón", "raymond", "rebecca", "renate", "ricardo",
    "richard", "robert", "roberto", "roger", "roland", "rolf", "ronald", "rosa", "roy", "ruth", "ryan", "sabine",
    "samantha", "samuel", "sandra", "sara", "sarah", "scott", "sean", "sebastian", "sergio", "sharon", "shirley",
    "silvia", "simon", "simone", "sofia", "sophia", "sophie", "stefan", "stefanie", "stephanie", "stephen",
    "steven", "sue", "susan", "susanne", "sven", "sylvia", "sylvie", "teresa", "theresa", "thomas", "thérèse",
    "timothy", "tobias", "tom", "tyler", "ulrich", "ursula", "uwe", "valérie", "vanessa", "victor", "victoria",
    "vincent", "virginia", "véronique", "walter", "werner", "wilhelm", "william", "wolfgang", "yannick", "yusuf",
    "yves", "zeynep",
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
    "hernia", "hernie", "lymphom", "leukemi", "leukämi",
];

fn is_in(list: &[&str], word: &str) -> bool {
    list.binary_search(&word).is_ok()
}

/// Whether a text has the form of a name: one to five words of letters, each with a capital first letter or a particle
/// of a name (`van`, `de`), in any of the orders `Ada King`, `KING, Ada` and `King, Mrs. A. (Ada Byron)`. Digits at the
/// end of a word, as in synthetic data, are allowed.
pub(super) fn has_form_of_name(text: &str) -> bool {
    const PARTICLES: &[&str] =
        &["van", "von", "der", "den", "de", "del", "della", "da", "di", "la", "le", "zu", "y", "bin", "al"];
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
pub(super) fn has_known_name(text: &str) -> bool {
    words(text).any(|word| is_in(FIRST_NAMES, &word) || is_in(SURNAMES, &word))
}

/// Whether the text begins with a title and goes on.
pub(super) fn has_title(text: &str) -> bool {
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
