//! Random names from lists of first names and of the two halves of a surname.

use super::random::Random;
use super::tables::FEMALE;

const FIRST: [[&str; 40]; 2] = [
    [
        "Ada", "Alma", "Anouk", "Beatriz", "Carla", "Chiara", "Daria", "Edda", "Elif", "Elsa", "Emine", "Femke",
        "Freya", "Greta", "Hana", "Ida", "Inés", "Irma", "Jana", "Juno", "Katja", "Lena", "Livia", "Lotte", "Mara",
        "Mila", "Nadia", "Nora", "Olga", "Paula", "Petra", "Rosa", "Saskia", "Selma", "Tilda", "Ulla", "Vera", "Wanda",
        "Yara", "Zoë",
    ],
    [
        "Adam", "Aksel", "Anton", "Bruno", "Carlo", "Cem", "Dario", "Edgar", "Elias", "Emil", "Enzo", "Felix", "Finn",
        "Georg", "Hugo", "Ivan", "Jakob", "Jens", "Jonas", "Karl", "Kemal", "Lars", "Leo", "Luca", "Marek", "Matteo",
        "Milan", "Nils", "Oskar", "Otto", "Pavel", "Per", "Rafael", "René", "Sami", "Theo", "Tomás", "Uwe", "Viktor",
        "Willem",
    ],
];

const LAST_START: [&str; 36] = [
    "Alder", "Amsel", "Birk", "Bolt", "Brand", "Dorn", "Eber", "Eich", "Falk", "Fern", "Flint", "Gold", "Grün", "Hag",
    "Hasel", "Holl", "Iser", "Kalt", "Kern", "Kron", "Lang", "Linden", "Lorn", "Mohn", "Nord", "Ober", "Quell",
    "Raben", "Rosen", "Schön", "Silber", "Stein", "Tann", "Vogel", "Wald", "Winter",
];

const LAST_END: [&str; 24] = [
    "bach", "beck", "berg", "brink", "brück", "dahl", "eck", "feld", "furt", "garten", "hagen", "haus", "heim", "hof",
    "horst", "kamp", "mann", "moor", "quist", "see", "stedt", "tal", "wick", "wold",
];

/// A name as indices into the lists above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Name {
    first: u8,
    start: u8,
    end: u8,
}

impl Name {
    /// Independent of the sex: both lists of first names have the same length.
    pub(super) fn draw(random: &mut Random) -> Self {
        Self {
            first: random.below_squared(FIRST[FEMALE].len() as u32) as u8,
            start: random.below(LAST_START.len() as u32) as u8,
            end: random.below(LAST_END.len() as u32) as u8,
        }
    }

    /// Appends the name of a person of this sex.
    pub(super) fn write(self, sex: usize, out: &mut String) {
        out.push_str(FIRST[sex][usize::from(self.first)]);
        out.push(' ');
        out.push_str(LAST_START[usize::from(self.start)]);
        out.push_str(LAST_END[usize::from(self.end)]);
    }
}
