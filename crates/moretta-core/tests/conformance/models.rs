//! The claims of every privacy model, and models of kinds that the registry does not have yet.

use std::sync::Arc;

use moretta_core::{
    group_sizes::GroupSizes,
    policy::{BoundPolicy, MethodChoice, Numbers, Policy},
    privacy::{
        BoundModel, BoundTableModel, Description, Figure, Group, Limit, MODELS, ModelFacts, PrivacyModel, SectionForm,
    },
    profile::{Profile, SecondTable, Tables, VariantCount},
    run,
    search::{METHODS, NoObserver, SearchError},
    testing::{
        TestTable,
        conformance::Dice,
        models::{AverageRisk, KMap, LaxDisclosure},
    },
    verify::{check_against, verify},
};
use proptest::{prelude::*, strategy::ValueTree};

use crate::{
    losses::OriginalColumn,
    naive_engine::{group_and_count, print_release},
    world::{TextRows, World, cases, worlds},
};

/// A random part of the table.
fn part(profile: &Profile, dice: &mut Dice) -> Vec<VariantCount> {
    let some = *dice.one(&[20, 50, 80]);
    let members = profile.everything().into_iter().filter(|_| dice.chance(some)).collect::<Vec<_>>();
    members
        .into_iter()
        .map(|member| VariantCount { records: 1 + dice.below(member.records as usize) as u64, ..member })
        .collect()
}

/// The records of two parts as one group: a variant may be in both.
fn union(one: &[VariantCount], other: &[VariantCount]) -> Vec<VariantCount> {
    [one, other].concat()
}

/// Whether both groups satisfy the model and their union violates it.
fn is_open(model: &dyn BoundModel, profile: &Profile, one: &[VariantCount], other: &[VariantCount]) -> bool {
    let holds = |members: &[VariantCount]| model.holds(&Group::new(profile, members));
    !one.is_empty() && !other.is_empty() && holds(one) && holds(other) && !holds(&union(one, other))
}

fn keeps_limit(limit: &Limit, group: &Group<'_>) -> bool {
    match *limit {
        Limit::Records(min_records) => group.records() >= min_records,
        Limit::Share { attribute, value, share } => share.allows(group.share_of(attribute, value)),
    }
}

/// Compares a bound model's claims about itself with its judgement of random groups.
fn keeps_its_claims(model: &dyn BoundModel, profile: &Profile, dice: &mut Dice) -> Result<(), TestCaseError> {
    let (one, other) = (part(profile, dice), part(profile, dice));
    let name = model.describe();
    let open = is_open(model, profile, &one, &other);
    prop_assert!(!(model.is_closed_under_union() && open), "{name} is not closed under union");
    for members in [&one, &other].into_iter().filter(|members| !members.is_empty()) {
        let group = Group::new(profile, members);
        let holds = model.holds(&group);
        prop_assert_eq!(holds, model.margin(&group) >= 0.0, "{}: the margin and the verdict differ", &name);
        prop_assert!(!holds || group.records() >= model.min_records(), "{name}: too few records hold");
        if let Some(limits) = model.limits() {
            let within = limits.iter().all(|limit| keeps_limit(limit, &group));
            prop_assert_eq!(holds, within, "{}: its limits and its verdict differ", &name);
        }
    }
    Ok(())
}

/// A table that satisfies a model still does after two of its groups are merged, if the model says so.
fn keeps_its_claim_of_tables(model: &dyn BoundTableModel, dice: &mut Dice) -> Result<(), TestCaseError> {
    let mut records: Vec<u64> = (0..2 + dice.below(9)).map(|_| 1 + dice.below(12) as u64).collect();
    let holds = |records: &[u64]| model.margin(&GroupSizes::of(records.iter().copied())) >= 0.0;
    let before = holds(&records);
    let merged = records.pop().expect("at least two groups");
    let into = dice.below(records.len());
    records[into] += merged;
    let open = before && !holds(&records);
    prop_assert!(!(model.is_closed_under_union() && open), "{} is not closed under union", model.describe());
    Ok(())
}

proptest! {
    #![proptest_config(cases(1200))]

    #[test]
    fn every_model_keeps_its_claims(choices in prop::collection::vec(any::<u16>(), 300..1200)) {
        for entry in MODELS {
            let world = World::with_model(Dice::new(choices.clone()), entry);
            let profile = world.profile(&world.counts());
            let mut dice = world.dice.clone();
            let bound = world.policy.privacy.bind(&Tables::of(&profile)).expect("the models fit the table");
            for _ in 0..4 {
                for model in &bound.of_groups {
                    keeps_its_claims(&**model, &profile, &mut dice)?;
                }
                for model in &bound.of_table {
                    keeps_its_claim_of_tables(&**model, &mut dice)?;
                }
            }
        }
    }
}

