//! The message sequence chart of a walk that is still taking steps.

use super::NamedValues;
use super::changes::StepValues;
use super::chart::SequenceChart;
use super::table::WIDTH;
use super::walked_steps::WalkedSteps;
use crate::model::StepDescription;

/// The chart of the steps of a walk so far.
#[derive(Default)]
pub struct WalkChart {
    chart: SequenceChart,
    /// The number of the next step. The initial state has the number 0.
    next: u64,
}

impl WalkChart {
    /// Creates the chart of the steps of a walk.
    pub fn of(steps: &WalkedSteps<'_>) -> WalkChart {
        let mut chart = WalkChart::default();
        steps.each(&mut |step, StepValues { before, after }| {
            chart.add(step, before, after);
        });
        chart
    }

    /// Adds the next step, with the values before and after it. Returns the arrow of the message that it receives:
    /// `Sender[0] -(3)-> Receiver[1]`, with the number of the step that sent it unless that is this step.
    pub fn add(
        &mut self,
        step: &StepDescription,
        before: &NamedValues,
        after: &NamedValues,
    ) -> Option<String> {
        let (number, rows) = (self.next, self.chart.rows.len());
        self.next += 1;
        if number == 0 {
            return None;
        }
        self.chart.add(number, step, StepValues { before, after });
        self.chart.rows.get(rows)?.arrow_text(&self.chart.columns)
    }

    /// Returns whether a process has taken a step.
    pub fn has_processes(&self) -> bool {
        !self.chart.columns.is_empty()
    }

    /// Formats the chart, or its last `last` steps, in lines of `width` characters if possible.
    pub fn text(&self, last: Option<u64>, width: Option<usize>) -> String {
        self.chart.text(last, width.unwrap_or(WIDTH))
    }
}
