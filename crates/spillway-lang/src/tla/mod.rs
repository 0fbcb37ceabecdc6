//! TLA+, the language of TLC's specifications. The crate `spillway-tla` reads them.

use super::{CommentSyntax, ForeignFlag, Language, LanguageOptions, ModelForm};

/// TLC's language.
pub static LANGUAGE: Language = Language {
    name: "tla",
    title: "TLA+",
    origin: "TLC's",
    extensions: &["tla"],
    options: LanguageOptions { has_configuration: true, ..LanguageOptions::NONE },
    form: ModelForm::Specification {
        configuration_extension: CONFIGURATION_EXTENSION,
        configuration_template: include_str!("template.cfg"),
    },
    comments: CommentSyntax {
        line: Some("\\*"),
        block: ("(*", "*)"),
        nests: true,
        code_marks: &["--algorithm", "--fair"],
    },
    local_separator: None,
    spin_trail: None,
    read_properties: None,
    draw: None,
    template: include_str!("template.tla"),
    foreign_flags: FOREIGN_FLAGS,
};

/// The extension of configuration files.
pub const CONFIGURATION_EXTENSION: &str = "cfg";

/// TLC's flags.
const FOREIGN_FLAGS: &[ForeignFlag] = &[
    ForeignFlag::new("-workers", "--threads N"),
    ForeignFlag::new("-deadlock", "--no-deadlock"),
    ForeignFlag::new("-config", "--cfg FILE"),
    ForeignFlag::new("-depth", "`simulate --steps N`; `check` searches breadth-first to the end"),
    ForeignFlag::new("-simulate", "`spillway simulate`"),
    ForeignFlag::new("-coverage", "-v, which lists the actions that were never executed"),
    ForeignFlag::new("-difftrace", "nothing: steps show what they change"),
    ForeignFlag::new("-recover", "`spillway resume DIR`"),
    ForeignFlag::new("-metadir", "--dir DIR"),
    ForeignFlag::new("-checkpoint", "--checkpoint-every TIME"),
    ForeignFlag::new("-continue", "--keep-going"),
    ForeignFlag::new("-fp", "nothing: states are stored exactly, without fingerprints"),
    ForeignFlag::new("-fpmem", "--memory SIZE"),
    ForeignFlag::new("-fpbits", "nothing: states are stored exactly, without fingerprints"),
    ForeignFlag::new("-maxSetSize", "nothing: sets have no limit"),
    ForeignFlag::new("-dump", "`spillway graph`"),
    ForeignFlag::new("-dumpTrace", "`spillway trace DIR --as FORMAT`"),
    ForeignFlag::new("-cleanup", "nothing: a search without --dir removes its files"),
    ForeignFlag::new("-nowarning", "nothing: warnings go to standard error"),
    ForeignFlag::new("-noGenerateSpecTE", "nothing: no file is generated"),
    ForeignFlag::new("-tool", "--json"),
];
