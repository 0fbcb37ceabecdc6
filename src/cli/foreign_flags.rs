//! Help for users of other checkers: their flags are explained in terms of Spillway's.

use crate::escape;
use crate::front::{LANGUAGES, Language};
use crate::session::SearchDirectory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::path::Path;

/// Adds help to an invalid command line, if its flags are those of another checker.
pub(super) fn with_foreign_help(mut error: clap::Error) -> (clap::Error, Option<String>) {
    let help = match error.kind() {
        ErrorKind::UnknownArgument => flag().map(|(typed, meant)| {
            // The text is neither a cluster of short flags nor a value.
            error.remove(ContextKind::Suggested);
            error.remove(ContextKind::SuggestedArg);
            error.insert(ContextKind::InvalidArg, ContextValue::String(typed.clone()));
            format!("help: {typed} is a flag of {meant}")
        }),
        ErrorKind::InvalidSubcommand => match error.get(ContextKind::InvalidSubcommand) {
            Some(ContextValue::String(name)) => forgotten(name),
            _ => None,
        },
        _ => None,
    };
    (error, help)
}

/// Returns the intended command if a model or a search directory stands in its place.
fn forgotten(name: &str) -> Option<String> {
    let command = match () {
        () if SearchDirectory::has_search(Path::new(name)) => "status",
        () if Language::from_file_name(name).is_some() => "check",
        () => return None,
    };
    let words = std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned());
    let words: Vec<String> = words.map(|it| escape::shell(&it).into_owned()).collect();
    Some(format!("help: did you mean `spillway {command} {}`?", words.join(" ")))
}

/// Returns the first flag of another checker, and its equivalent.
fn flag() -> Option<(String, String)> {
    let all: Vec<String> =
        std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    let language = all.iter().find_map(|it| Language::from_file_name(it));
    all.into_iter().find_map(|typed| Some((typed.clone(), meant(&typed, language)?)))
}

/// Returns the checker that has a flag, and the equivalent. The checkers of `own` come first, if a language is given.
fn meant(typed: &str, own: Option<&Language>) -> Option<String> {
    let told = |language: &&Language| {
        let habit = language.foreign_flags.iter().find(|it| it.matches(typed))?;
        Some(format!("other checkers of {}; here: {}", language.title, habit.replacement))
    };
    let own = own.and_then(|own| told(&own));
    own.or_else(|| {
        let all: Vec<String> = LANGUAGES.iter().filter_map(told).collect();
        (!all.is_empty()).then(|| all.join(", or of "))
    })
}
