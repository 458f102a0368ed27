//! The pages as a reader sees them: opened in a real browser, wide and on a phone, light and dark.
//!
//! To add a page, add an entry to [`PAGES`]: how it is made, and what must be visible. Screenshots are kept in
//! `MORETTA_SCREENSHOTS`, if it is set.

mod driver;
mod picture;

use std::path::PathBuf;

use self::{driver::Browser, picture::Picture};
use crate::{folder::Folder, people};

struct Page {
    name: &'static str,
    /// Makes the page in a folder and returns its file name.
    make: fn(&Folder) -> &'static str,
    /// Elements that must be visible: description, selector, minimum number.
    seen: &'static [(&'static str, &'static str, usize)],
}

const PAGES: &[Page] = &[
    Page {
        name: "release",
        make: release,
        seen: &[
            ("verdict", "section.verdict", 1),
            ("the policy", "section[aria-labelledby=policy]", 1),
            ("the table of columns", "section[aria-labelledby=policy] table", 1),
            ("the guarantees", "[aria-label=Guarantees] table", 1),
            ("the limits on inferences", "table.templates", 1),
            ("the risk before and after", "table.risk", 1),
            ("lines of the risk", "table.risk tr:not(.role)", 8),
            ("the loss by column", "[aria-label='Loss by column'] table", 1),
            ("each column's histogram", "figure.spread svg.histogram", 6),
            ("the measures", "[aria-label=Measures] table", 1),
            ("the sizes of groups", "section[aria-labelledby=groups] svg.histogram", 1),
            ("the way", "section[aria-labelledby=way] svg.plot", 2),
            ("what was done", "section[aria-labelledby=done]", 1),
            ("the time", "svg.time", 1),
            ("kept columns", "table.kept tbody tr", 5),
            ("the files", "table.files tbody tr:not(.role)", 8),
            ("where to sign", "section.signature", 1),
            ("the policy as it was written", "details.appendix pre", 1),
        ],
    },
    Page {
        name: "frontier",
        make: frontier,
        seen: &[
            ("the curves", "svg.plot", 2),
            ("the table that is not folded", "section > .scroll > table", 1),
            ("the heading", "h1", 1),
        ],
    },
    Page {
        name: "comparison",
        make: comparison,
        seen: &[
            ("who is best at what", "section.verdict", 1),
            ("what was compared", "section[aria-labelledby=asked]", 1),
            ("the curves", "figure svg", 6),
            ("a table for each k", "section > .scroll > table.methods", 2),
            ("a line for each method", "section > .scroll > table.methods tbody tr", 6),
            ("what the figures say", "section[aria-labelledby=meaning]", 1),
        ],
    },
    Page {
        name: "risks",
        make: risks,
        seen: &[
            ("the verdict", "section.verdict", 1),
            ("a line for each column", "[aria-label=Columns] tbody tr", 10),
            ("the records found with few columns", "[aria-label='Columns that suffice'] tbody tr", 3),
            ("the contributions", "[aria-label=Contributions] tbody tr", 10),
            ("the worst pairs", "[aria-label='Sets of 2 columns'] tbody tr", 10),
        ],
    },
];

/// Window widths of a desktop and a phone, and the color scheme.
const VIEWS: [(u32, &str); 3] = [(1280, "light"), (400, "light"), (400, "dark")];

/// Minimum number of colors of a painted element: fewer are an empty box with a border.
const FEWEST_COLORS: usize = 4;

/// The demo with a method that has a generalization path, so that the page has all sections.
fn release(folder: &Folder) -> &'static str {
    folder.edit("policy.toml", "\"mondrian\"", "\"bottom-up-generalization\"");
    let run = folder.anonymize(&["--seed", "1", "--report", "report.html"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    "report.html"
}

fn frontier(folder: &Folder) -> &'static str {
    folder.edit("policy.toml", "\"mondrian\"", "\"bottom-up-generalization\"");
    folder.ok(&["frontier", "people.csv", "-p", "policy.toml", "-o", "frontier.html"]);
    "frontier.html"
}

