//! What is wrong at the end of a counterexample, and what it looks like there.

use super::ViolationReport;
use super::numbers::count;
use super::rows::row;
use super::values::{pairs, placed, print_values};
use crate::exec::{Standing, StepOutcome, Value, Violation};
use crate::search::trace::Counterexample;
use crate::source::{Place, Sources, Span};

/// No more processes are shown where they are.
const SHOWN_MAX: usize = 20;

/// The end of a counterexample.
pub struct Ending {
    /// What is violated there.
    pub violation: ViolationReport,
    /// What the counterexample was looked for to: the same, or what that comes to in another process of those that are alike.
    pub stands_for: Violation,
    /// The steps of the counterexample, a faulty one included.
    pub depth: u64,
    /// What decided that something does not hold: what it reads, with the names of that.
    operands: Vec<(String, Value)>,
    /// Where the processes are.
    standing: Vec<At>,
}

/// Where a process is.
struct At {
    process: String,
    location: String,
    /// Where that stands.
    place: Option<Place>,
    /// What it waits for, where it does.
    waits_for: Option<Vec<String>>,
}

impl At {
    fn new(standing: Standing, waits: bool, sources: &Sources) -> At {
        let Standing { process, location, span, ways } = standing;
        let place = sources.place(span);
        let told = |(name, guard): (String, Option<Span>)| {
            let guard = guard.map_or("", |it| sources.text(it));
            match guard.is_empty() || name.contains(guard) {
                true => name,
                false => format!("{guard} ({name})"),
            }
        };
        let mut ways: Vec<String> = ways.into_iter().map(told).collect();
        ways.dedup();
        At { process, location, place, waits_for: waits.then_some(ways) }
    }

    /// In words.
    fn text(&self, width: usize) -> String {
        let mut told = format!("{:<width$}  {}", self.process, self.location);
        // A location that has no name is called by its line.
        let is_called_by_it = |place: &Place| {
            self.location.starts_with("line ") || self.location.starts_with(&place.line())
        };
        if let Some(place) = self.place.as_ref().filter(|it| !is_called_by_it(it)) {
            told += &format!(" (line {})", place.position.line);
        }
        match self.waits_for.as_deref() {
            None => {}
            Some([]) => told += ", has ended",
            Some(ways) => told += &format!(", waits for {}", ways.join(" or ")),
        }
        told
    }
}

impl Ending {
    /// That of a way to a violation.
    pub fn of(violation: &ViolationReport, way: &Counterexample, sources: &Sources) -> Ending {
        let model = way.explained();
        let stands_for = violation.check;
        let violation = violation.at_end_of(way, sources);
        let operands = match violation.check {
            Violation::Deadlock => None,
            Violation::Property(number) => way.last().map(|it| model.operands(it, number)),
            Violation::Fault(..) => way.faulty_step().and_then(|step| match step.outcome {
                StepOutcome::Fault(fault) => Some(fault.operands),
                StepOutcome::Successor(_) => None,
            }),
        };
        let standing = way.last().map(|state| model.standing(state)).unwrap_or_default();
        let waits = violation.check == Violation::Deadlock;
        let standing = standing.into_iter().map(|it| At::new(it, waits, sources));
        Ending {
            violation,
            stands_for,
            depth: way.depth() as u64,
            operands: operands.unwrap_or_default(),
            standing: standing.collect(),
        }
    }

    /// In rows: after how many steps, with which values, and where the processes are.
    pub fn rows(&self) -> String {
        let perhaps =
            if self.violation.shortest { " (shortest)" } else { "; there may be a shorter one" };
        let (depth, all) = (count(self.depth, "step"), self.violation.all());
        let mut out = row("after", &format!("{depth}{perhaps}{all}"));
        if !self.operands.is_empty() {
            out += &row("with", &print_values(&self.operands));
        }
        let width = self.standing.iter().map(|it| it.process.chars().count()).max();
        for (number, it) in self.standing.iter().take(SHOWN_MAX).enumerate() {
            let label = if number == 0 { "ends at" } else { "" };
            out += &row(label, &it.text(width.unwrap_or(0)));
        }
        if let Some(more) = self.standing.len().checked_sub(SHOWN_MAX).filter(|&it| it > 0) {
            out += &row("", &format!("and {more} more"));
        }
        out
    }

    /// As JSON: the members `operands` and `ends_at` of a counterexample.
    pub fn members(&self) -> [serde_json::Value; 2] {
        let at = self.standing.iter().map(|it| {
            let At { process, location, place, waits_for } = it;
            let at = serde_json::json!({
                "process": process, "location": location, "waits_for": waits_for,
            });
            placed(at, place.as_ref())
        });
        [pairs(&self.operands), at.collect()]
    }
}
