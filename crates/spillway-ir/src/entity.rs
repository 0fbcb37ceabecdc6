//! Small typed integers for the parts of a program, and dense maps keyed by them.
//!
//! A `VarId` cannot be mistaken for an `ActionId`, takes four bytes, and indexes
//! an [`Arena`] without hashing.

use spillway_model::{ActionId, GroupId};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A typed index into an [`Arena`].
pub trait Entity: Copy + Eq {
    /// Returns the id of the `index`-th item.
    fn from_index(index: usize) -> Self;
    /// Returns the position in the arena.
    fn index(self) -> usize;
}

/// Declares entity types: `entity! { /// A variable. VarId, "v" }`.
#[macro_export]
macro_rules! entity {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $crate::entity::Entity for $name {
            fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than 2^32 entities"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
pub use entity;

/// Implements [`Entity`] for types of the interface to searches.
macro_rules! entity_of_model {
    ($($name:ident),*) => {$(
        impl Entity for $name {
            fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).expect("more than 2^32 entities"))
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

entity_of_model!(ActionId, GroupId);

/// A growing list of `T`, indexed by `K`.
#[derive(Clone, PartialEq, Eq)]
pub struct Arena<K, T> {
    items: Vec<T>,
    key: PhantomData<K>,
}

impl<K: Entity, T> Arena<K, T> {
    /// Creates an empty arena.
    pub fn new() -> Self {
        Self { items: Vec::new(), key: PhantomData }
    }

    /// Adds an item and returns its id.
    pub fn push(&mut self, item: T) -> K {
        self.items.push(item);
        K::from_index(self.items.len() - 1)
    }

    /// Returns the item with an id, if there is one.
    pub fn get(&self, key: K) -> Option<&T> {
        self.items.get(key.index())
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether the arena is empty.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns every item with its id, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (K, &T)> + DoubleEndedIterator {
        self.items.iter().enumerate().map(|(index, item)| (K::from_index(index), item))
    }

    /// Returns every item, in order.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Returns every item, in order, for changes.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// Returns the items as a slice, in order.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// Returns every id, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = K> + DoubleEndedIterator + use<K, T> {
        (0..self.items.len()).map(K::from_index)
    }
}

impl<K: Entity, T> Default for Arena<K, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Entity, T> Index<K> for Arena<K, T> {
    type Output = T;
    fn index(&self, key: K) -> &T {
        &self.items[key.index()]
    }
}

impl<K: Entity, T> IndexMut<K> for Arena<K, T> {
    fn index_mut(&mut self, key: K) -> &mut T {
        &mut self.items[key.index()]
    }
}

impl<K: Entity, T> FromIterator<T> for Arena<K, T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self { items: items.into_iter().collect(), key: PhantomData }
    }
}

impl<K, T: fmt::Debug> fmt::Debug for Arena<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}
