//! Spillway visits every reachable state of a model, exactly, inside a fixed memory budget.
//!
//! A model's text becomes a [`ir::Program`] ([`front`]), about which [`analysis`] tells what can be
//! known without running it, and which an executor ([`exec`]) turns into
//! successors of packed states, fewer of them if [`reduce`] may; [`search`] explores them breadth-first, level by level, on disk,
//! and [`report`] tells what was found. RAM is a cache, the disk is the store.
//!
//! The waist is [`exec::Model`]: initial states and successors; [`exec::Explain`] says what to call
//! things. A Rust type that implements both is searched like any model.

pub mod analysis;
pub mod cli;
pub mod diag;
pub mod exec;
pub mod front;
pub mod ir;
pub mod reduce;
pub mod report;
pub mod search;
pub mod source;
