//! `--reduce`, `--por` and `--symmetry`: which reductions a search uses.

use super::args::{ConfluenceArg, PartialOrderArg, ReduceArg, ReduceArgs, SymmetryArg};
use super::command::CheckCommand;
use super::failure::CommandFailure;
use crate::exec::{CheckSelection, preserves_depth};
use crate::reduce::partial_order::{CycleProviso, PartialOrderMethod, PartialOrderStrategy};
use crate::reduce::pruning::PruningSelection;
use crate::reduce::reversible::RuleSelection;
use crate::reduce::rewriting::RewriteSelection;
use crate::reduce::{ReductionKind, merge, structural};
use crate::session::config::StoreKind;
use crate::session::{ReductionRequest, SearchedModel, StepChoice};
use clap::ValueEnum as _;

/// The method where none is named.
const DEFAULT_METHOD: PartialOrderMethod = PartialOrderMethod::Conditional;

impl ReduceArg {
    /// As it is given.
    pub fn name(self) -> &'static str {
        match self {
            ReduceArg::None => "none",
            ReduceArg::Auto => "auto",
            ReduceArg::Por => "por",
            ReduceArg::Reversible => "reversible",
            ReduceArg::Symmetry => "symmetry",
            ReduceArg::Dead => "dead",
            ReduceArg::Values => "values",
            ReduceArg::States => "states",
            ReduceArg::Linear => "linear",
            ReduceArg::Merge => "merge",
            ReduceArg::Slice => "slice",
            ReduceArg::Structural => "structural",
            ReduceArg::Confluence => "confluence",
            ReduceArg::Simultaneous => "simultaneous",
            ReduceArg::Dominate => "dominate",
            ReduceArg::Boring => "boring",
            ReduceArg::Doomed => "doomed",
        }
    }
}

/// What the flags ask for, in a search that visits all states or not.
pub(super) fn requested_reductions(
    args: &ReduceArgs,
    keep_going: bool,
) -> Result<ReductionRequest, CommandFailure> {
    refuse_contradictions(args)?;
    let has = |name| args.reduce.contains(&name);
    let by_default = match args.reduce[..] {
        [] if keep_going => ReductionRequest {
            rewritings: RewriteSelection::NONE,
            steps: StepChoice::All,
            ..ReductionRequest::AUTO
        },
        [] | [ReduceArg::Auto] => ReductionRequest::AUTO,
        _ => {
            let steps = match has(ReduceArg::Por) {
                true => StepChoice::Chosen(DEFAULT_METHOD.into()),
                false => StepChoice::All,
            };
            let symmetry = ReductionRequest::AUTO.symmetry.filter(|_| has(ReduceArg::Symmetry));
            let reversible = has(ReduceArg::Reversible).then(RuleSelection::default);
            let rewritings = RewriteSelection {
                // For whatever is looked for in the end.
                slice: has(ReduceArg::Slice).then(CheckSelection::default),
                structural: has(ReduceArg::Structural).then(CheckSelection::default),
                values: has(ReduceArg::Values),
                states: has(ReduceArg::States),
                dead: has(ReduceArg::Dead),
                joint_dead: false,
                merge: has(ReduceArg::Merge),
            };
            let (linear, processes) = (has(ReduceArg::Linear), has(ReduceArg::Symmetry));
            let pruning = PruningSelection {
                dominate: has(ReduceArg::Dominate).then(Vec::new),
                boring: has(ReduceArg::Boring).then(Vec::new),
                doomed: has(ReduceArg::Doomed),
                ..PruningSelection::NONE
            };
            ReductionRequest { reversible, rewritings, linear, symmetry, processes, pruning, steps }
        }
    };
    let steps = steps(args, by_default.steps)?;
    let symmetry = args.symmetry.map_or(by_default.symmetry, SymmetryArg::effort);
    let reversible = rules(args, by_default.reversible)?;
    let processes = match args.symmetry {
        Some(how) => how.effort().is_some(),
        None => by_default.processes,
    };
    let mut pruning = by_default.pruning.clone();
    if !args.dominate.is_empty() {
        pruning.dominate = Some(args.dominate.clone());
    }
    if !args.progress.is_empty() {
        pruning.boring = Some(args.progress.clone());
    }
    let wanted = ReductionRequest { reversible, symmetry, processes, pruning, steps, ..by_default };
    Ok(wanted.looking_around())
}

