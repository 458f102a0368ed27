//! Tables of the benchmark of the default method: files of `shared/data` and generated ones.

use std::{error::Error, fmt::Write as _, fs, path::PathBuf};

use moretta_core::{
    counts::Counts,
    hierarchy::{Hierarchies, file},
    policy::Policy,
    search::method_names,
};
use moretta_papers::data::{Random, TextRows, counted};
use moretta_synthetic::{self as synthetic, People};

/// Records of the generated tables.
const WIDE_RECORDS: usize = 3000;
const PEOPLE: u64 = 20_000;

/// Columns by name, with their declaration; hierarchies by column; the records.
pub struct Source {
    pub name: &'static str,
    /// Quasi-identifiers and how they are declared.
    pub columns: Vec<(String, String)>,
    /// Other columns and how they are declared; their cells are the last ones of a row.
    others: Vec<(String, String)>,
    pub trees: Hierarchies,
    rows: TextRows,
}

const NUMBER: &str = "type = \"number\"\nmissing = \"category\"\n";
const DATE: &str = "type = \"date\"\nformat = \"%m/%d/%Y\"\n";
const CATEGORY: &str = "type = \"category\"\nmissing = \"category\"\n";

/// Folder of the public data.
pub fn folder() -> PathBuf {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    std::env::var_os("MORETTA_DATA").map_or(beside, PathBuf::from)
}

/// Reads columns of a CSV file without quotes. Lines with another number of cells are left out.
pub fn read(path: &str, separator: char, columns: &[String]) -> Result<TextRows, Box<dyn Error>> {
    let text = fs::read_to_string(folder().join(path))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(separator).collect();
    let index = |name: &String| header.iter().position(|known| known == name).ok_or(format!("{path}: no `{name}`"));
    let indices: Vec<usize> = columns.iter().map(index).collect::<Result<_, _>>()?;
    let cells = lines.map(|line| line.split(separator).collect::<Vec<_>>()).filter(|cells| cells.len() == header.len());
    Ok(cells.map(|cells| indices.iter().map(|&index| cells[index].trim().to_owned()).collect()).collect())
}

impl Source {
    fn new(
        name: &'static str,
        (path, separator): (&str, char),
        columns: Vec<(String, String)>,
    ) -> Result<Self, Box<dyn Error>> {
        let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
        Ok(Self {
            name,
            rows: read(path, separator, &names)?,
            columns,
            others: Vec::new(),
            trees: Hierarchies::default(),
        })
    }

    /// Columns with a hierarchy file each; those of `numbers` are free.
    fn with_files(
        name: &'static str,
        file: (&str, char),
        columns: &[&str],
        numbers: &[&str],
        hierarchy: impl Fn(&str) -> String,
    ) -> Result<Self, Box<dyn Error>> {
        let declared = |column: &&str| {
            let tree = format!("type = \"category\"\nhierarchy = \"{column}.csv\"\n");
            let declared = if numbers.contains(column) { NUMBER.to_owned() } else { tree };
            ((*column).to_owned(), declared)
        };
        let mut source = Self::new(name, file, columns.iter().map(declared).collect())?;
        for column in columns.iter().filter(|column| !numbers.contains(column)) {
            let text = fs::read_to_string(folder().join(hierarchy(column)))?;
            source.trees.insert((*column).to_owned(), file::parse(&text).map_err(|error| error.to_string())?);
        }
        Ok(source)
    }

    /// Quasi-identifiers of a policy file, all as numbers.
    fn with_policy(name: &'static str, file: (&str, char), policy: &str) -> Result<Self, Box<dyn Error>> {
        let text = fs::read_to_string(folder().join(policy))?;
        let sections = text.split("[columns.\"").skip(1).filter(|section| section.contains("\"quasi-identifier\""));
        let names = sections.filter_map(|section| section.split('"').next());
        Self::new(name, file, names.map(|name| (name.to_owned(), NUMBER.to_owned())).collect())
    }

