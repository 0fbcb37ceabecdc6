//! Automata in the Hanoi omega-automata format (Babiak and others, 2015), version 1: what Spot, Owl and ltl2ba write.
//!
//! ```text
//! HOA: v1
//! States: 2
//! Start: 0
//! AP: 1 "x == 1"
//! Acceptance: 1 Inf(0)
//! --BODY--
//! State: 0
//! [t] 0
//! [0] 1
//! State: 1 {0}
//! [0] 1
//! --END--
//! ```
//!
//! Version 1.1 is read too. Every acceptance condition is read, on states or edges, and becomes Büchi's ([`acceptance`]);
//! alternation is refused. Written are Büchi automata with accepting states.

mod acceptance;
mod lex;
mod parser;
mod write;

pub use parser::{AtomicProposition, HoaDocument, read};
