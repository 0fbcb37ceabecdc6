//! `explain`: a model as Spillway reads it.

use super::args::{AutomatonFormatArg, ExplainArgs};
use super::command::ModelInput;
use super::failure::{CommandFailure, VERIFIED};
use super::{CommandResult, model, print, warn};
use crate::budget::AnalysisBudget;
use crate::exec::{ExecutionMode, Executor, Interp};
use crate::ir::layout::GroupContent;
use crate::ir::{Program, text};
use crate::model::{ActionInfo, Counters, PropertyInfo, StateSpace, SystemDescription};
use crate::reduce::entry::ReductionSubject;
use crate::reduce::{ReductionConfig, ReductionPlan, ReductionRefusal, ReductionSummary};
use crate::report;
use crate::search::{SearchControl, SearchLimits, StateStorage};
use crate::session::{
    ApplicableReduction, KeyOrder, LivenessCheck, PropertyRequest, ReductionSaving,
    ReductionSettings, SearchBudget, SearchedModel, SourceModel, TextModel,
};
use std::fmt::Write;

/// `spillway explain`.
pub(super) fn explain(args: &ExplainArgs) -> CommandResult {
    let input = ModelInput::from_args(&args.model, &args.expert);
    if model::is_specification(&input)? {
        return specification(args, &input);
    }
    if let Some(wanted) = args.shown.property.wanted() {
        return property(args, wanted);
    }
    let mut config = ReductionConfig::default();
    args.reductions.apply(&args.expert, &mut config)?;
    let wanted = config.resolve();
    let control = SearchControl::default();
    let key_order = input.config.search.key_order;
    let (model, share) = model::open(&input)?.in_key_order(key_order, &control)?;
    if args.reductions_only {
        let found = model.applicable(args.memory, |it| Executor::new(it, ExecutionMode::Jit));
        let found = found.map_err(|error| CommandFailure::wrong(error.to_string()))?;
        print(&list_applicable(&found));
        return Ok(VERIFIED);
    }
    let budget = AnalysisBudget::new(args.memory, &control);
    let (limits, storage) = (SearchLimits::default(), StateStorage::default());
    let plan = ReductionPlan::new(wanted.selection.clone(), limits.checks);
    let runs = model.runnable(&plan, &budget, |it| Executor::new(it, ExecutionMode::Jit));
    let executor = runs.executor();
    if let Some(wanted) = &args.asm {
        print(&assembly(executor, &model, wanted)?);
        return Ok(VERIFIED);
    }
    print(&format!("{}\n", text::print(model.interp.program())));
    print(&format!("{}{}\n", layout(&model.interp), order(&model, key_order, share)));
    print(&format!("{}\n\n", report::print_compiled(&executor.compiled())));
    let settings = ReductionSettings {
        limits: &limits,
        storage: &storage,
        control: &control,
        budget: &budget,
    };
    let searched = model.reduced(runs.clone(), wanted, settings);
    print(&format!("{}{}\n", reductions(&searched), memory(args, &searched)));
    Ok(VERIFIED)
}