    /// All columns but the last; those of `numbers` are numbers, the others categories.
    fn of_all(name: &'static str, path: &str, numbers: &[&str]) -> Result<Self, Box<dyn Error>> {
        let text = fs::read_to_string(folder().join(path))?;
        let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
        let declared = |column: &&str| {
            let declared = if numbers.contains(column) { NUMBER } else { CATEGORY };
            ((*column).to_owned(), declared.to_owned())
        };
        let mut source = Self::new(name, (path, ','), header[..header.len() - 1].iter().map(declared).collect())?;
        source.rows.retain(|row| !row.iter().any(|cell| cell == "?"));
        Ok(source)
    }

    /// Random correlated columns, numbers and categories.
    fn wide(name: &'static str, width: usize) -> Self {
        const VALUES: [usize; 5] = [2, 5, 12, 40, 200];
        let mut random = Random(width as u64);
        let row = |_| {
            let factors: Vec<usize> = (0..4).map(|_| random.below(1000)).collect();
            let value = |column: usize| {
                let mixed = 6 * factors[column % 4] + 4 * random.below(1000);
                (mixed * VALUES[column % 5] / 10_000).to_string()
            };
            (0..width).map(value).collect()
        };
        let declared = |column: usize| if column % 3 == 2 { CATEGORY } else { NUMBER };
        Self {
            name,
            rows: (0..WIDE_RECORDS).map(row).collect(),
            columns: (0..width).map(|column| (format!("c{column}"), declared(column).to_owned())).collect(),
            others: Vec::new(),
            trees: Hierarchies::default(),
        }
    }

    fn people() -> Result<Self, Box<dyn Error>> {
        let columns = ["age", "sex", "postcode", "education", "occupation", "marital-status"];
        let cells: Vec<Vec<String>> = columns.iter().map(|column| people_cells(column)).collect::<Result<_, _>>()?;
        let row = |index: usize| cells.iter().map(|cells| cells[index].clone()).collect();
        let rows = (0..PEOPLE as usize).map(row).collect();
        let (mut trees, mut declared) = (Hierarchies::default(), Vec::new());
        for column in columns {
            let kind = match synthetic::hierarchy(column).filter(|_| column != "age") {
                Some(text) => {
                    trees.insert(column.to_owned(), file::parse(&text).map_err(|error| error.to_string())?);
                    format!("type = \"category\"\nhierarchy = \"{column}.csv\"\n")
                }
                None if column == "age" => NUMBER.to_owned(),
                None => CATEGORY.to_owned(),
            };
            declared.push((column.to_owned(), kind));
        }
        Ok(Self { name: "people", columns: declared, others: Vec::new(), trees, rows })
    }

    /// Adds a column that is no quasi-identifier.
    fn with_other(mut self, name: &str, declared: &str, cells: Vec<String>) -> Self {
        self.others.push((name.to_owned(), declared.to_owned()));
        self.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        self
    }

    /// Policy with some lines of `[privacy]` and of `[method]`.
    pub fn policy(&self, measure: &str, privacy: &str, method: &str) -> Result<Policy, Box<dyn Error>> {
        // Mondrian accepts no objective, and some methods have a parameter instead.
        let accepts = !method.contains("mondrian") && !method.contains("measure");
        let measure = if accepts { format!("measure.name = \"{measure}\"\n") } else { String::new() };
        let mut text = format!("version = 1\n{measure}[method]\n{method}\n[privacy]\n{privacy}\n");
        for (name, declared) in &self.columns {
            write!(text, "[columns.\"{name}\"]\nrole = \"quasi-identifier\"\n{declared}")?;
        }
        for (name, declared) in &self.others {
            write!(text, "[columns.\"{name}\"]\n{declared}")?;
        }
        Ok(Policy::parse(&text, &method_names())?)
    }

    pub fn counts(&self) -> Counts {
        let names: Vec<&str> = self.columns.iter().chain(&self.others).map(|(name, _)| name.as_str()).collect();
        counted(&names, &self.rows)
    }
}

/// Makes a table.
pub type Make = fn() -> Result<Source, Box<dyn Error>>;

const ADULT: [&str; 8] =
    ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"];
const ADULT_NUMBERS: [&str; 3] = ["age", "education-num", "hours-per-week"];
const ADULT_MIXED: [&str; 9] = [
    "age",
    "education-num",
    "hours-per-week",
    "workclass",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
];

