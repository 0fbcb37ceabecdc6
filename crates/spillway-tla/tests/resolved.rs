//! Resolved specifications: instances, LET, operators as arguments, the parts of a configuration.

use spillway_base::source::SourceMap;
use spillway_tla::config;
use spillway_tla::modules::{SearchPath, load_text};
use spillway_tla::resolve::tree::{DefinitionId, Level, PropertyPart, Specification};
use spillway_tla::resolve::{Request, resolve};
use spillway_tla::syntax::parse_expression;

/// Resolves a module with a configuration, and further formulas of the module.
fn resolved(module: &str, config: &str, formulas: &[&str]) -> Specification {
    let text = format!("---- MODULE M ----\n{module}\n====");
    let (mut sources, search) = (SourceMap::default(), SearchPath::default());
    let set = load_text("M.tla", &text, &search, &mut sources)
        .unwrap_or_else(|error| panic!("{}", error.render(&sources)));
    let file = sources.add("M.cfg", config);
    let config = config::parse(file, config).unwrap();
    let formulas: Vec<_> = formulas
        .iter()
        .map(|it| {
            let file = sources.add_property("formula", *it);
            parse_expression(file, it).unwrap()
        })
        .collect();
    let request = Request { set: &set, config: &config, formulas: &formulas, sources: &sources };
    match resolve(request) {
        Ok(resolved) => resolved.specification,
        Err(errors) => panic!("{}", errors[0].render(&sources)),
    }
}

/// The definition with a name, of whatever origin.
fn named(specification: &Specification, name: &str) -> DefinitionId {
    let found = specification.definitions.iter().position(|it| it.name == name);
    DefinitionId(found.unwrap_or_else(|| panic!("no definition {name}")) as u32)
}

fn body(specification: &Specification, name: &str) -> String {
    specification.body_text(named(specification, name))
}

const INSTANCES: &str = "EXTENDS Naturals
VARIABLES h, total
---- MODULE Counter ----
CONSTANT Max
VARIABLE count
Inc(n) == count < Max /\\ count' = count + n
Can == ENABLED Inc(1)
====
Same == INSTANCE Counter WITH Max <- 3, count <- h
Sum(m) == INSTANCE Counter WITH Max <- m, count <- h + total";

#[test]
fn an_instance_primes_what_it_substitutes() {
    let it = resolved(INSTANCES, "", &["Same!Inc(1)", "Sum(5)!Inc(2)", "Same!Can", "Sum(7)!Can"]);
    // A variable is renamed; an expression becomes a definition with the parameters of the instance.
    assert_eq!(body(&it, "Same!Inc"), "(And (Less h Max) (Equal (Prime h) (Add h %0:n)))");
    assert_eq!(
        body(&it, "Sum!Inc"),
        "(And (Less (count %0:m) %0:m) (Equal (Prime (count %0:m)) (Add (count %0:m) %1:n)))"
    );
    assert_eq!(body(&it, "count"), "(Add h total)");
    assert_eq!(it.body_text(it.checks.formulas[0]), "(Same!Inc 1)");
    assert_eq!(it.body_text(it.checks.formulas[1]), "(Sum!Inc 5 2)");
    assert_eq!(it[named(&it, "Sum!Inc")].captured, 1);
    // ENABLED is exact where variables are renamed, and refused otherwise.
    assert_eq!(body(&it, "Same!Can"), "(Enabled (Same!Inc 1))");
    assert!(body(&it, "Sum!Can").starts_with("ENABLED in an instance"));
}

#[test]
fn let_operators_and_lambdas_take_what_they_use_as_parameters() {
    let module = "EXTENDS Naturals, Sequences
        Apply(F(_), a) == F(a)
        A(x, y) == LET z == x + 1
                       f(n) == n + z
                       g(n) == f(n) + y
                   IN  Apply(g, 2) + Apply(LAMBDA k : k + x, 3)
        B(S) == {s \\in S : \\A t \\in S : s = t}
        C(f) == [f EXCEPT ![1] = @ + 1, ![2] = 0]
        D[n \\in Nat] == IF n = 0 THEN 1 ELSE D[n - 1]";
    let it = resolved(module, "", &["A(1, 2)", "B({})", "C(<<>>)", "D[3]"]);
    assert_eq!(
        body(&it, "A"),
        "(Let %2:z (Add %0:x 1) (Add (Apply @(g %2:z %1:y) 2) (Apply @(LAMBDA %0:x) 3)))"
    );
    assert_eq!(body(&it, "g"), "(Add (f %0:z %2:n) %1:y)");
    assert_eq!(body(&it, "f"), "(Add %1:n %0:z)");
    assert_eq!(body(&it, "LAMBDA"), "(Add %1:k %0:x)");
    assert_eq!(body(&it, "Apply"), "(%0:F %1:a)");
    assert_eq!(body(&it, "B"), "(SetFilter %1:s %0:S (Quantified %2:t %0:S (Equal %1:s %2:t)))");
    // Only the first update uses the old value.
    assert_eq!(body(&it, "C"), "(Except %1:@ %0:f 1 (Add %1:@ 1) 2 0)");
    assert_eq!(
        body(&it, "D"),
        "(Function %1:n %0:D Nat (If (Equal %1:n 0) 1 (ApplyFunction %0:D (Subtract %1:n 1))))"
    );
    assert!(!it[named(&it, "A")].is_recursive);
}

