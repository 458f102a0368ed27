//! Names of persons in English, German and Spanish, for tests. A third of them is rare.

use super::dice::Dice;

#[rustfmt::skip]
const FIRST: &[&str] = &[
    "Oliver", "Amelia", "George", "Isla", "Harry", "Ava", "Noah", "Poppy", "Jack", "Freya", "Edith", "Wilfred", "Cedric",
    "Maude", "Anna", "Jürgen", "Heike", "Sabine", "Torsten", "Wolfgang", "Ursula", "Gesine", "Malte", "Silke", "Detlef",
    "Birte", "Klaus", "Annegret", "Lucía", "Alejandro", "Carmen", "Íñigo", "José", "Pilar", "Javier", "Montserrat", "Rocío",
    "Antonio", "Begoña", "Luis",
];
#[rustfmt::skip]
const LAST: &[&str] = &[
    "Smith", "Jones", "Taylor", "Brown", "Ashworth", "Pettigrew", "Evans", "Wilson", "Thistlewood", "Roberts", "Hargreaves",
    "Walker", "Cobbold", "Wright", "Müller", "Schmidt", "Fischer", "Weber", "Brinkschulte", "Becker", "Kretzschmar", "Hoffmann",
    "Tiedemann", "Koch", "Oelschläger", "Richter", "Dierkes", "Wolf", "García", "Martínez", "López", "Etxeberria", "Sánchez",
    "Pérez", "Ruiz", "Zubizarreta", "Moreno", "Álamo", "Navarro", "Casares",
];

/// First names and surnames; some of a person are double names, so that most differ.
pub fn names_of_people(dice: &mut Dice, number: usize) -> Vec<(String, String)> {
    let mut one = |list: &[&str]| {
        let name = list[dice.below(list.len())];
        if dice.below(2) == 0 { name.to_owned() } else { format!("{name}-{}", list[dice.below(list.len())]) }
    };
    (0..number).map(|_| (one(FIRST), one(LAST))).collect()
}
