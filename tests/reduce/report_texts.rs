//! The reasons for reductions that are not applied, and the headings of counterexamples. If processes are exchanged,
//! the process at the end of a counterexample may differ from the one of the stored violation.

use crate::support::lockstep::load;
use spillway::Check;
use spillway::budget::BudgetExceeded;
use spillway::reduce::{NotApplied, ReductionPlan};
use spillway::report::print_refusal;

/// Returns the summary and the counterexample of a search with symmetry of processes.
fn report_with_symmetry(text: &str) -> (String, String) {
    let model = load("dve", text);
    let reduce = ReductionPlan::of(["symmetry"]);
    let found = Check::of_text(&model).reduce(reduce).run().unwrap();
    let report = found.to_string();
    let (counterexample, summary) = report.split_once("\n\n").unwrap();
    let (_, counterexample) =
        counterexample.strip_prefix("counterexample in ").unwrap().split_once(": ").unwrap();
    (summary.to_owned(), counterexample.to_owned())
}

/// Only the first process fails in the counterexample. In the stored representative, the last process fails.
#[test]
fn assertions_are_reported_for_the_process_in_the_counterexample() {
    let text = "byte x = 0;
process P_0 { state a, b; init a; assert b: x != 0; trans a -> b { guard x == 0; }, b -> a { guard x == 0; effect x = 1; }; }
process P_1 { state a, b; init a; assert b: x != 1; trans a -> b { guard x == 1; }, b -> a { guard x == 1; effect x = 2; }; }
process P_2 { state a, b; init a; assert b: x != 2; trans a -> b { guard x == 2; }, b -> a { guard x == 2; effect x = 0; }; }
system async;";
    let (summary, counterexample) = report_with_symmetry(text);
    // It is one violation, although the stored one belongs to the last process.
    assert!(summary.contains("model:2:") && !summary.contains("model:4:"), "{summary}");
    assert!(counterexample.contains("`x != 0` of line 2:"), "{counterexample}");
    let heading = counterexample.lines().next().unwrap();
    assert!(heading.contains("x != 0"), "{heading}");
}

/// In the counterexample, the last process fails. In the stored representative, the first process fails.
#[test]
fn faults_are_reported_for_the_process_in_the_counterexample() {
    let text = "byte x = 2; byte t[1];
process P_0 { state a; init a; trans a -> a { guard x == 0 and 1 / t[0] == 1; }, a -> a { guard x == 0; effect x = 1; }; }
process P_1 { state a; init a; trans a -> a { guard x == 1 and 1 / t[0] == 1; }, a -> a { guard x == 1; effect x = 2; }; }
process P_2 { state a; init a; trans a -> a { guard x == 2 and 1 / t[0] == 1; }, a -> a { guard x == 2; effect x = 0; }; }
system async;";
    let (_, counterexample) = report_with_symmetry(text);
    println!("{counterexample}");
    assert!(counterexample.contains("(line 4:"), "{counterexample}");
}

/// A refusal ends with the flag that avoids it.
#[test]
fn refusals_name_the_remedy() {
    let exceeded = NotApplied::Exceeded(BudgetExceeded::Memory(32 << 20));
    let cases = [
        (exceeded, "its share of the memory budget, 32MiB: raise --memory"),
        (NotApplied::SleepBesideSymmetry, ": use `--symmetry off`"),
        (NotApplied::RunsNeedStatic, ": use `-X por-proviso=static`"),
        (NotApplied::OnlyDeadlocks, ": use `--only deadlock`"),
        (NotApplied::OtherChecks, ": use `--only claim`"),
        (NotApplied::MayMissDeadlock("x".into()), ": use `--no-deadlock`"),
    ];
    for (reason, end) in cases {
        let printed = print_refusal(&reason);
        assert!(printed.ends_with(end), "{printed}");
    }
    assert!(!print_refusal(&NotApplied::CoverStatements).contains("--"));
}
