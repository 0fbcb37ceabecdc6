//! The cycle proviso of partial-order reduction for formulas, enforced by the searches (`docs/reductions/cycles.md`).
//!
//! The states of the system that must be fully expanded are a set of *choosing parts*
//! ([`CycleProvisoStateSpace`](spillway_model::CycleProvisoStateSpace)). The depth-first search in memory finds them as
//! it closes cycles. The search on disk finds them in [rounds](super::proviso_rounds).

pub mod faulty_proviso;
mod full_states;
pub mod random_product;
mod reduced_product;

pub(super) use full_states::FullStates;
pub use reduced_product::ReducedProduct;