/// Counts that show whether the random sections of a model test anything.
#[derive(Debug, Default, Clone)]
struct Cases {
    /// Sections that the whole table satisfies in one group: a method can find something.
    possible: usize,
    /// Sections that some record of the raw table violates: a method has something to do.
    violated: usize,
    /// Pairs of groups that both hold: a false claim of closure can show.
    pairs: usize,
    /// Pairs that violate the model together.
    open: usize,
    /// Whether the model says that it is closed under union.
    closed: bool,
}

/// Sections of models that are closed under union unless persons are counted. Random groups hardly ever show it.
const OPEN_WITH_PERSONS: &[(&str, &str)] = &[
    ("template", "[[privacy.template]]\ngiven = [\"q\"]\ncolumn = \"s\"\nvalues = [\"x\"]\nmax-confidence = 0.5"),
    ("lkc", "[privacy.lkc]\nl = 1\nk = 1\nc = 0.5"),
    ("l-diversity", "[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 2\nkind = \"entropy\""),
    ("t-closeness", "[[privacy.t-closeness]]\ncolumn = \"s\"\nt = 0.1\ndistance = \"equal\""),
    ("delta-disclosure", "[[privacy.delta-disclosure]]\ncolumn = \"s\"\ndelta = 0.3"),
];

/// Whether two groups satisfy the model's section and their union violates it: C and D carry y in both groups, so that
/// the union has x for four persons and y for two.
fn is_open_with_persons(key: &str) -> bool {
    let Some((_, section)) = OPEN_WITH_PERSONS.iter().find(|(known, _)| *known == key) else { return false };
    let columns = "[columns]\nq.role = \"quasi-identifier\"\ns.role = \"sensitive\"\nwho.role = \"person\"";
    let rows = ["1,x,A", "1,x,B", "1,y,C", "1,y,D", "2,x,E", "2,x,F", "2,y,C", "2,y,D", "3,y,G", "3,y,H"];
    let table = TestTable::new(&format!("{section}\n{columns}"), &[], &rows.map(|row| (row, 1)));
    let group = |q: &str| table.members(|texts| texts[0] == q);
    table.models.iter().any(|model| is_open(&**model, &table.profile, &group("1"), &group("2")))
}

/// Otherwise a property test could pass because nothing ever holds or is ever violated.
#[test]
fn random_sections_test_what_they_claim_to_test() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let choices = prop::collection::vec(any::<u16>(), 300..1200);
    let mut all = vec![Cases { closed: true, ..Cases::default() }; MODELS.len()];
    for _ in 0..1400 {
        let choices = choices.new_tree(&mut runner).unwrap().current();
        for (cases, entry) in all.iter_mut().zip(MODELS) {
            let world = World::with_model(Dice::new(choices.clone()), entry);
            if world.policy.privacy.models.iter().all(|model| model.key() != entry.key) {
                continue;
            }
            let (profile, mut dice) = (world.profile(&world.counts()), world.dice.clone());
            let (models, everything) = (world.models(&profile), profile.everything());
            let holds =
                |members: &[VariantCount]| models.iter().all(|model| model.holds(&Group::new(&profile, members)));
            cases.possible += usize::from(holds(&everything));
            cases.violated += usize::from(everything.iter().any(|member| !holds(std::slice::from_ref(member))));
            let [one, other] = [part(&profile, &mut dice), part(&profile, &mut dice)];
            cases.pairs += usize::from(one.len() > 1 && other.len() > 1 && holds(&one) && holds(&other));
            cases.open += usize::from(models.iter().any(|model| is_open(&**model, &profile, &one, &other)));
            cases.closed &= models.iter().all(|model| model.is_closed_under_union());
        }
    }
    for (entry, cases) in MODELS.iter().zip(all) {
        let Cases { possible, violated, pairs, open, closed } = cases;
        assert!(possible >= 100 && violated >= 100 && pairs >= 100, "{}: {cases:?}", entry.name);
        assert!(
            closed || open > 0 || is_open_with_persons(entry.key),
            "{} says that it is not closed under union; no case shows it: {cases:?}",
            entry.name
        );
    }
}

