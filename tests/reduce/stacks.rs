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

/// Three symmetric processes with a shared counter.
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

/// Returns the ring with a claim that is violated when the condition holds.
fn with_claim(condition: &str) -> Interp {
    program_with_claim(&format!("{RING} invariant \"p\" {condition};"))
}

/// Does the same for another program, whose invariant becomes the claim.
fn program_with_claim(text: &str) -> Interp {
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

/// A reduction that skips states with one successor and no violation, up to a number of steps.
struct ChainModel<'m> {
    model: Box<dyn StateSpace + 'm>,
    max_steps: usize,
}

impl ChainModel<'_> {
    /// Returns the only successor of a state without violations.
    fn only_successor(&self, state: &[u8]) -> Option<Vec<u8>> {
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

    /// Returns the chain that starts at a state, up to the first state that is not skipped.
    fn chain(&self, state: &[u8]) -> Vec<Vec<u8>> {
        let mut chain = vec![state.to_vec()];
        while let Some(next) = chain.last().and_then(|state| self.only_successor(state)) {
            if chain.len() > self.max_steps {
                break;
            }
            chain.push(next);
        }
        chain
    }

    fn collect_chain_ends(&self, out: &mut SuccessorSink, run: impl FnOnce(&mut SuccessorSink)) {
        let mut states = Vec::new();
        let Some(collected) = out.wrap(self.width(), &mut states, run) else { return };
        for state in states.chunks_exact(self.width()) {
            out.candidate(self.chain(state).last().unwrap());
        }
        out.add_findings(collected.findings);
    }
}

impl StateSpace for ChainModel<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    /// A chain from an initial state would need steps before the first state.
    fn initial(&self, out: &mut SuccessorSink) {
        self.model.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.collect_chain_ends(out, |inner| self.model.expand(states, inner));
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

impl Simulation for ChainModel<'_> {
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

/// Returns the stack of a program's claim, optionally with symmetry.
fn stack_with(interp: &Interp, symmetry: Option<SymmetryEffort>) -> ReductionStack<'_> {
    let plan = symmetry.map_or_else(ReductionPlan::default, |it| scalarsets(it.name()));
    ReductionStack::of(
        ProgramForm::written(interp),
        &plan,
        &|| unreachable!("no reduction chooses transitions"),
        &AnalysisBudget::largest(),
    )
}

/// A reduction with chosen traits.
struct FakeReduction {
    kind: ReductionKind,
    not_preserved: &'static [PropertyClass],
    chains: usize,
}

impl<'m> Reduction<'m> for FakeReduction {
    fn name(&self) -> String {
        format!("{:?}", self.kind)
    }

    fn traits(&self) -> ReductionTraits {
        let preserves = self
            .not_preserved
            .iter()
            .fold(PreservedProperties::ALL, |kept, &not_preserved| kept.without(not_preserved));
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
            max_steps => Box::new(ChainModel { model, max_steps }),
        }
    }
}

fn fake_reduction<'m>(
    kind: ReductionKind,
    not_preserved: &'static [PropertyClass],
) -> Box<dyn Reduction<'m> + 'm> {
    Box::new(FakeReduction { kind, not_preserved, chains: 0 })
}

const KINDS: [ReductionKind; 4] = [
    ReductionKind::Choice,
    ReductionKind::Product,
    ReductionKind::Pruning,
    ReductionKind::Representative,
];