fn risks(folder: &Folder) -> &'static str {
    folder.ok(&["risks", "people.csv", "-o", "risks.html"]);
    "risks.html"
}

fn comparison(folder: &Folder) -> &'static str {
    let methods = "--methods=mondrian,k-member,bottom-up-generalization";
    folder.ok(&["compare", "people.csv", "-p", "policy.toml", methods, "--k=5,20", "--folds=2", "-o", "compare.html"]);
    "compare.html"
}

/// Returns position, visibility and tag of all elements of a selector.
const FIND: &str = "return [...document.querySelectorAll(arguments[0])].map(element => {
    const box = element.getBoundingClientRect();
    return [box.x + scrollX, box.y + scrollY, box.width, box.height,
        element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) ? 1 : 0];
});";

/// Opens the technical figures and the appendix, which are folded.
const UNFOLD: &str =
    "document.querySelectorAll('details.technical, details.appendix').forEach(part => part.open = true);
    return null;";

/// Returns the height of the page, and by how much it is wider than the window.
const MEASURE: &str = "const root = document.documentElement;
    return [root.scrollHeight, root.scrollWidth - root.clientWidth];";

const LOADED: &str = "return performance.getEntriesByType('resource').map(entry => entry.name);";

#[test]
fn pages_are_seen_as_they_are_meant() {
    let Some(browser) = Browser::start("pages_are_seen_as_they_are_meant") else { return };
    let kept = std::env::var_os("MORETTA_SCREENSHOTS").map(PathBuf::from);
    for page in PAGES {
        let folder = people::folder(2000);
        let file = (page.make)(&folder);
        let shots = kept.clone().unwrap_or_else(|| folder.path("screenshots"));
        std::fs::create_dir_all(&shots).unwrap();
        for (width, scheme) in VIEWS {
            let at = format!("{}-{width}-{scheme}", page.name);
            browser.resize(width, 800, scheme);
            browser.open(&format!("file://{}", folder.path(file).display()));
            browser.run(UNFOLD, "");
            let picture = look(&browser, width, scheme, &at);
            picture.save(&shots.join(format!("{at}.png")));
            for (what, selector, least) in page.seen {
                check(&browser, &picture, selector, *least, &format!("{at}: {what}"));
            }
            let loaded = browser.run(LOADED, "");
            assert_eq!(loaded.as_array().map(Vec::len), Some(0), "{at}: loaded from elsewhere: {loaded}");
            assert_eq!(browser.console(), Vec::<String>::new(), "{at}");
        }
    }
}

/// Takes a screenshot of the whole page, which must not be wider than its window.
fn look(browser: &Browser, width: u32, scheme: &str, at: &str) -> Picture {
    let measured = browser.run(MEASURE, "");
    let (height, too_wide) = (measured[0].as_u64().unwrap(), measured[1].as_i64().unwrap());
    assert_eq!(too_wide, 0, "{at}: the page is so many pixels wider than its window");
    browser.resize(width, height as u32, scheme);
    let picture = Picture::decode(&browser.screenshot());
    assert_eq!(picture.size(), (width as usize, height as usize), "{at}");
    picture
}

/// Checks that all elements of a selector are visible, have a size, lie within the page and were painted.
fn check(browser: &Browser, picture: &Picture, selector: &str, least: usize, what: &str) {
    let found: Vec<[f64; 5]> = serde_json::from_value(browser.run(FIND, selector)).unwrap();
    assert!(found.len() >= least, "{what}: {} of {least}", found.len());
    for [x, y, wide, high, shown] in found {
        assert!(shown == 1.0 && wide >= 10.0 && high >= 10.0, "{what}: {wide} x {high}, shown: {shown}");
        assert!(x >= 0.0 && y >= 0.0 && y + high <= picture.size().1 as f64 + 1.0, "{what}: at {x}, {y}");
        let colors = picture.colors([x, y, wide, high]);
        assert!(colors >= FEWEST_COLORS, "{what}: {colors} colors");
    }
}
