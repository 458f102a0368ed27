//! The sensitive column: diagnoses by age and sex. Like [`tables`](super::tables), but in its own file for its size.

use std::array::from_fn;
use std::sync::LazyLock;

use super::random::Weighted;
use super::tables::FEMALE;

/// A diagnosis, named like in the ICD.
pub(super) struct Diagnosis {
    pub label: &'static str,
    /// Parent in the hierarchy.
    pub chapter: &'static str,
    /// Weights for women by age: 0-5, 6-15, 16-29, 30-44, 45-59, 60-74, 75 and over.
    women: [u32; 7],
    /// Weights for men by the same ages.
    men: [u32; 7],
}

const fn diagnosis(label: &'static str, chapter: &'static str, women: [u32; 7], men: [u32; 7]) -> Diagnosis {
    Diagnosis { label, chapter, women, men }
}

const INFECTIONS: &str = "Infectious diseases";
const NEOPLASMS: &str = "Neoplasms";
const METABOLIC: &str = "Endocrine and metabolic diseases";
const MENTAL: &str = "Mental and behavioural disorders";
const CIRCULATION: &str = "Diseases of the circulatory system";
const RESPIRATION: &str = "Diseases of the respiratory system";
const MUSCLES: &str = "Diseases of the musculoskeletal system";
const PREGNANCY: &str = "Pregnancy and childbirth";
const INJURIES: &str = "Injuries";

/// Number of diagnoses.
pub(super) const DIAGNOSIS_COUNT: usize = 18;

/// Ordered by chapter.
#[rustfmt::skip]
pub(super) const DIAGNOSES: [Diagnosis; DIAGNOSIS_COUNT] = [
    diagnosis("HIV infection",                         INFECTIONS,  [  0,   0,   2,   4,   3,   1,   0], [  0,   0,   6,  12,  10,   4,   1]),
    diagnosis("Chronic viral hepatitis",               INFECTIONS,  [  0,   1,   5,   9,  10,   7,   4], [  0,   1,   7,  13,  14,   9,   5]),
    diagnosis("Malignant neoplasm of breast",          NEOPLASMS,   [  0,   0,   1,  14,  38,  48,  40], [  0,   0,   0,   0,   1,   1,   1]),
    diagnosis("Malignant neoplasm of prostate",        NEOPLASMS,   [  0;                            7], [  0,   0,   0,   0,  12,  62,  75]),
    diagnosis("Malignant neoplasm of colon",           NEOPLASMS,   [  0,   0,   0,   3,  12,  26,  34], [  0,   0,   0,   4,  16,  36,  44]),
    diagnosis("Type 2 diabetes mellitus",              METABOLIC,   [  0,   2,   8,  28,  75, 130, 140], [  0,   2,   8,  36, 100, 155, 150]),
    diagnosis("Depressive episode",                    MENTAL,      [  0,  25, 130, 140, 120,  75,  55], [  0,  15,  75,  85,  75,  45,  35]),
    diagnosis("Anxiety disorder",                      MENTAL,      [  5,  45, 100,  85,  60,  35,  22], [  5,  28,  60,  50,  36,  20,  12]),
    diagnosis("Alcohol dependence",                    MENTAL,      [  0,   0,  10,  20,  24,  14,   4], [  0,   0,  30,  55,  60,  32,   8]),
    diagnosis("Essential hypertension",                CIRCULATION, [  0,   1,  10,  45, 140, 230, 270], [  0,   1,  16,  70, 180, 240, 240]),
    diagnosis("Ischaemic heart disease",               CIRCULATION, [  0,   0,   1,   5,  25,  70, 120], [  0,   0,   2,  14,  70, 135, 170]),
    diagnosis("Acute upper respiratory infection",     RESPIRATION, [620, 360, 190, 130,  80,  55,  40], [600, 340, 190, 130,  80,  55,  40]),
    diagnosis("Asthma",                                RESPIRATION, [ 60, 140,  80,  55,  45,  40,  30], [ 85, 180,  65,  40,  32,  30,  25]),
    diagnosis("Chronic obstructive pulmonary disease", RESPIRATION, [  0,   0,   1,   8,  40,  75,  80], [  0,   0,   1,  10,  50, 100, 110]),
    diagnosis("Low back pain",                         MUSCLES,     [  0,  15,  85, 130, 150, 110,  75], [  0,  18, 110, 170, 150,  90,  55]),
    diagnosis("Osteoarthritis of knee",                MUSCLES,     [  0,   0,   2,  12,  60, 120, 130], [  0,   0,   3,  14,  50,  85,  85]),
    diagnosis("Complication of pregnancy",             PREGNANCY,   [  0,   0, 120, 110,   0,   0,   0], [  0;                            7]),
    diagnosis("Fracture of forearm",                   INJURIES,    [ 60, 130,  50,  35,  38,  48,  60], [ 75, 190, 110,  70,  40,  28,  30]),
];

/// First age of each band, without the first band.
pub(super) const DIAGNOSIS_BANDS: [u8; 6] = [6, 16, 30, 45, 60, 75];

/// Distributions by sex and age band.
pub(super) static DIAGNOSIS: LazyLock<[[Weighted<DIAGNOSIS_COUNT>; 7]; 2]> = LazyLock::new(|| {
    let by_age = |row: Diagnosis, sex: usize| if sex == FEMALE { row.women } else { row.men };
    from_fn(|sex| from_fn(|band| Weighted::new(DIAGNOSES.map(|row| by_age(row, sex)[band]))))
});
