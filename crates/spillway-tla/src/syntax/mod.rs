//! Text to syntax tree.
//!
//! | module | content |
//! | --- | --- |
//! | [`symbols`] | the table of operator symbols |
//! | [`token`] | tokens, keywords, punctuation |
//! | [`lexer`] | text to tokens |
//! | [`ast`] | syntax trees |
//! | [`parser`] | tokens to syntax trees |
//! | [`walk`] | walks over syntax trees |

pub mod ast;
pub mod lexer;
pub mod parser;
pub mod symbols;
pub mod token;
pub mod walk;

pub use lexer::unescape;
pub use parser::{parse, parse_expression};
