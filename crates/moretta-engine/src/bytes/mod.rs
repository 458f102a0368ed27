//! Bytes of input and output files between the disk and a format: copies of standard input, compression, encodings.
//!
//! Guarantee: a format reads the same bytes in every pass, as UTF-8 if it is a text format, whatever the file on the disk
//! is. What cannot be read is an error that says why, never other bytes.
//!
//! ```text
//! InputFile ──open──▶ FileReader ──Packing::unpack──▶ bytes ──TextEncoding::decode──▶ UTF-8 ──▶ blocks of csv/
//! file, or copy       positional    gzip, zstd                 Windows-1252, UTF-16, ..
//! of standard input   reads
//!
//! rendered records ──EncodedText──▶ bytes of the encoding ──Packer──▶ file
//! ```
//!
//! Cost: nothing for plain UTF-8, whose [`FileReader`] is read directly. One thread unpacks and decodes, under the lock of
//! the block cutter, while the others parse.

pub(crate) mod encoding;
pub(crate) mod file;
pub(crate) mod packing;
pub(crate) mod text;
