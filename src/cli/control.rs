//! The control of a command: what stops it, and when.

use super::command::SessionOptions;
use crate::escape;
use crate::search::SearchControl;
use std::sync::Arc;
use std::time::Instant;

/// Creates the control of a session that begins now.
pub(super) fn control(args: &SessionOptions) -> Arc<SearchControl> {
    let deadline = args.deadline();
    let mut control = SearchControl::new(args.limits.checkpoint_every, deadline);
    control.command = Some(command());
    let control = Arc::new(control);
    stop_at(deadline, &control);
    control
}

/// Returns the command line in shell syntax.
fn command() -> String {
    let words =
        std::env::args_os().skip(1).map(|it| escape::shell(&it.to_string_lossy()).into_owned());
    std::iter::once("spillway".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Stops the search at the deadline, in whatever phase it is.
fn stop_at(deadline: Option<Instant>, control: &Arc<SearchControl>) {
    let Some(deadline) = deadline else { return };
    let control = Arc::downgrade(control);
    // Without a thread the search checks the clock itself, less often.
    let _ = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
        control.upgrade().inspect(|control| control.stop());
    });
}
