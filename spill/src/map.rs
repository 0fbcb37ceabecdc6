/// Placeholder.
pub struct Mapped;
