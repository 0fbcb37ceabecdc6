//! Stacked reductions: their order, the properties that they preserve together, incompatible reductions, and the
//! lifting of a counterexample to a run of the unreduced model.

use crate::support::reductions::scalarsets;
use spillway::budget::AnalysisBudget;
use spillway::exec::Interp;
use spillway::front::{Options, murphi};
use spillway::ir::Layout;
use spillway::ir::layout::CellId;
use spillway::ir::{
    Arena, Claim, ClaimMove, Expr, ExprKind, Location, LocationId, PlaceSelector, Program,
    PropertyKind,
};
use spillway::model::{
    ActionCounts, ActionId, Capabilities, Counters, ModelError, Simulation, StateSpace,
    StepOutcome, SuccessorSink, SystemDescription, Violation, any_bits, memory,
};
use spillway::reduce::rewriting::ProgramForm;
use spillway::reduce::symmetry::{Symmetry, SymmetryEffort};
use spillway::reduce::{NotApplied, ReductionPlan};
use spillway::reduce::{
    PreservedProperties, PropertyClass, Reduction, ReductionKind, ReductionStack, ReductionTraits,
};
use spillway::search::{CheckSelection, SearchLimits, SearchVerdict};
use spillway::source::SourceMap;
use std::collections::BTreeSet;

/// Three take part, in any order, and two things are said of them.
const RING: &str = "
    type P: scalarset(3);
    var at: array [P] of 0..3; done: 0..3;
    startstate for p: P do at[p] := 0; end; done := 0; end;
    ruleset p: P do
      rule \"go\" at[p] = 0 ==> at[p] := 1; end;
      rule \"on\" at[p] = 1 ==> at[p] := 2; end;
      rule \"end\" at[p] = 2 & done < 3 ==> at[p] := 3; done := done + 1; end;
      rule \"again\" at[p] = 3 & done = 3 ==> at[p] := 0; done := 0; end;
    end;";

fn program(text: &str) -> Program {
    let mut sources = SourceMap::default();
    sources.add("model.m", text);
    murphi::LANGUAGE.load(&mut sources, &Options::default()).unwrap().program
}

/// The program with one invariant, made a claim: that what it says ever comes true.
fn claimed(condition: &str) -> Interp {
    claimed_of(&format!("{RING} invariant \"p\" {condition};"))
}

/// The same of another program.
fn claimed_of(text: &str) -> Interp {
    let mut program = program(text);
    let property = program.properties.iter().next().unwrap().0;
    let PropertyKind::Invariant(condition) = program.properties[property].kind.clone() else {
        panic!("the model has an invariant");
    };
    let rule = program.actions.iter().next().unwrap().1.clone();
    let span = rule.span;
    let action = |name: &str, guard| spillway::ir::Action {
        name: name.into(),
        parameters: Vec::new(),
        guard,
        body: Vec::new(),
        ..rule.clone()
    };
    let location = |name: &str, valid_end| Location {
        name: name.into(),
        urgency: Default::default(),
        valid_end,
        progress: false,
        accepting: false,
        span,
    };
    let mut locations: Arena<LocationId, Location> = Arena::new();
    let (start, end) =
        (locations.push(location("start", false)), locations.push(location("end", true)));
    let moves = vec![
        ClaimMove { from: start, to: start, action: action("wait", None) },
        ClaimMove { from: start, to: end, action: action("it holds", Some(condition)) },
    ];
    let claim = Claim { locations, start, moves };
    program.properties[property].kind = PropertyKind::Claim(Box::new(claim));
    program.number_exprs();
    spillway::ir::validate::validate(&program).unwrap();
    Interp::new(program).unwrap()
}

/// Passes states by that have one successor and nothing wrong, as far as some steps.
struct Chains<'m> {
    model: Box<dyn StateSpace + 'm>,
    most: usize,
}

impl Chains<'_> {
    /// The one successor of a state that nothing is wrong with.
    fn only(&self, state: &[u8]) -> Option<Vec<u8>> {
        let explained = self.model.description();
        if !explained.violations(state).is_empty() {
            return None;
        }
        let mut next = explained.steps(state).into_iter().map(|step| match step.outcome {
            StepOutcome::Successor(state) => Some(state),
            StepOutcome::Fault(_) => None,
        });
        let first = next.next()??;
        next.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }

    /// The states from one on, that one first, to where it is not passed by.
    fn chain(&self, state: &[u8]) -> Vec<Vec<u8>> {
        let mut chain = vec![state.to_vec()];
        while let Some(next) = chain.last().and_then(|state| self.only(state)) {
            if chain.len() > self.most {
                break;
            }
            chain.push(next);
        }
        chain
    }

    fn through(&self, out: &mut SuccessorSink, run: impl FnOnce(&mut SuccessorSink)) {
        let mut states = Vec::new();
        let Some(collected) = out.wrap(self.width(), &mut states, run) else { return };
        for state in states.chunks_exact(self.width()) {
            out.candidate(self.chain(state).last().unwrap());
        }
        out.add_findings(collected.findings);
    }
}

