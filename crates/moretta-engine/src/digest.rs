//! SHA-256 of a file, by which reports and recodings name their release.

use std::{fs::File, path::Path};

use moretta_core::{
    engine::ReleaseFile,
    observer::{NoObserver, Observer},
};
use sha2::{Digest, Sha256};

use crate::{error::EngineError, target::read_at};

/// Bytes read at a time; not tuned.
const CHUNK: usize = 1 << 20;

/// Returns the SHA-256 of a file in hexadecimal digits.
pub fn sha256(path: &Path) -> Result<String, EngineError> {
    Ok(digest(path, &NoObserver)?.sha256)
}

/// Describes a file: its name without folder, its size and its SHA-256.
pub fn digest(path: &Path, observer: &dyn Observer) -> Result<ReleaseFile, EngineError> {
    let file = File::open(path).map_err(EngineError::io(path, "open"))?;
    let bytes = file.metadata().map_err(EngineError::io(path, "read"))?.len();
    let sha256 = sha256_of(&file, bytes, path, observer)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(ReleaseFile { file, bytes, sha256 })
}

/// Returns the SHA-256 of the first `bytes` bytes of an open file. `path` is for messages.
pub(crate) fn sha256_of(file: &File, bytes: u64, path: &Path, observer: &dyn Observer) -> Result<String, EngineError> {
    let mut digest = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    let mut offset = 0;
    while offset < bytes {
        if observer.stop().is_some() {
            return Err(EngineError::Cancelled);
        }
        let length = (bytes - offset).min(CHUNK as u64) as usize;
        read_at(file, &mut chunk[..length], offset).map_err(EngineError::io(path, "read"))?;
        digest.update(&chunk[..length]);
        offset += length as u64;
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples "abc" and a million times "a" of FIPS 180-2, appendix B.
    #[test]
    fn known_digests() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("text");
        for (text, digest) in [
            ("abc".to_owned(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (String::new(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("a".repeat(1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ] {
            std::fs::write(&path, text).expect("written");
            assert_eq!(sha256(&path).expect("read"), digest);
        }
        // More than one chunk.
        std::fs::write(&path, vec![b'x'; 2 * CHUNK + 7]).expect("written");
        let whole: String =
            Sha256::digest(vec![b'x'; 2 * CHUNK + 7]).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(sha256(&path).expect("read"), whole);
    }
}
