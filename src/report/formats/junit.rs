//! JUnit XML, as read by Jenkins and similar tools: a test case for each property.

use super::FailureReport;
use crate::escape;
use crate::report::judgement::{JudgementReport, PropertyJudgement, PropertyVerdict};
use crate::source::SourceLocation;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// Formats the verdicts on all properties.
pub fn junit(judged: &JudgementReport) -> String {
    let cases = judged.all.iter().map(|it| case(judged, it)).collect();
    suite_as_xml(&judged.model, judged.seconds, cases, &judged.told)
}

/// Formats a failure without a verdict.
pub fn junit_of_failure(failed: &FailureReport) -> String {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(failed.id()).set_message(text(&failed.headline()));
    status.set_description(text(&failed.message));
    let mut case = TestCase::new(failed.title(), status);
    case.set_classname(text(&failed.model));
    suite_as_xml(&failed.model, 0.0, vec![case], &failed.message)
}

/// Formats a suite of test cases of a model, with the text of the report.
fn suite_as_xml(model: &str, seconds: f64, cases: Vec<TestCase>, told: &str) -> String {
    let mut suite = TestSuite::new(text(model));
    let seconds = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    suite.set_time(seconds).set_system_out(text(told));
    suite.add_test_cases(cases);
    let mut report = Report::new("spillway");
    report.set_time(seconds).add_test_suite(suite);
    // Only writing could fail, and this writes to memory.
    let xml = report.to_string().unwrap_or_default();
    // The schema of Jenkins' xUnit plugin has another name for this count. Quotes within a name are escaped, so the
    // first match is in the tag of the suite.
    xml.replacen(" disabled=\"", " skipped=\"", 1)
}

fn text(text: &str) -> String {
    escape::xml(text).into_owned()
}

fn case(judged: &JudgementReport, it: &PropertyJudgement) -> TestCase {
    let status = match it.verdict {
        PropertyVerdict::Held => TestCaseStatus::success(),
        PropertyVerdict::Violated => violation_status(judged, it),
        PropertyVerdict::Unchecked if judged.strict => {
            let mut failed = TestCaseStatus::non_success(NonSuccessKind::Failure);
            failed.set_type("unchecked").set_message(text(&it.says));
            failed.set_description(text(&format!("{}{}", place(it.place.as_ref()), it.title())));
            failed
        }
        PropertyVerdict::Open | PropertyVerdict::Unchecked => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(text(&it.says));
            skipped
        }
    };
    let mut case = TestCase::new(text(&it.title()), status);
    case.set_classname(text(&judged.model));
    case
}

/// Returns the status of a violated property, with its counterexample.
fn violation_status(judged: &JudgementReport, it: &PropertyJudgement) -> TestCaseStatus {
    let mut failed = TestCaseStatus::non_success(NonSuccessKind::Failure);
    let says = it.breaches.first().map_or(String::new(), |breach| match &breach.what {
        Some(what) => format!("{what}: {}", breach.says),
        None => breach.says.clone(),
    });
    let mut told = String::new();
    for breach in &it.breaches {
        told += &format!("{}{}\n", place(breach.place.as_ref()), it.title_of(breach));
        let steps = judged.way.as_ref().filter(|_| breach.has_trace);
        told += &steps.map_or(String::new(), |way| way.lines().join("\n") + "\n");
    }
    failed.set_type(it.kind.as_str()).set_message(text(&says));
    failed.set_description(text(told.trim_end_matches('\n')));
    failed
}

/// Formats a position as a prefix.
fn place(place: Option<&SourceLocation>) -> String {
    place.map_or(String::new(), |it| format!("{it}: "))
}
