//! Parameters with which the conformance suite and the fuzzer run the methods.

/// Parameters with which a method is tested in addition to its defaults.
pub const PARAMETERS: &[(&str, &str)] = &[
    ("mondrian", "choose = \"widest\""),
    ("mondrian", "relaxed = true"),
    ("mondrian", "relaxed = true\nchoose = \"widest\""),
    ("bottom-up-generalization", "take-back = false"),
    ("bottom-up-generalization", "measure = \"lm\"\nsearch = 10"),
    ("bottom-up-generalization", "measure = \"ncp\"\nsearch = 10\npartial = false"),
    ("bottom-up-generalization", "search = 0\npartial = false"),
    ("bottom-up-generalization", "take-back = false\nprune = false"),
    ("top-down-disclosure", "measure = \"lm\""),
    ("top-down-disclosure", "measure = \"ncp\"\ntries = 1"),
    ("k-member", "block = 5"),
    ("sweep", "vectors = 3"),
    ("genetic", "population = 8\niterations = 40\nseeds = false\nlocal-search = false\npartial = false\npoints = 3"),
];

/// Replacements for the defaults of methods that search long: the suite runs each method thousands of times.
pub const SHORT_PARAMETERS: &[(&str, &str)] = &[
    ("bottom-up-generalization", "search = 8"),
    ("genetic", "population = 12\niterations = 40"),
    ("best", "effort = \"low\""),
];
