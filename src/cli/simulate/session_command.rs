//! The commands of an interactive walk. One table defines their names, their arguments and their help.

use thiserror::Error;

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SessionCommand {
    /// An empty line: the last command that moved.
    Repeat,
    /// Takes the step of this number.
    Take(usize),
    /// Takes this number of random steps.
    Random(u64),
    /// Takes random steps until an expression holds.
    Until(String),
    /// Undoes this number of steps.
    Undo(u64),
    /// Undoes steps up to the last choice.
    Back,
    /// Lists the next steps.
    List,
    /// Prints the state.
    State,
    /// Prints the lines of the processes, and the next steps.
    Where,
    /// Prints the last steps.
    Path(usize),
    /// Prints the message sequence chart of the last steps.
    Chart(Option<u64>),
    /// Lists the breakpoints.
    ListBreakpoints,
    /// Sets a breakpoint.
    Break(String),
    /// Deletes the breakpoint of this number, or all.
    Delete(Option<usize>),
    /// Saves the path in a file.
    Save(String),
    /// Prints the help.
    Help,
    /// Ends the walk.
    Quit,
}

/// A line that is no command.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum CommandLineError {
    /// No command has this name.
    #[error("there is no command `{0}`; the commands are a number, Enter, {names} (`help` describes them)", names = command_names())]
    Unknown(String),
    /// The command has another argument.
    #[error("`{name}` takes {expected}, not `{given}`")]
    Argument {
        /// The name of the command.
        name: &'static str,
        /// What it takes.
        expected: &'static str,
        /// What it was given.
        given: String,
    },
    /// The command has no argument.
    #[error("`{0}` needs {1}")]
    Missing(&'static str, &'static str),
}

/// The argument of a command, and its use.
enum CommandForm {
    /// None.
    Plain(SessionCommand),
    /// A number, with a default.
    Number(fn(Option<u64>) -> SessionCommand),
    /// A text, which is described here.
    Text(&'static str, fn(String) -> SessionCommand),
    /// A breakpoint, or nothing.
    Breakpoint,
}

/// A command with its names. The first name is the long one.
struct CommandEntry {
    names: &'static [&'static str],
    form: CommandForm,
    /// How it is typed.
    usage: &'static str,
    /// Its effect.
    effect: &'static str,
}

/// All commands except a number and an empty line.
const COMMANDS: &[CommandEntry] = &[
    entry(
        &["random", "r"],
        CommandForm::Number(|it| SessionCommand::Random(it.unwrap_or(1))),
        "random [N]",
        "takes N random steps (default 1)",
    ),
    entry(
        &["until"],
        CommandForm::Text("an expression", SessionCommand::Until),
        "until EXPR",
        "takes random steps until the expression holds",
    ),
    entry(
        &["undo", "u"],
        CommandForm::Number(|it| SessionCommand::Undo(it.unwrap_or(1))),
        "undo [N]",
        "undoes the last N steps (default 1)",
    ),
    entry(
        &["back", "b"],
        CommandForm::Plain(SessionCommand::Back),
        "back",
        "goes back to the last choice",
    ),
    entry(&["list", "l"], CommandForm::Plain(SessionCommand::List), "list", "lists the next steps"),
    entry(
        &["state", "s", "print", "p"],
        CommandForm::Plain(SessionCommand::State),
        "state",
        "prints the variables",
    ),
    entry(
        &["where", "w"],
        CommandForm::Plain(SessionCommand::Where),
        "where",
        "prints the depth, the line of each process, and the next steps",
    ),
    entry(
        &["path"],
        CommandForm::Number(|it| SessionCommand::Path(it.unwrap_or(20) as usize)),
        "path [N]",
        "prints the last N steps (default 20)",
    ),
    entry(
        &["chart", "msc"],
        CommandForm::Number(SessionCommand::Chart),
        "chart [N]",
        "prints the last N steps as a message sequence chart (default all)",
    ),
    entry(
        &["break"],
        CommandForm::Breakpoint,
        "break [WHERE]",
        "sets a breakpoint at a line, an action or an expression; alone, lists them",
    ),
    entry(
        &["delete", "d"],
        CommandForm::Number(|it| SessionCommand::Delete(it.map(|it| it as usize))),
        "delete [N]",
        "deletes breakpoint N, as `break -N` does (default all)",
    ),
    entry(
        &["save"],
        CommandForm::Text("the name of a file", SessionCommand::Save),
        "save FILE",
        "writes the path for --replay, or in the format of the extension",
    ),
    entry(&["help", "h", "?"], CommandForm::Plain(SessionCommand::Help), "help", "prints this"),
    entry(
        &["quit", "q", "exit"],
        CommandForm::Plain(SessionCommand::Quit),
        "quit",
        "ends the walk, as Ctrl-D does",
    ),
];

const fn entry(
    names: &'static [&'static str],
    form: CommandForm,
    usage: &'static str,
    effect: &'static str,
) -> CommandEntry {
    CommandEntry { names, form, usage, effect }
}

/// Returns the names of all commands, for a message.
fn command_names() -> String {
    let names: Vec<&str> = COMMANDS.iter().map(|it| it.names[0]).collect();
    names.join(", ")
}

/// Returns a line for each command: how it is typed, and its effect.
pub(super) fn help_lines() -> Vec<(String, &'static str)> {
    let first = [
        ("NUMBER".to_owned(), "takes that step, then further ones while there is no choice"),
        (
            "Enter".to_owned(),
            "repeats the last number, random, until, undo or back; at first takes a random step",
        ),
    ];
    let typed = |it: &CommandEntry| {
        let short: Vec<&str> = it.names[1..].iter().copied().filter(|it| it.len() == 1).collect();
        let text = match short.is_empty() {
            true => it.usage.to_owned(),
            false => format!("{}  ({})", it.usage, short.join(", ")),
        };
        (text, it.effect)
    };
    first.into_iter().chain(COMMANDS.iter().map(typed)).collect()
}

