//! Random numbers of a seed, for tables of the tests.

/// SplitMix64.
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`, evenly.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Below `end`; small numbers are more frequent.
    pub fn skewed(&mut self, end: usize) -> usize {
        self.below(end) * self.below(end) / end
    }

    pub fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            low >> 52,
            low & 0xffff_ffff_ffff
        )
    }

    /// A day after the start of a year, in months of 28 days.
    pub fn date(&self, year: usize, day: usize, form: &str) -> String {
        let (year, month, day) = (year + day / 336, day / 28 % 12 + 1, day % 28 + 1);
        match form {
            "dmy" => format!("{day:02}.{month:02}.{year}"),
            "mdy" => format!("{month}/{day}/{year}"),
            _ => format!("{year}-{month:02}-{day:02}"),
        }
    }
}
