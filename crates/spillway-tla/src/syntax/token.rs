//! Tokens.

use super::symbols::Symbol;
use spillway_base::source::Span;

/// Defines the keywords from one table.
macro_rules! keywords {
    ($($keyword:ident [$($text:literal)*];)*) => {
        /// A reserved word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Keyword {
            $(
                #[doc = concat!($("`", $text, "` ",)*)]
                $keyword,
            )*
        }

        impl Keyword {
            /// Returns the keyword with a spelling.
            pub fn find(text: &str) -> Option<Keyword> {
                match text {
                    $($($text)|* => Some(Keyword::$keyword),)*
                    _ => None,
                }
            }

            /// Returns the first spelling.
            pub fn text(self) -> &'static str {
                match self {
                    $(Keyword::$keyword => [$($text),*][0],)*
                }
            }
        }
    };
}

keywords! {
    Action ["ACTION" "ACTIONS"];
    Assume ["ASSUME"];
    Assumption ["ASSUMPTION" "AXIOM"];
    By ["BY"];
    Case ["CASE"];
    Choose ["CHOOSE"];
    Constant ["CONSTANT" "CONSTANTS"];
    Def ["DEF" "DEFS"];
    Define ["DEFINE"];
    Else ["ELSE"];
    Except ["EXCEPT"];
    Extends ["EXTENDS"];
    Have ["HAVE"];
    Hide ["HIDE"];
    If ["IF"];
    In ["IN"];
    Instance ["INSTANCE"];
    Lambda ["LAMBDA"];
    Let ["LET"];
    Local ["LOCAL"];
    Module ["MODULE"];
    New ["NEW"];
    Obvious ["OBVIOUS"];
    Omitted ["OMITTED"];
    Only ["ONLY"];
    Other ["OTHER"];
    Pick ["PICK"];
    Proof ["PROOF"];
    Proposition ["PROPOSITION" "LEMMA" "COROLLARY"];
    Prove ["PROVE"];
    Qed ["QED"];
    Recursive ["RECURSIVE"];
    State ["STATE"];
    StrongFairness ["SF_"];
    Suffices ["SUFFICES"];
    Take ["TAKE"];
    Temporal ["TEMPORAL" "TEMPORALS"];
    Then ["THEN"];
    Theorem ["THEOREM"];
    Use ["USE"];
    Variable ["VARIABLE" "VARIABLES"];
    WeakFairness ["WF_"];
    With ["WITH"];
    Witness ["WITNESS"];
    Forall ["\\A" "\\forall" "∀"];
    Exists ["\\E" "\\exists" "∃"];
    TemporalForall ["\\AA"];
    TemporalExists ["\\EE"];
}

/// Defines the marks from one table.
macro_rules! marks {
    ($($mark:ident [$($text:literal)*];)*) => {
        /// A token that is neither a word nor an operator.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Mark {
            $(
                #[doc = concat!($("`", $text, "` ",)*)]
                $mark,
            )*
        }

        /// Every spelling of every mark.
        pub const MARKS: &[MarkSpelling] =
            &[$($(MarkSpelling { text: $text, mark: Mark::$mark },)*)*];

        impl Mark {
            /// Returns the first spelling.
            pub fn text(self) -> &'static str {
                match self {
                    $(Mark::$mark => [$($text),*][0],)*
                }
            }
        }
    };
}

marks! {
    Comma [","];
    Colon [":"];
    DoubleColon ["::" "∷"];
    Dot ["."];
    Underscore ["_"];
    Define ["==" "≜"];
    LeftParenthesis ["("];
    RightParenthesis [")"];
    LeftBracket ["["];
    RightBracket ["]"];
    RightBracketSubscript ["]_"];
    LeftBrace ["{"];
    RightBrace ["}"];
    LeftAngle ["<<" "⟨"];
    RightAngle [">>" "⟩"];
    RightAngleSubscript [">>_" "⟩_"];
    Bang ["!"];
    Arrow ["->" "→"];
    Substitute ["<-" "←"];
    MapsTo ["|->" "↦"];
    At ["@"];
}

/// A spelling of a mark.
#[derive(Clone, Copy, Debug)]
pub struct MarkSpelling {
    /// The text.
    pub text: &'static str,
    /// The mark.
    pub mark: Mark,
}

/// The level of a step of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepLevel {
    /// `<3>`
    Number(u32),
    /// `<+>`: the next level.
    Next,
    /// `<*>`: the present level.
    Same,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// An identifier.
    Identifier,
    /// A number, also `\hFF` and `1.5`.
    Number,
    /// A string with its quotes.
    String,
    /// An operator symbol.
    Symbol(Symbol),
    /// A reserved word.
    Keyword(Keyword),
    /// Punctuation.
    Mark(Mark),
    /// The beginning of a step of a proof: `<1>`, `<1>a.`, `<*>2`.
    Step(StepLevel),
    /// `----`
    Separator,
    /// `---- MODULE`
    ModuleStart,
    /// `====`
    ModuleEnd,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// The text.
    pub span: Span,
    /// The column for junction lists, counted from 1. A tab extends to the next multiple of 8.
    pub column: u32,
    /// Whether the token is the first of its line.
    pub is_first: bool,
}
