//! Text to configuration.

use super::{Assignment, Config, ConfigName, ConfigValue, Override};
use crate::syntax::lexer::tokenize_all;
use crate::syntax::token::{Mark, Token, TokenKind};
use crate::syntax::{symbols::Symbol, unescape};
use spillway_base::diag::Diagnostic;

const VALUE_HELP: &str = "a value is a number, a string, a model value, TRUE, FALSE or a set; for others define an \
                          operator and write `C <- Operator`";

/// The greatest depth of nested sets.
const DEPTH_MAX: usize = 100;

/// A section of a configuration.
#[derive(Clone, Copy)]
enum ConfigSection {
    Constants,
    Init,
    Next,
    Specification,
    Invariants,
    Properties,
    Constraints,
    ActionConstraints,
    Symmetry,
    View,
    Alias,
    Postconditions,
    CheckDeadlock,
    Ignored,
}

/// A keyword that begins a section.
struct SectionKeyword {
    text: &'static str,
    section: ConfigSection,
}

/// The keywords.
const SECTIONS: &[SectionKeyword] = &[
    SectionKeyword { text: "CONSTANT", section: ConfigSection::Constants },
    SectionKeyword { text: "CONSTANTS", section: ConfigSection::Constants },
    SectionKeyword { text: "INIT", section: ConfigSection::Init },
    SectionKeyword { text: "NEXT", section: ConfigSection::Next },
    SectionKeyword { text: "SPECIFICATION", section: ConfigSection::Specification },
    SectionKeyword { text: "INVARIANT", section: ConfigSection::Invariants },
    SectionKeyword { text: "INVARIANTS", section: ConfigSection::Invariants },
    SectionKeyword { text: "PROPERTY", section: ConfigSection::Properties },
    SectionKeyword { text: "PROPERTIES", section: ConfigSection::Properties },
    SectionKeyword { text: "CONSTRAINT", section: ConfigSection::Constraints },
    SectionKeyword { text: "CONSTRAINTS", section: ConfigSection::Constraints },
    SectionKeyword { text: "ACTION_CONSTRAINT", section: ConfigSection::ActionConstraints },
    SectionKeyword { text: "ACTION_CONSTRAINTS", section: ConfigSection::ActionConstraints },
    SectionKeyword { text: "SYMMETRY", section: ConfigSection::Symmetry },
    SectionKeyword { text: "VIEW", section: ConfigSection::View },
    SectionKeyword { text: "ALIAS", section: ConfigSection::Alias },
    SectionKeyword { text: "POSTCONDITION", section: ConfigSection::Postconditions },
    SectionKeyword { text: "POSTCONDITIONS", section: ConfigSection::Postconditions },
    SectionKeyword { text: "CHECK_DEADLOCK", section: ConfigSection::CheckDeadlock },
    SectionKeyword { text: "_PERIODIC", section: ConfigSection::Ignored },
    SectionKeyword { text: "_RL_REWARD", section: ConfigSection::Ignored },
    SectionKeyword { text: "_POSSIBLE", section: ConfigSection::Ignored },
];

/// Parses a configuration.
pub fn parse(file: u32, text: &str) -> Result<Config, Diagnostic> {
    let tokens = tokenize_all(file, text)?;
    let mut parser = ConfigParser { text, tokens, at: 0, config: Config::default() };
    while parser.peek().kind != TokenKind::End {
        parser.section()?;
    }
    Ok(parser.config)
}

struct ConfigParser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    config: Config,
}

type ParseResult<T> = Result<T, Diagnostic>;

impl<'t> ConfigParser<'t> {
    fn peek(&self) -> Token {
        self.tokens[self.at]
    }

    fn bump(&mut self) -> Token {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn word(&self) -> &'t str {
        let span = self.peek().span;
        &self.text[span.start as usize..span.end as usize]
    }

