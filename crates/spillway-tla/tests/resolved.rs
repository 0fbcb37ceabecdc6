//! Resolved specifications: instances, LET, operators as arguments, the parts of a configuration.

use spillway_base::source::SourceMap;
use spillway_tla::config;
use spillway_tla::modules::{SearchPath, load_text};
use spillway_tla::resolve::tree::{
    DefinitionId, Expr, ExprKind, Level, PropertyPart, Specification,
};
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

/// Returns the definition with a name, of any origin.
fn definition_named(specification: &Specification, name: &str) -> DefinitionId {
    let found = specification.definitions.iter().position(|it| it.name == name);
    DefinitionId(found.unwrap_or_else(|| panic!("no definition {name}")) as u32)
}

fn body(specification: &Specification, name: &str) -> String {
    specification.body_text(definition_named(specification, name))
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
fn an_instance_primes_its_substitutions() {
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
    assert_eq!(it[definition_named(&it, "Sum!Inc")].captured, 1);
    // ENABLED is exact if variables are renamed, and rejected otherwise.
    assert_eq!(body(&it, "Same!Can"), "(Enabled (Same!Inc 1))");
    assert!(body(&it, "Sum!Can").starts_with("ENABLED in an instance"));
}

#[test]
fn let_operators_and_lambdas_have_their_free_names_as_parameters() {
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
    assert!(!it[definition_named(&it, "A")].is_recursive);
}

#[test]
fn each_binder_has_its_own_slot() {
    let module = "A(S) == (\\E x \\in S : x = 1) /\\ (\\E x \\in S : x = 2)";
    let it = resolved(module, "", &["A({})"]);
    assert_eq!(it[definition_named(&it, "A")].slot_names, ["S", "x", "x"]);
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
fn configurations_are_split_into_their_parts() {
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
fn levels_depend_on_the_arguments() {
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
    let levels = ["A", "B", "C", "D", "E"].map(|name| it[definition_named(&it, name)].level);
    let expected = [Level::Constant, Level::State, Level::Action, Level::State, Level::State];
    assert_eq!(levels, expected);
    assert_eq!(it[definition_named(&it, "Later")].parameters[0].level_max, Level::State);
    assert!(it[definition_named(&it, "Twice")].parameters[0].is_level_counted);
}

#[test]
fn properties_are_split_below_a_quantifier() {
    let module = "EXTENDS Naturals
        VARIABLES f, g
        ---- MODULE Cell ----
        VARIABLE c
        Init == c = 0
        Spec == Init /\\ [][c' = c + 1]_c /\\ [](c >= 0)
        ====
        I(n) == INSTANCE Cell WITH c <- f[n]
        Next == UNCHANGED <<f, g>>
        All == \\A n \\in 1 .. 3 : I(n)!Spec
        Depends == \\A n \\in g : [](f[n] = 0)";
    let it = resolved(module, "NEXT Next PROPERTIES All Depends", &[]);
    let [initial, step, invariant] = it.checks.properties[0].parts.as_slice() else {
        panic!("{:?}", it.checks.properties)
    };
    let PropertyPart::Initial(initial) = initial else { panic!("{initial:?}") };
    assert_eq!(it.body_text(*initial), "(Quantified %0:n (Range 1 3) (Init %0:n))");
    let PropertyPart::Step { action, subscript } = step else { panic!("{step:?}") };
    assert_eq!(it.body_text(*action), "(Quantified %0:n (Range 1 3) (Spec %0:n))");
    assert_eq!(it.body_text(*subscript), "(Tuple f g)");
    let PropertyPart::Invariant(invariant) = invariant else { panic!("{invariant:?}") };
    assert_eq!(it[*invariant].level, Level::State);
    let applied: Vec<String> = it
        .definitions
        .iter()
        .enumerate()
        .filter(|(_, it)| it.name == "Spec" && it.captured == 1)
        .map(|(at, _)| it.body_text(DefinitionId(at as u32)))
        .collect();
    assert!(applied.iter().any(|it| it.contains("(GreaterOrEqual (c ")), "{applied:?}");
    // The set depends on the state, so the formula is not split.
    assert!(matches!(it.checks.properties[1].parts[..], [PropertyPart::Temporal(_)]));
}

/// Texts within the nesting limits do not overflow the stack.
#[test]
fn texts_near_the_limits_are_resolved() {
    let deep = format!("{}1{}", "(IF TRUE THEN ".repeat(120), " + 1 + 1 + 1 ELSE 2)".repeat(120));
    let wide = format!("0{}", " + 1".repeat(990));
    let many = format!("TRUE{}", " /\\ TRUE".repeat(20_000));
    let module = format!("EXTENDS Naturals\nA == {deep}\nB == {wide}\nC == {many}");
    let it = resolved(&module, "", &["A", "B", "C"]);
    let sums = |it: &&Expr| matches!(it.kind, ExprKind::Standard { .. });
    assert_eq!(it.expressions.iter().filter(sums).count(), 3 * 120 + 990);
    let ExprKind::And(operands) = &it[it[definition_named(&it, "C")].body].kind else {
        panic!("no `And`")
    };
    assert_eq!(operands.len(), 20_001);
}
