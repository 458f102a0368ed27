//! A decoded screenshot.

use std::{collections::HashSet, io::Cursor, path::Path};

pub struct Picture {
    file: Vec<u8>,
    pixels: Vec<u8>,
    width: usize,
    height: usize,
    channels: usize,
}

impl Picture {
    /// From a PNG in base 64.
    pub fn decode(text: &str) -> Self {
        let file = base_64(text);
        let mut decoder = png::Decoder::new(Cursor::new(&file));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        let channels = frame.color_type.samples();
        Self { file, pixels, width: frame.width as usize, height: frame.height as usize, channels }
    }

    pub fn save(&self, path: &Path) {
        std::fs::write(path, &self.file).unwrap();
    }

    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Counts the colors of a rectangle: left, top, width, height.
    pub fn colors(&self, [x, y, wide, high]: [f64; 4]) -> usize {
        let within = |from: f64, length: f64, end: usize| from.max(0.0) as usize..((from + length) as usize).min(end);
        let mut seen: HashSet<&[u8]> = HashSet::new();
        for row in within(y, high, self.height) {
            let line = &self.pixels[row * self.width * self.channels..(row + 1) * self.width * self.channels];
            let columns = within(x, wide, self.width);
            seen.extend(columns.map(|column| &line[column * self.channels..(column + 1) * self.channels]));
        }
        seen.len()
    }
}

fn base_64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::with_capacity(text.len() / 4 * 3), 0u32, 0);
    for character in text.bytes().filter(|byte| *byte != b'=') {
        let digit = DIGITS.iter().position(|known| *known == character).expect("a digit of base 64");
        bits = (bits << 6) | digit as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