/// How steps are taken, which is so by default otherwise.
fn steps(args: &ReduceArgs, by_default: StepChoice) -> Result<StepChoice, CommandFailure> {
    let has = |name| args.reduce.contains(&name);
    let steps = args
        .por
        .map_or(by_default, |method| StepChoice::Chosen(PartialOrderMethod::from(method).into()));
    let steps = if has(ReduceArg::Confluence) {
        confluent(args, steps)?
    } else if has(ReduceArg::Simultaneous) {
        StepChoice::Chosen(simultaneous_method(steps)?.into())
    } else {
        steps
    };
    Ok(match (steps, args.por_proviso) {
        (StepChoice::Chosen(way), Some(proviso)) => {
            StepChoice::Chosen(PartialOrderStrategy { proviso: proviso.into(), ..way })
        }
        (_, Some(proviso)) => {
            return Err(CommandFailure::wrong(format!(
                "--por-proviso {}: it is not said that steps are chosen\n  help: say how with --por METHOD, \
                 or name por with --reduce",
                CycleProviso::from(proviso).name()
            )));
        }
        _ => steps,
    })
}

/// The steps that are taken where some of them are to be taken at once, beside what is chosen otherwise.
fn confluent(args: &ReduceArgs, steps: StepChoice) -> Result<StepChoice, CommandFailure> {
    let (method, proviso) = match steps {
        StepChoice::Chosen(PartialOrderStrategy {
            method: PartialOrderMethod::Conditional,
            ..
        }) => (PartialOrderMethod::ConfluentConditional, CycleProviso::Static),
        StepChoice::Chosen(way) => return refuse_method(way.method, ReduceArg::Confluence),
        StepChoice::All | StepChoice::Auto => {
            (PartialOrderMethod::Confluence, ConfluenceArg::Map.into())
        }
    };
    let proviso = args.confluence.map_or(proviso, CycleProviso::from);
    Ok(StepChoice::Chosen(PartialOrderStrategy { method, proviso }))
}

/// The method where steps of several sets are to be taken together.
fn simultaneous_method(steps: StepChoice) -> Result<PartialOrderMethod, CommandFailure> {
    match steps {
        StepChoice::Chosen(way) if way.method != PartialOrderMethod::Conditional => {
            refuse_method(way.method, ReduceArg::Simultaneous)
        }
        _ => Ok(PartialOrderMethod::Simultaneous),
    }
}

fn refuse_method<T>(method: PartialOrderMethod, beside: ReduceArg) -> Result<T, CommandFailure> {
    Err(CommandFailure::wrong(format!(
        "--por {} and --reduce {} do not go together\n  help: leave out one of them, or choose by --por conditional",
        method.name(),
        beside.name()
    )))
}

/// A flag that is given and asks for a reduction that does not keep what is asked of whole runs.
pub(super) fn liveness_unsafe_flag(args: &ReduceArgs) -> Option<String> {
    use ReduceArg::{Auto, Dead, None as Nothing, Por, States, Symmetry, Values};
    let keeps =
        |it: &&ReduceArg| matches!(it, Nothing | Auto | Por | Dead | Values | States | Symmetry);
    let reduce =
        args.reduce.iter().find(|it| !keeps(it)).map(|it| format!("--reduce {}", it.name()));
    let reversible = args.reversible.is_some() || args.check_reversible;
    let named =
        [("--dominate", args.dominate.is_empty()), ("--progress", args.progress.is_empty())];
    let named = named.into_iter().find(|it| !it.1).map(|it| it.0.to_owned());
    let por = args.por.map(PartialOrderMethod::from).filter(|it| it.sleeps());
    let proviso = args.por_proviso.map(CycleProviso::from).filter(|it| *it != CycleProviso::Static);
    reduce
        .or(reversible.then(|| "--reversible".to_owned()))
        .or(named)
        .or(por.map(|it| format!("--por {}", it.name())))
        .or(proviso.map(|it| format!("--por-proviso {}", it.name())))
        .or(args.confluence.map(|_| "--confluence".to_owned()))
}

/// What the flags ask for in a search that looks at whole runs; nothing is reduced that nobody asks for.
pub(super) fn requested_liveness_reductions(
    args: &ReduceArgs,
) -> Result<ReductionRequest, CommandFailure> {
    let wanted = requested_reductions(args, false)?;
    let rewritings = match args.reduce[..] {
        [] => RewriteSelection::NONE,
        _ => wanted.rewritings,
    };
    let symmetry = match (args.symmetry, &args.reduce[..]) {
        (None, []) => None,
        _ => wanted.symmetry,
    };
    let steps = match wanted.steps {
        StepChoice::Auto => StepChoice::All,
        steps => steps,
    };
    let processes =
        args.reduce.contains(&ReduceArg::Symmetry) || symmetry.is_some() && args.symmetry.is_some();
    Ok(ReductionRequest { rewritings, symmetry, processes, steps, ..ReductionRequest::NONE })
}