#[test]
fn stacks_have_a_fixed_order_and_preserve_the_common_properties() {
    let stack = ReductionStack::new(vec![
        fake_reduction(ReductionKind::Representative, &[]),
        fake_reduction(ReductionKind::Choice, &[PropertyClass::Depth]),
        fake_reduction(ReductionKind::Pruning, &[PropertyClass::Deadlocks]),
        fake_reduction(ReductionKind::Choice, &[]),
        fake_reduction(ReductionKind::Product, &[]),
    ]);
    assert_eq!(stack.names(&KINDS), ["Choice", "Product", "Pruning", "Representative"]);
    let summaries = stack.summaries(&Counters::default());
    let names: Vec<_> = summaries.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["Choice", "Pruning", "Representative"]);
    let preserved: Vec<_> =
        PropertyClass::ALL.into_iter().filter(|&it| stack.preserves().has(it)).collect();
    let expected = [
        PropertyClass::StepErrors,
        PropertyClass::Invariants,
        PropertyClass::Claims,
        PropertyClass::StutteringClaims,
        PropertyClass::StutterInvariant,
    ];
    assert_eq!(preserved, expected);
    let description = "errors in steps, invariants, claims, LTL without next";
    assert_eq!(stack.preserves().to_string(), description);
    assert_eq!(ReductionStack::default().preserves().to_string(), "everything");
    let [refusal] = stack.refusals() else { panic!("a reduction occurs twice") };
    assert_eq!(refusal.name, "Choice");
    assert_eq!(refusal.reason, NotApplied::AlreadyChosen("Choice".into()));
}

#[test]
fn claims_that_count_transitions_are_refused_with_choices_of_transitions() {
    let interp = with_claim("done = 2");
    let claim = spillway::reduce::claim::NeverClaim::of(&interp).unwrap();
    // A choice that preserves stuttering claims is accepted.
    let accepted = ReductionStack::new(vec![
        Box::new(claim.clone()),
        fake_reduction(ReductionKind::Choice, &[PropertyClass::Claims]),
    ]);
    assert_eq!(accepted.names(&KINDS), ["Choice", "never claim p"]);
    let choice = fake_reduction(
        ReductionKind::Choice,
        &[PropertyClass::Claims, PropertyClass::StutteringClaims],
    );
    let stack = ReductionStack::new(vec![Box::new(claim), choice]);
    assert_eq!(stack.names(&KINDS), ["Choice"]);
    assert!(
        stack.refusals()[0].reason.to_string().contains("it counts transitions"),
        "{:?}",
        stack.refusals()
    );
}

/// Returns the outcome of a search that does not stop at violations.
fn search_in_memory(model: &dyn StateSpace) -> spillway::search::SearchOutcome {
    let checks = CheckSelection { deadlock: false, ..CheckSelection::default() };
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    memory::search(model, &limits).unwrap()
}

