//! Checks of models that are texts: several properties of all kinds, in a directory, resumed.

use spillway::report::PropertyVerdict;
use spillway::{CheckConfig, CheckReport, ModelText, SearchVerdict};

const COUNTER: &str = "byte x; process P { state a; init a;
    trans a -> a { guard x < 3; effect x = x + 1; }, a -> a { guard x == 3; effect x = 0; }; } system async;";

fn config(invariant: &str, formulas: &[&str]) -> CheckConfig {
    let mut config = CheckConfig::default();
    config.properties.invariants.push(invariant.into());
    config.properties.ltl = formulas.iter().map(|&it| it.into()).collect();
    config
}

fn verdicts(report: &CheckReport) -> Vec<(&str, PropertyVerdict)> {
    report.properties.iter().map(|it| (it.name.as_str(), it.verdict)).collect()
}

#[test]
fn each_property_has_a_verdict_and_a_counterexample() {
    let model = ModelText::new("dve", "counter.dve", COUNTER).unwrap();
    let report = model.check(&config("x < 3", &["G F (x == 0)", "F G (x == 3)"])).run().unwrap();
    let (held, violated) = (PropertyVerdict::Held, PropertyVerdict::Violated);
    let expected = [("x < 3", violated), ("F G (x == 3)", violated), ("G F (x == 0)", held)];
    assert_eq!(verdicts(&report), expected);
    assert_eq!(report.verdict(), SearchVerdict::Violated);
    let text = report.to_string();
    assert!(
        text.contains("counterexample in counter.dve: invariant: x < 3")
            && text.contains("the loop starts"),
        "{text}"
    );
}

#[test]
fn a_check_resumes_in_its_directory() {
    let folder = tempfile::tempdir().unwrap();
    let model = ModelText::new("dve", "counter.dve", COUNTER).unwrap();
    for formulas in [&["G F (x == 0)", "G (x < 4)"][..], &["G F (x == 0)"], &[]] {
        let dir = folder.path().join(formulas.len().to_string());
        let mut config = config("x < 4", formulas);
        config.limits.max_states = Some(2);
        let stopped = model.check(&config).dir(&dir).run().unwrap();
        assert_eq!(stopped.verdict(), SearchVerdict::Incomplete, "{stopped}");
        config.limits.max_states = None;
        for _ in 0..2 {
            let resumed = model.check(&config).dir(&dir).run().unwrap();
            assert_eq!(resumed.verdict(), SearchVerdict::Verified, "{resumed}");
        }
        let mut other = config.clone();
        other.properties.invariants.push("x < 5".into());
        assert!(model.check(&other).dir(&dir).run().is_err());
    }
}

#[test]
fn errors_in_texts_and_properties_are_returned() {
    let text = "byte x;\nbyte x;\nsystem async;\n";
    assert!(ModelText::new("c", "a.c", text).is_err());
    let model = ModelText::new("dve", "a.dve", text).unwrap();
    let error = model.check(&CheckConfig::default()).run().unwrap_err().to_string();
    assert!(error.contains("a.dve:2:6: error: `x` is declared twice"), "{error}");
    let model = ModelText::new("dve", "counter.dve", COUNTER).unwrap();
    let error = model.check(&config("y < 3", &[])).run().unwrap_err().to_string();
    assert!(error.starts_with("invariant:1:1: error: "), "{error}");
    let error = model.check(&config("x < 9", &["all"])).run().unwrap_err().to_string();
    assert_eq!(error, "counter.dve has no property of infinite runs");
}