/// Which rules are to be undone.
fn rules(
    args: &ReduceArgs,
    by_default: Option<RuleSelection>,
) -> Result<Option<RuleSelection>, CommandFailure> {
    let named = args.reversible.as_deref().map(RuleSelection::named);
    let is_checked = args.check_reversible;
    match named.or(by_default) {
        Some(rules) => Ok(Some(RuleSelection { is_checked, ..rules })),
        None if is_checked => Err(CommandFailure::wrong(
            "--check-reversible: it is not said that rules are undone\n  help: say so with --reversible",
        )),
        None => Ok(None),
    }
}

/// Refuses flags of which one takes back what the other asks for.
fn refuse_contradictions(args: &ReduceArgs) -> Result<(), CommandFailure> {
    let ReduceArgs { reduce, por, symmetry, .. } = args;
    let told = || reduce.iter().map(|it| it.name()).collect::<Vec<_>>().join(",");
    let alone = [ReduceArg::None, ReduceArg::Auto];
    if let Some(one) = alone.iter().find(|it| reduce.contains(it) && reduce.len() > 1) {
        let one = one.name();
        return Err(CommandFailure::wrong(format!(
            "--reduce {}: `{one}` stands alone\n  help: leave it out, or all others",
            told()
        )));
    }
    let leaves_out =
        |name| !reduce.is_empty() && !reduce.contains(&name) && !reduce.contains(&ReduceArg::Auto);
    let conflict = |flag: String, name: ReduceArg| {
        let (told, name) = (told(), name.name());
        Err(CommandFailure::wrong(format!(
            "{flag} and --reduce {told} contradict each other: that leaves `{name}` out\n  help: leave \
             out one of them"
        )))
    };
    if let Some(method) = por.filter(|_| leaves_out(ReduceArg::Por)) {
        return conflict(
            format!("--por {}", PartialOrderMethod::from(method).name()),
            ReduceArg::Por,
        );
    }
    refuse_confluence(args)?;
    if args.reversible.is_some() && leaves_out(ReduceArg::Reversible) {
        return conflict("--reversible".into(), ReduceArg::Reversible);
    }
    if !args.dominate.is_empty() && leaves_out(ReduceArg::Dominate) {
        return conflict("--dominate".into(), ReduceArg::Dominate);
    }
    if !args.progress.is_empty() && leaves_out(ReduceArg::Boring) {
        return conflict("--progress".into(), ReduceArg::Boring);
    }
    match symmetry {
        Some(SymmetryArg::Off) if reduce.contains(&ReduceArg::Symmetry) => {
            let told = told();
            Err(CommandFailure::wrong(format!(
                "--symmetry off and --reduce {told} contradict each other\n  help: leave out one of them"
            )))
        }
        Some(how @ (SymmetryArg::Exact | SymmetryArg::Fast)) if leaves_out(ReduceArg::Symmetry) => {
            conflict(format!("--symmetry {}", how.name()), ReduceArg::Symmetry)
        }
        _ => Ok(()),
    }
}

/// Refuses flags that say of confluent steps what cannot be.
fn refuse_confluence(args: &ReduceArgs) -> Result<(), CommandFailure> {
    let reduce = &args.reduce;
    if [ReduceArg::Confluence, ReduceArg::Simultaneous].iter().all(|it| reduce.contains(it)) {
        return Err(CommandFailure::wrong(format!(
            "--reduce {}: confluent steps are taken one by one, not several together\n  help: leave out one of them",
            reduce.iter().map(|it| it.name()).collect::<Vec<_>>().join(",")
        )));
    }
    if let Some(how) = args.confluence {
        let how = how.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default();
        if !reduce.contains(&ReduceArg::Confluence) {
            return Err(CommandFailure::wrong(format!(
                "--confluence {how}: it is not said that confluent steps are taken at once\n  help: name confluence \
                 with --reduce"
            )));
        }
        if let Some(proviso) = args.por_proviso {
            return Err(CommandFailure::wrong(format!(
                "--confluence {how} and --por-proviso {}: both say what becomes of states that put steps off\n  help: \
                 leave out one of them",
                CycleProviso::from(proviso).name()
            )));
        }
    }
    Ok(())
}

