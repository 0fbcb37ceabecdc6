//! Who stops a command, and when.

use super::command::SessionOptions;
use crate::escape;
use crate::search::SearchControl;
use std::sync::Arc;
use std::time::Instant;

/// What a sitting is told, from now on.
pub(super) fn control(args: &SessionOptions) -> Arc<SearchControl> {
    let deadline = args.deadline();
    let mut control = SearchControl::new(args.limits.checkpoint_every, deadline);
    control.command = Some(command());
    let control = Arc::new(control);
    stop_at(deadline, &control);
    control
}

/// The command line, as a shell takes it.
fn command() -> String {
    let words =
        std::env::args_os().skip(1).map(|it| escape::shell(&it.to_string_lossy()).into_owned());
    std::iter::once("spillway".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Asks for a stop when the time is up, wherever the search then is.
fn stop_at(deadline: Option<Instant>, control: &Arc<SearchControl>) {
    let Some(deadline) = deadline else { return };
    let control = Arc::downgrade(control);
    // Without a thread the search looks at the clock itself, if less often.
    let _ = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
        control.upgrade().inspect(|control| control.stop());
    });
}
