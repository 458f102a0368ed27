//! Invalid policies, each with the line and the words of its error.

use super::*;

/// A line of the policy (from 1), what it is replaced by, the line that the error names, and a part of its words.
#[rustfmt::skip]
const LINES: &[(usize, &str, usize, &str)] = &[
    // Syntax.
    (3, "k = ", 3, "this is not TOML: there is no value after `=`"),
    (3, "k 10", 3, "this is not TOML"),
    (2, "[privacy", 2, "this is not TOML"),
    (22, "role = quasi-identifier", 22, "write texts in quotes: \"quasi-identifier\""),
    (3, "k = 10\nk = 11", 4, "`k` is set twice"),
    (27, "[columns.age]", 27, "`age` is set twice"),
    (3, "k = 99999999999999999999", 3, "too many digits"),
    (4, "max-suppressed = nan", 4, "`nan` is not a finite number"),
    (4, "max-suppressed = 1e999", 4, "`1e999` is not a finite number"),
    (19, "name = 2001-01-01", 19, "this is a date"),
    // `version`.
    (1, "", 1, "the policy has no `version`; begin it with `version = 1`"),
    (1, "version = 2\nlater = true", 1, "`version` is 2; this moretta reads policies of version 1; a later moretta"),
    (1, "version = 0", 1, "`version` is 0; it must be 1"),
    (1, "version = \"1\"", 1, "`version` is \"1\"; it must be 1"),
    // Keys.
    (1, "version = 1\nk = 5", 2, "`k` is not a key of the policy; it belongs in [privacy]"),
    (18, "[metod]", 18, "`metod` is not a key of the policy; did you mean `method`?"),
    (4, "max_suppressed = 0.1", 4, "`max_suppressed` is not a key of [privacy]; did you mean `max-suppressed`?"),
    (5, "[[privacy.templates]]", 5, "`templates` is not a key of [privacy]; did you mean `template`?"),
    (5, "[privacy.template]", 5, "`template` is a table; it must be a list of tables, each begun with [[privacy.template]]"),
    (4, "t-closeness = [0.2]", 14, "set twice"),
    (2, "[[privacy]]", 2, "`privacy` is a list; it must be a table, begun with [privacy]"),
    (7, "colunm = \"bankruptcy\"", 7, "`colunm` is not a key of [[privacy.template]]; did you mean `column`?"),
    (12, "l = 3\nt = 0.2", 13, "`t` is not a key of [[privacy.l-diversity]]"),
    (26, "wieght = 2.0", 26, "`wieght` is not a key of [columns.age]; did you mean `weight`?"),
    (26, "k = 5", 26, "`k` is not a key of [columns.age]; it belongs in [privacy]"),
    (26, "colour = 5", 26, "it may have `role`, `type`, `format`, `hierarchy`, `weight`, `missing`"),
    (44, "exact = [\"diagnosi\"]", 44, "`exact` names `diagnosi`, which the policy does not declare; did you mean `diagnosis`?"),
    (44, "exact = [\"age\"]", 44, "`exact` names `age`, whose role is \"quasi-identifier\"; it must name a column with role \"sensitive\", \"class\" or \"insensitive\""),
    (44, "exact = [\"income\", \"income\"]", 44, "`exact` names `income` twice"),
    (44, "exact = \"income\"", 44, "it must be a list of columns that are released unchanged although their values single out records"),
    (44, "lables = \"set\"", 44, "`lables` is not a key of [release]; did you mean `labels`?"),
    (46, "delimeter = \";\"", 46, "`delimeter` is not a key of [input]; did you mean `delimiter`?"),
    // k and suppression.
    (3, "k = 0", 3, "`k` is 0; it must be a whole number of at least 1 (usual: 5 to 50)"),
    (3, "k = -3", 3, "`k` is -3; it must be a whole number"),
    (3, "k = 2.5", 3, "`k` is 2.5; it must be a whole number"),
    (3, "k = 5.0", 3, "`k` is 5.0; it must be a whole number"),
    (3, "k = \"five\"", 3, "`k` is \"five\"; it must be a whole number"),
    (4, "max-suppressed = 2", 4, "`max-suppressed` is 2; it must be a share of the records, from 0 to 1"),
    (4, "max-suppressed = -0.1", 4, "`max-suppressed` is -0.1"),
    (4, "max-suppressed = true", 4, "`max-suppressed` is true"),
    // Templates.
    (6, "", 5, "[[privacy.template]] has no `given`"),
    (6, "given = []", 6, "`given` is an empty list; it must be a list of columns with role \"quasi-identifier\""),
    (6, "given = \"job\"", 6, "`given` is \"job\"; it must be a list"),
    (6, "given = [\"job\", 3]", 6, "`given` holds 3; it must be a list"),
    (6, "given = [\"job\", \"job\"]", 6, "`given` names `job` twice"),
    (6, "given = [\"jbo\"]", 6, "`given` names `jbo`, which the policy does not declare; did you mean `job`?"),
    (6, "given = [\"shoe size\"]", 6, "does not declare; add [columns.\"shoe size\"]"),
    (6, "given = [\"bankruptcy\"]", 6, "`bankruptcy`, whose role is \"sensitive\"; it must name columns with role \"quasi"),
    (7, "", 5, "[[privacy.template]] has no `column`, which must be a column with role \"sensitive\" or \"class\""),
    (7, "column = \"bankrupcy\"", 7, "`bankrupcy`, which the policy does not declare; did you mean `bankruptcy`?"),
    (7, "column = \"job\"", 7, "`column` names `job`, whose role is \"quasi-identifier\"; it must name a column with role"),
    (7, "column = 7", 7, "`column` is 7"),
    (8, "", 5, "does not say which values it guards"),
    (8, "values = []", 8, "`values` is an empty list"),
    (8, "values = [3]", 8, "write it in quotes, exactly as in the data"),
    (8, "values = [\"a\", \"a\"]", 8, "`values` names `a` twice"),
    (8, "values = [\"a\"]\nrarest = 0.5", 9, "both `values` and `rarest`"),
    (8, "rarest = 0", 8, "`rarest` is 0; it must be a share"),
    (8, "rarest = 1.5", 8, "`rarest` is 1.5; it must be a share"),
    (9, "", 5, "has no `max-confidence`"),
    (9, "max-confidence = 75", 9, "`max-confidence` is 75; it must be a number above 0, up to 1 (0.75 is 75 %)"),
    (9, "max-confidence = 0.0", 9, "`max-confidence` is 0.0"),
    // l-diversity.
    (11, "column = \"job\"", 11, "`column` names `job`, whose role is \"quasi-identifier\""),
    (12, "", 10, "[[privacy.l-diversity]] has no `l`"),
    (12, "l = 0", 12, "`l` is 0; it must be a whole number of at least 1"),
    (12, "l = 2.5", 12, "`l` is 2.5; it must be a whole number"),
    (13, "kind = \"entrpy\"", 13, "it must be \"distinct\", \"entropy\" or \"recursive\"; did you mean \"entropy\"?"),
    (13, "kind = \"recursive\"", 10, "recursive l-diversity needs `c`"),
    (13, "kind = \"recursive\"\nc = 0", 14, "`c` is 0; it must be a number above 0"),
    (13, "kind = \"entropy\"\nc = 2", 14, "`c` is only for kind = \"recursive\""),
    (12, "l = 1\nc = 2", 13, "`c` is only for"),
    // LKC, between the others.
    (14, "[privacy.lkc]\nk = 5\nc = 0.6\n[[privacy.t-closeness]]", 14, "[privacy.lkc] has no `l`, which must be a whole number of at least 1: how many quasi-identifiers"),
    (14, "[privacy.lkc]\nl = 2\nc = 0.6\n[[privacy.t-closeness]]", 14, "[privacy.lkc] has no `k`, which must be a whole number of at least 1"),
    (14, "[privacy.lkc]\nl = 2\nk = 5\n[[privacy.t-closeness]]", 14, "[privacy.lkc] has no `c`, which must be a number above 0, up to 1 (0.6 is 60 %)"),
    (14, "[privacy.lkc]\nl = 0\nk = 5\nc = 0.6\n[[privacy.t-closeness]]", 15, "`l` is 0; it must be a whole number of at least 1"),
    (14, "[privacy.lkc]\nl = 1.5\nk = 5\nc = 0.6\n[[privacy.t-closeness]]", 15, "`l` is 1.5; it must be a whole number"),
    (14, "[privacy.lkc]\nl = 2\nk = 0\nc = 0.6\n[[privacy.t-closeness]]", 16, "`k` is 0; it must be a whole number of at least 1"),
    (14, "[privacy.lkc]\nl = 2\nk = 5\nc = 0\n[[privacy.t-closeness]]", 17, "`c` is 0; it must be a number above 0, up to 1"),
    (14, "[privacy.lkc]\nl = 2\nk = 5\nc = 60\n[[privacy.t-closeness]]", 17, "`c` is 60; it must be a number above 0, up to 1"),
    (14, "[privacy.lkc]\nl = 2\nk = 5\nc = 0.6\nh = 1\n[[privacy.t-closeness]]", 18, "`h` is not a key of [privacy.lkc]"),
    (14, "[[privacy.lkc]]\nl = 2\n[[privacy.t-closeness]]", 14, "`lkc` is a list; it must be a table, begun with [privacy.lkc]"),
    (14, "[privacy.lkc]\nl = 2\nk = 1\nc = 1.0\n[[privacy.t-closeness]]", 14, "[privacy.lkc] guarantees nothing"),
    // t-closeness.
    (15, "", 14, "[[privacy.t-closeness]] has no `column`"),
    (16, "", 14, "[[privacy.t-closeness]] has no `t`"),
    (16, "t = 1.2", 16, "`t` is 1.2; it must be a number from 0 to 1"),
    (17, "", 14, "has no `distance`, which must be \"equal\", \"ordered\" or \"hierarchical\""),
    (17, "distance = \"order\"", 17, "did you mean \"ordered\"?"),
    // `[method]`.
    (19, "name = \"mondrain\"", 19, "`name` is \"mondrain\"; it must be \"best\", \"bottom-up-generalization\", \"k-member\" or \"mondrian\"; did you mean \"mondrian\"?"),
    (19, "name = 3", 19, "`name` is 3; it must be the name of a method"),
    // `[measure]`.
    (20, "[measure]", 20, "[measure] has no `name`, which must be \"ncp\", \"lm\", \"cm\" or \"rm\""),
    (20, "[measure]\nweight = 2", 20, "[measure] has no `name`"),
    (20, "[[measure]]\nname = \"lm\"\n[[measure]]", 22, "[[measure]] has no `name`"),
    (20, "[measure]\nname = \"lmm\"", 21, "`name` is \"lmm\"; it must be \"ncp\", \"lm\", \"cm\" or \"rm\"; did you mean \"lm\"?"),
    (20, "[measure]\nname = \"discernibility\"", 21, "`name` is \"discernibility\"; it must be \"ncp\", \"lm\", \"cm\" or \"rm\""),
    (20, "[measure]\nname = 1", 21, "`name` is 1; it must be \"ncp\""),
    (20, "[measure]\nnam = \"lm\"", 21, "`nam` is not a key of [measure]; did you mean `name`?"),
    (20, "[[measure]]\nname = \"lm\"\nrole = 1", 22, "`role` is not a key of [[measure]]; it belongs in the table of a column"),
    (20, "[measures]\nname = \"lm\"", 20, "`measures` is not a key of the policy; did you mean `measure`?"),
    (1, "version = 1\nmeasure = \"lm\"", 2, "`measure` is \"lm\"; it must be a table, begun with [measure], or a list of tables, each begun with [[measure]]"),
    (1, "version = 1\nmeasure = []", 2, "`measure` is an empty list; it must be a table"),
    (1, "version = 1\nmeasure = [\"lm\", \"cm\"]", 2, "`measure` holds \"lm\"; it must be a table"),
    (20, "[measure]\nname = \"lm\"\nweight = 0", 22, "`weight` is 0; it must be a number from 0.000001 to 1000000 (default: 1)"),
    (20, "[measure]\nname = \"lm\"\nweight = 1e-7", 22, "`weight` is 1e-7; it must be a number from 0.000001"),
    (20, "[measure]\nname = \"lm\"\nweight = 1e300", 22, "it must be a number from 0.000001 to 1000000"),
    (20, "[measure]\nname = \"lm\"\nweight = \"2\"", 22, "`weight` is \"2\"; it must be a number"),
    (20, "[measure]\nname = \"lm\"\ncolumn = \"income\"", 22, "`column` has no effect for measure \"lm\"; it is for \"cm\" or \"rm\""),
    (20, "[measure]\nname = \"rm\"\ncosts.a.b = 2", 22, "`costs` has no effect for measure \"rm\"; it is for \"cm\""),
    (20, "[measure]\nname = \"cm\"\ndispersion = \"variance\"", 22, "`dispersion` has no effect for measure \"cm\"; it is for \"rm\""),
    (20, "[measure]\nname = \"rm\"\ndispersion = \"variances\"", 22, "it must be \"variance\" or \"deviation\"; did you mean \"variance\"?"),
    (20, "[measure]\nname = \"cm\"\ncolumn = \"incme\"", 22, "`column` names `incme`, which the policy does not declare; did you mean `income`?"),
    (20, "[measure]\nname = \"cm\"\ncolumn = \"job\"", 22, "`column` names `job`, whose role is \"quasi-identifier\"; it must name a column with role \"sensitive\" or \"class\""),
    (20, "[measure]\nname = \"cm\"\ncolumn = 1", 22, "`column` is 1; it must be a column with role"),
    (20, "[measure]\nname = \"cm\"\ncosts = 5", 22, "`costs` is 5; it must be a table of tables: costs.sick.healthy = 5 is the cost"),
    (20, "[measure]\nname = \"cm\"\ncosts.sick = 5", 22, "`costs.sick` is 5; it must be part of a table of tables"),
    (20, "[measure]\nname = \"cm\"\ncosts.sick.well = -1", 22, "`costs.sick.well` is -1; it must be a number from 0 to 1000000 (default: 1)"),
    (20, "[measure]\nname = \"cm\"\ncosts.sick.well = 1e9", 22, "it must be a number from 0 to 1000000"),
    (20, "[measure]\nname = \"cm\"\ncosts.sick.well = inf", 22, "`inf` is not a finite number"),
    (20, "[measure]\nname = \"cm\"\n[measure.costs.sick]\nsick = 1", 23, "`costs.sick.sick` is the cost of the correct class, which is always 0; remove it"),
    (20, "[[measure]]\nname = \"lm\"\n[[measure]]\nname = \"lm\"\nweight = 2", 22, "[[measure]] has the measure \"lm\" twice; name it once and set its `weight`"),
    (20, "[[measure]]\nname = \"cm\"\n[[measure]]\nname = \"cm\"\ncolumn = \"income\"", 22, "the measure \"cm\" twice"),
    (36, "role = \"class\"\ntype = \"category\"\n[measure]\nname = \"rm\"", 39, "measure \"rm\" is for numbers, but `income` is a category; \"cm\" is for classes"),
    (36, "role = \"sensitive\"\n[measure]\nname = \"cm\"", 37, "measure \"cm\" needs a column: none has the role \"class\"; give it to what the recipient predicts, or name a sensitive one in `column`"),
    (1, "version = 1\ncosts = 5", 2, "`costs` is not a key of the policy; it belongs in [measure]"),
    (1, "version = 1\nname = \"sweep\"", 2, "`name` is not a key of the policy; it belongs in [method] or [measure]"),
    (4, "measure = \"lm\"", 4, "`measure` is not a key of [privacy]; it belongs at the top of the policy"),
    // Columns.
    (22, "", 21, "[columns.age] has no `role`, which must be \"identifier\""),
    (22, "role = \"Sensitive\"", 22, "did you mean \"sensitive\"?"),
    (22, "role = 1", 22, "`role` is 1; it must be \"identifier\""),
    (24, "type = \"numeric\"", 24, "`type` is \"numeric\"; it must be \"number\", \"category\" or \"date\""),
    (41, "role = \"identifier\"\ntype = \"number\"", 42, "`type` has no effect for role \"identifier\"; it is for \"quasi-identifier\", \"sensitive\", \"class\" or \"insensitive\""),
    (41, "role = \"person\"\ntype = \"number\"", 42, "`type` has no effect for role \"person\"; it is for \"quasi-identifier\", \"sensitive\", \"class\" or \"insensitive\""),
    (41, "role = \"household\"\nweight = 2", 42, "`weight` has no effect for role \"household\"; it is for \"quasi-identifier\""),
    (41, "role = \"person\"\nmissing = \"suppress\"", 42, "`missing` is \"suppress\"; it must be \"category\" or \"error\" for role \"person\", which is not released"),
    (41, "role = \"person\"\n[columns.patient]\nrole = \"person\"", 42, "`patient` and `name` both have the role \"person\"; one column can have it"),
    (41, "role = \"household\"\n[columns.hh]\nrole = \"household\"", 42, "`hh` and `name` both have the role \"household\""),
    (41, "role = \"insensitive\"\nhierarchy = \"a.csv\"", 42, "`hierarchy` has no effect for role \"insensitive\""),
    (41, "role = \"insensitive\"\nmissing = \"error\"", 42, "`missing` has no effect for role \"insensitive\""),
    (22, "role = \"quasi-identifier\"\nfold = false", 23, "`fold` has no effect for role \"quasi-identifier\"; it is for \"sensitive\", \"class\", \"person\" or \"household\""),
    (41, "role = \"insensitive\"\nfold = true", 42, "`fold` has no effect for role \"insensitive\""),
    (36, "role = \"class\"\nfold = \"no\"", 37, "`fold` is \"no\"; it must be true (the default"),
    (36, "role = \"class\"\nweight = 2", 37, "`weight` has no effect for role \"class\"; it is for \"quasi-identifier\""),
    (36, "role = \"class\"\nmissing = \"suppress\"", 37, "it must be \"category\" or \"error\" for role \"class\""),
    (25, "missing = \"ignore\"", 25, "it must be \"category\", \"suppress\" or \"error\""),
    (26, "weight = 0", 26, "`weight` is 0; it must be above 0; if the column cannot identify anyone, give it another role"),
    (26, "weight = -1", 26, "`weight` is -1; it must be a number from 0.000001 to 1000000 (default: 1)"),
    (26, "weight = 1e308", 26, "it must be a number from 0.000001 to 1000000 (default: 1)"),
    (26, "weight = 1e-9", 26, "it must be a number from 0.000001 to 1000000 (default: 1)"),
    (26, "weight = inf", 26, "`inf` is not a finite number"),
    // Hierarchies.
    (23, "hierarchy = \"Chu\"", 23, "`hierarchy` is \"Chu\"; it must be the path of a hierarchy file (such as \"ages.csv\"), \"free\", { widths"),
    (23, "hierarchy = \"Chu\"", 23, "did you mean \"chu\"?"),
    (23, "hierarchy = \"iotv\"", 23, "did you mean \"iotf\"?"),
    (23, "hierarchy = \"date\"", 23, "did you mean { dates = [..] }?"),
    (23, "hierarchy = { method = \"iot\" }", 23, "`method` is \"iot\"; it must be \"iotf\", \"otf\", \"chu\", \"han\", \"equal-width\" or \"equal-frequency\"; did you mean \"iotf\"?"),
    (23, "hierarchy = { method = 3 }", 23, "`method` is 3; it must be \"iotf\""),
    (23, "hierarchy = { levels = 3 }", 23, "`hierarchy` has no `method`, which must be \"iotf\""),
    (23, "hierarchy = { method = \"iotf\", levels = 1 }", 23, "`levels` is 1; it must be a whole number of at least 2: number of levels"),
    (23, "hierarchy = { method = \"iotf\", levels = 2.5 }", 23, "`levels` is 2.5; it must be a whole number"),
    (23, "hierarchy = { method = \"iotf\", levels = 9999999999 }", 23, "`levels` is 9999999999; it must be a whole number"),
    (23, "hierarchy = { method = \"iotf\", threshold = 2 }", 23, "`threshold` has no effect for method \"iotf\"; it is for method \"chu\" or \"han\""),
    (23, "hierarchy = { method = \"chu\", fan-out = 2 }", 23, "`fan-out` has no effect for method \"chu\"; it is for method \"han\""),
    (23, "hierarchy = { method = \"chu\", threshold = 0 }", 23, "`threshold` is 0; it must be a whole number of at least 1"),
    (23, "hierarchy = { method = \"han\", fan-out = 1 }", 23, "`fan-out` is 1; it must be a whole number of at least 2"),
    (23, "hierarchy = { method = \"han\", parts = [4, 2] }", 23, "`parts` has no effect for method \"han\"; it is for method \"equal-width\" or \"equal-frequency\""),
    (23, "hierarchy = { method = \"equal-width\", parts = [] }", 23, "`parts` is an empty list"),
    (23, "hierarchy = { method = \"equal-width\", parts = [4, 1] }", 23, "`parts` holds 1; it must be a list of whole numbers of at least 2"),
    (23, "hierarchy = { method = \"equal-width\", parts = [2, 4] }", 23, "`parts` has 4 after 2; it must be a list of whole numbers"),
    (23, "hierarchy = { method = \"equal-width\", parts = [5, 2] }", 23, "`parts` has 2 after 5"),
    (23, "hierarchy = { widths = [5], levels = 3 }", 23, "`levels` has no effect beside `widths`; it is for method"),
    (23, "hierarchy = { method = \"iotf\", widths = [5] }", 23, "both `method` and `widths`"),
    (39, "type = \"category\"\nhierarchy = \"iotf\"", 40, "is for numbers, but `type` is \"category\""),
    // Codes.
    (39, "hierarchy = { prefix = [] }", 39, "`prefix` is an empty list"),
    (39, "hierarchy = { prefix = 3 }", 39, "`prefix` is 3; it must be a list of whole numbers"),
    (39, "hierarchy = { prefix = [3, 0] }", 39, "`prefix` holds 0; it must be a list of whole numbers of at least 1"),
    (39, "hierarchy = { prefix = [2.5] }", 39, "`prefix` holds 2.5"),
    (39, "hierarchy = { prefix = [2, 3] }", 39, "`prefix` has 3 after 2; it must be a list of whole numbers of at least 1, each smaller"),
    (39, "type = \"number\"\nhierarchy = { prefix = [3] }", 40, "this `hierarchy` is for codes, but `type` is \"number\"; codes that are made of digits have `type = \"category\"`"),
    // A column that is released unchanged may have a hierarchy file only, for distances.
    (34, "role = \"sensitive\"\nhierarchy = \"iotf\"", 35, "the `hierarchy` of a column of role \"sensitive\" must be a file; its values are released unchanged"),
    // Dates.
    (39, "hierarchy = { dates = [] }", 39, "`dates` is an empty list; it must be a list of levels, the finest first, of \"day\", \"month\", \"quarter\", \"year\" or \"decade\""),
    (39, "hierarchy = { dates = [\"months\"] }", 39, "`dates` holds \"months\"; it must be a list of levels, the finest first, of \"day\", \"month\", \"quarter\", \"year\" or \"decade\"; did you mean \"month\"?"),
    (39, "hierarchy = { dates = [3] }", 39, "`dates` holds 3"),
    (39, "hierarchy = { dates = [\"year\", \"month\"] }", 39, "`dates` has \"month\" after \"year\"; it must be a list of levels, the finest first"),
    (39, "hierarchy = { dates = [\"year\", \"year\"] }", 39, "`dates` has \"year\" after \"year\""),
    (39, "type = \"number\"\nhierarchy = { dates = [\"year\"] }", 40, "this `hierarchy` is for dates, but `type` is \"number\"; dates have `type = \"date\"`"),
    (39, "type = \"date\"\nhierarchy = { widths = [5] }", 40, "is for numbers, but `type` is \"date\"; a date has levels such as { dates = [\"month\", \"year\"] }, \"free\""),
    (39, "type = \"date\"\nhierarchy = { bins = [5, 6] }", 40, "is for numbers, but `type` is \"date\""),
    (39, "type = \"date\"\nhierarchy = { prefix = [4] }", 40, "is for codes, but `type` is \"date\""),
    (39, "type = \"number\"\nformat = \"%Y\"", 40, "`format` is for dates, but `type` is \"number\""),
    (39, "format = 3", 39, "`format` is 3; it must be how dates are written, in the notation of strftime"),
    (39, "format = \"%d.%m.%y\"", 39, "a two-digit year has no century"),
    (39, "format = \"TT.MM.JJJJ\"", 39, "a date needs a year (%Y), a month (%m) and a day (%d)"),
    (39, "hierarchy = { widths = [5] }\nformat = \"%F\"", 39, "is for numbers, but `type` is \"date\""),
    (41, "role = \"identifier\"\nformat = \"%F\"", 42, "`format` has no effect for role \"identifier\""),
    (23, "hierarchy = \"fre\"", 23, "did you mean \"free\"?"),
    (23, "hierarchy = \"width\"", 23, "did you mean { widths = [..] }?"),
    (23, "hierarchy = \"ages\"", 23, "if it is a file, write \"./ages\" or \"ages.csv\""),
    (23, "hierarchy = \"\"", 23, "`hierarchy` is \"\"; it must be"),
    (23, "hierarchy = 5", 23, "`hierarchy` is 5; it must be"),
    (23, "hierarchy = {}", 23, "`hierarchy` is a table; it must be"),
    (23, "hierarchy = { width = [5] }", 23, "`width` is not a key of `hierarchy`; did you mean `widths`?"),
    (23, "hierarchy = { widths = [5], bins = [1, 2] }", 23, "both `widths` and `bins`"),
    (39, "hierarchy = { widths = [] }", 39, "`widths` is an empty list"),
    (39, "hierarchy = { widths = 5 }", 39, "`widths` is 5; it must be a list"),
    (39, "hierarchy = { widths = [5, \"a\"] }", 39, "`widths` holds \"a\""),
    (39, "hierarchy = { widths = [0] }", 39, "`widths` holds 0"),
    (39, "hierarchy = { widths = [10, 5] }", 39, "`widths` has 5 after 10"),
    (39, "hierarchy = { widths = [5, 5] }", 39, "`widths` has 5 after 5"),
    (39, "hierarchy = { widths = [5, 12] }", 39, "`widths` has 12 after 5; it must be a list of numbers above 0, each a multiple"),
    (39, "hierarchy = { bins = [1] }", 39, "`bins` is a list; it must be a list of at least two numbers"),
    (39, "hierarchy = { bins = [1, 2, 2] }", 39, "`bins` has 2 after 2"),
    (39, "hierarchy = { bins = [1, inf] }", 39, "`inf` is not a finite number"),
    (39, "type = \"category\"\nhierarchy = { bins = [1, 2] }", 40, "is for numbers, but `type` is \"category\""),
    (39, "type = \"category\"\nhierarchy = \"free\"", 40, "is for numbers, but `type` is \"category\""),
    // Release and input.
    (44, "labels = \"sets\"", 44, "`labels` is \"sets\"; it must be \"node\" or \"set\"; did you mean \"set\"?"),
    (44, "numbers = \"average\"", 44, "it must be \"interval\", \"mean\", \"median\" or \"midpoint\""),
    (44, "order = \"random\"", 44, "it must be \"shuffled\" or \"input\""),
    (46, "delimiter = \"\"", 46, "`delimiter` is \"\"; it must be one ASCII character"),
    (46, "delimiter = \"||\"", 46, "`delimiter` is \"||\""),
    (46, "delimiter = \"\\n\"", 46, "`delimiter` is \"\\n\""),
    (46, "delimiter = \"§\"", 46, "`delimiter` is \"§\""),
    (46, "delimiter = \"'\"", 48, "`delimiter` and `quote` are the same"),
    (47, "population = 0", 47, "`population` is 0; it must be a whole number of at least 1: number of people"),
    (47, "population = -5", 47, "`population` is -5"),
    (47, "population = 1e6", 47, "it must be a whole number of at least 1"),
    (47, "population = \"many\"", 47, "`population` is \"many\""),
    (39, "population = 5", 39, "it belongs in [input]"),
    (47, "missing = \"NA\"", 47, "`missing` is \"NA\"; it must be a list"),
];