/// Refuses partial order where it was asked for and how states are stored has no room for it.
pub(super) fn refuse_store(
    args: &CheckCommand,
    searched: &SearchedModel,
) -> Result<(), CommandFailure> {
    let model = searched.model();
    if args.config.search.store == StoreKind::Comback && model.dominance().is_some() {
        return Err(CommandFailure::wrong(
            "--reduce dominate and --store comback do not go together: there are no states in order to find what dominates \
             one\n  help: leave out one of them",
        ));
    }
    let chooses = !searched.stack().names(&[ReductionKind::Choice]).is_empty();
    let is_comback = args.config.search.store == StoreKind::Comback;
    let sleeps = model.as_sleep_set().is_some()
        && (is_comback || args.config.search.store == StoreKind::Huffman);
    let postpones = model.as_postponing().is_some() && is_comback;
    if !chooses || !(sleeps || postpones) {
        return Ok(());
    }
    let flag =
        match args.reductions.por.map(|method: PartialOrderArg| PartialOrderMethod::from(method)) {
            Some(method) => format!("--por {}", method.name()),
            None => {
                let named = [ReduceArg::Simultaneous, ReduceArg::Por];
                let named = named.into_iter().find(|it| args.reductions.reduce.contains(it));
                format!("--reduce {}", named.unwrap_or(ReduceArg::Confluence).name())
            }
        };
    if sleeps {
        let store = if is_comback { "comback" } else { "huffman" };
        return Err(CommandFailure::wrong(format!(
            "{flag} and --store {store} do not go together: it has no room for which steps are asleep\n  \
             help: leave out one of them"
        )));
    }
    Err(CommandFailure::wrong(format!(
        "{flag} --por-proviso levels and --store comback do not go together: it cannot find out which steps were put \
         off for ever\n  help: leave out one of them, choose by --por-proviso static, with --symmetry off, or \
         look for deadlocks alone (--only deadlock)"
    )))
}

/// What was asked for and does nothing for this model.
pub(super) fn unused_reductions(args: &CheckCommand, searched: &SearchedModel) -> Vec<String> {
    let (shortest, args) = (&args.config.search.shortest, &args.reductions);
    let stack = searched.stack();
    let is_useless = |name: ReduceArg, kind: ReductionKind| {
        let is_refused =
            || stack.unused_reductions().iter().any(|it| it.name.starts_with(name.name()));
        let is_there = stack.names(&[kind]).iter().any(|it| it.starts_with(name.name()));
        args.reduce.contains(&name) && !is_there && !is_refused()
    };
    let mut told = Vec::new();
    if is_useless(ReduceArg::Symmetry, ReductionKind::Representative) {
        told.push("symmetry is left out: nothing in the model is symmetric".into());
    }
    if is_useless(ReduceArg::Linear, ReductionKind::Representative) {
        told.push(
            "linear is left out: no variables are found that only count on from each other".into(),
        );
    }
    if is_useless(ReduceArg::Dead, ReductionKind::Rewriting) {
        told.push("dead is left out: no variable of the model is found to be dead anywhere".into());
    }
    if is_useless(ReduceArg::Values, ReductionKind::Rewriting) {
        told.push(
            "values is left out: no values of a variable are found that nothing tells apart".into(),
        );
    }
    if is_useless(ReduceArg::States, ReductionKind::Rewriting) {
        told.push(
            "states is left out: no locations of a process are found that nothing tells apart"
                .into(),
        );
    }
    if is_useless(ReduceArg::Slice, ReductionKind::Rewriting) {
        told.push("slice is left out: all of the model can influence what is looked for".into());
    }
    if is_useless(ReduceArg::Structural, ReductionKind::Rewriting) {
        told.push(
            "structural is left out: no place or transition of a net is found that could go".into(),
        );
    }
    if is_useless(ReduceArg::Merge, ReductionKind::Rewriting) {
        told.push("merge is left out: nowhere could a process go on without being seen".into());
    }
    if *shortest && !preserves_depth(searched.model()) {
        let names = stack.names(&[ReductionKind::Rewriting]);
        let is_merged = names.iter().any(|it| it == merge::NAME || it == structural::NAME);
        let why = match stack.names(&[ReductionKind::Choice]).is_empty() {
            _ if is_merged => "steps are merged",
            true => "rules are undone",
            false => "states are run through",
        };
        told.push(format!("--shortest is left out: levels tell no steps where {why}"));
    }
    told
}
