//! The rows of a sweep: every combination of the values of its constants.

use crate::cli::failure::CommandFailure;
use crate::session::config::{ConstantValues, Definition};

/// The maximum number of rows.
const ROWS_MAX: usize = 10_000;

/// The constants of a row, in the order of the lists.
pub(super) type RowConstants = Vec<Definition>;

/// Returns the constants of each row: the product of the lists. The last list varies fastest.
///
/// # Errors
///
/// There is no list, a list is empty, a constant has two lists or a value elsewhere, or there are too many rows.
pub(super) fn rows_of(
    lists: &[ConstantValues],
    defined: &[Definition],
) -> Result<Vec<RowConstants>, CommandFailure> {
    let wrong = |what: String| Err(CommandFailure::wrong(what));
    if lists.is_empty() {
        return wrong(
            "there are no values to sweep over\n  help: use --over NAME=VALUE,VALUE or a section [sweep] in the file \
             of --config"
                .to_owned(),
        );
    }
    let mut rows: Vec<RowConstants> = vec![Vec::new()];
    for (number, ConstantValues { name, values }) in lists.iter().enumerate() {
        if values.is_empty() {
            return wrong(format!("the list of values of {name} is empty"));
        }
        if lists[..number].iter().any(|it| it.name == *name) {
            return wrong(format!("{name} has two lists of values"));
        }
        if defined.iter().any(|it| it.name == *name) {
            return wrong(format!("{name} has a list of values, and a value of --define"));
        }
        if rows.len().saturating_mul(values.len()) > ROWS_MAX {
            return wrong(format!("the lists have more than {ROWS_MAX} combinations"));
        }
        let definition =
            |value: &String| Definition { name: name.clone(), value: Some(value.clone()) };
        let extended = rows.iter().flat_map(|row| {
            values.iter().map(move |value| {
                let mut row = row.clone();
                row.push(definition(value));
                row
            })
        });
        rows = extended.collect();
    }
    Ok(rows)
}

/// Returns the name of a row in texts and of its folder: `N=2,M=3`. Characters that are unusual in file names are
/// replaced in folders.
pub(super) fn row_name(constants: &RowConstants) -> String {
    let all: Vec<String> = constants.iter().map(|it| String::from(it.clone())).collect();
    all.join(",")
}

/// Returns the name of the folder of a row.
pub(super) fn row_folder(constants: &RowConstants) -> String {
    let name = row_name(constants);
    let is_usual = |it: char| it.is_ascii_alphanumeric() || "=,._-+".contains(it);
    if name.chars().all(is_usual) && name.len() <= 100 {
        return name;
    }
    // Different names stay different.
    let hash = spill::hash(name.as_bytes());
    let usual: String =
        name.chars().map(|it| if is_usual(it) { it } else { '_' }).take(60).collect();
    format!("{usual}-{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(name: &str, values: &[&str]) -> ConstantValues {
        let values = values.iter().map(|it| (*it).to_owned()).collect();
        ConstantValues { name: name.to_owned(), values }
    }

    #[test]
    fn rows_are_the_product_and_the_last_list_varies_fastest() {
        let rows = rows_of(&[list("N", &["2", "3"]), list("M", &["1", "2"])], &[]).unwrap();
        let names: Vec<String> = rows.iter().map(row_name).collect();
        assert_eq!(names, ["N=2,M=1", "N=2,M=2", "N=3,M=1", "N=3,M=2"]);
    }

    #[test]
    fn lists_without_rows_are_rejected() {
        let message = |lists: &[ConstantValues]| rows_of(lists, &[]).unwrap_err().message;
        assert!(message(&[]).contains("no values to sweep over"));
        assert!(message(&[list("N", &[])]).contains("the list of values of N is empty"));
        let twice = [list("N", &["1"]), list("N", &["2"])];
        assert!(message(&twice).contains("N has two lists of values"));
        let many = vec!["1"; 101];
        let lists = [list("N", &many), list("M", &many)];
        assert!(message(&lists).contains("more than 10000 combinations"));
        let defined = ["N=3".parse().unwrap()];
        let error = rows_of(&[list("N", &["1"])], &defined).unwrap_err().message;
        assert!(error.contains("a list of values, and a value of --define"), "{error}");
    }

    #[test]
    fn folders_are_file_names_and_differ() {
        let folder = |value: &str| row_folder(&vec![format!("C={value}").parse().unwrap()]);
        assert_eq!(folder("3"), "C=3");
        let names = [folder("{a, b}"), folder("{a; b}"), folder("../x"), folder("a/b")];
        for (number, name) in names.iter().enumerate() {
            assert!(!name.contains(['/', ' ', '{']), "{name}");
            assert!(!names[..number].contains(name), "{name}");
        }
    }
}
