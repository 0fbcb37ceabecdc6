//! Consistency testers whose histories serde can write and read.
//!
//! Stateright's own testers can only be written. These have the same names and methods and implement Stateright's
//! [`ConsistencyTester`], so that a model only changes its `use` lines. A reference object is a [`SequentialSpec`]
//! whose operations and answers serde can write and read: [`Register`](crate::register::Register), or a type of the
//! model.

mod history;

pub use stateright::semantics::{ConsistencyTester, SequentialSpec};

use history::OperationHistory;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// The operations with their answers, in an order in which they take effect one after another.
type SerialOrder<O> = Vec<(<O as SequentialSpec>::Op, <O as SequentialSpec>::Ret)>;

/// Defines a tester: a history of operations, and the object to which they apply.
macro_rules! tester {
    ($(#[$documentation:meta])* $name:ident, in real time: $in_real_time:expr) => {
        $(#[$documentation])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(bound(
            serialize = "T: Ord + Serialize, O: Serialize, O::Op: Serialize, O::Ret: Serialize",
            deserialize = "T: Ord + Deserialize<'de>, O: Deserialize<'de>, O::Op: Deserialize<'de>, \
                           O::Ret: Deserialize<'de>"
        ))]
        pub struct $name<T: Ord, O: SequentialSpec> {
            object: O,
            history: OperationHistory<T, O::Op, O::Ret>,
        }

        impl<T: Ord, O: SequentialSpec> $name<T, O> {
            /// Creates a tester without operations, for an object in this state.
            pub fn new(object: O) -> Self {
                $name { object, history: OperationHistory::default() }
            }

            /// Returns the number of operations that have begun.
            pub fn len(&self) -> usize {
                self.history.len()
            }

            /// Returns whether no operation has begun.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        impl<T, O> $name<T, O>
        where
            T: Copy + Debug + Ord,
            O: Clone + SequentialSpec<Op: Clone + Debug, Ret: Clone + Debug>,
        {
            /// Returns an order in which the object can have executed the operations one after another; `None` if
            /// there is none.
            pub fn serialized_history(&self) -> Option<SerialOrder<O>> {
                self.history.order(&self.object)
            }

            /// Returns whether there is such an order.
            pub fn is_consistent(&self) -> bool {
                self.serialized_history().is_some()
            }
        }

        impl<T, O> ConsistencyTester<T, O> for $name<T, O>
        where
            T: Copy + Debug + Ord,
            O: Clone + SequentialSpec<Op: Clone + Debug, Ret: Clone + Debug>,
        {
            fn on_invoke(&mut self, thread: T, operation: O::Op) -> Result<&mut Self, String> {
                let begun = self.history.begin(thread, operation, $in_real_time);
                begun.map_err(|error| error.to_string())?;
                Ok(self)
            }

            fn on_return(&mut self, thread: T, answer: O::Ret) -> Result<&mut Self, String> {
                self.history.end(thread, answer).map_err(|error| error.to_string())?;
                Ok(self)
            }

            fn is_consistent(&self) -> bool {
                self.serialized_history().is_some()
            }
        }

        impl<T: Ord, O: SequentialSpec + Default> Default for $name<T, O> {
            fn default() -> Self {
                $name::new(O::default())
            }
        }
    };
}

tester! {
    /// Tests whether operations of several threads are linearizable (Herlihy and Wing, 1990): whether each can have
    /// taken effect at one moment between its begin and its end.
    LinearizabilityTester, in real time: true
}

tester! {
    /// Tests whether operations of several threads are sequentially consistent (Lamport, 1979): whether they can have
    /// taken effect in an order that contains those of each thread in the thread's order.
    SequentialConsistencyTester, in real time: false
}

/// Implements recording for both testers: Stateright's messages about an object become operations of the object here.
macro_rules! records_for {
    ($ours:ident, $theirs:ty, $operation:ty, $answer:ty) => {
        crate::semantics::records_for! { LinearizabilityTester, $ours, $theirs, $operation, $answer }
        crate::semantics::records_for! { SequentialConsistencyTester, $ours, $theirs, $operation, $answer }
    };
    ($tester:ident, $ours:ident, $theirs:ty, $operation:ty, $answer:ty) => {
        impl<T, V> ConsistencyTester<T, $theirs> for $tester<T, $ours<V>>
        where
            T: Copy + Debug + Ord,
            V: Clone + Debug + PartialEq,
        {
            fn on_invoke(&mut self, thread: T, operation: $operation) -> Result<&mut Self, String> {
                ConsistencyTester::<T, $ours<V>>::on_invoke(self, thread, operation.into())
            }

            fn on_return(&mut self, thread: T, answer: $answer) -> Result<&mut Self, String> {
                ConsistencyTester::<T, $ours<V>>::on_return(self, thread, answer.into())
            }

            fn is_consistent(&self) -> bool {
                self.serialized_history().is_some()
            }
        }
    };
}

pub(crate) use records_for;
