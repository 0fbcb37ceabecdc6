//! The operations of threads on an object, and the search for an order of them.

use serde::{Deserialize, Serialize};
use stateright::semantics::SequentialSpec;
use std::collections::BTreeMap;
use std::fmt::Debug;
use thiserror::Error;

/// The reason why an operation does not continue a history. Threads, operations and answers have their `Debug` form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidOperation {
    /// A thread has two operations at once.
    #[error("thread {thread} begins {operation} before its operation {pending} has ended")]
    Overlap {
        /// The thread.
        thread: String,
        /// The operation that it begins.
        operation: String,
        /// The operation that has not ended.
        pending: String,
    },
    /// A thread gets an answer without a pending operation.
    #[error("thread {thread} is answered {answer} without an operation")]
    NoOperation {
        /// The thread.
        thread: String,
        /// The answer.
        answer: String,
    },
    /// The history was already invalid.
    #[error("an earlier operation of this history is invalid")]
    InvalidHistory,
}

/// The operations of threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound(
    serialize = "T: Ord + Serialize, Op: Serialize, Ret: Serialize",
    deserialize = "T: Ord + Deserialize<'de>, Op: Deserialize<'de>, Ret: Deserialize<'de>"
))]
pub struct OperationHistory<T: Ord, Op, Ret> {
    threads: BTreeMap<T, ThreadHistory<T, Op, Ret>>,
    /// Whether a thread began an operation before the end of another, or ended one that it had not begun.
    is_invalid: bool,
}

/// The operations of one thread, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct ThreadHistory<T, Op, Ret> {
    complete: Vec<(OperationCall<T, Op>, Ret)>,
    pending: Option<OperationCall<T, Op>>,
}

/// An operation that has begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct OperationCall<T, Op> {
    operation: Op,
    /// The number of operations that each other thread had completed when this one began, for threads with any; only
    /// recorded if real time matters.
    after: Vec<(T, usize)>,
}

impl<T: Ord, Op, Ret> Default for OperationHistory<T, Op, Ret> {
    fn default() -> Self {
        OperationHistory { threads: BTreeMap::new(), is_invalid: false }
    }
}

impl<T, Op, Ret> Default for ThreadHistory<T, Op, Ret> {
    fn default() -> Self {
        ThreadHistory { complete: Vec::new(), pending: None }
    }
}

impl<T: Ord, Op, Ret> OperationHistory<T, Op, Ret> {
    /// Returns the number of operations that have begun.
    pub fn len(&self) -> usize {
        let of_thread =
            |it: &ThreadHistory<T, Op, Ret>| it.complete.len() + usize::from(it.pending.is_some());
        self.threads.values().map(of_thread).sum()
    }
}

impl<T: Copy + Debug + Ord, Op: Debug, Ret: Debug> OperationHistory<T, Op, Ret> {
    /// Records that a thread begins an operation. In real time it comes after all operations that others have
    /// completed.
    pub fn begin(
        &mut self,
        thread: T,
        operation: Op,
        in_real_time: bool,
    ) -> Result<(), InvalidOperation> {
        self.reject_invalid()?;
        let others =
            self.threads.iter().filter(|(it, of)| **it != thread && !of.complete.is_empty());
        let after = match in_real_time {
            true => others.map(|(it, of)| (*it, of.complete.len())).collect(),
            false => Vec::new(),
        };
        let own = self.threads.entry(thread).or_default();
        if let Some(OperationCall { operation: pending, .. }) = &own.pending {
            self.is_invalid = true;
            return Err(InvalidOperation::Overlap {
                thread: format!("{thread:?}"),
                operation: format!("{operation:?}"),
                pending: format!("{pending:?}"),
            });
        }
        own.pending = Some(OperationCall { operation, after });
        Ok(())
    }

    /// Records the answer to a thread.
    pub fn end(&mut self, thread: T, answer: Ret) -> Result<(), InvalidOperation> {
        self.reject_invalid()?;
        let own = self.threads.entry(thread).or_default();
        let Some(call) = own.pending.take() else {
            self.is_invalid = true;
            let (thread, answer) = (format!("{thread:?}"), format!("{answer:?}"));
            return Err(InvalidOperation::NoOperation { thread, answer });
        };
        own.complete.push((call, answer));
        Ok(())
    }

    fn reject_invalid(&self) -> Result<(), InvalidOperation> {
        match self.is_invalid {
            true => Err(InvalidOperation::InvalidHistory),
            false => Ok(()),
        }
    }

    /// Returns an order in which an object can have executed the operations; `None` if there is none. It contains
    /// pending operations only if they must have taken effect.
    pub fn order<O>(&self, object: &O) -> Option<Vec<(Op, Ret)>>
    where
        Op: Clone,
        Ret: Clone,
        O: Clone + SequentialSpec<Op = Op, Ret = Ret>,
    {
        if self.is_invalid {
            return None;
        }
        let mut ordering =
            OrderSearch { history: self, placed: vec![0; self.threads.len()], order: Vec::new() };
        ordering.completes(object).then_some(ordering.order)
    }
}

/// A depth-first search for an order.
struct OrderSearch<'h, T: Ord, Op, Ret> {
    history: &'h OperationHistory<T, Op, Ret>,
    /// The number of operations of each thread that are in the order.
    placed: Vec<usize>,
    order: Vec<(Op, Ret)>,
}

impl<T, Op, Ret> OrderSearch<'_, T, Op, Ret>
where
    T: Ord,
    Op: Clone,
    Ret: Clone,
{
    /// Returns whether the order can be completed from this state of the object; if so, completes it.
    fn completes<O>(&mut self, object: &O) -> bool
    where
        O: Clone + SequentialSpec<Op = Op, Ret = Ret>,
    {
        let history = self.history;
        let mut threads = history.threads.values().zip(&self.placed);
        if threads.all(|(it, &placed)| placed >= it.complete.len()) {
            return true;
        }
        for (number, thread) in history.threads.values().enumerate() {
            let placed = self.placed[number];
            let mut object = object.clone();
            let (operation, answer) = match (thread.complete.get(placed), &thread.pending) {
                (Some((call, answer)), _) if self.may_be_next(call) => {
                    if !object.is_valid_step(&call.operation, answer) {
                        continue;
                    }
                    (call.operation.clone(), answer.clone())
                }
                (None, Some(call)) if placed == thread.complete.len() && self.may_be_next(call) => {
                    let answer = object.invoke(&call.operation);
                    (call.operation.clone(), answer)
                }
                _ => continue,
            };
            self.order.push((operation, answer));
            self.placed[number] += 1;
            if self.completes(&object) {
                return true;
            }
            self.placed[number] -= 1;
            self.order.pop();
        }
        false
    }

    /// Returns whether all operations that ended before a call began are in the order.
    fn may_be_next(&self, call: &OperationCall<T, Op>) -> bool {
        let is_placed = |(thread, count): &(T, usize)| {
            let number = self.history.threads.keys().position(|it| it == thread);
            number.is_none_or(|it| self.placed[it] >= *count)
        };
        call.after.iter().all(is_placed)
    }
}
