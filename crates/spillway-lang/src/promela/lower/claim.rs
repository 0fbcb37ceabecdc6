//! Lowering of the never claim of a search, if there is one.

use super::actions::GuardedEffect;
use super::{LoweringResult, PromelaLowering};
use crate::promela::ast::{
    ProcessRole, PromelaExpr, PromelaExprKind, PromelaProcess, PromelaStmtKind,
};
use crate::promela::graph::{self, ControlAction, ControlGraph, ControlTransition};
use crate::promela::parse::PromelaModel;
use crate::{ClaimChoice, Options, TemporalSpec};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{
    self as ir, Action, Arena, Claim, ClaimMove, Entity, Location, LocationId, ProcessId,
    ProgramProperty, PropertyKind, TurnRule, UnaryOp,
};

/// The help text on how to omit a claim.
const OMIT_CLAIM_HELP: &str = "say it without, or leave the claim out with `--no-claim`";

/// Returns the claim that belongs to the program: the claim that is the checked property, or else that of the options.
pub(in crate::promela) fn effective_choice(model: &PromelaModel, options: &Options) -> ClaimChoice {
    let asked = model.property.as_ref().filter(|it| it.spec == TemporalSpec::Claim);
    match asked.and_then(|it| it.name.clone()) {
        Some(name) => ClaimChoice::Named(name),
        None => options.claim.clone(),
    }
}

/// Returns the chosen claim with its control graph.
pub(in crate::promela) fn chosen_claim<'m>(
    model: &'m PromelaModel,
    choice: &ClaimChoice,
    remote: &[&str],
) -> LoweringResult<Option<(&'m PromelaProcess, ControlGraph<'m>)>> {
    let mut claims = model.processes.iter().filter(|process| process.role == ProcessRole::Never);
    let claim = match choice {
        ClaimChoice::Omit => None,
        ClaimChoice::First => claims.next(),
        ClaimChoice::Named(name) => match claims.find(|claim| *claim.name.text == **name) {
            Some(claim) => Some(claim),
            None => return Err(unknown(model, name)),
        },
    };
    claim.map(|claim| Ok((claim, graph::control_graph(claim, remote)?))).transpose()
}

fn unknown(model: &PromelaModel, name: &str) -> Diagnostic {
    if let Some(formula) = model.formulas.iter().find(|formula| *formula.name.text == *name) {
        let error = format!("`{name}` is an ltl formula, no never claim");
        return Diagnostic::error(formula.name.span, error)
            .help(format!("`check --ltl {name}` looks for runs that violate it"));
    }
    let claims = model.processes.iter().filter(|process| process.role == ProcessRole::Never);
    let names: Vec<&str> = claims.map(|claim| &*claim.name.text).collect();
    let claims = match names.is_empty() {
        true => "the model has no never claim".to_owned(),
        false => format!("the model has: {}", names.join(", ")),
    };
    let formulas: Vec<&str> = model.formulas.iter().map(|it| &*it.name.text).collect();
    let help = match formulas.is_empty() {
        true => claims,
        false => format!("{claims}; its formulas are asked with --ltl: {}", formulas.join(", ")),
    };
    Diagnostic::error(Span::default(), format!("there is no never claim `{name}`")).help(help)
}

/// Returns warnings about claims and formulas of the model that are not checked.
pub(super) fn advice(model: &PromelaModel, choice: &ClaimChoice) -> Vec<Diagnostic> {
    let mut advice = Vec::new();
    if *choice == ClaimChoice::Omit {
        return advice;
    }
    let claims: Vec<&PromelaProcess> =
        model.processes.iter().filter(|process| process.role == ProcessRole::Never).collect();
    if let ([first, second, ..], ClaimChoice::First) = (claims.as_slice(), choice) {
        let text = format!(
            "of the model's never claims only the first, {}, is searched with",
            first.name.text
        );
        let help = format!("`--claim {}` chooses another", second.name.text);
        advice.push(Diagnostic::warning(second.name.span, text).help(help));
    }
    if let Some(formula) = model.formulas.first() {
        let name = &formula.name.text;
        let text = format!("the ltl formula {name} is not searched");
        let help = format!("`check --ltl {name}` looks for runs that violate it");
        advice.push(Diagnostic::warning(formula.name.span, text).help(help));
    }
    advice
}