#[test]
fn a_false_claim_about_tables_is_found() {
    /// At least two groups: merging the last two violates it.
    struct TwoGroups;
    impl BoundTableModel for TwoGroups {
        fn describe(&self) -> Description {
            Description::new("two-groups", "two groups", "at least 2")
        }
        fn is_closed_under_union(&self) -> bool {
            true
        }
        fn margin(&self, sizes: &GroupSizes) -> f64 {
            sizes.groups() as f64 - 2.0
        }
        fn figure(&self, sizes: &GroupSizes) -> Figure {
            Figure::new(sizes.groups() as f64, "groups")
        }
        fn facts(&self) -> ModelFacts {
            ModelFacts::new(2)
        }
    }
    let claims = |model: &dyn BoundTableModel| {
        let dice = |seed: u16| {
            Dice::new((0..30u16).map(|n| seed.wrapping_mul(40_503).wrapping_add(n.wrapping_mul(7919)) >> 3).collect())
        };
        (0..300).all(|seed| keeps_its_claim_of_tables(model, &mut dice(seed)).is_ok())
    };
    assert!(claims(&AverageRisk { max_risk: 0.3 }) && !claims(&TwoGroups));
}

/// The property test detects a false claim: this model claims to be closed under union, and is not.
#[test]
fn a_false_claim_of_closure_is_found() {
    let mut found = false;
    for seed in 0..400u32 {
        let choices =
            (0..900u32).map(|n| (seed.wrapping_mul(2_654_435_761).wrapping_add(n.wrapping_mul(40_503)) >> 7) as u16);
        let world = World::new(Dice::new(choices.collect()));
        let Some(column) = world.attributes.first() else { continue };
        let profile = world.profile(&world.counts());
        let lying = LaxDisclosure { column: column.name.clone(), delta: 1.0, claims_closure: true };
        let bound = lying.bind(&Tables::of(&profile)).unwrap();
        let mut dice = world.dice.clone();
        found |= (0..20).any(|_| keeps_its_claims(&*bound.of_groups[0], &profile, &mut dice).is_err());
    }
    assert!(found);
}

#[test]
fn every_model_is_in_enough_random_policies() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut counts = vec![0; MODELS.len()];
    for _ in 0..1000 {
        let world = worlds().new_tree(&mut runner).unwrap().current();
        let asks = |key: &str| world.policy.privacy.models.iter().any(|model| model.key() == key);
        counts.iter_mut().zip(MODELS).for_each(|(count, entry)| *count += usize::from(asks(entry.key)));
    }
    let rare: Vec<_> = MODELS.iter().map(|entry| entry.name).zip(counts).filter(|(_, count)| *count < 80).collect();
    assert!(rare.is_empty(), "in fewer than 80 of 1,000 policies: {rare:?}");
}

/// A folder of `privacy/` with an entry that `MODELS` does not list would never be checked.
#[test]
fn every_model_of_the_tree_is_registered() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/privacy");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name().into_string().unwrap());
    let mut folders: Vec<String> = folders.filter(|name| name != "tests").collect();
    folders.sort_unstable();
    let mut registered: Vec<String> = MODELS.iter().map(|entry| entry.name.replace('-', "_")).collect();
    registered.sort_unstable();
    assert_eq!(folders, registered);
}

const EXAMPLE_COLUMNS: &str = "[columns]\njob.role = \"quasi-identifier\"\ncountry.role = \"quasi-identifier\"\n\
                               diagnosis.role = \"sensitive\"\nbankruptcy.role = \"sensitive\"\nincome.role = \"sensitive\"\n";

/// Every number of a JSON value as a float: a policy may write 3 for 3.0.
fn with_floats(value: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Number(number) => serde_json::json!(number.as_f64()),
        Value::Array(items) => items.iter().map(with_floats).collect(),
        Value::Object(entries) => entries.iter().map(|(key, value)| (key.clone(), with_floats(value))).collect(),
        other => other.clone(),
    }
}

