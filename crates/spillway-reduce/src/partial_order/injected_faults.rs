//! Faults that tests inject, to show that tests with random programs notice them. Other builds have none.

/// A fault of partial order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InjectedFault {
    /// A chain passes through states with a visible transition.
    PassedVisible,
    /// An instance that may change a condition of a claim counts as invisible.
    HiddenChange,
}

#[cfg(test)]
thread_local! {
    static INJECTED: std::cell::Cell<Option<InjectedFault>> = const { std::cell::Cell::new(None) };
}

/// Injects a fault into everything that this thread does in `run`.
#[cfg(test)]
pub(super) fn with_fault<R>(fault: Option<InjectedFault>, run: impl FnOnce() -> R) -> R {
    let before = INJECTED.replace(fault);
    let result = run();
    INJECTED.set(before);
    result
}

/// Returns whether this thread has a fault.
#[cfg(test)]
pub(super) fn is_injected(fault: InjectedFault) -> bool {
    INJECTED.get() == Some(fault)
}

/// Returns whether this thread has a fault.
#[cfg(not(test))]
pub(super) const fn is_injected(_: InjectedFault) -> bool {
    false
}
