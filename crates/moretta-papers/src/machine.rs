//! Description of the machine on which figures are measured.

use std::fs;

/// One line: processor, cores, memory, date.
pub fn described() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("an unknown processor", |(_, model)| model.trim());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes =
        memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().split(' ').next()?.parse().ok());
    let gigabytes = kilobytes.unwrap_or(0u64) / 1_000_000;
    format!("{model}, {cores} cores, {gigabytes} GB, {}", today())
}

/// Runs `work` and returns its result with the peak memory of the whole process during it, in MB; `None` if the system
/// does not report it.
pub fn peak_megabytes<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    // Writing 5 resets the peak to the current memory.
    let known = fs::write("/proc/self/clear_refs", "5").is_ok();
    let result = work();
    let peak = moretta_engine::peak_memory_bytes().filter(|_| known);
    (result, peak.map(|bytes| bytes.div_ceil(1_000_000)))
}

/// Today's date from the `date` command; the standard library has no calendar.
fn today() -> String {
    let output = std::process::Command::new("date").arg("+%Y-%m-%d").output();
    output
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .map_or(String::new(), |text| text.trim().to_owned())
}