    /// Returns the section that begins here.
    fn keyword(&self) -> Option<ConfigSection> {
        let word = self.word();
        SECTIONS.iter().find(|it| it.text == word).map(|it| it.section)
    }

    fn take_mark(&mut self, mark: Mark) -> bool {
        let found = self.peek().kind == TokenKind::Mark(mark);
        if found {
            self.bump();
        }
        found
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.peek().kind {
            TokenKind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.word()),
        };
        Diagnostic::error(self.peek().span, format!("expected {what}, found {found}"))
    }

    fn section(&mut self) -> ParseResult<()> {
        let Some(section) = self.keyword() else {
            let names: Vec<&str> = SECTIONS.iter().map(|it| it.text).collect();
            let help = format!("the keywords are {}", names.join(", "));
            return Err(self.expected("a keyword").help(help));
        };
        let keyword = self.bump();
        match section {
            ConfigSection::Constants => return self.constants(),
            ConfigSection::CheckDeadlock => return self.check_deadlock(keyword),
            ConfigSection::Ignored => {
                let text = self.text_of(keyword).to_owned();
                self.config.ignored.push(ConfigName { text, span: keyword.span });
                self.names()?;
            }
            ConfigSection::Invariants => {
                let names = self.names()?;
                self.config.invariants.extend(names);
            }
            ConfigSection::Properties => {
                let names = self.names()?;
                self.config.properties.extend(names);
            }
            ConfigSection::Constraints => {
                let names = self.names()?;
                self.config.constraints.extend(names);
            }
            ConfigSection::ActionConstraints => {
                let names = self.names()?;
                self.config.action_constraints.extend(names);
            }
            ConfigSection::Postconditions => {
                let names = self.names()?;
                self.config.postconditions.extend(names);
            }
            ConfigSection::Init => self.single(keyword, |it| &mut it.init)?,
            ConfigSection::Next => self.single(keyword, |it| &mut it.next)?,
            ConfigSection::Specification => self.single(keyword, |it| &mut it.specification)?,
            ConfigSection::Symmetry => self.single(keyword, |it| &mut it.symmetry)?,
            ConfigSection::View => self.single(keyword, |it| &mut it.view)?,
            ConfigSection::Alias => self.single(keyword, |it| &mut it.alias)?,
        }
        Ok(())
    }

    fn text_of(&self, token: Token) -> &'t str {
        &self.text[token.span.start as usize..token.span.end as usize]
    }

    /// Parses the only name of a section.
    fn single(
        &mut self,
        keyword: Token,
        place: impl Fn(&mut Config) -> &mut Option<ConfigName>,
    ) -> ParseResult<()> {
        let name = self.name()?;
        match place(&mut self.config).replace(name) {
            None => Ok(()),
            Some(_) => {
                let message = format!("`{}` appears twice", self.text_of(keyword));
                Err(Diagnostic::error(keyword.span, message).help("remove one of them"))
            }
        }
    }

    fn check_deadlock(&mut self, keyword: Token) -> ParseResult<()> {
        let value = match self.word() {
            "TRUE" => true,
            "FALSE" => false,
            _ => return Err(self.expected("TRUE or FALSE")),
        };
        self.bump();
        match self.config.check_deadlock.replace(value) {
            None => Ok(()),
            Some(_) => Err(Diagnostic::error(keyword.span, "`CHECK_DEADLOCK` appears twice")
                .help("remove one of them")),
        }
    }

    /// Parses names up to the next keyword.
    fn names(&mut self) -> ParseResult<Vec<ConfigName>> {
        let mut names = Vec::new();
        while self.keyword().is_none() && self.peek().kind != TokenKind::End {
            names.push(self.name()?);
            // TLC has no commas here; editors write them.
            self.take_mark(Mark::Comma);
        }
        Ok(names)
    }

    /// Parses a name, an operator symbol, or `I!Op`.
    fn name(&mut self) -> ParseResult<ConfigName> {
        let mut name = self.part()?;
        while self.take_mark(Mark::Bang) {
            let part = self.part()?;
            name.text = format!("{}!{}", name.text, part.text);
            name.span = name.span.to(part.span);
        }
        Ok(name)
    }

    fn part(&mut self) -> ParseResult<ConfigName> {
        if self.keyword().is_some() {
            return Err(self.expected("a name").help("a keyword of configurations is no name"));
        }
        let token = self.peek();
        let text = match token.kind {
            TokenKind::Identifier => self.word().to_owned(),
            TokenKind::Symbol(symbol) => symbol.name().to_owned(),
            TokenKind::Keyword(_) if self.word().chars().all(|it| it.is_ascii_alphanumeric()) => {
                self.word().to_owned()
            }
            _ => return Err(self.expected("a name")),
        };
        self.bump();
        Ok(ConfigName { text, span: token.span })
    }

    fn constants(&mut self) -> ParseResult<()> {
        while self.keyword().is_none() && self.peek().kind != TokenKind::End {
            let name = self.name()?;
            if self.take_mark(Mark::Substitute) {
                let module = self.bracketed_module()?;
                let replacement = self.name()?;
                self.config.overrides.push(Override { name, module, replacement });
            } else if self.peek().kind == TokenKind::Symbol(Symbol::Equals) {
                self.bump();
                let module = self.bracketed_module()?;
                let value = self.value(0)?;
                self.config.assignments.push(Assignment { name, module, value });
            } else if self.peek().kind == TokenKind::Mark(Mark::LeftParenthesis) {
                let message = "values of a constant operator cannot be listed";
                return Err(Diagnostic::error(self.peek().span, message)
                    .help(format!("define an operator and write `{} <- Operator`", name.text)));
            } else {
                return Err(self.expected("`=` or `<-`").help(VALUE_HELP));
            }
        }
        Ok(())
    }

    /// Parses `[M]`, if it is there.
    fn bracketed_module(&mut self) -> ParseResult<Option<ConfigName>> {
        if !self.take_mark(Mark::LeftBracket) {
            return Ok(None);
        }
        let module = self.part()?;
        match self.take_mark(Mark::RightBracket) {
            true => Ok(Some(module)),
            false => Err(self.expected("`]`")),
        }
    }

    fn value(&mut self, depth: usize) -> ParseResult<ConfigValue> {
        let token = self.peek();
        let value = match token.kind {
            TokenKind::Number => ConfigValue::Integer(self.number()?),
            TokenKind::Symbol(Symbol::Minus) => {
                self.bump();
                ConfigValue::Integer(-self.number()?)
            }
            TokenKind::String => ConfigValue::String(unescape(self.word())),
            TokenKind::Mark(Mark::LeftBrace) if depth < DEPTH_MAX => return self.set(depth),
            _ if self.word() == "TRUE" => ConfigValue::Boolean(true),
            _ if self.word() == "FALSE" => ConfigValue::Boolean(false),
            _ => match self.part() {
                Ok(name) => return Ok(ConfigValue::ModelValue(name)),
                Err(_) => {
                    return Err(self.expected("a value").help(
                        "a value is a number, a string, a model value, TRUE, FALSE or a set; \
                               for others define an operator and write `C <- Operator`",
                    ));
                }
            },
        };
        self.bump();
        Ok(value)
    }

    fn number(&self) -> ParseResult<i64> {
        match self.word().parse() {
            Ok(number) if self.peek().kind == TokenKind::Number => Ok(number),
            _ => Err(self.expected("an integer")),
        }
    }

    fn set(&mut self, depth: usize) -> ParseResult<ConfigValue> {
        self.bump();
        let mut items = Vec::new();
        while !self.take_mark(Mark::RightBrace) {
            if !items.is_empty() && !self.take_mark(Mark::Comma) {
                return Err(self.expected("`,` or `}`"));
            }
            items.push(self.value(depth + 1)?);
        }
        Ok(ConfigValue::Set(items))
    }
}
