//! The syntax of formulas: the signs and names of operators, and the spellings of other tools.
//!
//! The signs are those of SPIN's `ltl` blocks. Spot's letters (`G F R M xor`) are accepted, too, unless the model has
//! such a name. Spot's other signs and Unicode's are first replaced by SPIN's, see [`to_spin_signs`].

use super::formula::LtlConnective;
use super::words::FormulaWord;
use spillway_base::source::Span;
use std::borrow::Cow;

/// Prefix operators, by sign and name.
pub(super) const ALWAYS: [&str; 3] = ["[]", "always", "G"];
pub(super) const EVENTUALLY: [&str; 3] = ["<>", "eventually", "F"];
pub(super) const NEXT: [&str; 2] = ["X", "next"];
pub(super) const NOT: [&str; 2] = ["!", "!!"];

/// The levels of [`LEVELS`] at which languages have operators of their own.
pub(super) const IMPLIES_LEVEL: usize = 0;
pub(super) const OR_LEVEL: usize = 2;
pub(super) const AND_LEVEL: usize = 3;

/// Binary operators, weakest first.
pub(super) const LEVELS: [&[(&str, LtlConnective)]; 5] = [
    &[
        ("->", LtlConnective::Implies),
        ("implies", LtlConnective::Implies),
        ("<->", LtlConnective::Equivalent),
        ("equivalent", LtlConnective::Equivalent),
    ],
    &[("xor", LtlConnective::Differ)],
    &[("||", LtlConnective::Or), ("\\/", LtlConnective::Or)],
    &[("&&", LtlConnective::And), ("/\\", LtlConnective::And)],
    &[
        ("U", LtlConnective::Until),
        ("until", LtlConnective::Until),
        ("stronguntil", LtlConnective::Until),
        ("W", LtlConnective::WeakUntil),
        ("weakuntil", LtlConnective::WeakUntil),
        ("V", LtlConnective::Release),
        ("R", LtlConnective::Release),
        ("release", LtlConnective::Release),
        ("M", LtlConnective::StrongRelease),
    ],
];

/// Operators that SPIN does not have. A name of the model takes precedence over them.
pub(super) const YIELDING: [&str; 5] = ["G", "F", "R", "M", "xor"];

/// The letters that Spot permits without separators, as in `GFp` and `XXp`.
const GLUED: [char; 3] = ['G', 'F', 'X'];

/// Returns the number of letters at the beginning of a word that are operators without separators. The rest must be a
/// name of the model, a constant or empty.
pub fn glued_operators(word: &str, is_name: &dyn Fn(&str) -> bool) -> usize {
    if is_name(word) {
        return 0;
    }
    let letters = word.chars().take_while(|it| GLUED.contains(it)).count();
    let leaves_operand = |&count: &usize| {
        let rest = &word[count..];
        is_name(rest) || matches!(rest, "" | "0" | "1" | "true" | "false")
    };
    (1..=letters).find(leaves_operand).unwrap_or(0)
}

/// Splits operators without separators into words, as in `GFp`.
pub fn split_operators(
    words: Vec<FormulaWord>,
    is_name: &dyn Fn(&str) -> bool,
) -> Vec<FormulaWord> {
    let mut split = Vec::with_capacity(words.len());
    for FormulaWord { text, span } in words {
        let count = glued_operators(&text, is_name) as u32;
        let word = |from: u32, until: u32| FormulaWord {
            text: text[from as usize..until as usize].to_owned(),
            span: Span { start: span.start + from, end: span.start + until, ..span },
        };
        split.extend((0..count).map(|at| word(at, at + 1)));
        if (count as usize) < text.len() {
            split.push(word(count, text.len() as u32));
        }
    }
    split
}

/// The signs of other tools with SPIN's signs. Longer signs precede their prefixes.
const FOREIGN_SIGNS: [(&str, &str); 26] = [
    ("<-->", "<->"),
    ("<=>", "<->"),
    ("-->", "->"),
    ("=>", "->"),
    ("□", "[]"),
    ("◻", "[]"),
    ("⬜", "[]"),
    ("◇", "<>"),
    ("⋄", "<>"),
    ("♢", "<>"),
    ("○", "X"),
    ("◯", "X"),
    ("¬", "!"),
    ("∧", "&&"),
    ("⋀", "&&"),
    ("∨", "||"),
    ("⋁", "||"),
    ("→", "->"),
    ("⟶", "->"),
    ("⇒", "->"),
    ("⟹", "->"),
    ("↔", "<->"),
    ("⇔", "<->"),
    ("⊕", "xor"),
    ("⊤", "true"),
    ("⊥", "false"),
];

/// Replaces the signs of other tools in a formula by SPIN's, outside of quotes, with blanks around them.
pub fn to_spin_signs(text: &str) -> Cow<'_, str> {
    if !FOREIGN_SIGNS.iter().any(|(sign, _)| text.contains(sign)) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest, mut is_quoted) = (String::new(), text, false);
    while let Some(first) = rest.chars().next() {
        is_quoted ^= first == '"';
        let foreign = FOREIGN_SIGNS.iter().find(|(sign, _)| !is_quoted && rest.starts_with(sign));
        rest = match foreign {
            Some((sign, ours)) => {
                out += &format!(" {ours} ");
                &rest[sign.len()..]
            }
            None => {
                out.push(first);
                &rest[first.len_utf8()..]
            }
        };
    }
    Cow::Owned(out)
}

/// Words that are no operators here, with suggestions.
const UNKNOWN: [(&str, &str); 16] = [
    ("and", "write `&&`"),
    ("AND", "write `&&`"),
    ("or", "write `||`"),
    ("OR", "write `||`"),
    ("not", "write `!`"),
    ("NOT", "write `!`"),
    ("imply", "write `->`"),
    ("iff", "write `<->`"),
    ("equiv", "write `<->`"),
    ("globally", "write `[]` or `always`"),
    ("finally", "write `<>` or `eventually`"),
    ("AG", "CTL's operators are not LTL's: every run is meant, so write `[]`"),
    ("AF", "CTL's operators are not LTL's: every run is meant, so write `<>`"),
    ("AX", "CTL's operators are not LTL's: every run is meant, so write `X`"),
    ("EF", "LTL speaks of every run: `--cover EXPRESSION` asks whether a state can be reached"),
    ("EG", "LTL speaks of every run: check `<> !(...)`, which a run violates that EG speaks of"),
];

/// Returns the suggestion for a word that is no operator here, if there is one.
pub(super) fn suggested_operator(word: &str) -> Option<&'static str> {
    UNKNOWN.iter().find(|(unknown, _)| *unknown == word).map(|(_, help)| *help)
}
