//! Seconds of the processor, which hardly depend on what else the machine does.

use std::{error::Error, fs};

/// Seconds of this process, all threads together.
pub fn of_process() -> Result<f64, Box<dyn Error>> {
    // `utime` and `stime`.
    seconds(14)
}

/// Seconds of the child processes that have ended.
pub fn of_children() -> Result<f64, Box<dyn Error>> {
    // `cutime` and `cstime`.
    seconds(16)
}

/// Sum of two fields of `/proc/self/stat`, of which the first has this number, counted from 1.
fn seconds(first: usize) -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The second field is the name of the program in brackets, which may have blanks.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3).and_then(|ticks| ticks.parse::<f64>().ok());
    // Linux reports hundredths of a second.
    Ok((ticks(first).ok_or("no times in /proc")? + ticks(first + 1).ok_or("no times in /proc")?) / 100.0)
}
