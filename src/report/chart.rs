//! A counterexample as a message sequence chart: a column for each process, an arrow for each message.
//!
//! Senders and receivers are inferred from states. A process whose step adds a message to a channel sent it. A process
//! whose step removes a message received it. In a rendezvous both processes take one step.

use super::NamedValues;
use super::changes::StepValues;
use super::values::value_of;
use crate::escape;
use crate::model::{StateValue, StepDescription, StepOutcome};
use std::collections::HashMap;

/// The bounds of a column's width. Within these bounds a column is as wide as its text.
const NARROW: usize = 12;
const WIDE: usize = 36;

/// The smallest width to which the widest columns are reduced if the chart is too wide.
const NARROWEST: usize = 8;

/// The space between columns.
const GAP: usize = 2;

/// The width of the step number before the first column.
const NUMBER: usize = 7;

/// A message sequence chart.
#[derive(Default)]
pub(super) struct SequenceChart {
    /// The names of the processes, by column.
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<ChartRow>,
    /// For each channel, the senders of its messages: the column and the number of the step.
    waiting: HashMap<String, Vec<(usize, u64)>>,
}

/// A step.
pub(super) struct ChartRow {
    pub number: u64,
    /// The columns of the processes that take part, each with its actions in order.
    pub actions: Vec<(usize, Vec<String>)>,
    /// The column that sent the message received by the first of these, and the number of the sending step.
    pub from: Option<(usize, u64)>,
}

impl SequenceChart {
    /// Adds the next step, with the values before and after it.
    pub fn add(
        &mut self,
        number: u64,
        step: &StepDescription,
        StepValues { before, after }: StepValues<'_>,
    ) {
        let (mut actions, mut send) = (Vec::new(), Vec::new());
        for actor in step.actors.iter().flatten() {
            actions.push((
                self.column(&actor.process),
                vec![actor.action_without_process().to_owned()],
            ));
            send.push(actor.sends);
        }
        if actions.is_empty() {
            return;
        }
        // Several actions of one process are a sequence. Actions of two processes are the sides of a rendezvous.
        let meets = actions.len() == 2 && actions[0].0 != actions[1].0;
        if meets && send[0] {
            actions.swap(0, 1);
        }
        let from = match meets {
            true => Some((actions[1].0, number)),
            false => {
                let column = actions[0].0;
                actions = vec![(column, actions.into_iter().flat_map(|it| it.1).collect())];
                match step.outcome {
                    StepOutcome::Successor(_) => self.messages(column, number, before, after),
                    StepOutcome::Fault(_) => None,
                }
            }
        };
        self.rows.push(ChartRow { number, actions, from });
    }

    fn column(&mut self, who: &str) -> usize {
        self.columns.iter().position(|it| it == who).unwrap_or_else(|| {
            self.columns.push(who.to_owned());
            self.columns.len() - 1
        })
    }

    /// Records the messages that a process sends, and returns the sender of a message that it receives.
    fn messages(
        &mut self,
        column: usize,
        number: u64,
        before: &NamedValues,
        after: &NamedValues,
    ) -> Option<(usize, u64)> {
        let mut from = None;
        let queues = before.iter().filter_map(|(name, old)| match old {
            StateValue::Queue(old) => Some((name, old)),
            _ => None,
        });
        for (name, old) in queues {
            let Some(StateValue::Queue(new)) = value_of(after, name) else { continue };
            let waiting = self.waiting.entry(name.clone()).or_default();
            let same = old.iter().zip(new).take_while(|(one, other)| one == other).count();
            if new.len() == old.len() + 1 {
                waiting.insert(same.min(waiting.len()), (column, number));
            } else if new.len() + 1 == old.len() && same < waiting.len() {
                from = Some(waiting.remove(same));
            }
        }
        from
    }

