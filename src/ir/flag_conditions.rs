//! Conditions on states that are asked beside the model: each is a file of the sources, whose name says what is asked of it.

use super::{Expr, ExprKind, PropertyKind, UnaryOp};

/// What is asked of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionModality {
    /// That it holds in every state.
    Always,
    /// That it holds in some state.
    Sometimes,
}

impl ConditionModality {
    const ALL: [ConditionModality; 2] = [ConditionModality::Always, ConditionModality::Sometimes];

    /// The flag that asks it.
    pub const fn flag(self) -> &'static str {
        match self {
            ConditionModality::Always => "--invariant",
            ConditionModality::Sometimes => "--cover",
        }
    }

    /// The property that asks it of a condition.
    pub fn property(self, condition: Expr) -> PropertyKind {
        match self {
            ConditionModality::Always => PropertyKind::Invariant(condition),
            ConditionModality::Sometimes => {
                let span = condition.span;
                let kind = ExprKind::Unary(UnaryOp::Not, Box::new(condition));
                PropertyKind::Cover(Expr::new(kind, span))
            }
        }
    }
}

/// What is asked of a condition, and what it is called, if that is not its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagCondition<'n> {
    /// What is asked.
    pub holds: ConditionModality,
    /// A name.
    pub name: Option<&'n str>,
}

impl<'n> FlagCondition<'n> {
    /// What its file is called: as the flag, with the name behind it.
    pub fn file(self) -> String {
        let flag = self.holds.flag();
        self.name.map_or(flag.to_owned(), |name| format!("{flag} {name}"))
    }

    /// That of a file; nothing if it is no such file.
    pub fn of_file(file: &'n str) -> Option<FlagCondition<'n>> {
        ConditionModality::ALL.into_iter().find_map(|holds| {
            let name = match file.strip_prefix(holds.flag())? {
                "" => None,
                rest => Some(rest.strip_prefix(' ')?),
            };
            Some(FlagCondition { holds, name })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_tell_what_is_asked() {
        for holds in ConditionModality::ALL {
            for name in [None, Some("mutual exclusion"), Some("")] {
                let condition = FlagCondition { holds, name };
                assert_eq!(FlagCondition::of_file(&condition.file()), Some(condition));
            }
        }
        assert_eq!(FlagCondition::of_file("model.dve"), None);
        assert_eq!(FlagCondition::of_file("--invariants"), None);
    }
}