impl StateSpace for Chains<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    /// A chain from an initial state would have to be told as steps before the first state.
    fn initial(&self, out: &mut SuccessorSink) {
        self.model.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.through(out, |inner| self.model.expand(states, inner));
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn digest(&self) -> [u8; 32] {
        self.model.digest()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: Some(self),
            postponing: None,
            cycle_proviso: None,
            sleep_sets: None,
            dominance: None,
            growing: None,
            views: None,
        }
    }
}

impl Simulation for Chains<'_> {
    fn concrete_space(&self) -> &dyn StateSpace {
        &*self.model
    }

    fn represents(&self, own: &[u8], below: &[u8]) -> bool {
        own == below
    }

    fn concretise_step(
        &self,
        _: &[u8],
        from: &[u8],
        to: &[u8],
    ) -> Result<Option<Vec<Vec<u8>>>, ModelError> {
        let mut states = Vec::new();
        let run = |out: &mut SuccessorSink| self.model.expand(from, out);
        let _ = SuccessorSink::collect(self.width(), &mut states, run)?;
        let chains = states.chunks_exact(self.width()).map(|state| self.chain(state));
        Ok(chains.into_iter().find(|chain| chain.last().unwrap() == to))
    }

    fn unreduced_space(&self) -> Option<&dyn StateSpace> {
        None
    }

    fn intermediate_states(&self, _: &[u8], _: &[u8]) -> Result<Option<Vec<Vec<u8>>>, ModelError> {
        Ok(None)
    }

    fn concrete_violation_path(&self, _: &[u8], _: Violation) -> Result<Vec<Vec<u8>>, ModelError> {
        Ok(Vec::new())
    }

    fn equivalent_violations(&self, _: Violation) -> Vec<Violation> {
        Vec::new()
    }

    fn hides_action(&self, _: ActionId) -> bool {
        false
    }

    fn concrete_action_counts(&self, taken: ActionCounts) -> ActionCounts {
        taken
    }

    fn preserves_depth(&self) -> bool {
        true
    }
}

/// The claim of a program, and its symmetry if that is wanted.
fn stacked(interp: &Interp, symmetry: Option<SymmetryEffort>) -> ReductionStack<'_> {
    let plan = symmetry.map_or_else(ReductionPlan::default, |it| scalarsets(it.name()));
    ReductionStack::of(
        ProgramForm::written(interp),
        &plan,
        &|| unreachable!("nobody chooses steps"),
        &AnalysisBudget::largest(),
    )
}

/// A reduction that does as it is told.
struct Planted {
    kind: ReductionKind,
    lost: &'static [PropertyClass],
    chains: usize,
}

impl<'m> Reduction<'m> for Planted {
    fn name(&self) -> String {
        format!("{:?}", self.kind)
    }

    fn traits(&self) -> ReductionTraits {
        let preserves =
            self.lost.iter().fold(PreservedProperties::ALL, |kept, &lost| kept.without(lost));
        ReductionTraits::new(Vec::new(), self.kind, preserves)
    }

    fn describe_effect(&self, _: &Counters) -> Option<String> {
        None
    }

    fn changed_cells(&self, _: &Layout) -> BTreeSet<CellId> {
        BTreeSet::new()
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn conflict(&self, before: &ReductionStack<'m>) -> Option<NotApplied> {
        let name = Reduction::name(self);
        before.names(&[self.kind]).contains(&name).then_some(NotApplied::AlreadyChosen(name))
    }

    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        match self.chains {
            0 => model,
            most => Box::new(Chains { model, most }),
        }
    }
}

fn planted<'m>(kind: ReductionKind, lost: &'static [PropertyClass]) -> Box<dyn Reduction<'m> + 'm> {
    Box::new(Planted { kind, lost, chains: 0 })
}

const KINDS: [ReductionKind; 4] = [
    ReductionKind::Choice,
    ReductionKind::Product,
    ReductionKind::Pruning,
    ReductionKind::Representative,
];

