//! The breakpoints on a page of the explorer. A request carries all of them, so the server keeps none.

use maud::{Markup, html};

/// The name of the form that sets and deletes breakpoints by buttons elsewhere on the page.
const FORM: &str = "toggle";

/// A breakpoint.
pub struct ExploredBreakpoint {
    /// Its number.
    pub number: usize,
    /// The kind of place at which it stops.
    pub kind: &'static str,
    /// Where it stops.
    pub text: String,
    /// Whether the last step stops there.
    pub is_hit: bool,
}

/// The breakpoints of a page.
pub struct ExploredBreakpoints {
    /// The address of the page without breakpoints.
    pub address: String,
    /// The breakpoints.
    pub all: Vec<ExploredBreakpoint>,
}

/// A breakpoint at a line of the model.
pub struct LineBreakpoint {
    /// Where it stops.
    pub text: String,
    /// Whether it is set.
    pub is_set: bool,
}

impl ExploredBreakpoints {
    /// The parameter of a breakpoint that is set.
    pub const KEPT: &'static str = "break";

    /// The parameter of a breakpoint that is to be set, or deleted if it is set.
    pub const TOGGLED: &'static str = "toggle";

    pub(super) fn section(&self) -> Markup {
        html! {
            section #breakpoints {
                h2 { "Breakpoints" }
                // A form without a text field: Enter in one would press the first button of its form.
                form #(FORM) action=(self.address) method="get" { (self.fields()) }
                @if self.all.is_empty() {
                    p { "There are none. The number of a line sets one there." }
                }
                table {
                    @for it in &self.all {
                        tr class=[it.is_hit.then_some("now")] {
                            td.number { (it.number) }
                            td { (it.kind) }
                            td { code { (it.text) } }
                            td { @if it.is_hit { "the last step stops here" } }
                            td { button form=(FORM) name=(Self::TOGGLED) value=(it.text) { "delete" } }
                        }
                    }
                }
                form action=(self.address) method="get" {
                    (self.fields())
                    label { "break at " input name=(Self::TOGGLED) size="30" placeholder="a line, an action or an expression" autocomplete="off"; }
                    button { "set" }
                }
            }
        }
    }

    /// Returns the hidden fields of a form that keeps the breakpoints.
    pub(super) fn fields(&self) -> Markup {
        html! { @for it in &self.all { input type="hidden" name=(Self::KEPT) value=(it.text); } }
    }
}

impl LineBreakpoint {
    /// Returns the number of the line as a button that sets the breakpoint, or deletes it.
    pub(super) fn button(&self, line: usize) -> Markup {
        let title = if self.is_set { "delete the breakpoint" } else { "set a breakpoint" };
        let state = if self.is_set { "true" } else { "false" };
        html! { button.line form=(FORM) name=(ExploredBreakpoints::TOGGLED) value=(self.text) title=(title) aria-pressed=(state) { (line) } }
    }
}
