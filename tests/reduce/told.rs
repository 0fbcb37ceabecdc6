//! The reasons for reductions that are not applied, and the headings of counterexamples. Where processes are exchanged,
//! the process at the end of a counterexample may differ from the one of the stored violation.

use crate::support::follow::load;
use spillway::Check;
use spillway::budget::BudgetExceeded;
use spillway::reduce::{NotApplied, ReductionPlan};
use spillway::report::print_refusal;

/// The report of a search with processes exchanged.
fn reported(text: &str) -> (String, String) {
    let model = load("dve", text);
    let reduce = ReductionPlan::of(["symmetry"]);
    let found = Check::of_text(&model).reduce(reduce).run().unwrap();
    let report = found.to_string();
    let (way, found) = report.split_once("\n\n").unwrap();
    let (_, way) = way.strip_prefix("counterexample in ").unwrap().split_once(": ").unwrap();
    (found.to_owned(), way.to_owned())
}

/// Only the first of the processes comes to where it fails; the state that stands for this has the last one there.
#[test]
fn an_assertion_is_told_of_the_process_at_the_end_of_the_way() {
    let text = "byte x = 0;
process P_0 { state a, b; init a; assert b: x != 0; trans a -> b { guard x == 0; }, b -> a { guard x == 0; effect x = 1; }; }
process P_1 { state a, b; init a; assert b: x != 1; trans a -> b { guard x == 1; }, b -> a { guard x == 1; effect x = 2; }; }
process P_2 { state a, b; init a; assert b: x != 2; trans a -> b { guard x == 2; }, b -> a { guard x == 2; effect x = 0; }; }
system async;";
    let (found, way) = reported(text);
    // It is one violation, though what was found is that of the last.
    assert!(found.contains("model:2:") && !found.contains("model:4:"), "{found}");
    assert!(way.contains("`x != 0` of line 2:"), "{way}");
    let heading = way.lines().next().unwrap();
    assert!(heading.contains("x != 0"), "{heading}");
}

/// Of steps it is the last that may fail as it is written; the state that stands for the first one has the first process meet it.
#[test]
fn an_error_is_told_of_the_process_that_meets_it() {
    let text = "byte x = 2; byte t[1];
process P_0 { state a; init a; trans a -> a { guard x == 0 and 1 / t[0] == 1; }, a -> a { guard x == 0; effect x = 1; }; }
process P_1 { state a; init a; trans a -> a { guard x == 1 and 1 / t[0] == 1; }, a -> a { guard x == 1; effect x = 2; }; }
process P_2 { state a; init a; trans a -> a { guard x == 2 and 1 / t[0] == 1; }, a -> a { guard x == 2; effect x = 0; }; }
system async;";
    let (_, way) = reported(text);
    println!("{way}");
    assert!(way.contains("(line 4:"), "{way}");
}

/// What helps is said with the flag for it.
#[test]
fn refusals_name_the_flag_that_helps() {
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