    /// Formats the chart, or its last `last` steps, in lines of `width` characters if possible.
    pub fn text(&self, last: Option<u64>, width: usize) -> String {
        if self.columns.is_empty() {
            return "       the chart is empty: this model has no processes\n".to_owned();
        }
        let first = self.rows.last().map_or(0, |it| it.number);
        let first = first.saturating_sub(last.map_or(first, |it| it.saturating_sub(1)));
        let rows: Vec<&ChartRow> = self.rows.iter().filter(|it| it.number >= first).collect();
        let grid = self.grid(&rows, width);
        let mut out = match grid.end() > width {
            true => format!(
                "       {} processes do not fit {width} characters: lines are longer\n",
                self.columns.len()
            ),
            false => String::new(),
        };
        let names: Vec<Vec<String>> = self
            .columns
            .iter()
            .zip(&grid.widths)
            .map(|(it, &width)| break_lines(it, width))
            .collect();
        for number in 0..names.iter().map(Vec::len).max().unwrap_or(0) {
            let step = if number == 0 { format!("{:>5}", "step") } else { String::new() };
            let name = |it: &Vec<String>| it.get(number).cloned().unwrap_or_default();
            out += &line(&step, &grid.starts, &names.iter().map(name).collect::<Vec<_>>());
        }
        for row in rows {
            out += &self.row(row, &grid);
        }
        out
    }

    /// Computes the columns for these rows.
    fn grid(&self, rows: &[&ChartRow], width: usize) -> ChartColumns {
        let natural = self.columns.iter().enumerate().map(|(column, name)| {
            let widths = rows.iter().flat_map(|row| {
                let actions = row.actions.iter().filter(|it| it.0 == column);
                let lines = actions.flat_map(|(_, actions)| sequence(actions, WIDE));
                lines.map(|it| it.chars().count() + row.arrow(column))
            });
            let widest = widths.max().unwrap_or(0);
            widest.max(name.chars().count()).clamp(NARROW, WIDE)
        });
        let mut widths: Vec<usize> = natural.collect();
        let room = width.saturating_sub(NUMBER + GAP * (widths.len() - 1));
        while widths.iter().sum::<usize>() > room {
            match widths.iter_mut().max().filter(|it| **it > NARROWEST) {
                Some(widest) => *widest -= 1,
                None => break,
            }
        }
        ChartColumns::new(widths)
    }

    fn row(&self, row: &ChartRow, grid: &ChartColumns) -> String {
        let lines: Vec<(usize, Vec<String>)> = (row.actions.iter())
            .map(|(column, actions)| (*column, sequence(actions, row.room(*column, grid))))
            .collect();
        let most = lines.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
        let mut out = self.first_line(row, &lines, &grid.starts);
        for further in 1..most {
            out += &line("", &grid.starts, &self.texts(&lines, further));
        }
        out
    }

    /// Returns the text of each column in one line of a row.
    fn texts(&self, lines: &[(usize, Vec<String>)], number: usize) -> Vec<String> {
        let mut texts = vec!["|".to_owned(); self.columns.len()];
        for (column, lines) in lines {
            if let Some(line) = lines.get(number) {
                texts[*column].clone_from(line);
            }
        }
        texts
    }

    fn first_line(
        &self,
        row: &ChartRow,
        lines: &[(usize, Vec<String>)],
        starts: &[usize],
    ) -> String {
        let mut texts = self.texts(lines, 0);
        let (to, number) = (row.actions[0].0, format!("{:>5}", row.number));
        let Some((from, sent)) = row.from.filter(|it| it.0 != to) else {
            return line(&number, starts, &texts);
        };
        // The arrow crosses the columns between the processes.
        let label = row.label();
        let between = starts[from.max(to)] - starts[from.min(to)];
        match from < to {
            true => {
                let head = if sent == row.number { texts[from].clone() + " " } else { "|".into() };
                texts[from] = head.clone() + &shaft(between, head.chars().count(), &label) + "> ";
                texts.iter_mut().take(to).skip(from + 1).for_each(String::clear);
            }
            false => {
                let head = texts[to].clone() + " <";
                texts[to] = head.clone() + &shaft(between + 2, head.chars().count(), &label);
                texts.iter_mut().take(from).skip(to + 1).for_each(String::clear);
            }
        }
        line(&number, starts, &texts)
    }
}

/// The positions of columns.
struct ChartColumns {
    starts: Vec<usize>,
    widths: Vec<usize>,
}

