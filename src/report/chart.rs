//! A counterexample as a message sequence chart: a column for each process, an arrow for each message.
//!
//! Who sends what to whom is seen in the states: what comes into a channel was sent by the process that takes the step, and
//! what leaves it goes to the one that takes that step. Without buffer both sides take one step.

use super::Values;
use crate::exec::{Step, StepOutcome, Value};
use std::collections::HashMap;

/// Columns are as wide as what stands in them, within these bounds.
const NARROW: usize = 12;
const WIDE: usize = 36;

/// In front of the first column stands the number of the step.
const NUMBER: usize = 7;

/// A chart, step by step.
#[derive(Default)]
pub(super) struct Chart {
    /// The processes, by their columns.
    columns: Vec<String>,
    rows: Vec<Row>,
    /// Who sent the messages that wait in a channel, each with the number of the step.
    waiting: HashMap<String, Vec<(usize, u64)>>,
}

/// A step.
struct Row {
    number: u64,
    /// The columns of those who take part, each with what it does, in one line or more.
    actions: Vec<(usize, Vec<String>)>,
    /// From where the message comes that is received in the first of these, and which step sent it.
    from: Option<(usize, u64)>,
}

impl Chart {
    /// The next step, with the values before and after it.
    pub fn add(&mut self, number: u64, step: &Step, (before, after): (&Values, &Values)) {
        let (mut actions, mut send) = (Vec::new(), Vec::new());
        for actor in step.by.iter().flatten() {
            actions.push((self.column(&actor.process), vec![actor.does().to_owned()]));
            send.push(actor.sends);
        }
        if actions.is_empty() {
            return;
        }
        // Several actions of one process are a sequence; of two, both sides of a rendezvous.
        let meets = actions.len() == 2 && actions[0].0 != actions[1].0;
        if meets && send[0] {
            actions.swap(0, 1);
        }
        let from = match meets {
            true => Some((actions[1].0, number)),
            false => {
                let column = actions[0].0;
                actions = vec![(column, sequence(actions.into_iter().flat_map(|it| it.1)))];
                match step.outcome {
                    StepOutcome::Successor(_) => self.messages(column, number, before, after),
                    StepOutcome::Fault(_) => None,
                }
            }
        };
        self.rows.push(Row { number, actions, from });
    }

    fn column(&mut self, who: &str) -> usize {
        self.columns.iter().position(|it| it == who).unwrap_or_else(|| {
            self.columns.push(who.to_owned());
            self.columns.len() - 1
        })
    }

    /// Notes what a process sends, and finds from whom it is that it receives.
    fn messages(
        &mut self,
        column: usize,
        number: u64,
        before: &Values,
        after: &Values,
    ) -> Option<(usize, u64)> {
        let mut from = None;
        let queues = before.iter().filter_map(|(name, old)| match old {
            Value::Queue(old) => Some((name, old)),
            _ => None,
        });
        for (name, old) in queues {
            let new = after.iter().find(|(other, _)| other == name).map(|(_, value)| value);
            let Some(Value::Queue(new)) = new else { continue };
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

    /// The chart, with the last `last` steps of it.
    pub fn text(&self, last: Option<u64>) -> String {
        if self.columns.is_empty() {
            return "       no process takes part: this model has none\n".to_owned();
        }
        let first = self.rows.last().map_or(0, |it| it.number);
        let first = first.saturating_sub(last.map_or(first, |it| it.saturating_sub(1)));
        let rows: Vec<&Row> = self.rows.iter().filter(|it| it.number >= first).collect();
        let starts = self.starts(&rows);
        let mut out = line(&format!("{:>5}", "step"), &starts, &self.columns);
        for row in rows {
            out += &self.row(row, &starts);
        }
        out
    }

    /// Where columns begin.
    fn starts(&self, rows: &[&Row]) -> Vec<usize> {
        let mut at = NUMBER;
        let mut starts = Vec::new();
        for (column, name) in self.columns.iter().enumerate() {
            starts.push(at);
            let actions = rows.iter().flat_map(|it| &it.actions).filter(|it| it.0 == column);
            let texts = actions.flat_map(|(_, lines)| lines);
            let widest = texts.map(|it| it.chars().count()).max().unwrap_or(0);
            at += widest.max(name.chars().count()).clamp(NARROW, WIDE) + 2;
        }
        starts
    }

    fn row(&self, row: &Row, starts: &[usize]) -> String {
        let most = row.actions.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
        let mut out = self.first_line(row, starts);
        for further in 1..most {
            out += &line("", starts, &self.texts(row, further));
        }
        out
    }

    /// What stands in each column in a line of a row.
    fn texts(&self, row: &Row, number: usize) -> Vec<String> {
        let mut texts = vec!["|".to_owned(); self.columns.len()];
        for (column, lines) in &row.actions {
            if let Some(line) = lines.get(number) {
                texts[*column].clone_from(line);
            }
        }
        texts
    }

    fn first_line(&self, row: &Row, starts: &[usize]) -> String {
        let mut texts = self.texts(row, 0);
        let (to, number) = (row.actions[0].0, format!("{:>5}", row.number));
        let Some((from, sent)) = row.from.filter(|it| it.0 != to) else {
            return line(&number, starts, &texts);
        };
        // The arrow lies over whoever is between.
        let label = if sent == row.number { String::new() } else { format!("({sent})") };
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

/// What a process does in one step, one after the other, in lines as wide as a column may be.
fn sequence(actions: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for action in actions {
        match lines.last_mut() {
            Some(line) if line.chars().count() + action.chars().count() + 3 <= WIDE => {
                *line += &format!("; {action}");
            }
            last => {
                last.into_iter().for_each(|line| line.push(';'));
                lines.push(action);
            }
        }
    }
    lines
}

/// What lies between the ends of an arrow, with a label in it.
fn shaft(between: usize, used: usize, label: &str) -> String {
    let room = between.saturating_sub(used + 2);
    let dashes = room.saturating_sub(label.chars().count());
    format!("{}{label}{}", "-".repeat(dashes / 2), "-".repeat(dashes - dashes / 2))
}

/// Texts that begin at some columns, or behind the one before if that is longer.
fn line(number: &str, starts: &[usize], texts: &[String]) -> String {
    let mut out = number.to_owned();
    for (start, text) in starts.iter().zip(texts).filter(|(_, text)| !text.is_empty()) {
        let used = out.chars().count();
        out += &" ".repeat(start.saturating_sub(used));
        out += text;
    }
    out.trim_end().to_owned() + "\n"
}