#[test]
fn they_act_in_one_order_and_preserve_what_all_of_them_do() {
    let stack = ReductionStack::new(vec![
        planted(ReductionKind::Representative, &[]),
        planted(ReductionKind::Choice, &[PropertyClass::Depth]),
        planted(ReductionKind::Pruning, &[PropertyClass::Deadlocks]),
        planted(ReductionKind::Choice, &[]),
        planted(ReductionKind::Product, &[]),
    ]);
    assert_eq!(stack.names(&KINDS), ["Choice", "Product", "Pruning", "Representative"]);
    let told = stack.summaries(&Counters::default());
    let names: Vec<_> = told.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["Choice", "Pruning", "Representative"]);
    let kept: Vec<_> =
        PropertyClass::ALL.into_iter().filter(|&it| stack.preserves().has(it)).collect();
    let expected = [
        PropertyClass::StepErrors,
        PropertyClass::Invariants,
        PropertyClass::Claims,
        PropertyClass::StutteringClaims,
        PropertyClass::StutterInvariant,
    ];
    assert_eq!(kept, expected);
    let words = "errors in steps, invariants, claims, LTL without next";
    assert_eq!(stack.preserves().to_string(), words);
    assert_eq!(ReductionStack::default().preserves().to_string(), "everything");
    let [refused] = stack.refusals() else { panic!("one is there twice") };
    assert_eq!(refused.name, "Choice");
    assert_eq!(refused.reason, NotApplied::AlreadyChosen("Choice".into()));
}

#[test]
fn a_claim_refuses_to_come_after_what_leaves_steps_out() {
    let interp = claimed("done = 2");
    let claim = spillway::reduce::claim::NeverClaim::of(&interp).unwrap();
    // But not after what keeps the claims that do not count them.
    let knows = ReductionStack::new(vec![
        Box::new(claim.clone()),
        planted(ReductionKind::Choice, &[PropertyClass::Claims]),
    ]);
    assert_eq!(knows.names(&KINDS), ["Choice", "never claim p"]);
    let both =
        planted(ReductionKind::Choice, &[PropertyClass::Claims, PropertyClass::StutteringClaims]);
    let stack = ReductionStack::new(vec![Box::new(claim), both]);
    assert_eq!(stack.names(&KINDS), ["Choice"]);
    assert!(
        stack.refusals()[0].reason.to_string().contains("it counts transitions"),
        "{:?}",
        stack.refusals()
    );
}

/// All that a search of a model finds, and its counterexamples, replayed by the unreduced one.
fn explored(model: &dyn StateSpace) -> spillway::search::SearchOutcome {
    let checks = CheckSelection { deadlock: false, ..CheckSelection::default() };
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    memory::search(model, &limits).unwrap()
}

#[test]
fn symmetry_stacks_on_a_claim_that_tells_nothing_apart() {
    for (condition, violated) in [
        ("done = 2", true),
        ("done > 3", false),
        ("exists p: P do at[p] = 2 end", true),
        ("forall p: P do at[p] = 2 end", true),
        ("exists p: P do at[p] = 0 & done = 3 end", false),
        ("exists p: P do exists q: P do p != q & at[p] = 1 & at[q] = 3 end end", true),
        ("forall p: P do forall q: P do p = q -> at[p] != at[q] end end", false),
    ] {
        let interp = claimed(condition);
        let plain = stacked(&interp, None);
        let whole = explored(&*plain.wrap(Box::new(&interp)));
        let stack = stacked(&interp, Some(SymmetryEffort::Exact));
        assert_eq!(stack.names(&KINDS), ["never claim p", "symmetry exact"]);
        assert!(stack.refusals().is_empty());
        let reduced = stack.wrap(Box::new(&interp));
        let fewer = explored(&*reduced);
        assert_eq!(
            whole.verdict,
            if violated { SearchVerdict::Violated } else { SearchVerdict::Verified }
        );
        assert_eq!(fewer.verdict, whole.verdict, "{condition}");
        assert_eq!(fewer.levels.len(), whole.levels.len(), "{condition}");
        assert!(fewer.states() * 2 < whole.states(), "{} of {}", fewer.states(), whole.states());
        let levels = |outcome: &spillway::search::SearchOutcome| -> Vec<_> {
            outcome.findings.iter().map(|(check, found)| (check, found.level)).collect()
        };
        assert_eq!(levels(&fewer), levels(&whole), "{condition}");
        counterexamples_replay(&*reduced, &fewer);
    }
}

/// A model with a union of a scalarset and an enumeration.
const HOMES: &str = "
    type P: scalarset(3); E: enum { home, nowhere }; U: union { E, P };
    var at: array [P] of U; seen: array [U] of boolean; last: P;
        bag: multiset [2] of record who: P; end;
    startstate
      for p: P do at[p] := home; end;
      for u: U do seen[u] := false; end;
      undefine last;
    end;
    ruleset p: P do
      rule \"own\" at[p] = home ==> at[p] := p; seen[p] := true; last := p; end;
      rule \"give\" at[p] = p ==> at[p] := nowhere; seen[nowhere] := true; end;
    end;
    function owns(p: P): boolean; begin return at[p] = p; end;";

