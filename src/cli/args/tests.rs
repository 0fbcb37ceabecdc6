//! Tests of the table of options for experts, and the table in the reference that is written from it.

use super::expert_args::former_flag;
use super::expert_options::{ExpertOption, all};
use crate::session::CheckConfig;
use clap::CommandFactory;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- The table of options: `cargo test -p spillway --lib -- --ignored renew_expert_options` writes it from the tables of reductions and stores. -->\n";
const END: &str = "<!-- End of the table. -->";

#[test]
fn options_have_one_name_and_known_commands() {
    let options = all();
    let names: BTreeSet<&str> = options.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), options.len(), "{names:?}");
    let cli = crate::cli::args::Cli::command();
    for option in &options {
        for command in option.commands {
            let command = cli.find_subcommand(command).expect("a command");
            assert!(command.get_arguments().any(|it| it.get_short() == Some('X')), "{command}");
            let is_flag = |it: &clap::Arg| it.get_long() == Some(option.name);
            assert!(!command.get_arguments().any(is_flag), "{} is also a flag", option.name);
        }
    }
}

#[test]
fn only_listed_values_are_accepted() {
    for option in all() {
        for it in &option.values {
            assert_eq!(option.value(Some(it.name)).unwrap(), it.name, "{}", option.name);
            let is_set = option.set(it.name, &mut CheckConfig::default()).is_ok();
            assert!(is_set, "{}={}", option.name, it.name);
        }
        assert_eq!(option.value(None).is_ok(), option.is_switch(), "{}", option.name);
        let takes_any = option.value_name == "FILE";
        assert_eq!(option.value(Some("no such value")).is_ok(), takes_any, "{}", option.name);
    }
}

#[test]
fn a_former_flag_is_replaced_with_its_value() {
    let replaced = |line: &str, flag: &str| {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        former_flag(&words, flag).map(|it| it.shown)
    };
    for (line, flag, expected) in [
        ("check model --por-proviso levels", "--por-proviso", Some("-X por-proviso=levels")),
        ("check --por-proviso=levels model", "--por-proviso", Some("-X por-proviso=levels")),
        ("check model --por-proviso --json", "--por-proviso", Some("-X por-proviso=PROVISO")),
        ("check --check-reversible model", "--check-reversible", Some("-X check-reversible")),
        ("simulate model --slots 3", "--slots", Some("-X slots=3")),
        ("simulate model --key-order static", "--key-order", None),
        ("check model --por-provisos levels", "--por-provisos", None),
        ("status d --slots 3", "--slots", None),
    ] {
        assert_eq!(replaced(line, flag).as_deref(), expected, "{line}");
    }
}

/// The row of an option in the reference.
fn row(option: &ExpertOption) -> String {
    let names: Vec<String> = option.values.iter().map(|it| format!("`{}`", it.name)).collect();
    let values = match names.is_empty() {
        true => format!("`{}`", option.value_name),
        false => names.join(", "),
    };
    let commands: Vec<String> = option.commands.iter().map(|it| format!("`{it}`")).collect();
    let cells = [format!("`{}`", option.name), values, commands.join(", "), option.help.clone()];
    format!("| {} |\n", cells.map(|it| it.replace('|', "\\|")).join(" | "))
}

fn table() -> String {
    let head = "| option | values | commands | meaning |\n| --- | --- | --- | --- |\n";
    let rows: String = all().iter().map(row).collect();
    format!("\n{head}{rows}\n")
}

fn reference() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/command-line.md")
}

/// The reference before the table, the table, and the reference after it.
fn split(text: &str) -> [&str; 3] {
    let (before, rest) = text.split_once(BEGIN).expect("the table begins");
    let (table, after) = rest.split_once(END).expect("the table ends");
    [before, table, after]
}

#[test]
fn the_reference_has_the_table_of_options() {
    let text = std::fs::read_to_string(reference()).unwrap();
    let help = "renew it: cargo test -p spillway --lib -- --ignored renew_expert_options";
    assert!(split(&text)[1] == table(), "{help}");
}

#[test]
#[ignore = "writes the table into the reference"]
fn renew_expert_options() {
    let text = std::fs::read_to_string(reference()).unwrap();
    let [before, _, after] = split(&text);
    std::fs::write(reference(), format!("{before}{BEGIN}{}{END}{after}", table())).unwrap();
}