impl ChartColumns {
    fn new(widths: Vec<usize>) -> ChartColumns {
        let starts = widths.iter().scan(NUMBER, |at, width| {
            let start = *at;
            *at += width + GAP;
            Some(start)
        });
        ChartColumns { starts: starts.collect(), widths }
    }

    /// Returns the position after the last column.
    fn end(&self) -> usize {
        self.starts.iter().zip(&self.widths).map(|(start, width)| start + width).max().unwrap_or(0)
    }
}

impl ChartRow {
    /// Returns the arrow of the received message between the names of processes, unless the receiver sent it itself.
    #[cfg(feature = "cli")]
    pub fn arrow_text(&self, columns: &[String]) -> Option<String> {
        let to = self.actions[0].0;
        let (from, _) = self.from.filter(|it| it.0 != to)?;
        Some(format!("{} -{}-> {}", columns[from], self.label(), columns[to]))
    }

    /// Returns the label of the arrow: the number of the sending step, unless that is this step.
    fn label(&self) -> String {
        match self.from {
            Some((_, sent)) if sent != self.number => format!("({sent})"),
            _ => String::new(),
        }
    }

    /// Returns the characters of a column's text that an arrow occupies.
    fn arrow(&self, column: usize) -> usize {
        let to = self.actions[0].0;
        match self.from.map(|it| it.0) {
            Some(from) if from > to && column == to => 1 + self.label().chars().count(),
            Some(from) if from < to && column == from => 1,
            _ => 0,
        }
    }

    /// Returns the maximum length of a line in a column.
    fn room(&self, column: usize, grid: &ChartColumns) -> usize {
        grid.widths[column].saturating_sub(self.arrow(column)).max(NARROWEST / 2)
    }
}

/// Formats the actions of a process in one step as lines of at most `width` characters.
fn sequence(actions: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (number, action) in actions.iter().enumerate() {
        // All actions except the last need space for a separator.
        let around = if number + 1 == actions.len() { 2 } else { 3 };
        match lines.last_mut() {
            Some(line) if line.chars().count() + action.chars().count() + around <= width => {
                *line += &format!("; {action}");
            }
            last => {
                last.into_iter().for_each(|line| line.push(';'));
                lines.push(action.clone());
            }
        }
    }
    lines.iter().flat_map(|it| break_lines(it, width)).collect()
}

/// Breaks a text into lines of at most `width` characters: between words if possible, else after punctuation, else
/// anywhere.
pub(super) fn break_lines(text: &str, width: usize) -> Vec<String> {
    let (mut rest, mut lines): (Vec<char>, _) = (escape::line(text).chars().collect(), Vec::new());
    while rest.len() > width {
        let last =
            |is_end: &dyn Fn(usize) -> bool| (width / 2..=width).rev().find(|&at| is_end(at));
        let is_letter = |at: usize| rest[at].is_alphanumeric() || rest[at] == '_';
        let end = last(&|at| rest[at] == ' ')
            .or_else(|| last(&|at| at > 0 && !is_letter(at - 1) && is_letter(at)))
            .unwrap_or(width)
            .max(1);
        let behind = rest.split_off(end);
        lines.push(rest.iter().collect::<String>().trim_end().to_owned());
        rest = behind.into_iter().skip_while(|it| *it == ' ').collect();
    }
    lines.push(rest.into_iter().collect());
    lines
}

/// Returns the line between the ends of an arrow, with a label in it.
fn shaft(between: usize, used: usize, label: &str) -> String {
    let room = between.saturating_sub(used + 2);
    let label = if label.chars().count() > room { "" } else { label };
    let dashes = room - label.chars().count();
    format!("{}{label}{}", "-".repeat(dashes / 2), "-".repeat(dashes - dashes / 2))
}

/// Places texts at their columns. A text that is too long moves the next one to the right.
fn line(number: &str, starts: &[usize], texts: &[String]) -> String {
    let mut out = number.to_owned();
    for (start, text) in starts.iter().zip(texts).filter(|(_, text)| !text.is_empty()) {
        let used = out.chars().count();
        out += &" ".repeat(start.saturating_sub(used));
        out += text;
    }
    out.trim_end().to_owned() + "\n"
}
