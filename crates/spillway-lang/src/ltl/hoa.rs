//! Automata in the Hanoi omega-automata format (Babiak and others, 2015), version 1, as written by Spot, Owl and
//! ltl2ba.
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
//! The reader accepts version 1.1, too. It accepts every acceptance condition, on states or edges, and converts it to
//! a Büchi condition ([`acceptance`]). It rejects alternation. The writer writes Büchi automata with accepting
//! states.

mod acceptance;
mod lex;
mod parser;
mod write;

pub use parser::{AtomicProposition, HoaDocument, read};
