//! Possible values of a person and their weights, one row per value.
//!
//! The weights are round numbers similar to European statistics; none is taken from a dataset. Labels have no comma,
//! semicolon or quote, so that they need no quoting in a CSV or hierarchy file.

use std::array::from_fn;
use std::sync::LazyLock;

use super::random::Weighted;

/// Index of women in arrays by sex.
pub(super) const FEMALE: usize = 0;
pub(super) const SEXES: [&str; 2] = ["female", "male"];

/// Weights of age bands of five years, from 0-4 to 95-99.
#[rustfmt::skip]
pub(super) static AGES: Weighted<20> = Weighted::new([
    47, 46, 45, 46, 54, 59, 67, 65, 62, 58, 75, 83, 74, 60, 48, 41, 38, 20, 8, 2,
]);

/// Women per thousand people of each age band.
#[rustfmt::skip]
pub(super) const WOMEN: [u32; 20] = [
    487, 487, 487, 486, 482, 484, 488, 493, 496, 498, 499, 501, 508, 520, 531, 546, 580, 640, 710, 760,
];

/// A town or rural area: all postcodes with the same first two digits.
pub(super) struct Place {
    /// The first two digits.
    pub prefix: u32,
    /// Number of third digits in use.
    pub areas: u32,
    /// Number of postcodes per third digit.
    pub codes: u32,
    /// Weight by population.
    people: u32,
    /// Local pay level, in percent.
    pub pay: u32,
}

const fn place(prefix: u32, areas: u32, codes: u32, people: u32, pay: u32) -> Place {
    Place { prefix, areas, codes, people, pay }
}

/// Three large cities, nine towns, and rural areas. Some postcodes start with 0, as in practice.
#[rustfmt::skip]
pub(super) const PLACES: [Place; 40] = [
    place(10, 9, 24, 1300, 104), place(20, 8, 22, 800, 108), place(80, 8, 22, 750, 116),
    place( 1, 5, 18, 330,  90), place( 4, 5, 18, 340,  88), place(28, 5, 16, 300,  98),
    place(30, 5, 16, 310, 101), place(44, 6, 16, 360,  96), place(50, 6, 20, 520, 104),
    place(60, 6, 18, 460, 114), place(70, 6, 18, 420, 112), place(90, 5, 16, 320, 102),
    place( 2, 3,  9,  90,  84), place( 6, 3, 10, 130,  86), place( 9, 3,  9, 110,  86),
    place(14, 4, 10, 150,  98), place(15, 3,  8,  90,  88), place(17, 3,  8,  80,  84),
    place(19, 3,  8,  85,  86), place(21, 4, 10, 140,  97), place(24, 4, 10, 150,  95),
    place(26, 4, 10, 140,  94), place(31, 3, 10, 120,  97), place(34, 4, 10, 130,  96),
    place(37, 3,  9, 110,  95), place(39, 3,  8,  85,  87), place(41, 4, 10, 170,  99),
    place(48, 4, 10, 160,  98), place(49, 3, 10, 130,  96), place(54, 3,  8,  95,  97),
    place(56, 3, 10, 120,  97), place(63, 4, 10, 150, 104), place(66, 3, 10, 130,  96),
    place(72, 4, 10, 160, 105), place(77, 3,  9, 110, 103), place(79, 4, 10, 150, 101),
    place(83, 4, 10, 140, 106), place(87, 3,  9, 115, 103), place(94, 3,  9, 100,  97),
    place(98, 3,  9, 100,  92),
];

/// Distribution of the place of residence.
pub(super) static PEOPLE_BY_PLACE: LazyLock<Weighted<40>> =
    LazyLock::new(|| Weighted::new(PLACES.map(|place| place.people)));

impl Place {
    /// Returns postcode `n` of `areas * codes`; the first ones are in the center.
    pub(super) const fn postcode(&self, n: u32) -> u32 {
        // Steps of three, because real postcodes have gaps; 24 of them stay below 100.
        self.prefix * 1000 + n / self.codes * 100 + n % self.codes * 3 + 1
    }
}

