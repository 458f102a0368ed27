//! Keys as TOML writes them.

/// A name as a TOML key: bare if it has only ASCII letters, digits, `-` and `_`, otherwise quoted.
pub fn toml_key(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !name.is_empty() && name.bytes().all(bare) {
        return name.to_owned();
    }
    let mut key = String::from("\"");
    for character in name.chars() {
        match character {
            '"' | '\\' => key.extend(['\\', character]),
            control if control.is_control() => key.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => key.push(other),
        }
    }
    key.push('"');
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back() {
        for name in ["", "a b", "a\"b", "a\\b", "größe", "line\nbreak", "\u{7f}\u{85}", "a.b", "[x]", "tab\t"] {
            let text = format!("[columns.{}]\nrole = \"...\"", toml_key(name));
            let table: toml::Table = text.parse().unwrap();
            assert!(table["columns"].as_table().unwrap().contains_key(name), "{text}");
        }
    }
}