/// Prints a specification as it is searched: its files, variables, actions, conditions and memory plan.
fn specification(args: &ExplainArgs, input: &ModelInput) -> CommandResult {
    let for_programs = [
        ("--reductions", args.reductions_only),
        ("--asm", args.asm.is_some()),
        ("--ltl, --automaton, --acceptance or --non-progress", args.shown.property.count() > 0),
    ];
    if let Some((flag, _)) = for_programs.into_iter().find(|it| it.1) {
        return Err(CommandFailure::wrong(format!(
            "{flag} is for programs, and this model is a specification\n  help: leave it out"
        )));
    }
    let (model, warnings) = model::open_specification(input)?;
    warnings.iter().for_each(warn);
    let (system, sources) = (model.system(), model.sources());
    let place = |span| sources.place(span).map_or(String::new(), |it| it.line());
    let files: Vec<&str> = sources.model_files().map(|it| it.name.as_str()).collect();
    let mut out = report::row("files", &files.join(", "));
    let description: &dyn SystemDescription = system;
    for ActionInfo { name, span } in description.actions() {
        out += &report::row("action", &format!("{name} ({})", place(span)));
    }
    for PropertyInfo { kind, name, span } in description.properties() {
        out += &report::row(kind, &format!("{name} ({})", place(span)));
    }
    let width = system.width();
    let _ = writeln!(out, "\nstate of {} bits in {width} bytes, and dictionaries", 8 * width);
    // Any bytes have all variables.
    let variables = system.describe(&vec![0; width]);
    for ((name, _), bits) in variables.iter().zip(system.variable_bits()) {
        let _ = writeln!(out, "  {bits:>5} bits {name}");
    }
    print(&format!("{out}\n{}\n", memory(args, &model.searched())));
    Ok(VERIFIED)
}

/// Prints the automaton of a temporal property.
fn property(args: &ExplainArgs, wanted: PropertyRequest<'_>) -> CommandResult {
    if args.shown.property.count() > 1 {
        let help = "give one of --ltl, --automaton, --acceptance and --non-progress";
        return Err(CommandFailure::wrong(format!(
            "several properties are given, but only one automaton can be printed\n  help: {help}"
        )));
    }
    let check =
        model::open_with_property(&ModelInput::from_args(&args.model, &args.expert), wanted)?;
    let how = match check.invariant() {
        Some(_) => "checked as an invariant: by a search for a reachable state that violates it\n",
        None => "",
    };
    let LivenessCheck { name, automaton, .. } = check;
    let Some(automaton) = automaton else {
        return Err(CommandFailure::wrong(format!(
            "{name} is a never claim of the model\n  help: `spillway explain --claim {name}` shows it, as part of the \
             program"
        )));
    };
    let what = match wanted {
        PropertyRequest::Formula(_) | PropertyRequest::Labels(_) => "formula",
        PropertyRequest::Automaton(_) | PropertyRequest::Saved { .. } => "automaton",
    };
    match args.shown.format.unwrap_or_default() {
        AutomatonFormatArg::Hoa => print(&automaton.hoa(&format!("what violates {name}"))),
        AutomatonFormatArg::Dot => print(&automaton.dot(&format!("what violates {name}"))),
        AutomatonFormatArg::Text if automaton.is_empty() => {
            print(&format!("{what} {name}: no run violates it, whatever the model does\n"));
        }
        AutomatonFormatArg::Text => {
            let text = automaton.text();
            print(&format!(
                "{what} {name}: violated by the runs that this automaton accepts\n{text}{how}"
            ));
        }
    }
    Ok(VERIFIED)
}

/// Formats the reductions of a search, and those that are not used.
fn reductions(searched: &SearchedModel) -> String {
    let stack = searched.stack();
    let mut out = String::new();
    for ReductionSummary { name, preserves, .. } in stack.summaries(&Counters::default()) {
        out += &report::wrapped("", &format!("reduced by {name}, which preserves {preserves}"));
    }
    for ReductionRefusal { name, reason: why, .. } in stack.unused_reductions() {
        out += &report::wrapped(
            "",
            &format!("not reduced by {name}: {}", report::print_refusal(&why)),
        );
    }
    if out.is_empty() { out } else { out + "\n" }
}

