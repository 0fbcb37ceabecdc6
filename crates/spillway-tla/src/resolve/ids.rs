//! Typed indices of the resolved specification.

/// Defines a typed index.
macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the index for a table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index_type! {
    /// An index into [`Specification::expressions`](super::tree::Specification::expressions).
    ExprId
}
index_type! {
    /// An index into [`Specification::definitions`](super::tree::Specification::definitions).
    DefinitionId
}
index_type! {
    /// An index into [`Specification::variables`](super::tree::Specification::variables).
    VariableId
}
index_type! {
    /// An index into [`Specification::constants`](super::tree::Specification::constants).
    ConstantId
}
index_type! {
    /// An index into [`Specification::model_values`](super::tree::Specification::model_values).
    ModelValueId
}
index_type! {
    /// An index into [`Specification::strings`](super::tree::Specification::strings). The order of the indices is the order of strings in TLC: by their first
    /// appearance as an identifier or a string, in the configuration and then in the modules.
    StringId
}
index_type! {
    /// A slot of the frame of a definition.
    Slot
}
