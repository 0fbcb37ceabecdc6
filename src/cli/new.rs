//! `new`: a small commented model as a starting point.

use super::CommandResult;
use super::args::NewArgs;
use super::failure::{self, CommandFailure};
use super::print;
use crate::escape;
use crate::front::ModelForm;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The placeholder of the file's name in a template.
const NAME: &str = "NAME";

/// `spillway new`.
pub(super) fn new(args: &NewArgs) -> CommandResult {
    let ending = args.language.extensions[0];
    let path = args.file.clone().unwrap_or_else(|| PathBuf::from("model").with_extension(ending));
    let name = format!("{NAME}.{ending}");
    let shown = path.display().to_string();
    // The name is in a comment, which a line break would end.
    let text = args.language.template.replace(&name, &escape::line(&shown));
    match args.language.form {
        ModelForm::Program(_) => write(&path, &text)?,
        ModelForm::Specification { configuration_extension, configuration_template } => {
            // The module has the name of its file.
            let module = module_name(&path)?;
            let configuration = path.with_extension(configuration_extension);
            write(&configuration, configuration_template)?;
            write(&path, &text.replace(NAME, module))?;
            print(&format!("wrote {}\n", configuration.display()));
        }
    }
    print(&format!("wrote {shown}; `spillway check {}` checks it\n", escape::shell(&shown)));
    Ok(failure::VERIFIED)
}

/// Returns the name of the module in a file.
fn module_name(path: &Path) -> Result<&str, CommandFailure> {
    let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
    let is_word = stem.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    match is_word && stem.contains(|it: char| it.is_ascii_alphabetic()) {
        true => Ok(stem),
        false => Err(CommandFailure::wrong(format!(
            "{} is no name of a module\n  help: use letters, digits and underscores, with one letter at least",
            path.display()
        ))),
    }
}

/// Writes a file that does not exist yet.
fn write(path: &Path, text: &str) -> Result<(), CommandFailure> {
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    made.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            let path = path.display();
            CommandFailure::wrong(format!("{path} already exists\n  help: use another file name"))
        }
        _ => CommandFailure::cannot_write("the model", path, error),
    })
}
