//! Texts about languages on the command line, generated from the descriptions of the languages.

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

/// Returns the titles of the languages that satisfy a predicate, for use in sentences.
pub(super) fn titles(is_one: impl Fn(&Language) -> bool) -> String {
    let titles: Vec<_> =
        LANGUAGES.iter().filter(|it| is_one(it)).map(|it| it.title.to_string()).collect();
    listed(&titles, "and")
}

/// Returns the usual file name extension of each language.
pub(super) fn usual_endings() -> String {
    let usual = LANGUAGES.iter().filter_map(|language| language.extensions.first());
    usual.map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(", ")
}

/// Creates the error that flags apply only to models in other languages.
pub(super) fn misfit(flags: &str, titles: &str, file: &str, language: &Language) -> CommandFailure {
    let name = language.name;
    CommandFailure::wrong(format!("{flags} for models in {titles}, but {file} is in {name}"))
}

/// Returns a feature of a language, or the error that a flag needs a language with this feature.
pub(super) fn require_feature<T>(
    flag: &str,
    file: &str,
    language: &Language,
    of: impl Fn(&Language) -> Option<T>,
) -> Result<T, CommandFailure> {
    let misfit = || misfit(flag, &titles(|it| of(it).is_some()), file, language);
    of(language).ok_or_else(misfit)
}

/// Returns the error that a file name does not determine the language.
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
        "{file}: unknown file extension\n  help: models {known}; `--language` selects the language, whatever the \
         extension"
    )
}

/// Formats `a, b or c`, with `word` in place of `or`.
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
    fn lists_are_joined_with_a_conjunction() {
        let list = |items: &[&str]| {
            listed(&items.iter().map(|it| it.to_string()).collect::<Vec<_>>(), "or")
        };
        assert_eq!([list(&[]), list(&["a"])], ["", "a"]);
        assert_eq!([list(&["a", "b"]), list(&["a", "b", "c"])], ["a or b", "a, b or c"]);
    }

    #[test]
    fn an_unknown_file_ending_lists_the_known_ones() {
        assert_eq!(
            unknown_ending("model.txt"),
            "model.txt: unknown file extension\n  help: models in DVE end in .dve, in Murphi in .m or .murphi, in \
             PNML in .pnml, in Promela in .pml, .prom, .promela, .pr, .prm, .spin or .pm, in TLA+ in .tla; `--language` \
             selects the language, whatever the extension"
        );
    }
}