impl<'m> PromelaLowering<'m, '_> {
    pub(super) fn claim(
        &mut self,
        claim: &'m PromelaProcess,
        control: &ControlGraph<'m>,
    ) -> LoweringResult<()> {
        self.has_no_variables(claim)?;
        let accepts = control.locations.iter().any(|place| place.marks.accepting);
        if accepts && self.model.property.is_none() {
            let text =
                "cycles through the claim's accept labels are not looked for, only runs to its end";
            let help = format!("`check --ltl {}` looks for them", claim.name.text);
            self.warnings.push(Diagnostic::warning(claim.name.span, text).help(help));
        }
        let mut locations: Arena<LocationId, Location> = Arena::default();
        let mut names = self.location_names(control).into_iter();
        for place in &control.locations {
            locations.push(Location {
                name: names.next().unwrap_or_default(),
                urgency: ir::Urgency::Free,
                valid_end: place.marks.end,
                progress: place.marks.progress,
                accepting: place.marks.accepting,
                span: place.span,
            });
        }
        self.in_claim = true;
        let mut moves = Vec::new();
        for it in &control.transitions {
            // A claim takes no step after its end.
            if !matches!(it.act, ControlAction::End) {
                moves.push(self.claim_move(claim, it)?);
            }
        }
        self.in_claim = false;
        let claim_made = Claim { locations, start: LocationId::from_index(control.start), moves };
        self.program.properties.push(ProgramProperty {
            name: claim.name.text.to_string(),
            kind: PropertyKind::Claim(Box::new(claim_made)),
            span: claim.name.span,
        });
        Ok(())
    }

    fn has_no_variables(&self, claim: &PromelaProcess) -> LoweringResult<()> {
        let index = self.model.processes.iter().position(|it| std::ptr::eq(it, claim));
        match self.symbols_of(index).first() {
            None => Ok(()),
            Some((_, symbol)) => {
                let error = "a never claim with variables of its own is not supported";
                Err(Diagnostic::error(symbol.name.span, error).help(OMIT_CLAIM_HELP))
            }
        }
    }

    fn claim_move(
        &mut self,
        claim: &PromelaProcess,
        it: &ControlTransition<'m>,
    ) -> LoweringResult<ClaimMove> {
        let effect = self.watching(it)?;
        let from = LocationId::from_index(it.from);
        let name = format!("claim {}: {}", claim.name.text, self.text(&it.act, it.span));
        let action = Action {
            name,
            edge: None,
            parameters: Vec::new(),
            guard: effect.guard,
            communication: None,
            body: effect.body,
            priority: 0,
            control: ir::ActionControl {
                turn: it.turn,
                tier: it.tier,
                otherwise: matches!(it.act, ControlAction::Otherwise),
            },
            span: it.span,
        };
        Ok(ClaimMove { from, to: it.to.map_or(from, LocationId::from_index), action })
    }

    /// Lowers the condition or assertion of a claim's transition; all other statements are rejected.
    fn watching(&mut self, it: &ControlTransition<'m>) -> LoweringResult<GuardedEffect> {
        let refuse = |what: &str| {
            let error = format!("a never claim {what} is not supported");
            Err(Diagnostic::error(it.span, error).help(OMIT_CLAIM_HELP))
        };
        if it.inside_d_step
            || it.turn == TurnRule::First
            || matches!(it.act, ControlAction::Enter(_))
        {
            return refuse("with a d_step");
        }
        let ControlAction::Do(stmt) = &it.act else { return Ok(GuardedEffect::default()) };
        match &stmt.kind {
            PromelaStmtKind::Send { .. } | PromelaStmtKind::Receive { .. } => {
                let error = "a never claim sends and receives nothing";
                Err(Diagnostic::error(it.span, error).help("`c?[...]` asks about a message"))
            }
            PromelaStmtKind::Condition(condition)
                if matches!(condition.kind, PromelaExprKind::Run { .. }) =>
            {
                refuse("that starts a process")
            }
            PromelaStmtKind::Condition(_)
            | PromelaStmtKind::Assert(_)
            | PromelaStmtKind::Print(..) => self.statement(stmt, None),
            _ => refuse("that changes the state"),
        }
    }

    /// Returns SPIN's number of the location of a process: 1 for its first node, or 0 if there is no such process.
    pub(super) fn place_number(
        &mut self,
        pid: &PromelaExpr,
        span: Span,
        inside: Option<usize>,
    ) -> LoweringResult<ir::Expr> {
        let pid = self.expr(pid, inside)?;
        let mut parts = Vec::new();
        for (number, (_, control)) in self.bodies.iter().enumerate() {
            let process = ProcessId::from_index(number);
            for (at, place) in control.locations.iter().enumerate() {
                let slot = ir::ExprKind::SlotOf(process, Box::new(pid.clone()));
                let is_there = ir::ExprKind::At {
                    process,
                    slot: Some(Box::new(ir::Expr::new(slot, span))),
                    location: LocationId::from_index(at),
                };
                let value = ir::ExprKind::Constant(place.node as i64 + 1);
                parts.push(self.binary(ir::BinaryOp::Multiply, is_there, value, span));
            }
        }
        // A balanced sum limits the nesting to the logarithm of the number of locations.
        while parts.len() > 1 {
            let pairs = parts.chunks(2).map(|pair| match pair {
                [one, other] => {
                    let (one, other) = (one.kind.clone(), other.kind.clone());
                    self.binary(ir::BinaryOp::Add, one, other, span)
                }
                _ => pair[0].clone(),
            });
            parts = pairs.collect();
        }
        Ok(parts.pop().unwrap_or_else(|| ir::Expr::constant(0, span)))
    }

    /// Returns the condition that no process is at a `progress` label.
    pub(super) fn non_progress_condition(&self, span: Span) -> ir::Expr {
        match self.program.any_instance_at_marked(|it| it.progress, span) {
            None => ir::Expr::constant(1, span),
            Some(any) => ir::Expr::new(ir::ExprKind::Unary(UnaryOp::Not, Box::new(any)), span),
        }
    }
}
