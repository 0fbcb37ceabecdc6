//! Languages: the meaning of their models, and the diagnostics of incorrect ones.

#[path = "../support/mod.rs"]
mod support;

mod dve;
mod dve_corpus;
mod ir;
mod mcc_properties;
mod murphi;
mod murphi_accepted;
mod murphi_corpus;
mod murphi_mistakes;
mod pnml;
mod promela;
mod promela_claims;
mod promela_lines;
mod promela_messages;
mod promela_mutations;
mod promela_parameters;
mod promela_text;
mod promela_traces;
mod promela_trails;
mod rumur;