/// Tables for k-anonymity alone.
pub const TABLES: [(&str, Make); 12] = [
    ("adult", || adult("adult", &ADULT, &[])),
    ("adult-free", || adult("adult-free", &ADULT_MIXED, &ADULT_NUMBERS)),
    ("german", || {
        Source::of_all("german", "german/german.csv", &["duration-months", "amount", "installment-rate", "age"])
    }),
    ("crx", || Source::of_all("crx", "crx/crx.csv", &["A2", "A3", "A8", "A11", "A14", "A15"])),
    ("free1", || Source::with_policy("free1", ("more/free1/free1.csv", ','), "more/policies/free1.toml")),
    ("mach2019", || {
        Source::with_policy("mach2019", ("more/mach2019/mach2019_int.csv", ';'), "more/policies/mach2019.toml")
    }),
    ("cmc", || {
        let hierarchy = |column: &str| format!("more/cmc/hierarchies/cmc_hierarchy_{column}.csv");
        Source::with_files("cmc", ("more/cmc/cmc.csv", ';'), &["age", "Weducation", "children"], &[], hierarchy)
    }),
    ("synthea", || {
        // The other numbers of this file were damaged by a spreadsheet: 4.222.835.382.315.940 is a latitude.
        let categories = ["MARITAL", "RACE", "ETHNICITY", "GENDER", "CITY", "COUNTY"];
        let columns = categories.map(|column| (column.to_owned(), CATEGORY.to_owned())).into_iter();
        let columns = columns.chain([("ZIP".to_owned(), NUMBER.to_owned()), ("BIRTHDATE".to_owned(), DATE.to_owned())]);
        Source::new("synthea", ("more/synthea/patients.csv", ';'), columns.collect())
    }),
    ("people", Source::people),
    ("wide10", || Ok(Source::wide("wide10", 10))),
    ("wide30", || Ok(Source::wide("wide30", 30))),
    ("wide100", || Ok(Source::wide("wide100", 100))),
];

const SENSITIVE: &str = "role = \"sensitive\"\ntype = \"category\"\n";
const PERSON: &str = "role = \"person\"\n";

/// Tables with a sensitive column, for further models.
pub(super) const SENSITIVE_TABLES: [(&str, Make); 3] = [
    ("adult-sensitive", || {
        let columns = ADULT.iter().copied().filter(|column| *column != "occupation").collect::<Vec<_>>();
        let source = adult("adult-sensitive", &columns, &[])?;
        let occupations = read("adult/adult_train.csv", ',', &["occupation".to_owned()])?;
        let occupations = occupations.into_iter().flatten().collect();
        Ok(source.with_other("occupation", SENSITIVE, occupations))
    }),
    ("people-sensitive", || people_sensitive("people-sensitive")),
    ("people-persons", || {
        // Two thirds of the persons have one record, a third has two.
        let persons = (0..PEOPLE).map(|index| (index % (PEOPLE * 3 / 4)).to_string()).collect();
        Ok(people_sensitive("people-persons")?.with_other("person", PERSON, persons))
    }),
];

fn people_sensitive(name: &'static str) -> Result<Source, Box<dyn Error>> {
    Ok(Source { name, ..Source::people()? }.with_other("diagnosis", SENSITIVE, people_cells("diagnosis")?))
}

fn adult(name: &'static str, columns: &[&str], numbers: &[&str]) -> Result<Source, Box<dyn Error>> {
    let hierarchy = |column: &str| format!("adult/hierarchies-arx/{column}.csv");
    Source::with_files(name, ("adult/adult_train.csv", ','), columns, numbers, hierarchy)
}

/// Cells of a column of the synthetic people.
fn people_cells(column: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let (people, mut csv) = (People::new(1), synthetic::header());
    (0..PEOPLE).for_each(|index| people.person(index).write_csv(&mut csv));
    let mut lines = csv.lines();
    let index = lines.next().unwrap_or_default().split(',').position(|name| name == column);
    let index = index.ok_or(format!("no `{column}`"))?;
    Ok(lines.map(|line| line.split(',').nth(index).unwrap_or_default().to_owned()).collect())
}