/// A level of education and its effect on work and pay.
pub(super) struct Education {
    pub label: &'static str,
    /// Ancestors in the hierarchy, nearest first.
    pub above: [&'static str; 2],
    /// Index into [`Work::weights`].
    pub class: usize,
    /// Effect on pay, in percent.
    pub pay: u32,
    /// Weights by age: 0-5, 6-10, 11-15, 16-19, 20-24, 25-34, 35-49, 50-64, 65 and over.
    weights: [u32; 9],
}

const fn education(
    label: &'static str,
    above: [&'static str; 2],
    class: usize,
    pay: u32,
    weights: [u32; 9],
) -> Education {
    Education { label, above, class, pay, weights }
}

/// Levels from the lowest to the highest.
#[rustfmt::skip]
pub(super) const EDUCATIONS: [Education; 9] = [
    education("No schooling",           ["Basic schooling", "School"],        0,  85, [100,  2,  0,  1,  1,  1,  1,  1,  2]),
    education("Primary school",         ["Basic schooling", "School"],        0,  89, [  0, 98, 60,  4,  3,  3,  3,  4, 10]),
    education("Lower secondary school", ["Secondary schooling", "School"],    0,  93, [  0,  0, 40, 70, 18, 14, 16, 22, 34]),
    education("Upper secondary school", ["Secondary schooling", "School"],    1,  98, [  0,  0,  0, 22, 36, 12,  9,  7,  6]),
    education("Vocational training",    ["Vocational", "Qualification"],      2, 102, [  0,  0,  0,  3, 30, 34, 40, 42, 34]),
    education("Master craftsman",       ["Vocational", "Qualification"],      2, 119, [  0,  0,  0,  0,  1,  6,  9,  9,  6]),
    education("Bachelor's degree",      ["University", "Qualification"],      3, 112, [  0,  0,  0,  0, 10, 16,  8,  4,  2]),
    education("Master's degree",        ["University", "Qualification"],      3, 128, [  0,  0,  0,  0,  1, 13, 12,  9,  5]),
    education("Doctorate",              ["University", "Qualification"],      4, 150, [  0,  0,  0,  0,  0,  1,  2,  2,  1]),
];
pub(super) const LOWER_SECONDARY: usize = 2;
pub(super) const UPPER_SECONDARY: usize = 3;
pub(super) const BACHELOR: usize = 6;
pub(super) const DOCTORATE: usize = 8;

/// First age of each band of [`Education::weights`], without the first band.
pub(super) const EDUCATION_BANDS: [u8; 8] = [6, 11, 16, 20, 25, 35, 50, 65];

/// Distributions of education by age band.
pub(super) static EDUCATION_BY_AGE: LazyLock<[Weighted<9>; 9]> =
    LazyLock::new(|| from_fn(|band| Weighted::new(EDUCATIONS.map(|education| education.weights[band]))));

/// Indices of the occupations of people who do not work.
pub(super) const CHILD: usize = 0;
pub(super) const PUPIL: usize = 1;
pub(super) const STUDENT: usize = 2;
pub(super) const HOMEMAKER: usize = 3;
pub(super) const UNEMPLOYED: usize = 4;
pub(super) const RETIRED: usize = 5;

/// An occupation with its weights and pay.
pub(super) struct Work {
    pub label: &'static str,
    /// Ancestors in the hierarchy, nearest first.
    pub above: [&'static str; 2],
    /// Weights by education: none to lower secondary, upper secondary, vocational, degree, doctorate.
    weights: [u32; 5],
    /// Women, in percent.
    women: u32,
    /// Usual yearly income, in thousands.
    pub pay: u32,
}

const fn work(label: &'static str, above: [&'static str; 2], weights: [u32; 5], women: u32, pay: u32) -> Work {
    Work { label, above, weights, women, pay }
}

const NO_WORK: [&str; 2] = ["Not at work", "Not employed"];
const IN_EDUCATION: [&str; 2] = ["In education", "Not employed"];
const CARE: [&str; 2] = ["Health and care", "Public services"];
const TEACHING: [&str; 2] = ["Teaching and research", "Public services"];
const SAFETY: [&str; 2] = ["Public safety", "Public services"];
const TECHNOLOGY: [&str; 2] = ["Engineering and computing", "Business and technology"];
const BUSINESS: [&str; 2] = ["Law and management", "Business and technology"];
const OFFICE: [&str; 2] = ["Office work", "Business and technology"];
const SALES: [&str; 2] = ["Sales and hospitality", "Manual work and services"];
const HELP: [&str; 2] = ["Cleaning and personal services", "Manual work and services"];
const CRAFTS: [&str; 2] = ["Crafts and construction", "Manual work and services"];
const INDUSTRY: [&str; 2] = ["Transport and industry", "Manual work and services"];
const LAND: [&str; 2] = ["Farming and gardening", "Manual work and services"];

/// Number of occupations.
pub(super) const OCCUPATION_COUNT: usize = 33;

/// The first six are assigned by age, so they have no weights.
#[rustfmt::skip]
pub(super) const OCCUPATIONS: [Work; OCCUPATION_COUNT] = [
    work("Child below school age",         NO_WORK,      [0; 5], 50, 0),
    work("Pupil or apprentice",            IN_EDUCATION, [0; 5], 50, 0),
    work("University student",             IN_EDUCATION, [0; 5], 50, 9),
    work("Homemaker",                      NO_WORK,      [0; 5], 50, 3),
    work("Looking for work",               NO_WORK,      [0; 5], 50, 13),
    work("Retired",                        NO_WORK,      [0; 5], 50, 23),
    work("Physician or dentist",           CARE,       [  0,  0,  0, 12, 240], 48, 82),
    work("Nurse or midwife",               CARE,       [  2, 10, 70, 25,   0], 84, 38),
    work("Care assistant",                 CARE,       [ 40, 20, 35,  2,   0], 82, 27),
    work("Social worker or counsellor",    CARE,       [  0,  5, 10, 40,  10], 74, 39),
    work("Childcare worker",               TEACHING,   [  8, 20, 40, 12,   0], 92, 31),
    work("Primary school teacher",         TEACHING,   [  0,  0,  0, 45,  10], 86, 47),
    work("Secondary school teacher",       TEACHING,   [  0,  0,  0, 55,  40], 58, 53),
    work("University lecturer",            TEACHING,   [  0,  2,  0, 25, 330], 42, 55),
    work("Police officer or firefighter",  SAFETY,     [  2, 25, 25, 10,   0], 22, 42),
    work("Software developer",             TECHNOLOGY, [  2, 30, 22, 85,  70], 18, 58),
    work("Civil or mechanical engineer",   TECHNOLOGY, [  0,  4, 12, 80,  90], 18, 57),
    work("Laboratory technician",          TECHNOLOGY, [  2, 12, 28, 20,  30], 56, 39),
    work("Manager or company director",    BUSINESS,   [  6, 20, 30, 75, 120], 30, 76),
    work("Lawyer or judge",                BUSINESS,   [  0,  0,  0, 40,  80], 45, 70),
    work("Accountant or tax adviser",      BUSINESS,   [  2, 18, 30, 45,  10], 58, 49),
    work("Office clerk",                   OFFICE,     [ 45, 85, 95, 35,   2], 72, 33),
    work("Bank or insurance clerk",        OFFICE,     [  4, 30, 45, 25,   4], 54, 44),
    work("Shop assistant",                 SALES,      [ 95, 55, 60,  6,   0], 68, 25),
    work("Cook or waiter",                 SALES,      [ 80, 45, 35,  4,   0], 50, 23),
    work("Hairdresser or beautician",      HELP,       [ 15,  6, 22,  0,   0], 86, 21),
    work("Cleaner or domestic helper",     HELP,       [ 95, 12, 14,  1,   0], 80, 19),
    work("Electrician or plumber",         CRAFTS,     [ 20, 10, 60,  2,   0],  4, 37),
    work("Carpenter or bricklayer",        CRAFTS,     [ 40,  6, 48,  1,   0],  4, 34),
    work("Motor mechanic",                 CRAFTS,     [ 22,  6, 38,  1,   0],  5, 33),
    work("Truck or bus driver",            INDUSTRY,   [ 75, 18, 36,  2,   0],  9, 30),
    work("Warehouse or factory worker",    INDUSTRY,   [150, 30, 50,  3,   0], 34, 28),
    work("Farmer or gardener",             LAND,       [ 30,  8, 26,  8,   3], 32, 27),
];

/// Distributions of work by class of education and sex.
pub(super) static WORK: LazyLock<[[Weighted<OCCUPATION_COUNT>; 2]; 5]> = LazyLock::new(|| {
    let share = |work: &Work, sex: usize| if sex == FEMALE { work.women } else { 100 - work.women };
    let weights = |class: usize, sex: usize| OCCUPATIONS.map(|work| work.weights[class] * share(&work, sex));
    from_fn(|class| from_fn(|sex| Weighted::new(weights(class, sex))))
});

/// Value and its parent in the hierarchy.
pub(super) const MARITAL_STATUSES: [[&str; 2]; 6] = [
    ["Never married", "Never married"],
    ["Married", "In a partnership"],
    ["Civil partnership", "In a partnership"],
    ["Separated", "Formerly in a partnership"],
    ["Divorced", "Formerly in a partnership"],
    ["Widowed", "Formerly in a partnership"],
];

/// First age of each band of [`MARITAL_STATUS`], without the first band.
pub(super) const MARITAL_BANDS: [u8; 7] = [18, 25, 35, 45, 55, 65, 75];

/// Distributions by sex and age band, in the order of [`MARITAL_STATUSES`].
#[rustfmt::skip]
pub(super) static MARITAL_STATUS: [[Weighted<6>; 8]; 2] = [
    [
        Weighted::new([1000,   0,  0,  0,   0,   0]), Weighted::new([930,  60,  4,  3,   3,   0]),
        Weighted::new([ 560, 390, 14, 14,  20,   2]), Weighted::new([270, 600, 14, 26,  85,   5]),
        Weighted::new([ 170, 620, 10, 28, 155,  17]), Weighted::new([110, 630,  7, 20, 170,  63]),
        Weighted::new([  70, 580,  4, 10, 150, 186]), Weighted::new([ 50, 330,  1,  4,  85, 530]),
    ],
    [
        Weighted::new([1000,   0,  0,  0,   0,   0]), Weighted::new([970,  25,  3,  1,   1,   0]),
        Weighted::new([ 680, 285, 12, 11,  11,   1]), Weighted::new([340, 560, 14, 24,  60,   2]),
        Weighted::new([ 230, 600, 12, 28, 125,   5]), Weighted::new([150, 660,  8, 22, 145,  15]),
        Weighted::new([  80, 720,  4, 12, 120,  64]), Weighted::new([ 40, 690,  2,  5,  63, 200]),
    ],
];

/// Types of health insurance, the class to predict.
pub(super) const INSURANCES: [&str; 3] = ["statutory", "private", "uninsured"];