/// Whole policies, the line that the error names, and a part of its words.
#[rustfmt::skip]
const WHOLE: &[(&str, usize, &str)] = &[
    ("", 1, "the policy has no `version`"),
    ("version = 1", 1, "the policy names no columns"),
    ("version = 1\n[columns]", 2, "the policy names no columns; each column of the input needs a table"),
    ("version = 1\ncolumns = 3", 2, "`columns` is 3; it must be a table, begun with [columns]"),
    ("version = 1\n[columns]\nage = \"class\"", 3, "`age` is \"class\"; it must be a table, begun with [columns.age]"),
    ("version = 1\nprivacy.k = 2\n[columns.a]\nrole = \"sensitive\"", 3, "no column has the role quasi-identifier"),
    ("version = 1\n[columns.a]\nrole = \"quasi-identifier\"", 1, "the policy has no [privacy]: it states no guarantee; ask for `k` of at least 2"),
    ("version = 1\n[privacy]\n[columns.a]\nrole = \"quasi-identifier\"", 2, "[privacy] states no guarantee"),
    ("version = 1\n[privacy]\nmax-suppressed = 1\n[columns.a]\nrole = \"quasi-identifier\"", 2, "states no guarantee"),
    ("version = 1\n[privacy]\nk = 1\n[columns.a]\nrole = \"quasi-identifier\"", 3, "that guarantees nothing; ask for `k` of at least 2"),
    ("version = 1\nmethod = 1\nprivacy.k = 2\n[columns.a]\nrole = \"quasi-identifier\"", 2, "`method` is 1"),
    ("version = 1\nprivacy.template = [1]\n[columns.a]\nrole = \"quasi-identifier\"", 2, "`template` holds 1"),
    ("version = 1\n[privacy]\nk = 1\n[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 1\n[columns]\na.role = \"quasi-identifier\"\n\
      s.role = \"sensitive\"", 2, "[privacy] guarantees nothing: every table satisfies what it asks for"),
    ("version = 1\n[privacy.lkc]\nl = 1\nk = 1\nc = 1\n[columns]\na.role = \"quasi-identifier\"\ns.role = \"sensitive\"", 2,
      "[privacy.lkc] guarantees nothing: `k` is 1 and `c` is 1, which every table satisfies; raise `k`"),
    ("version = 1\n[privacy.lkc]\nl = 1\nk = 5\nc = 0.5\n[columns]\na.role = \"quasi-identifier\"\ns.role = \"class\"", 2,
      "[privacy.lkc] guards no column: `c` is for those with role \"sensitive\"; give a column that role"),
];

