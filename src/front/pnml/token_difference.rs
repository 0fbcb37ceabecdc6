//! Differences of tokens: no binding may subtract more than there is.
//!
//! The standard does not say what a negative number of tokens is. So a net is refused unless no binding for which the
//! condition of a transition holds has one.

use super::colour_guard::ColourGuard;
use super::colours::{BagAddend, ColourComponent, ColourDeclarations};
use super::net::PetriNet;
use super::xml::PnmlResult;
use crate::diag::Diagnostic;
use crate::source::Span;

/// The most bindings that are tried to find out whether two colours can be the same.
const BINDINGS_MAX: u64 = 1 << 20;

impl PetriNet {
    /// Refuses tokens of which some binding, for which a condition holds, subtracts more than there are.
    pub(super) fn reject_negative(
        &self,
        bag: &[BagAddend],
        condition: Option<&ColourGuard>,
        span: Span,
    ) -> PnmlResult<()> {
        let colours = &self.colours;
        let subtracted = || bag.iter().filter(|it| it.times < 0);
        for less in subtracted() {
            let there = bag.iter().filter(|it| it.times > 0 && covers(it, less));
            let there = there.fold(0, |sum: i64, it| sum.saturating_add(it.times));
            let same = subtracted().filter(|it| {
                it.colour == less.colour || may_coincide(colours, condition, less, it)
            });
            let taken = same.fold(0, |sum: i64, it| sum.saturating_add(it.times));
            if there.saturating_add(less.times) < 0 {
                let message = "what is subtracted has to be among what it is subtracted from";
                return Err(Diagnostic::error(span, message));
            }
            if there.saturating_add(taken) < 0 {
                let message = "two colours that are subtracted may be the same: \
                    some binding subtracts more than there is";
                return Err(Diagnostic::error(span, message)
                    .help("a condition that the two differ rules these bindings out"));
            }
        }
        Ok(())
    }
}

/// Whether each colour of what is taken away is among these.
fn covers(all: &BagAddend, less: &BagAddend) -> bool {
    let mut parts = all.colour.iter().zip(&less.colour);
    parts.all(|(all, less)| all == less || *all == ColourComponent::All)
}

/// Whether some binding, for which a condition may hold, gives two addends a colour in common.
fn may_coincide(
    colours: &ColourDeclarations,
    condition: Option<&ColourGuard>,
    one: &BagAddend,
    other: &BagAddend,
) -> bool {
    let pairs = || one.colour.iter().zip(&other.colour);
    let mut variables: Vec<usize> =
        pairs().flat_map(|(one, other)| [one.variable(), other.variable()]).flatten().collect();
    variables.sort_unstable();
    variables.dedup();
    let size =
        |variable: &usize| u64::from(colours.classes[colours.variables[*variable].class].size());
    let bindings = variables.iter().map(size).fold(1, u64::saturating_mul);
    if bindings > BINDINGS_MAX {
        return true;
    }
    (0..bindings).any(|number| {
        let mut rest = number;
        let mut value = |variable: &usize| {
            let value = (rest % size(variable)) as u32;
            rest /= size(variable);
            (*variable, value)
        };
        let values: Vec<(usize, u32)> = variables.iter().map(&mut value).collect();
        let are_same = pairs().all(|(one, other)| {
            let [one, other] = [one, other].map(|it| colours.value(*it, &values));
            // Nothing stands for every value.
            one.zip(other).is_none_or(|(one, other)| one == other)
        });
        are_same && condition.is_none_or(|it| it.holds(colours, &values) != Some(false))
    })
}
