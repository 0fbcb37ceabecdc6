//! The result of a hunt as text and as JSON.

use crate::model::StateCondition;
use crate::report::{
    self, CheckScope, CounterexampleEnd, SearchConstraint, TraceDisplayOptions, TraceFormat,
    ViolatingRun, ViolationReport, count, grouped, row,
};
use crate::search::hunt::{HuntEnd, HuntOutcome, StrategyStats};
use crate::search::trace::Counterexample;
use crate::session::SourceModel;
use serde_json::{Value, json};

/// The properties of a hunt, and its finding.
pub(super) enum HuntSubject<'r> {
    /// Properties of states and transitions.
    States {
        /// The conditions of flags.
        conditions: &'r [StateCondition],
        counterexample: Option<&'r (ViolationReport, Counterexample<'r>)>,
        /// The never claim of the search.
        claim: Option<&'r str>,
    },
    /// A temporal property.
    Runs { property: &'r str, run: Option<&'r ViolatingRun<'r>> },
}

/// Figures of a hunt.
pub(super) struct HuntFigures {
    pub seconds: f64,
    pub seed: u64,
    pub threads: usize,
    /// The number of actions of the model; 0 if they are not counted.
    pub actions: usize,
    /// The number of steps of the counterexample before it was shortened.
    pub found_depth: Option<u64>,
}

/// The result of a hunt.
pub(super) struct HuntReport<'r> {
    pub model: &'r dyn SourceModel,
    pub subject: HuntSubject<'r>,
    pub outcome: &'r HuntOutcome,
    pub scope: &'r CheckScope,
    pub figures: HuntFigures,
}

/// Describes how a hunt without a finding ended.
fn describe_end(end: HuntEnd) -> &'static str {
    match end {
        HuntEnd::Found => "found",
        HuntEnd::Exhausted => {
            "a dive visited all states that it met; equal fingerprints count as one state"
        }
        HuntEnd::Walks => "at the number of walks",
        HuntEnd::Transitions => "at the number of transitions",
        HuntEnd::Stopped => "at the time limit, or by a signal",
        HuntEnd::Unsuited => "at once: none of the strategies suits the model",
        HuntEnd::Memory => "the values of states take all of the memory",
    }
}

/// Returns the name of an end in JSON.
fn end_name(end: HuntEnd) -> &'static str {
    match end {
        HuntEnd::Found => "found",
        HuntEnd::Exhausted => "exhausted",
        HuntEnd::Walks => "walks",
        HuntEnd::Transitions => "transitions",
        HuntEnd::Stopped => "stopped",
        HuntEnd::Memory => "memory",
        HuntEnd::Unsuited => "unsuited",
    }
}