#[test]
fn symmetry_is_left_out_by_name_where_a_claim_may_tell_apart() {
    let apart = "the never claim p may distinguish symmetric elements";
    let fails = "the never claim p may end in an error when it is evaluated";
    for (condition, why) in [
        ("exists p: P do at[p] = p end", None),
        ("exists p: P do at[p] = nowhere & !seen[p] end", None),
        ("exists p: P do !isundefined(last) & last = p & seen[p] end", None),
        ("seen[nowhere] & !seen[home]", None),
        // Of the last one alone, and that may be undefined; but there is only one.
        ("at[last] = home", None),
        // Of one after the other.
        ("exists p: P do at[p] = home | at[last] = p end", Some(fails)),
        ("exists p: P do owns(p) end", Some(apart)),
        ("multisetcount(i: bag, !isundefined(bag[i].who)) = 1", Some(apart)),
    ] {
        let interp = claimed_of(&format!("{HOMES} invariant \"p\" {condition};"));
        let stack = stacked(&interp, Some(SymmetryEffort::Exact));
        let refused: Vec<_> =
            stack.refusals().iter().map(|it| (it.name.clone(), it.reason.to_string())).collect();
        let expected = why.map(|why| ("symmetry exact".to_owned(), why.to_owned()));
        assert_eq!(refused, Vec::from_iter(expected), "{condition}");
    }
}

/// No language lets one write such a condition.
#[test]
fn symmetry_is_left_out_where_a_claim_gives_elements_numbers() {
    let is_refused = |condition: &str, by: fn(&mut Expr) -> &mut i64, number: i64| {
        let claimed = claimed_of(&format!("{HOMES} invariant \"p\" {condition};"));
        let mut program = claimed.program().clone();
        let [property] = program.properties.keys().collect::<Vec<_>>()[..] else { panic!("two") };
        let PropertyKind::Claim(claim) = &mut program.properties[property].kind else {
            panic!("no claim")
        };
        *by(claim.moves[1].action.guard.as_mut().unwrap()) = number;
        let interp = Interp::new(program).unwrap();
        !stacked(&interp, Some(SymmetryEffort::Exact)).refusals().is_empty()
    };
    fn value(expr: &mut Expr) -> &mut i64 {
        match &mut expr.kind {
            ExprKind::Constant(value) => value,
            ExprKind::Same(_, other) => value(other),
            ExprKind::Read(place) => match &mut place.path[..] {
                [PlaceSelector::Index(index)] => value(index),
                _ => panic!("one index is expected"),
            },
            other => panic!("{other:?}"),
        }
    }
    // The two values of the enumeration come before the three elements.
    for (number, refused) in [(0, false), (1, false), (2, true), (4, true)] {
        assert_eq!(is_refused("at[last] = nowhere", value, number), refused, "{number}");
        assert_eq!(is_refused("seen[nowhere]", value, number), refused, "{number}");
    }
}

#[test]
fn a_step_that_stands_for_several_is_lifted_through_all_that_stack_on_it() {
    let text = format!("{RING} invariant \"early\" done < 3;");
    let interp = Interp::new(program(&text)).unwrap();
    let (whole, limits) = (explored(&interp), CheckSelection::default());
    for most in [1, 2, 7] {
        let symmetry =
            Symmetry::of(interp.program(), interp.layout(), SymmetryEffort::Exact).unwrap();
        let stack = ReductionStack::new(vec![
            Box::new(symmetry),
            Box::new(Planted {
                kind: ReductionKind::Pruning,
                lost: &[PropertyClass::Depth],
                chains: most,
            }),
        ]);
        let reduced = stack.wrap(Box::new(&interp));
        let fewer = explored(&*reduced);
        assert_eq!(fewer.verdict, whole.verdict);
        let alone = stacked(&interp, Some(SymmetryEffort::Exact)).wrap(Box::new(&interp));
        assert!(fewer.levels.len() < explored(&*alone).levels.len(), "no chain was passed by");
        assert!(limits.any_selected(&*reduced, &fewer.findings));
        counterexamples_replay(&*reduced, &fewer);
    }
}

/// Has every counterexample replayed by the model that is not reduced, to where something fails.
fn counterexamples_replay(model: &dyn StateSpace, expected: &spillway::search::SearchOutcome) {
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    for trace in crate::support::stored::replayed(model, expected, &limits) {
        let last = trace.states.last().unwrap();
        let violated = model.description().violations(last);
        assert!(violated.contains(&trace.check), "{:?}", trace.check);
    }
}
