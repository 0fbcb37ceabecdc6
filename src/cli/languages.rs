//! What the command line says about languages, made from what they say of themselves.

use super::failure::CommandFailure;
use crate::front::{LANGUAGES, Language};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Reads the value of `--language`.
pub(super) fn parser() -> impl TypedValueParser<Value = &'static Language> {
    let value = |it: &&Language| PossibleValue::new(it.name).help(it.origin);
    PossibleValuesParser::new(LANGUAGES.iter().map(value)).map(|name| {
        Language::from_name(&name).unwrap_or_else(|| unreachable!("no other value is possible"))
    })
}

/// The languages of which something is true, as sentences name them.
pub(super) fn titles(is_one: impl Fn(&Language) -> bool) -> String {
    let titles: Vec<_> =
        LANGUAGES.iter().filter(|it| is_one(it)).map(|it| it.title.to_string()).collect();
    listed(&titles, "and")
}

/// The usual ending of each language's files.
pub(super) fn usual_endings() -> String {
    let usual = LANGUAGES.iter().filter_map(|language| language.extensions.first());
    usual.map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(", ")
}

/// The error that flags are for models in other languages.
pub(super) fn misfit(flags: &str, titles: &str, file: &str, language: &Language) -> CommandFailure {
    let name = language.name;
    CommandFailure::wrong(format!("{flags} for models in {titles}, and {file} is in {name}"))
}

/// What a language has that others need not have, or the error that a flag is for models in those that have it.
pub(super) fn require_feature<T>(
    flag: &str,
    file: &str,
    language: &Language,
    of: impl Fn(&Language) -> Option<T>,
) -> Result<T, CommandFailure> {
    let misfit = || misfit(flag, &titles(|it| of(it).is_some()), file, language);
    of(language).ok_or_else(misfit)
}

/// The error that the name of a file does not tell its language.
pub(super) fn unknown_ending(file: &str) -> String {
    let endings = |language: &Language| {
        let endings: Vec<_> =
            language.extensions.iter().map(|ending| format!(".{ending}")).collect();
        listed(&endings, "or")
    };
    let known = LANGUAGES.iter().enumerate().map(|(number, language)| {
        let verb = if number == 0 { "end in" } else { "in" };
        format!("in {} {verb} {}", language.title, endings(language))
    });
    let known = known.collect::<Vec<_>>().join(", ");
    format!(
        "{file}: the ending of the file names no known language\n  help: models {known}; \
         `--language` names it whatever the ending"
    )
}

/// `a, b or c`, with another word for `or`.
fn listed(items: &[String], word: &str) -> String {
    match items {
        [init @ .., last] if !init.is_empty() => format!("{} {word} {last}", init.join(", ")),
        _ => items.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_like_sentences() {
        let list = |items: &[&str]| {
            listed(&items.iter().map(|it| it.to_string()).collect::<Vec<_>>(), "or")
        };
        assert_eq!([list(&[]), list(&["a"])], ["", "a"]);
        assert_eq!([list(&["a", "b"]), list(&["a", "b", "c"])], ["a or b", "a, b or c"]);
    }

    #[test]
    fn a_file_without_a_known_ending_is_told_all_of_them() {
        assert_eq!(
            unknown_ending("model.txt"),
            "model.txt: the ending of the file names no known language\n  help: models in DVE end in \
             .dve, in Murphi in .m or .murphi, in PNML in .pnml, in Promela in .pml, .prom, .promela, .pr, .prm, .spin \
             or .pm; `--language` names it whatever the ending"
        );
    }
}
