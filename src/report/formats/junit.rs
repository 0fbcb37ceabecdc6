//! JUnit's XML, as Jenkins and its kin read it: a test case for each thing that was looked for.

use crate::report::judgement::{Came, Judgement, Judgements};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// The text of the file.
pub fn junit(judged: &Judgements) -> String {
    let mut suite = TestSuite::new(judged.model.as_str());
    let seconds = Duration::try_from_secs_f64(judged.seconds).unwrap_or_default();
    suite.set_time(seconds).set_system_out(judged.told.as_str());
    suite.add_test_cases(judged.all.iter().map(|it| case(judged, it)));
    let mut report = Report::new("spillway");
    report.set_time(seconds).add_test_suite(suite);
    // Only writing could fail, and that is to memory.
    let xml = report.to_string().unwrap_or_default();
    // The schema by which the xUnit plugin of Jenkins judges knows this count by another name. Quotes within a name
    // are escaped, so that the tag of the suite has the first.
    xml.replacen(" disabled=\"", " skipped=\"", 1)
}

fn case(judged: &Judgements, it: &Judgement) -> TestCase {
    let place = it.place.as_ref().map_or(String::new(), |place| format!("{place}: "));
    let status = match it.came {
        Came::Held => TestCaseStatus::success(),
        Came::Violated => {
            let mut failed = TestCaseStatus::non_success(NonSuccessKind::Failure);
            failed.set_type(it.kind.as_str()).set_message(it.says.as_str());
            let steps = judged.way.as_ref().filter(|_| it.has_way);
            let steps = steps.map_or(String::new(), |way| way.lines().join("\n"));
            failed.set_description(format!("{place}{}\n{steps}", it.title()));
            failed
        }
        Came::Open | Came::Unchecked => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(it.says.as_str());
            skipped
        }
    };
    let mut case = TestCase::new(it.title(), status);
    case.set_classname(judged.model.as_str());
    case
}
