//! What every part of Spillway uses: source texts and diagnostics, and small utilities.
//!
//! | module | content |
//! | --- | --- |
//! | [`source`] | source files and spans |
//! | [`diag`] | messages with carets |
//! | [`escape`] | foreign text, escaped for each output format |
//! | [`numbers`] | numbers in words |
//! | [`random`] | pseudo-random numbers |
//! | [`budget`] | time and memory limits of an analysis |
//! | [`buffer_pool`] | buffers of several threads |
//! | [`components`] | strongly connected components of graphs |
//! | [`trees`] | operands as trees of least height |

pub mod budget;
pub mod buffer_pool;
pub mod components;
pub mod diag;
pub mod escape;
pub mod numbers;
pub mod random;
pub mod source;
pub mod trees;