impl HuntReport<'_> {
    /// Returns whether a violation was found.
    pub(super) fn is_violated(&self) -> bool {
        match self.subject {
            HuntSubject::States { counterexample, .. } => counterexample.is_some(),
            HuntSubject::Runs { run, .. } => run.is_some(),
        }
    }

    /// Returns the constraints that bound the hunt.
    fn constraints(&self) -> impl Iterator<Item = SearchConstraint<'_>> {
        let conditions = match self.subject {
            HuntSubject::States { conditions, .. } => conditions,
            HuntSubject::Runs { .. } => &[],
        };
        report::constraints(conditions, self.scope)
    }

    /// Returns the end of the counterexample, if it is a path.
    fn ending(&self) -> Option<(CounterexampleEnd, &Counterexample<'_>)> {
        let HuntSubject::States { counterexample: Some((violation, way)), .. } = self.subject
        else {
            return None;
        };
        Some((CounterexampleEnd::of(violation, way, self.model.sources()), way))
    }

    /// Writes the counterexample, if there is one.
    pub(super) fn write_trace(&self, view: &TraceDisplayOptions, write: &mut dyn FnMut(&str)) {
        let sources = self.model.sources();
        if let Some((ending, way)) = self.ending() {
            report::write_trace(sources, view, &ending, way, write);
            write("\n");
        }
        if let HuntSubject::Runs { property, run: Some(run) } = self.subject {
            write(&run.text(sources, view, property));
            write("\n");
        }
    }

    /// Returns the counterexample in a format of other tools, if there is one.
    pub(super) fn formatted(&self, format: TraceFormat) -> Option<String> {
        let (name, sources) = (self.model.name(), self.model.sources());
        match self.subject {
            HuntSubject::Runs { property, run } => {
                run.map(|run| report::format_run(format, name, sources, run, property))
            }
            HuntSubject::States { .. } => self.ending().map(|(ending, way)| {
                report::format_counterexample(format, name, sources, &ending, way)
            }),
        }
    }

    /// Returns the verdict as a sentence.
    fn verdict(&self) -> String {
        let walks = count(self.outcome.totals().walks, "walk");
        match (&self.subject, self.ending()) {
            (HuntSubject::States { .. }, Some((ending, _))) => {
                report::print_violation(&ending.violation)
            }
            (HuntSubject::States { .. }, None) => {
                let within = match self.constraints().next() {
                    Some(_) => " within the constraint",
                    None => "",
                };
                format!("no violation found{within} in {walks}; this is not a proof")
            }
            (HuntSubject::Runs { property, run: Some(_) }, _) => {
                format!("VIOLATED: a run does not satisfy {property}")
            }
            (HuntSubject::Runs { property, run: None }, _) => {
                format!("no run that violates {property} found in {walks}; this is not a proof")
            }
        }
    }

    /// Returns the result as text, without the counterexample.
    pub(super) fn text(&self) -> String {
        let HuntReport { outcome, scope, figures, .. } = self;
        let mut out = report::wrapped("", &format!("{}: {}", self.model.name(), self.verdict()));
        match (&self.subject, self.ending()) {
            (_, Some((ending, _))) => out += &ending.rows(),
            (HuntSubject::Runs { run: Some(run), .. }, _) => out += &run.rows(),
            _ => out += &row("ended", describe_end(outcome.end)),
        }
        out += &row("found", &self.found());
        let used = outcome.strategies.iter().filter(|it| it.turns.walks > 0);
        for StrategyStats { name, turns } in used {
            let (walks, transitions) =
                (count(turns.walks, "walk"), count(turns.transitions, "transition"));
            out += &row(name, &format!("{walks}, {transitions}"));
        }
        for (name, why) in &outcome.unsuited {
            out += &row("not used", &format!("{name}: {why}"));
        }
        if figures.actions > 0 {
            let (done, all) = (outcome.action_counts.executed(), figures.actions as u64);
            out += &row("executed", &format!("{done} of {}", count(all, "action")));
        }
        let HuntFigures { seed, threads, .. } = figures;
        out += &row("repeat", &format!("--seed {seed} --threads {threads}"));
        out += &report::constraint_rows(self.constraints());
        if !scope.checked.is_empty() {
            out += &row("checked", &scope.checked());
        }
        if let HuntSubject::States { claim: Some(claim), .. } = self.subject {
            out += &row("claim", &format!("{claim}; deadlocks are not checked"));
        }
        out + &report::print_scope(scope)
    }

    /// Describes the strategy that found the violation, and the size of the search.
    fn found(&self) -> String {
        let HuntReport { outcome, figures, .. } = self;
        let by = outcome.found_by.map(|it| format!("by {}, ", it.strategy)).unwrap_or_default();
        let long = figures.found_depth.map(|it| format!("after {}, ", count(it, "step")));
        let totals = outcome.totals();
        let (walks, transitions) =
            (count(totals.walks, "walk"), count(totals.transitions, "transition"));
        let (long, depth) = (long.unwrap_or_default(), grouped(totals.depth_max));
        let seconds = figures.seconds;
        format!("{by}{long}in {walks}, {transitions}, at most {depth} deep; {seconds:.1} s")
    }

    /// Returns the result as JSON, with the counterexample if it is wanted.
    pub(super) fn json(&self, has_trace: bool) -> Value {
        let HuntReport { outcome, scope, figures, .. } = self;
        let totals = outcome.totals();
        let strategy = |it: &StrategyStats| {
            let StrategyStats { name, turns } = it;
            json!({
                "name": name, "walks": turns.walks, "transitions": turns.transitions,
                "depth": turns.depth_max,
            })
        };
        let unused = |(name, why): &(&str, &str)| json!({ "name": name, "why": why });
        let by = outcome.found_by.map(|it| json!({ "strategy": it.strategy, "thread": it.thread }));
        let actions = (figures.actions > 0).then(
            || json!({ "executed": outcome.action_counts.executed(), "all": figures.actions }),
        );
        let mut object = json!({
            "model": self.model.name(),
            "language": self.model.language().name,
            "property": self.property(),
            "verdict": if self.is_violated() { "violated" } else { "none found" },
            "is_proof": false,
            "ended": end_name(outcome.end),
            "walks": totals.walks,
            "transitions": totals.transitions,
            "depth": totals.depth_max,
            "strategies": outcome.strategies.iter().map(strategy).collect::<Vec<_>>(),
            "not_used": outcome.unsuited.iter().map(unused).collect::<Vec<_>>(),
            "found_by": by,
            "found_depth": figures.found_depth,
            "shortest": self.is_shortest(),
            "actions": actions,
            "seed": figures.seed,
            "threads": figures.threads,
            "seconds": figures.seconds,
            "counterexample": if has_trace { self.counterexample() } else { Value::Null },
        });
        let constraints: Vec<&str> = self.constraints().map(|it| it.text).collect();
        if !constraints.is_empty() {
            object["constraints"] = json!(constraints);
        }
        for (key, value) in report::scope_as_json(scope) {
            object[key] = value;
        }
        object
    }

    fn property(&self) -> Option<&str> {
        match self.subject {
            HuntSubject::States { .. } => None,
            HuntSubject::Runs { property, .. } => Some(property),
        }
    }

    /// Returns whether the counterexample is known to be a shortest one. `None` if there is none.
    fn is_shortest(&self) -> Option<bool> {
        match self.subject {
            HuntSubject::States { counterexample, .. } => counterexample.map(|it| it.0.shortest),
            HuntSubject::Runs { run, .. } => run.map(|it| it.is_shortest),
        }
    }

    fn counterexample(&self) -> Value {
        let sources = self.model.sources();
        match self.subject {
            HuntSubject::Runs { run, .. } => run.map_or(Value::Null, |run| run.json(sources)),
            HuntSubject::States { counterexample: None, .. } => Value::Null,
            HuntSubject::States { counterexample: Some((violation, way)), .. } => {
                let mut text = String::new();
                let write = &mut |it: &str| text += it;
                report::write_json_trace(sources, violation, way, "", write);
                serde_json::from_str(&text).unwrap_or_default()
            }
        }
    }
}

/// Returns the result for a property that no run can violate, as JSON.
pub(super) fn vacuous_document(model: &dyn SourceModel, property: &str) -> Value {
    json!({
        "model": model.name(),
        "language": model.language().name,
        "property": property,
        "verdict": "verified",
        "is_proof": true,
    })
}

/// Returns the results of all hunts of a command as one object.
pub(super) fn document(hunts: Vec<Value>, warnings: &[String]) -> Value {
    let is_violated = hunts.iter().any(|it| it["verdict"] == "violated");
    let verdict = if is_violated { "violated" } else { "none found" };
    json!({ "verdict": verdict, "hunts": hunts, "warnings": warnings })
}