#[test]
fn symmetry_combines_with_symmetric_claims() {
    for (condition, violated) in [
        ("done = 2", true),
        ("done > 3", false),
        ("exists p: P do at[p] = 2 end", true),
        ("forall p: P do at[p] = 2 end", true),
        ("exists p: P do at[p] = 0 & done = 3 end", false),
        ("exists p: P do exists q: P do p != q & at[p] = 1 & at[q] = 3 end end", true),
        ("forall p: P do forall q: P do p = q -> at[p] != at[q] end end", false),
    ] {
        let interp = with_claim(condition);
        let claim_only = stack_with(&interp, None);
        let full = search_in_memory(&*claim_only.wrap(Box::new(&interp)));
        let stack = stack_with(&interp, Some(SymmetryEffort::Exact));
        assert_eq!(stack.names(&KINDS), ["never claim p", "symmetry exact"]);
        assert!(stack.refusals().is_empty());
        let reduced = stack.wrap(Box::new(&interp));
        let reduced_outcome = search_in_memory(&*reduced);
        assert_eq!(
            full.verdict,
            if violated { SearchVerdict::Violated } else { SearchVerdict::Verified }
        );
        assert_eq!(reduced_outcome.verdict, full.verdict, "{condition}");
        assert_eq!(reduced_outcome.levels.len(), full.levels.len(), "{condition}");
        assert!(
            reduced_outcome.states() * 2 < full.states(),
            "{} of {}",
            reduced_outcome.states(),
            full.states()
        );
        let levels = |outcome: &spillway::search::SearchOutcome| -> Vec<_> {
            outcome.findings.iter().map(|(check, found)| (check, found.level)).collect()
        };
        assert_eq!(levels(&reduced_outcome), levels(&full), "{condition}");
        assert_counterexamples_replay(&*reduced, &reduced_outcome);
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
fn symmetry_is_refused_with_asymmetric_claims() {
    let distinguishes = "the never claim p may distinguish symmetric elements";
    let fails = "the never claim p may end in an error when it is evaluated";
    for (condition, reason) in [
        ("exists p: P do at[p] = p end", None),
        ("exists p: P do at[p] = nowhere & !seen[p] end", None),
        ("exists p: P do !isundefined(last) & last = p & seen[p] end", None),
        ("seen[nowhere] & !seen[home]", None),
        // It reads one element that may be undefined, and there is only one such read.
        ("at[last] = home", None),
        // It reads one element after another.
        ("exists p: P do at[p] = home | at[last] = p end", Some(fails)),
        ("exists p: P do owns(p) end", Some(distinguishes)),
        ("multisetcount(i: bag, !isundefined(bag[i].who)) = 1", Some(distinguishes)),
    ] {
        let interp = program_with_claim(&format!("{HOMES} invariant \"p\" {condition};"));
        let stack = stack_with(&interp, Some(SymmetryEffort::Exact));
        let refusals: Vec<_> =
            stack.refusals().iter().map(|it| (it.name.clone(), it.reason.to_string())).collect();
        let expected = reason.map(|reason| ("symmetry exact".to_owned(), reason.to_owned()));
        assert_eq!(refusals, Vec::from_iter(expected), "{condition}");
    }
}

/// No language can express such a condition.
#[test]
fn symmetry_is_refused_with_claims_that_number_elements() {
    let is_refused = |condition: &str, constant_in: fn(&mut Expr) -> &mut i64, number: i64| {
        let interp = program_with_claim(&format!("{HOMES} invariant \"p\" {condition};"));
        let mut program = interp.program().clone();
        let [property] = program.properties.keys().collect::<Vec<_>>()[..] else { panic!("two") };
        let PropertyKind::Claim(claim) = &mut program.properties[property].kind else {
            panic!("no claim")
        };
        *constant_in(claim.moves[1].action.guard.as_mut().unwrap()) = number;
        let interp = Interp::new(program).unwrap();
        !stack_with(&interp, Some(SymmetryEffort::Exact)).refusals().is_empty()
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
fn a_compound_step_is_lifted_through_all_reductions_of_the_stack() {
    let text = format!("{RING} invariant \"early\" done < 3;");
    let interp = Interp::new(program(&text)).unwrap();
    let (full, limits) = (search_in_memory(&interp), CheckSelection::default());
    for max_steps in [1, 2, 7] {
        let symmetry =
            Symmetry::of(interp.program(), interp.layout(), SymmetryEffort::Exact).unwrap();
        let stack = ReductionStack::new(vec![
            Box::new(symmetry),
            Box::new(FakeReduction {
                kind: ReductionKind::Pruning,
                not_preserved: &[PropertyClass::Depth],
                chains: max_steps,
            }),
        ]);
        let reduced = stack.wrap(Box::new(&interp));
        let reduced_outcome = search_in_memory(&*reduced);
        assert_eq!(reduced_outcome.verdict, full.verdict);
        let symmetry_only =
            stack_with(&interp, Some(SymmetryEffort::Exact)).wrap(Box::new(&interp));
        assert!(
            reduced_outcome.levels.len() < search_in_memory(&*symmetry_only).levels.len(),
            "no chain was passed by"
        );
        assert!(limits.any_selected(&*reduced, &reduced_outcome.findings));
        assert_counterexamples_replay(&*reduced, &reduced_outcome);
    }
}

/// Checks that the unreduced model replays every counterexample, and that its last state has the violation.
fn assert_counterexamples_replay(
    model: &dyn StateSpace,
    expected: &spillway::search::SearchOutcome,
) {
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    for trace in crate::support::stored::replay_in_all_stores(model, expected, &limits) {
        let last = trace.states.last().unwrap();
        let violated = model.description().violations(last);
        assert!(violated.contains(&trace.check), "{:?}", trace.check);
    }
}
