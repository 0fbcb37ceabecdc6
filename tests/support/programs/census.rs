//! Statistics about generated programs: a test with programs that have no effect would prove nothing.

use super::Generated;
use spillway::exec::Interp;
use spillway::ir::{Action, Program, Schedule};
use spillway::model::{FaultKind, StateSpace, StepOutcome, SystemDescription};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Parts of actions, as `Debug` prints them.
#[rustfmt::skip]
const CONSTRUCTS: [&str; 81] = [
    "edge: Some", "edge: None", "parameters: [Parameter", "guard: Some",
    "communication: Some(Send", "communication: Some(Receive", "Into(", "Match(", "Any",
    "sorted: true", "anywhere: true", "peek: true",
    "Assign {", "Copy {", "If(", "Switch(", "For {", "ForEach {", "While {", "Undefine(", "Clear(",
    "Assert {", "Error(", "Communicate(Send", "Communicate(Receive", "MultisetAdd {",
    "MultisetRemove {", "Print {", "Declare {", "Alias {", "Assume(", "Return(None", "Return(Some",
    "Call {", "Reference(", "overflow: Fails", "overflow: Wraps", "element: Value(",
    "element: Copy(", "kind: Undefined",
    "Constant(", "Read(", "Local(", "Conditional(", "At {", "Length(", "IsEmpty(", "IsFull(",
    "CanReceive(", "IsUndefined(", "quantifier: All", "quantifier: Some", "Count {", "Contains(", "Index(",
    "Field(",
    "Call(", "Same(", "Convert(",
    "Unary(Negate", "Unary(Not", "Unary(Complement",
    "Binary(Add", "Binary(Subtract", "Binary(Multiply", "Binary(Divide", "Binary(Remainder",
    "Binary(BitAnd", "Binary(BitOr", "Binary(BitXor", "Binary(ShiftLeft", "Binary(ShiftRight",
    "Binary(Equal", "Binary(NotEqual", "Binary(Less,", "Binary(LessEqual", "Binary(Greater,",
    "Binary(GreaterEqual", "Binary(And", "Binary(Or", "Binary(Implies",
];

/// The statistics of many programs.
#[derive(Default)]
pub struct Census {
    /// The number of states found of each program, and the size of one in bytes.
    programs: Vec<(usize, usize)>,
    actions: usize,
    /// The numbers of actions with a successor, with a fault, and with neither.
    fired: usize,
    faulty: usize,
    idle: usize,
    steps: usize,
    faults: BTreeMap<FaultKind, usize>,
    /// For each construct, the number of actions with it that had a successor, and the number of all actions with it.
    constructs: BTreeMap<&'static str, (usize, usize)>,
}

impl Census {
    /// Takes every step from some states of a program with `found` states.
    pub fn count(
        &mut self,
        program: &Generated,
        model: &Interp,
        found: usize,
        states: impl Iterator<Item = Vec<u8>>,
    ) {
        self.programs.push((found, model.width()));
        let (mut fired, mut faulty) = (BTreeSet::new(), BTreeSet::new());
        for step in states.flat_map(|state| model.steps(&state)) {
            self.steps += 1;
            match step.outcome {
                // A rendezvous is described with the spans of both sides.
                StepOutcome::Successor(_) => fired.extend(step.spans),
                StepOutcome::Fault(fault) => {
                    faulty.extend(step.spans);
                    *self.faults.entry(fault.kind).or_default() += 1;
                }
            }
        }
        if program.0.schedule == Schedule::Lockstep {
            // A step of all processes has the name of the first one's action.
            return;
        }
        for action in program.0.actions.values() {
            let (fires, fails) = (fired.contains(&action.span), faulty.contains(&action.span));
            self.actions += 1;
            self.fired += usize::from(fires);
            self.faulty += usize::from(fails);
            self.idle += usize::from(!fires && !fails);
            self.constructs_of(&program.0, action, fires);
        }
    }

    fn constructs_of(&mut self, program: &Program, action: &Action, fires: bool) {
        let mut shown = format!("{action:?}");
        // Functions call only earlier functions.
        for id in program.functions.keys().collect::<Vec<_>>().into_iter().rev() {
            if [format!("function: {id:?}"), format!("Call({id:?}")]
                .iter()
                .any(|it| shown.contains(it))
            {
                shown += &format!("{:?}", program.functions[id]);
            }
        }
        for construct in CONSTRUCTS.into_iter().filter(|it| shown.contains(it)) {
            let (fired, all) = self.constructs.entry(construct).or_default();
            *fired += usize::from(fires);
            *all += 1;
        }
    }

    /// Returns the share of programs with at least this many states.
    fn share_of_at_least(&self, states: usize) -> f64 {
        let many = self.programs.iter().filter(|(found, _)| *found >= states).count();
        many as f64 / self.programs.len() as f64
    }

    /// Fails if the programs have become trivial.
    pub fn check(&self) {
        assert!(self.share_of_at_least(200) >= 0.5, "most programs have hundreds of states");
        assert!(self.share_of_at_least(10) >= 0.8, "few programs have hardly any states");
        assert!(self.fired * 10 >= self.actions * 6, "most actions lead somewhere");
        assert!(self.faulty * 20 >= self.actions, "some actions meet faults");
        // Here processes are not dynamic, so all messages fit their channels (rule 18 of the program form). Tests of
        // Promela's messages cover the other faults.
        // Only TLA+ has evaluations that fail; programs have the other kinds.
        let is_met = |it: &FaultKind| !it.is_arity_mismatch() && *it != FaultKind::Evaluation;
        for kind in FaultKind::ALL.into_iter().filter(is_met) {
            assert!(self.faults.get(&kind) >= Some(&50), "{} is met", kind.name());
        }
        for construct in CONSTRUCTS {
            let fired = self.constructs.get(construct).map_or(0, |(fired, _)| *fired);
            assert!(fired >= 15, "{construct} is in few actions that lead somewhere");
        }
        let (least, most) = (1, 100);
        let widths = || self.programs.iter().map(|(_, width)| *width);
        assert!(widths().any(|it| it <= least) && widths().any(|it| it >= most));
    }
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sorted = |mut numbers: Vec<usize>| {
            numbers.sort_unstable();
            (0..=8).map(|eighth| numbers[(numbers.len() - 1) * eighth / 8]).collect::<Vec<_>>()
        };
        let (found, widths) = self.programs.iter().copied().unzip();
        writeln!(f, "states, by eighths of the programs: {:?}", sorted(found))?;
        writeln!(f, "bytes of a state, by eighths: {:?}", sorted(widths))?;
        let Census { actions, fired, faulty, idle, steps, .. } = self;
        writeln!(
            f,
            "{actions} actions: {fired} led somewhere, {faulty} met faults, {idle} neither"
        )?;
        writeln!(f, "{steps} steps")?;
        for (kind, count) in &self.faults {
            writeln!(f, "{count:>9} {}", kind.name())?;
        }
        for (construct, (fired, all)) in &self.constructs {
            writeln!(f, "{all:>9} {:>3} % {construct}", fired * 100 / all)?;
        }
        Ok(())
    }
}