fn assert_refused(text: &str, line: usize, words: &str) {
    match parse(text) {
        Ok(_) => panic!("accepted, expected {words:?}:\n{text}"),
        Err(error) => {
            assert_eq!(error.line(), Some(line), "{error}");
            assert!(error.to_string().contains(words), "{error}\ndoes not say\n{words}");
            assert!(error.to_string().starts_with(&format!("line {line}: ")), "{error}");
        }
    }
}

#[test]
fn single_lines() {
    for (line, replacement, at, words) in LINES {
        assert_refused(&with_line(*line, replacement), *at, words);
    }
}

#[test]
fn whole_policies() {
    for (text, at, words) in WHOLE {
        assert_refused(text, *at, words);
    }
}

#[test]
fn too_many_sets_of_columns_to_judge() {
    let with = |columns: usize, l: usize| {
        let quasi: String = (0..columns).map(|column| format!("q{column}.role = \"quasi-identifier\"\n")).collect();
        format!("version = 1\n[privacy.lkc]\nl = {l}\nk = 5\nc = 0.6\n[columns]\ns.role = \"sensitive\"\n{quasi}")
    };
    let message = "`l` is 5: there are 142,506 sets of 5 of the 30 quasi-identifiers, and at most 5,000 are judged; \
                   lower `l`; `l = 3` has 4,060 sets";
    assert_refused(&with(30, 5), 3, message);
    assert_refused(&with(200, 100), 3, "there are more than 999,999,999 sets of 100 of the 200");
    assert!(parse(&with(30, 3)).is_ok() && parse(&with(30, 29)).is_ok() && parse(&with(30, 99)).is_ok());
}

#[test]
fn an_unknown_default_method_has_no_line() {
    let text = "version = 1\nprivacy.k = 2\ncolumns.a.role = \"quasi-identifier\"";
    let error = Policy::parse(text, &["k-member"]).unwrap_err();
    assert_eq!(error.to_string(), "[method] has no `name`, which must be \"k-member\"");
}

#[test]
fn the_column_counts_characters() {
    let text = with_line(6, "given = [\"größe\"]");
    assert_eq!(parse(&text).unwrap_err().line_column(&text), Some((6, 10)));
    let text = with_line(6, "given = [\"job\", 'jöb', \"größe\"]");
    let text = text.replace("[columns.job]", "[columns.'jöb']\nrole = \"quasi-identifier\"\n[columns.job]");
    assert_eq!(parse(&text).unwrap_err().line_column(&text), Some((6, 24)));
}
