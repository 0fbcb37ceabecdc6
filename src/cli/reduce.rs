//! `--reduce`, `--por` and `--symmetry`: which reductions a search uses.

use super::args::{
    CheckArgs, ConfluenceArg, PartialOrderArg, ReduceArg, ReduceArgs, StoreArg, SymmetryArg,
};
use super::failure::Failure;
use crate::exec::{Checks, keeps_depth};
use crate::reduce::partial_order::{Method, Proviso, Way};
use crate::reduce::pruning::Pruning;
use crate::reduce::reversible::Rules;
use crate::reduce::rewriting::Rewritings;
use crate::reduce::{Kind, merge, structural};
use crate::session::{Reduce, Searched, Steps};
use clap::ValueEnum as _;

/// The method where none is named.
const BEST: Method = Method::Conditional;

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
pub(super) fn wanted(args: &ReduceArgs, keep_going: bool) -> Result<Reduce, Failure> {
    refuse_contradictions(args)?;
    let has = |name| args.reduce.contains(&name);
    let by_default = match args.reduce[..] {
        [] if keep_going => {
            Reduce { rewritings: Rewritings::NONE, steps: Steps::All, ..Reduce::AUTO }
        }
        [] | [ReduceArg::Auto] => Reduce::AUTO,
        _ => {
            let steps = match has(ReduceArg::Por) {
                true => Steps::Chosen(BEST.into()),
                false => Steps::All,
            };
            let symmetry = Reduce::AUTO.symmetry.filter(|_| has(ReduceArg::Symmetry));
            let reversible = has(ReduceArg::Reversible).then(Rules::default);
            let rewritings = Rewritings {
                // For whatever is looked for in the end.
                slice: has(ReduceArg::Slice).then(Checks::default),
                structural: has(ReduceArg::Structural).then(Checks::default),
                values: has(ReduceArg::Values),
                states: has(ReduceArg::States),
                dead: has(ReduceArg::Dead),
                jointly: false,
                merge: has(ReduceArg::Merge),
            };
            let (linear, processes) = (has(ReduceArg::Linear), has(ReduceArg::Symmetry));
            let pruning = Pruning {
                dominate: has(ReduceArg::Dominate).then(Vec::new),
                boring: has(ReduceArg::Boring).then(Vec::new),
                doomed: has(ReduceArg::Doomed),
                ..Pruning::NONE
            };
            Reduce { reversible, rewritings, linear, symmetry, processes, pruning, steps }
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
    let wanted = Reduce { reversible, symmetry, processes, pruning, steps, ..by_default };
    Ok(wanted.looking_around())
}

/// How steps are taken, which is so by default otherwise.
fn steps(args: &ReduceArgs, by_default: Steps) -> Result<Steps, Failure> {
    let has = |name| args.reduce.contains(&name);
    let steps = args.por.map_or(by_default, |method| Steps::Chosen(Method::from(method).into()));
    let steps = if has(ReduceArg::Confluence) {
        confluent(args, steps)?
    } else if has(ReduceArg::Simultaneous) {
        Steps::Chosen(taken_together(steps)?.into())
    } else {
        steps
    };
    Ok(match (steps, args.por_proviso) {
        (Steps::Chosen(way), Some(proviso)) => {
            Steps::Chosen(Way { proviso: proviso.into(), ..way })
        }
        (_, Some(proviso)) => {
            return Err(Failure::wrong(format!(
                "--por-proviso {}: it is not said that steps are chosen\n  help: say how with --por METHOD, \
                 or name por with --reduce",
                Proviso::from(proviso).name()
            )));
        }
        _ => steps,
    })
}

/// The steps that are taken where some of them are to be taken at once, beside what is chosen otherwise.
fn confluent(args: &ReduceArgs, steps: Steps) -> Result<Steps, Failure> {
    let (method, proviso) = match steps {
        Steps::Chosen(Way { method: Method::Conditional, .. }) => {
            (Method::ConfluentConditional, Proviso::Static)
        }
        Steps::Chosen(way) => return refuse_method(way.method, ReduceArg::Confluence),
        Steps::All | Steps::Auto => (Method::Confluence, ConfluenceArg::Map.into()),
    };
    let proviso = args.confluence.map_or(proviso, Proviso::from);
    Ok(Steps::Chosen(Way { method, proviso }))
}

/// The method where steps of several sets are to be taken together.
fn taken_together(steps: Steps) -> Result<Method, Failure> {
    match steps {
        Steps::Chosen(way) if way.method != Method::Conditional => {
            refuse_method(way.method, ReduceArg::Simultaneous)
        }
        _ => Ok(Method::Simultaneous),
    }
}

fn refuse_method<T>(method: Method, beside: ReduceArg) -> Result<T, Failure> {
    Err(Failure::wrong(format!(
        "--por {} and --reduce {} do not go together\n  help: leave out one of them, or choose by --por conditional",
        method.name(),
        beside.name()
    )))
}

/// A flag that is given and asks for a reduction that does not keep what is asked of whole runs.
pub(super) fn loses_runs(args: &ReduceArgs) -> Option<String> {
    use ReduceArg::{Auto, Dead, None as Nothing, Por, States, Symmetry, Values};
    let keeps =
        |it: &&ReduceArg| matches!(it, Nothing | Auto | Por | Dead | Values | States | Symmetry);
    let reduce =
        args.reduce.iter().find(|it| !keeps(it)).map(|it| format!("--reduce {}", it.name()));
    let reversible = args.reversible.is_some() || args.check_reversible;
    let named =
        [("--dominate", args.dominate.is_empty()), ("--progress", args.progress.is_empty())];
    let named = named.into_iter().find(|it| !it.1).map(|it| it.0.to_owned());
    let por = args.por.map(Method::from).filter(|it| it.sleeps());
    let proviso = args.por_proviso.map(Proviso::from).filter(|it| *it != Proviso::Static);
    reduce
        .or(reversible.then(|| "--reversible".to_owned()))
        .or(named)
        .or(por.map(|it| format!("--por {}", it.name())))
        .or(proviso.map(|it| format!("--por-proviso {}", it.name())))
        .or(args.confluence.map(|_| "--confluence".to_owned()))
}

/// What the flags ask for in a search that looks at whole runs; nothing is reduced that nobody asks for.
pub(super) fn wanted_of_runs(args: &ReduceArgs) -> Result<Reduce, Failure> {
    let wanted = wanted(args, false)?;
    let rewritings = match args.reduce[..] {
        [] => Rewritings::NONE,
        _ => wanted.rewritings,
    };
    let symmetry = match (args.symmetry, &args.reduce[..]) {
        (None, []) => None,
        _ => wanted.symmetry,
    };
    let steps = match wanted.steps {
        Steps::Auto => Steps::All,
        steps => steps,
    };
    let processes =
        args.reduce.contains(&ReduceArg::Symmetry) || symmetry.is_some() && args.symmetry.is_some();
    Ok(Reduce { rewritings, symmetry, processes, steps, ..Reduce::NONE })
}

/// Which rules are to be undone.
fn rules(args: &ReduceArgs, by_default: Option<Rules>) -> Result<Option<Rules>, Failure> {
    let named = args.reversible.as_deref().map(Rules::named);
    let is_checked = args.check_reversible;
    match named.or(by_default) {
        Some(rules) => Ok(Some(Rules { is_checked, ..rules })),
        None if is_checked => Err(Failure::wrong(
            "--check-reversible: it is not said that rules are undone\n  help: say so with --reversible",
        )),
        None => Ok(None),
    }
}

/// Refuses flags of which one takes back what the other asks for.
fn refuse_contradictions(args: &ReduceArgs) -> Result<(), Failure> {
    let ReduceArgs { reduce, por, symmetry, .. } = args;
    let told = || reduce.iter().map(|it| it.name()).collect::<Vec<_>>().join(",");
    let alone = [ReduceArg::None, ReduceArg::Auto];
    if let Some(one) = alone.iter().find(|it| reduce.contains(it) && reduce.len() > 1) {
        let one = one.name();
        return Err(Failure::wrong(format!(
            "--reduce {}: `{one}` stands alone\n  help: leave it out, or all others",
            told()
        )));
    }
    let leaves_out =
        |name| !reduce.is_empty() && !reduce.contains(&name) && !reduce.contains(&ReduceArg::Auto);
    let conflict = |flag: String, name: ReduceArg| {
        let (told, name) = (told(), name.name());
        Err(Failure::wrong(format!(
            "{flag} and --reduce {told} contradict each other: that leaves `{name}` out\n  help: leave \
             out one of them"
        )))
    };
    if let Some(method) = por.filter(|_| leaves_out(ReduceArg::Por)) {
        return conflict(format!("--por {}", Method::from(method).name()), ReduceArg::Por);
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
            Err(Failure::wrong(format!(
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
fn refuse_confluence(args: &ReduceArgs) -> Result<(), Failure> {
    let reduce = &args.reduce;
    if [ReduceArg::Confluence, ReduceArg::Simultaneous].iter().all(|it| reduce.contains(it)) {
        return Err(Failure::wrong(format!(
            "--reduce {}: confluent steps are taken one by one, not several together\n  help: leave out one of them",
            reduce.iter().map(|it| it.name()).collect::<Vec<_>>().join(",")
        )));
    }
    if let Some(how) = args.confluence {
        let how = how.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default();
        if !reduce.contains(&ReduceArg::Confluence) {
            return Err(Failure::wrong(format!(
                "--confluence {how}: it is not said that confluent steps are taken at once\n  help: name confluence \
                 with --reduce"
            )));
        }
        if let Some(proviso) = args.por_proviso {
            return Err(Failure::wrong(format!(
                "--confluence {how} and --por-proviso {}: both say what becomes of states that put steps off\n  help: \
                 leave out one of them",
                Proviso::from(proviso).name()
            )));
        }
    }
    Ok(())
}

/// Refuses partial order where it was asked for and how states are stored has no room for it.
pub(super) fn refuse_store(args: &CheckArgs, searched: &Searched) -> Result<(), Failure> {
    let model = searched.model();
    if args.store == StoreArg::Comback && model.dominance().is_some() {
        return Err(Failure::wrong(
            "--reduce dominate and --store comback do not go together: there are no states in order to find what dominates \
             one\n  help: leave out one of them",
        ));
    }
    let chooses = !searched.stack().names(&[Kind::Choice]).is_empty();
    let is_comback = args.store == StoreArg::Comback;
    let sleeps = model.sleeps().is_some() && (is_comback || args.store == StoreArg::Huffman);
    let postpones = model.postpones().is_some() && is_comback;
    if !chooses || !(sleeps || postpones) {
        return Ok(());
    }
    let flag = match args.reductions.por.map(|method: PartialOrderArg| Method::from(method)) {
        Some(method) => format!("--por {}", method.name()),
        None => {
            let named = [ReduceArg::Simultaneous, ReduceArg::Por];
            let named = named.into_iter().find(|it| args.reductions.reduce.contains(it));
            format!("--reduce {}", named.unwrap_or(ReduceArg::Confluence).name())
        }
    };
    if sleeps {
        let store = if is_comback { "comback" } else { "huffman" };
        return Err(Failure::wrong(format!(
            "{flag} and --store {store} do not go together: it has no room for which steps are asleep\n  \
             help: leave out one of them"
        )));
    }
    Err(Failure::wrong(format!(
        "{flag} --por-proviso levels and --store comback do not go together: it cannot find out which steps were put \
         off for ever\n  help: leave out one of them, choose by --por-proviso static, with --symmetry off, or \
         look for deadlocks alone (--only deadlock)"
    )))
}

/// What was asked for and does nothing for this model.
pub(super) fn useless(args: &CheckArgs, searched: &Searched) -> Vec<String> {
    let CheckArgs { reductions: args, shortest, .. } = args;
    let stack = searched.stack();
    let is_useless = |name: ReduceArg, kind: Kind| {
        let is_refused = || stack.unused().iter().any(|it| it.name.starts_with(name.name()));
        let is_there = stack.names(&[kind]).iter().any(|it| it.starts_with(name.name()));
        args.reduce.contains(&name) && !is_there && !is_refused()
    };
    let mut told = Vec::new();
    if is_useless(ReduceArg::Symmetry, Kind::Representative) {
        told.push("symmetry is left out: nothing in the model is symmetric".into());
    }
    if is_useless(ReduceArg::Linear, Kind::Representative) {
        told.push(
            "linear is left out: no variables are found that only count on from each other".into(),
        );
    }
    if is_useless(ReduceArg::Dead, Kind::Rewriting) {
        told.push("dead is left out: no variable of the model is found to be dead anywhere".into());
    }
    if is_useless(ReduceArg::Values, Kind::Rewriting) {
        told.push(
            "values is left out: no values of a variable are found that nothing tells apart".into(),
        );
    }
    if is_useless(ReduceArg::States, Kind::Rewriting) {
        told.push(
            "states is left out: no locations of a process are found that nothing tells apart"
                .into(),
        );
    }
    if is_useless(ReduceArg::Slice, Kind::Rewriting) {
        told.push("slice is left out: all of the model can influence what is looked for".into());
    }
    if is_useless(ReduceArg::Structural, Kind::Rewriting) {
        told.push(
            "structural is left out: no place or transition of a net is found that could go".into(),
        );
    }
    if is_useless(ReduceArg::Merge, Kind::Rewriting) {
        told.push("merge is left out: nowhere could a process go on without being seen".into());
    }
    if *shortest && !keeps_depth(searched.model()) {
        let names = stack.names(&[Kind::Rewriting]);
        let is_merged = names.iter().any(|it| it == merge::NAME || it == structural::NAME);
        let why = match stack.names(&[Kind::Choice]).is_empty() {
            _ if is_merged => "steps are merged",
            true => "rules are undone",
            false => "states are run through",
        };
        told.push(format!("--shortest is left out: levels tell no steps where {why}"));
    }
    told
}
