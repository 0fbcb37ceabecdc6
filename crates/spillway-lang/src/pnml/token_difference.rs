//! Differences of tokens: no binding may subtract more tokens than there are.
//!
//! The standard does not define negative numbers of tokens. So a net is rejected unless no binding that satisfies a
//! transition's condition yields one.

use super::colour_guard::ColourGuard;
use super::colours::{BagAddend, ColourComponent, ColourDeclarations};
use super::net::PetriNet;
use super::xml::PnmlResult;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// The maximum number of bindings tried to determine whether two colours can be equal.
const BINDINGS_MAX: u64 = 1 << 20;

impl PetriNet {
    /// Rejects a bag from which some binding that satisfies the condition subtracts more tokens than there are.
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

/// Returns whether `all` contains every colour of the subtracted addend `less`.
fn covers(all: &BagAddend, less: &BagAddend) -> bool {
    let mut parts = all.colour.iter().zip(&less.colour);
    parts.all(|(all, less)| all == less || *all == ColourComponent::All)
}

/// Returns whether two addends may share a colour in some binding that may satisfy a condition.
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
            // `None` means all values.
            one.zip(other).is_none_or(|(one, other)| one == other)
        });
        are_same && condition.is_none_or(|it| it.holds(colours, &values) != Some(false))
    })
}