#[test]
fn each_binder_has_a_slot_of_its_own() {
    let module = "A(S) == (\\E x \\in S : x = 1) /\\ (\\E x \\in S : x = 2)";
    let it = resolved(module, "", &["A({})"]);
    assert_eq!(it[named(&it, "A")].slot_names, ["S", "x", "x"]);
}

const CLOCK: &str = "EXTENDS Naturals
CONSTANTS N, Tick(_), Missing
VARIABLES hour, day
vars == <<hour, day>>
None == CHOOSE n : n \\notin Nat
Init == hour = 0 /\\ day = None
Next == hour' = Tick(hour) /\\ UNCHANGED day
Both(a, b) == a /\\ b
Spec == Both(Init, [][Next]_vars) /\\ WF_vars(Next)
TypeOK == hour \\in 0 .. N
Forward == [][hour' >= hour]_hour
Live == []<>(hour = 0)
Everything == hour = 0 /\\ []TypeOK /\\ Forward /\\ Live
Plus(n) == n + 1
Few == 0 .. 9";

#[test]
fn a_configuration_is_taken_apart() {
    let config = "CONSTANTS N = 12 Missing = {m1, m2} Tick <- Plus None = None Nat <- Few
                  SPECIFICATION Spec INVARIANT TypeOK PROPERTY Everything CHECK_DEADLOCK FALSE";
    let it = resolved(CLOCK, config, &[]);
    let names = |ids: &[DefinitionId]| -> Vec<&str> {
        ids.iter().map(|id| it[*id].name.as_str()).collect()
    };
    assert_eq!(names(&it.checks.init), ["Init"]);
    assert_eq!(names(it.checks.next.as_slice()), ["Next"]);
    assert_eq!(it.checks.fairness.len(), 1);
    assert_eq!(names(&it.checks.invariants), ["TypeOK"]);
    assert_eq!(it.checks.check_deadlock, Some(false));
    // The operator replaces the constant, the value replaces the definition, and the set replaces Nat.
    assert_eq!(body(&it, "Next"), "(And (Equal (Prime hour) (Plus hour)) (Unchanged day))");
    assert_eq!(body(&it, "Init"), "(And (Equal hour 0) (Equal day None))");
    let model_values: Vec<&str> = it.model_values.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(model_values, ["m1", "m2", "None"]);
    let [initial, invariant, step, temporal] = it.checks.properties[0].parts.as_slice() else {
        panic!("{:?}", it.checks.properties)
    };
    assert!(matches!(initial, PropertyPart::Initial(_)));
    assert!(matches!(invariant, PropertyPart::Invariant(id) if it[*id].name == "TypeOK"));
    let PropertyPart::Step { action, subscript } = step else { panic!("{step:?}") };
    assert_eq!(it.body_text(*action), "(GreaterOrEqual (Prime hour) hour)");
    assert_eq!(it.body_text(*subscript), "hour");
    assert!(matches!(temporal, PropertyPart::Temporal(_)));
}

#[test]
fn levels_follow_the_arguments() {
    let module = "EXTENDS Naturals
        VARIABLE x
        Twice(a) == a + a
        Later(a) == a'
        Some(P(_)) == P(1)
        A == Twice(2)
        B == Twice(x)
        C == Later(x)
        D == Some(LAMBDA n : n = x)
        E == ENABLED (x' = 1)";
    let it = resolved(module, "", &["A", "B", "C", "D", "E"]);
    let levels = ["A", "B", "C", "D", "E"].map(|name| it[named(&it, name)].level);
    let expected = [Level::Constant, Level::State, Level::Action, Level::State, Level::State];
    assert_eq!(levels, expected);
    assert_eq!(it[named(&it, "Later")].parameters[0].level_max, Level::State);
    assert!(it[named(&it, "Twice")].parameters[0].is_level_counted);
}