impl SessionCommand {
    /// Parses a line.
    pub(super) fn parse(line: &str) -> Result<SessionCommand, CommandLineError> {
        let line = line.trim();
        if line.is_empty() {
            return Ok(SessionCommand::Repeat);
        }
        if let Ok(number) = line.parse() {
            return Ok(SessionCommand::Take(number));
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let entry = COMMANDS.iter().find(|it| it.names.contains(&word));
        let entry = entry.ok_or_else(|| CommandLineError::Unknown(word.to_owned()))?;
        entry.form.parse(entry.names[0], rest.trim())
    }

    /// Returns whether an empty line repeats it.
    pub(super) fn moves(&self) -> bool {
        use SessionCommand::{Back, Random, Take, Undo, Until};
        matches!(self, Take(_) | Random(_) | Until(_) | Undo(_) | Back)
    }
}

impl CommandForm {
    fn parse(&self, name: &'static str, rest: &str) -> Result<SessionCommand, CommandLineError> {
        let wrong =
            |expected| CommandLineError::Argument { name, expected, given: rest.to_owned() };
        match (self, rest) {
            (CommandForm::Plain(command), "") => Ok(command.clone()),
            (CommandForm::Plain(_), _) => Err(wrong("no argument")),
            (CommandForm::Number(make), "") => Ok(make(None)),
            (CommandForm::Number(make), rest) => {
                let number: Option<u64> = rest.parse().ok().filter(|it| *it > 0);
                Ok(make(Some(number.ok_or_else(|| wrong("a number from 1 on"))?)))
            }
            (CommandForm::Text(what, _), "") => Err(CommandLineError::Missing(name, what)),
            (CommandForm::Text(_, make), rest) => Ok(make(rest.to_owned())),
            (CommandForm::Breakpoint, "") => Ok(SessionCommand::ListBreakpoints),
            (CommandForm::Breakpoint, rest) => {
                let number = rest.strip_prefix('-').and_then(|it| it.parse().ok());
                Ok(match number {
                    Some(number) => SessionCommand::Delete(Some(number)),
                    None => SessionCommand::Break(rest.to_owned()),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SessionCommand::{self, *};
    use super::{COMMANDS, CommandLineError, help_lines};

    #[test]
    fn commands_have_long_and_short_names() {
        let parsed = |line: &str| SessionCommand::parse(line).unwrap();
        for (lines, command) in [
            (&["", "  \t"][..], Repeat),
            (&["3", " 3 "], Take(3)),
            (&["random", "r", "r 1"], Random(1)),
            (&["random  12", "r 12"], Random(12)),
            (&["until x > 3", "until   x > 3 "], Until("x > 3".to_owned())),
            (&["undo", "u", "undo 1"], Undo(1)),
            (&["undo 4"], Undo(4)),
            (&["back", "b"], Back),
            (&["list", "l"], List),
            (&["state", "s", "print", "p"], State),
            (&["where", "w"], Where),
            (&["path"], Path(20)),
            (&["path 2"], Path(2)),
            (&["chart", "msc"], Chart(None)),
            (&["chart 5"], Chart(Some(5))),
            (&["break"], ListBreakpoints),
            (&["break 12"], Break("12".to_owned())),
            (&["break x == -1"], Break("x == -1".to_owned())),
            (&["break -x == 1"], Break("-x == 1".to_owned())),
            (&["break -2", "delete 2", "d 2"], Delete(Some(2))),
            (&["delete", "d"], Delete(None)),
            (&["save a b.csv"], Save("a b.csv".to_owned())),
            (&["help", "h", "?"], Help),
            (&["quit", "q", "exit"], Quit),
        ] {
            for line in lines {
                assert_eq!(parsed(line), command, "{line}");
            }
        }
    }

    #[test]
    fn other_lines_are_rejected_with_a_reason() {
        let refused = |line: &str| SessionCommand::parse(line).unwrap_err();
        for line in ["rnadom", "x > 3", "-1", "99999999999999999999999"] {
            let word = line.split(' ').next().unwrap();
            let error = refused(line);
            assert_eq!(error, CommandLineError::Unknown(word.to_owned()));
            for entry in COMMANDS {
                assert!(error.to_string().contains(entry.names[0]), "{error}");
            }
        }
        let argument = |name, expected, given: &str| CommandLineError::Argument {
            name,
            expected,
            given: given.to_owned(),
        };
        let number = "a number from 1 on";
        assert_eq!(refused("random x"), argument("random", number, "x"));
        assert_eq!(refused("r 0"), argument("random", number, "0"));
        assert_eq!(refused("undo -1"), argument("undo", number, "-1"));
        assert_eq!(refused("b x > 3"), argument("back", "no argument", "x > 3"));
        assert_eq!(refused("until"), CommandLineError::Missing("until", "an expression"));
        assert_eq!(refused("save "), CommandLineError::Missing("save", "the name of a file"));
    }

    #[test]
    fn names_are_unique_and_described() {
        let names: Vec<&str> = COMMANDS.iter().flat_map(|it| it.names).copied().collect();
        for (number, name) in names.iter().enumerate() {
            assert!(!names[..number].contains(name), "{name}");
        }
        assert_eq!(help_lines().len(), COMMANDS.len() + 2);
    }
}