/// An example parses, is written back with every key that it has, and is read again from that.
#[test]
fn every_example_is_a_policy_that_is_written_back_alike() {
    for entry in MODELS {
        let text = format!("version = 1\n{}\n{EXAMPLE_COLUMNS}", entry.example);
        let policy = Policy::parse(&text, &["best"]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let [model] = policy.privacy.models.as_slice() else { panic!("{text}") };
        assert_eq!(model.key(), entry.key);
        let written: toml::Table = text.parse().unwrap();
        let mut written = serde_json::to_value(&written["privacy"][entry.key]).unwrap();
        if entry.form == SectionForm::List {
            written = written[0].take();
        }
        let (written, section) = (with_floats(&written), with_floats(&model.section()));
        match written.as_object() {
            Some(keys) => keys.iter().for_each(|(key, value)| assert_eq!(section[key], *value, "{}", entry.name)),
            None => assert_eq!(section, written),
        }
        let keys = section.as_object().into_iter().flat_map(|section| section.keys());
        keys.for_each(|key| assert!(entry.keys.contains(&key.as_str()), "{}: `{key}` is not declared", entry.name));
        let json = serde_json::to_string(&policy).unwrap();
        assert_eq!(serde_json::from_str::<Policy>(&json).unwrap(), policy, "{json}");
    }
}

/// Reports, notes and pages rely on these answers; no other test would notice an empty one.
#[test]
fn every_model_says_what_it_guards_and_finds() {
    for entry in MODELS {
        let policy = format!("{}\n{EXAMPLE_COLUMNS}", entry.example);
        let rows = [("cook,UK,flu,Never,10", 6), ("clerk,UK,cold,Discharged,20", 6), ("clerk,US,hiv,Never,30", 6)];
        let table = TestTable::new(&policy, &[], &rows);
        let (model, columns) = (&table.policy.privacy.models[0], &table.policy.columns);
        let column = model.section().get("column").and_then(|column| Some(column.as_str()?.to_owned()));
        assert!(column.iter().all(|column| model.guards(columns).contains(column)), "{}: guards", entry.name);
        assert!(!model.assumes_known(columns).is_empty(), "{}: assumes_known", entry.name);
        assert!(!model.sentence(columns).to_string().is_empty() && !model.is_trivial(), "{}", entry.name);
        let everything = table.profile.everything();
        for bound in &table.models {
            let figure = bound.figure(&Group::new(&table.profile, &everything));
            assert!(!figure.text.is_empty(), "{}: figure", entry.name);
            let description = bound.describe();
            assert!(description.key == entry.key && !description.limit.is_empty(), "{}: {description}", entry.name);
            let facts = serde_json::to_value(bound.facts()).unwrap();
            assert!(facts.as_object().is_some_and(|facts| !facts.is_empty()), "{}: facts {facts}", entry.name);
        }
        if entry.keys.contains(&"values") && model.section().get("values").is_some() {
            assert!(model.check_values(&table.profile).is_ok(), "{}: the example's values occur", entry.name);
            let others = TestTable::new(&policy, &[], &[("cook,UK,a,b,10", 6), ("cook,US,c,d,20", 6)]);
            assert!(model.check_values(&others.profile).is_err(), "{}: check_values", entry.name);
        }
    }
}

/// Runs every method under the first model of the world's policy and another one. Results are verified, printed and
/// judged naively.
fn by_every_method(
    world: &World,
    model: Arc<dyn PrivacyModel>,
    others: &[Arc<SecondTable>],
    naive: impl Fn(&World, &[String], &TextRows) -> bool,
) -> Result<(), TestCaseError> {
    let mut world = world.clone();
    world.policy.privacy.models.truncate(1);
    world.policy.privacy.models.push(model);
    released_by_every_method(&world, others, naive)
}

/// Runs every method under the world's policy. Results are verified, printed and judged naively.
fn released_by_every_method(
    world: &World,
    others: &[Arc<SecondTable>],
    naive: impl Fn(&World, &[String], &TextRows) -> bool,
) -> Result<(), TestCaseError> {
    let counts = world.counts();
    let profile = world.profile(&counts);
    for entry in METHODS {
        let mut world = world.clone();
        world.policy.method = MethodChoice::new(entry.name, short(entry.name));
        let tables = Tables { table: &profile, others };
        // A share of the rarest values that rounds to no value is refused.
        let Ok(bound) = BoundPolicy::with_tables(&world.policy, tables) else { return Ok(()) };
        let closed = bound.models().iter().all(|model| model.is_closed_under_union());
        let outcome = match run::search(&bound, 7, &NoObserver) {
            Ok(outcome) => outcome,
            Err(run::RunError::Unsupported(refused)) => {
                prop_assert!(refused.instead.is_some_and(|instead| closed || instead == "best"), "{refused}");
                continue;
            }
            Err(run::RunError::Search(SearchError::Impossible { .. })) => continue,
            Err(error) => return Err(TestCaseError::fail(format!("{}: {error}", entry.name))),
        };
        prop_assert!(closed || ["best", "genetic"].contains(&entry.name));
        let verified = verify(&bound, outcome.recoding);
        let verified = verified.map_err(|error| TestCaseError::fail(format!("{}: {error}", entry.name)))?;
        let (header, rows, _) = print_release(&world, &counts, &verified);
        let (header, rows) = world.with_persons(&header, &rows);
        prop_assert!(world.holds(&header, &rows) && naive(&world, &header, &rows), "{}: {rows:?}", entry.name);
    }
    Ok(())
}

/// Whether at least `k` people match the labels of every printed group.
fn fits_enough_people(world: &World, population: &TextRows, k: u64, header: &[String], rows: &TextRows) -> bool {
    let people = World { rows: population.clone(), ..world.clone() };
    let originals = OriginalColumn::all(&people);
    let printed = world.printed(header, rows);
    let cells: Vec<Vec<&str>> = world.quasi.iter().map(|spec| printed.cells(&spec.name)).collect();
    let fits = |record: usize, person: &Vec<String>| {
        let texts = world.quasi.iter().map(|spec| &person[world.column(&spec.name)]);
        texts.zip(&originals).zip(&cells).all(|((text, original), cells)| original.covers(text, cells[record]))
    };
    let groups = printed.groups(&printed.quasi_identifiers());
    groups.iter().all(|group| population.iter().filter(|person| fits(group[0], person)).count() as u64 >= k)
}

fn short(method: &str) -> toml::Table {
    let short = crate::parameters::SHORT_PARAMETERS
        .iter()
        .find(|(name, _)| *name == method)
        .map_or("", |(_, parameters)| *parameters);
    short.parse().expect("parameters in TOML")
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn models_of_the_whole_table_hold(world in worlds(), max_risk in prop::sample::select(vec![0.05, 0.2, 0.5])) {
        let model = AverageRisk { max_risk };
        let naive = |world: &World, header: &[String], rows: &TextRows| model.holds_naively(&world.printed(header, rows));
        by_every_method(&world, Arc::new(model), &[], naive)?;
    }

    #[test]
    fn models_of_persons_hold(choices in prop::collection::vec(any::<u16>(), 300..1200)) {
        for entry in MODELS {
            let world = World::with_model(Dice::new(choices.clone()), entry);
            if world.policy.person().is_some() {
                released_by_every_method(&world, &[], |_, _, _| true)?;
            }
        }
    }

    #[test]
    fn models_that_are_not_closed_under_union_hold(world in worlds(), delta in prop::sample::select(vec![0.5, 1.0, 2.0])) {
        if let Some(column) = world.attributes.first() {
            let column = column.name.clone();
            let model = LaxDisclosure { column, delta, claims_closure: false };
            let lax = model.clone();
            let naive = |world: &World, header: &[String], rows: &TextRows| lax.holds_naively(&world.printed(header, rows));
            by_every_method(&world, Arc::new(model), &[], naive)?;
        }
    }

    #[test]
    fn models_with_a_second_table_hold(mut world in worlds(), k in 2u64..12) {
        // A mean does not say which values it stands for.
        world.policy.release.numbers = Numbers::Interval;
        let rows = [&world.rows[..], &world.other[..]].concat();
        let counts = group_and_count(&world.header, &rows, &SecondTable::grouped_columns(&world.policy));
        // Values of the population that a hierarchy does not know are an error, as in the table itself.
        if let Ok(population) = SecondTable::build("register", &world.policy, &world.hierarchies, &counts) {
            let model = KMap { k, population: "register".to_owned() };
            let naive = |world: &World, header: &[String], found: &TextRows| {
                fits_enough_people(world, &rows, k, header, found)
            };
            by_every_method(&world, Arc::new(model), &[Arc::new(population)], naive)?;
        }
    }
}

#[test]
fn a_model_without_its_second_table_is_refused() {
    let world = World::new(Dice::new(Vec::new()));
    let profile = world.profile(&world.counts());
    let mut policy = world.policy.clone();
    policy.privacy.models.push(Arc::new(KMap { k: 2, population: "register".to_owned() }));
    assert!(BoundPolicy::new(&policy, &profile).is_err());
    assert!(check_against(&profile, &world.models(&profile)).len() == 1);
}

#[test]
fn a_policy_with_a_programs_own_model_is_written_but_not_read_back() {
    let mut policy = World::new(Dice::new(Vec::new())).policy;
    policy.privacy.models.push(Arc::new(AverageRisk { max_risk: 0.5 }));
    let json = serde_json::to_string(&policy).unwrap();
    assert!(json.contains("\"average-risk\":{\"most\":0.5}"), "{json}");
    let error = serde_json::from_str::<Policy>(&json).unwrap_err();
    assert!(error.to_string().contains("`average-risk` is not a key of [privacy]"), "{error}");
}
