//! Help for invalid command lines: flags of other checkers, and former flags that are options of `-X`.

use super::args::former_flag;
use crate::escape;
use crate::front::{LANGUAGES, Language};
use crate::session::SearchDirectory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::path::Path;

/// Adds help to an invalid command line, if its flags are those of another checker, or if one of them was replaced by
/// an option of `-X`.
pub(super) fn with_foreign_help(mut error: clap::Error) -> (clap::Error, Option<String>) {
    let help = match error.kind() {
        ErrorKind::UnknownArgument => {
            let former = former_flag_of(&error);
            if former.is_some() {
                // It shows a flag with a similar name.
                error.remove(ContextKind::Usage);
            }
            former.or_else(flag).map(|it| {
                // The text is neither a cluster of short flags nor a value.
                error.remove(ContextKind::Suggested);
                error.remove(ContextKind::SuggestedArg);
                error.insert(ContextKind::InvalidArg, ContextValue::String(it.typed));
                it.help
            })
        }
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
    let words = typed_words();
    let words: Vec<_> = words.iter().map(|it| escape::shell(it)).collect();
    Some(format!("help: did you mean `spillway {command} {}`?", words.join(" ")))
}

/// A flag that no command has, but that has a known meaning.
struct KnownFlag {
    /// The flag as it is typed.
    typed: String,
    /// The message that explains it.
    help: String,
}

/// Returns the words of the command line after the name of the program.
fn typed_words() -> Vec<String> {
    std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect()
}

/// Returns the unknown flag of an error, if an option of `-X` has replaced it. It lacks its value: flags with their
/// value are replaced.
fn former_flag_of(error: &clap::Error) -> Option<KnownFlag> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    let replacement = former_flag(&typed_words(), flag)?.shown;
    Some(KnownFlag {
        typed: flag.clone(),
        help: format!("help: {flag} is an option of -X: {replacement}"),
    })
}

/// Returns the first flag of another checker, and its equivalent.
fn flag() -> Option<KnownFlag> {
    let all = typed_words();
    let language = all.iter().find_map(|it| Language::from_file_name(it));
    all.into_iter().find_map(|typed| {
        let help = format!("help: {typed} is a flag of {}", meant(&typed, language)?);
        Some(KnownFlag { typed, help })
    })
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
