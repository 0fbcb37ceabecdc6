//! `--only`: validates the names of variables before the search for a counterexample.

use super::failure::CommandFailure;
use crate::front::name_suggestion;
use crate::ir::{Owner, Process, Program};
use crate::model::SystemDescription;
use crate::session::SourceModel;
use std::collections::BTreeSet;

/// Rejects a name that is no variable, channel or process of a model, and suggests a similar one.
pub(super) fn refuse_unknown(
    wanted: &[String],
    model: &dyn SourceModel,
) -> Result<(), CommandFailure> {
    match model.as_program() {
        Some(program) => {
            let names = StateVariableNames { program: program.interp.program() };
            wanted.iter().try_for_each(|it| names.check(it))
        }
        None => refuse_unknown_variables(wanted, model.searched().model().description()),
    }
}

/// Rejects a name that is no variable in the states of a model without processes.
fn refuse_unknown_variables(
    wanted: &[String],
    model: &dyn SystemDescription,
) -> Result<(), CommandFailure> {
    // Any bytes have all variables, whatever their values.
    let variables = model.describe(&vec![0; model.width()]);
    let known: Vec<&str> = variables.iter().map(|it| it.0.as_str()).collect();
    let unknown = wanted.iter().map(|it| split(it).0).find(|it| !known.contains(it));
    unknown.map_or(Ok(()), |it| {
        let help = name_suggestion::unknown_name_help(it, &known, "variables");
        Err(refused(&format!("the model has no variable {it}"), &help))
    })
}

/// The names in the states of a program.
struct StateVariableNames<'p> {
    program: &'p Program,
}

impl<'p> StateVariableNames<'p> {
    fn check(&self, wanted: &str) -> Result<(), CommandFailure> {
        let (first, rest) = split(wanted);
        if self.of(Owner::Program).contains(first) || self.is_of_claim(wanted) {
            return Ok(());
        }
        let Some(process) = self.processes().find(|it| it.name == first) else {
            return Err(self.unknown(wanted, first));
        };
        // Dynamic processes have one instance for each pid.
        let (index, member) = match rest.find('.') {
            Some(dot) => (&rest[..dot], Some(split(&rest[dot + 1..]).0)),
            None => (rest, None),
        };
        let Some(member) = member else { return Ok(()) };
        let own = self.members(process);
        match own.contains(member) {
            false => {
                let own: Vec<&str> = own.into_iter().collect();
                let help = name_suggestion::unknown_name_help(member, &own, "variables");
                Err(refused(&format!("{first} has no variable {member}"), &help))
            }
            true if process.has_slots() && index.is_empty() => {
                let help = format!("`{first}[0].{member}` is that of process 0");
                Err(refused(
                    &format!("{first} has several instances, each with its {member}"),
                    &help,
                ))
            }
            true => Ok(()),
        }
    }

    /// Returns whether a name is that of a claim, whose location is part of the state.
    fn is_of_claim(&self, wanted: &str) -> bool {
        wanted == "claim" || wanted.starts_with("claim ")
    }

    fn processes(&self) -> impl Iterator<Item = &'p Process> {
        self.program.processes.values()
    }

    /// Returns the variables and channels of an owner.
    fn of(&self, owner: Owner) -> BTreeSet<&'p str> {
        let variables = self.program.variables.values().filter(|it| it.owner == owner);
        // Rendezvous channels are not part of the state.
        let channels =
            self.program.channels.values().filter(|it| it.owner == owner && it.capacity > 0);
        variables.map(|it| it.name.as_str()).chain(channels.map(|it| it.name.as_str())).collect()
    }

    fn members(&self, process: &Process) -> BTreeSet<&'p str> {
        let id = self.program.processes.iter().find(|(_, it)| std::ptr::eq(*it, process));
        id.map_or_else(BTreeSet::new, |(id, _)| self.of(Owner::Process(id)))
    }

    fn unknown(&self, wanted: &str, first: &str) -> CommandFailure {
        let owner = self.processes().find(|it| self.members(it).contains(first));
        let help = match owner {
            Some(it) => {
                let pid = if it.has_slots() { "[0]" } else { "" };
                format!("did you mean `{}{pid}.{wanted}`?", it.name)
            }
            None => {
                let known = self.of(Owner::Program).into_iter();
                let known: Vec<&str> =
                    known.chain(self.processes().map(|it| it.name.as_str())).collect();
                name_suggestion::unknown_name_help(first, &known, "variables and processes")
            }
        };
        refused(&format!("the model has no variable {first}"), &help)
    }
}

fn refused(why: &str, help: &str) -> CommandFailure {
    CommandFailure::wrong(format!("--only: {why}\n  help: {help}"))
}

/// Splits a name from the selector of a part.
fn split(name: &str) -> (&str, &str) {
    name.split_at(name.find(['[', '.']).unwrap_or(name.len()))
}