/// Formats the applicable reductions, each without others.
fn list_applicable(found: &[ApplicableReduction]) -> String {
    let mut out = String::new();
    for ApplicableReduction { name, subjects, saves } in found {
        let saves = match saves {
            Err(why) => format!("not used: {}", report::print_refusal(why)),
            Ok(ReductionSaving::Levels) => {
                "visits all states, but finds inevitable violations earlier".into()
            }
            Ok(ReductionSaving::Predicted { share, combination }) => {
                format!("saves about {:.0} % of the states ({combination})", share * 100.0)
            }
            // With merged steps there are more states in the same number of levels, although there are fewer in total.
            Ok(ReductionSaving::States { share, is_all: false, .. }) if *share < 0.0 => {
                "savings unknown: one transition stands for several".into()
            }
            Ok(ReductionSaving::States { share, states, is_all }) => {
                let of = if *is_all { "all" } else { "the first" };
                format!(
                    "saves {:.0} % of {of} {}",
                    share * 100.0,
                    report::count(*states as u64, "state")
                )
            }
        };
        out += &report::wrapped(&format!("{name:<14}"), &saves);
        for ReductionSubject { name, place, about } in subjects {
            let place = place.as_deref().map_or(String::new(), |place| format!(" ({place})"));
            let _ = writeln!(out, "  {name}{place}: {about}");
        }
    }
    out
}

/// Formats the memory plan of a search.
fn memory(args: &ExplainArgs, searched: &SearchedModel) -> String {
    let (memory, threads, exec) = (args.memory, args.threads, ExecutionMode::Jit);
    let budget = SearchBudget { memory, threads, exec, goes_on: false, counts: true };
    let model = searched.model();
    let storage = StateStorage::default();
    let plan = budget.share_out(storage.stored_width(model));
    let plan = plan.map(|plan| plan.of_search(model, &storage));
    plan.map_or_else(|error| error.to_string(), |plan| plan.to_string())
}

/// Formats the machine code of the actions with this number or name.
fn assembly(
    executor: &Executor,
    model: &TextModel,
    wanted: &str,
) -> Result<String, CommandFailure> {
    if let Err(why) = executor.compiled() {
        return Err(CommandFailure::wrong(format!("this model has no machine code: {why}")));
    }
    let actions = &model.interp.program().actions;
    let chosen =
        actions.iter().filter(|(id, action)| action.name == wanted || wanted.parse() == Ok(id.0));
    let mut out = String::new();
    for (id, action) in chosen {
        let code =
            executor.assembly(id).map_err(|error| CommandFailure::wrong(error.to_string()))?;
        let _ = writeln!(out, "action {}: {}\n{code}", id.0, action.name);
    }
    match out.is_empty() {
        false => Ok(out),
        true => Err(CommandFailure::wrong(format!(
            "{} has no action `{wanted}`\n  help: `spillway explain` without --asm lists the actions; give a quoted \
             name, or the position in the list, from 0",
            model.name()
        ))),
    }
}

/// Formats the fields of the state vector in key order, with their bits.
pub(super) fn layout(model: &Interp) -> String {
    let (program, layout) = (model.program(), model.layout());
    let mut out = format!("state of {} bits in {} bytes\n", layout.bits, layout.bytes);
    for &id in &layout.order {
        let (bits, name) = (layout.extent(id), part(program, layout.groups[id].part));
        let _ = writeln!(out, "  bits {:>5} + {:<5} {name}", bits.start, bits.len());
    }
    out
}

/// Returns the name of a group of cells.
fn part(program: &Program, part: GroupContent) -> String {
    let owned = |owner, name: &str| program.owned_name(owner, name);
    match part {
        GroupContent::Location(process) => {
            format!("location of {}", program.processes[process].name)
        }
        GroupContent::Variable(id) => {
            owned(program.variables[id].owner, &program.variables[id].name)
        }
        GroupContent::Channel(id) => owned(program.channels[id].owner, &program.channels[id].name),
    }
}

/// Describes how the key order was chosen.
fn order(model: &TextModel, wanted: KeyOrder, share: Option<f64>) -> String {
    let why = match (wanted, share) {
        (KeyOrder::Sampled, None) => {
            ": there are too few states, or no other order compresses a sample much better"
                .to_string()
        }
        (_, Some(share)) => {
            format!(": a sample takes {:.0} % of its size in the declared order", share * 100.0)
        }
        _ => String::new(),
    };
    format!("key order {}{why}\n", model.key_order())
}
