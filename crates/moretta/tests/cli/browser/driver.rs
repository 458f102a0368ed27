//! A headless browser controlled over WebDriver: JSON over plain HTTP to `chromedriver`.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Allows to run as root (no sandbox), and disables background connections.
const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
];

const PATIENCE: Duration = Duration::from_secs(120);

/// A browser that is closed when dropped.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

/// Finds a program by an environment variable or by its name on the path. `None` if there is neither.
fn program(variable: &str, name: &str) -> Option<PathBuf> {
    let asked = std::env::var_os(variable).filter(|asked| !asked.is_empty()).map(PathBuf::from);
    let wanted = asked.clone().unwrap_or_else(|| name.into());
    let found = match wanted.components().count() {
        1 => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).map(|folder| folder.join(&wanted)).find(|file| file.is_file())
        }
        _ => Some(wanted.clone()).filter(|file| file.is_file()),
    };
    assert!(asked.is_none() || found.is_some(), "{variable} names {}, and there is no such program", wanted.display());
    found
}

impl Browser {
    /// Starts a browser; if there is none, prints that the test is skipped.
    pub fn start(test: &str) -> Option<Self> {
        let found = (program("MORETTA_CHROMIUM", "chromium"), program("MORETTA_CHROMEDRIVER", "chromedriver"));
        let (Some(chromium), Some(driver)) = found else {
            eprintln!(
                "SKIPPED {test}: no chromium and chromedriver on the path; install them (Debian: chromium, \
                 chromium-driver), or set MORETTA_CHROMIUM and MORETTA_CHROMEDRIVER"
            );
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let started = Command::new(&driver).arg("--port=0").stdout(Stdio::piped()).spawn();
        let driver = started.unwrap_or_else(|error| panic!("{} (MORETTA_CHROMEDRIVER): {error}", driver.display()));
        // From here on `drop` ends all processes, whatever fails.
        let mut browser = Self { driver, port: 0, session: String::new(), _profile: profile };
        browser.port = port(&mut browser.driver);
        let mut flags: Vec<String> = FLAGS.iter().map(|flag| (*flag).to_owned()).collect();
        flags.push(format!("--user-data-dir={}", browser._profile.path().display()));
        let session = browser.post(
            "/session",
            &json!({ "capabilities": { "alwaysMatch": {
                "goog:chromeOptions": { "binary": chromium, "args": flags },
                "goog:loggingPrefs": { "browser": "ALL" },
            } } }),
        );
        browser.session = session["sessionId"].as_str().expect("a session").to_owned();
        Some(browser)
    }

    pub fn open(&self, address: &str) {
        self.post(&self.path("url"), &json!({ "url": address }));
    }

    /// Sets the window size in pixels and the color scheme, light or dark.
    pub fn resize(&self, width: u32, height: u32, scheme: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.tell("Emulation.setDeviceMetricsOverride", &size);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.tell("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Runs a script and returns its result.
    pub fn run(&self, script: &str, argument: &str) -> Value {
        self.post(&self.path("execute/sync"), &json!({ "script": script, "args": [argument] }))
    }

    /// Returns the errors of the console.
    pub fn console(&self) -> Vec<String> {
        let log = self.post(&self.path("se/log"), &json!({ "type": "browser" }));
        let severe = |entry: &&Value| entry["level"] == "SEVERE";
        log.as_array().unwrap().iter().filter(severe).map(|entry| entry["message"].to_string()).collect()
    }

    /// Takes a screenshot, as PNG in base 64.
    pub fn screenshot(&self) -> String {
        self.ask("GET", &self.path("screenshot"), "").as_str().unwrap().to_owned()
    }

    fn tell(&self, command: &str, parameters: &Value) {
        self.post(&self.path("goog/cdp/execute"), &json!({ "cmd": command, "params": parameters }));
    }

    fn path(&self, command: &str) -> String {
        format!("/session/{}/{command}", self.session)
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", path, &body.to_string())
    }

    fn ask(&self, verb: &str, path: &str, body: &str) -> Value {
        let answer = self.http(verb, path, body).unwrap_or_else(|error| panic!("{verb} {path}: {error}"));
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{path}: {error}: {answer}"));
        let value = answer["value"].clone();
        assert!(value["error"].is_null(), "{verb} {path}: {value}");
        value
    }

    fn http(&self, verb: &str, path: &str, body: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "{verb} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        )?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap_or(0);
                }
                None if line.trim_end().is_empty() => break,
                _ => {}
            }
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text)?;
        String::from_utf8(text).map_err(std::io::Error::other)
    }
}

/// Reads the port that the driver chose.
fn port(driver: &mut Child) -> u16 {
    let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // Drains further output, so that the driver never blocks.
        for line in lines.map_while(Result::ok) {
            if let Some((_, port)) = line.split_once("started successfully on port ") {
                let _ = sender.send(port.trim_end_matches('.').parse::<u16>());
            }
        }
    });
    let port = receiver.recv_timeout(PATIENCE).expect("a driver (MORETTA_CHROMEDRIVER) that says its port");
    port.expect("a port")
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ending the session closes the browser; the driver is killed below.
        if !self.session.is_empty() {
            let _ = self.http("DELETE", &format!("/session/{}", self.session), "");
        }
        // Also ends a browser whose session id could not be parsed.
        let _ = self.http("GET", "/shutdown", "");
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
