//! What people type who come from other checkers: they are told what is meant here.

use crate::front::{Habit, LANGUAGES, Language};
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// What helps with this process's command line, which is not understood, if it is known from elsewhere.
pub(super) fn help(error: &clap::Error) -> Option<String> {
    match error.kind() {
        ErrorKind::UnknownArgument => std::env::args_os().find_map(|typed| {
            let typed = typed.to_string_lossy();
            Some(format!("help: {typed} is a flag of {}", meant(&typed)?))
        }),
        ErrorKind::InvalidSubcommand => {
            let ContextValue::String(file) = error.get(ContextKind::InvalidSubcommand)? else {
                return None;
            };
            Language::of_file(file)?;
            Some(format!("help: `spillway check {file}` searches the model"))
        }
        _ => None,
    }
}

/// Whose flag that is, and what does here what it does there.
fn meant(typed: &str) -> Option<String> {
    let told = |(language, habit): (&Language, &Habit)| {
        format!("other checkers of {}; here: {}", language.title, habit.here)
    };
    let all =
        LANGUAGES.iter().flat_map(|language| language.habits.iter().map(move |it| (*language, it)));
    let told: Vec<String> = all.filter(|(_, habit)| habit.is(typed)).map(told).collect();
    (!told.is_empty()).then(|| told.join(", or of "))
}
