//! Signals: the first requests a stop at a checkpoint, the second ends the process.
//!
//! This applies to the signals by which users, terminals, systems and batch queues end programs: SIGINT, SIGTERM,
//! SIGHUP and SIGXCPU. A signal that the process was started to ignore, as by `nohup`, stays ignored. SIGXFSZ is only
//! prevented from killing the process: the write beyond the file size limit then fails.

use super::failure::STOPPED;
use crate::search::SearchControl;
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals that request a stop.
const STOPPING: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGXCPU];

/// The registered signal handlers.
pub(super) struct SignalHandlers {
    actions: Vec<SigId>,
}

impl SignalHandlers {
    /// Registers handlers: the first signal stops the search of `control`; the second ends the process with the exit
    /// code of a stopped search.
    pub(super) fn stop(control: &SearchControl) -> SignalHandlers {
        SignalHandlers { actions: actions(control, STOPPED) }
    }

    /// Changes the exit code, because the verdict is now known and cannot change.
    pub(super) fn set_exit_code(&mut self, code: u8, control: &SearchControl) {
        let before = std::mem::replace(&mut self.actions, actions(control, code));
        for action in before {
            signal_hook::low_level::unregister(action);
        }
    }
}

fn actions(control: &SearchControl, code: u8) -> Vec<SigId> {
    let again = Arc::new(AtomicBool::new(false));
    let mut actions = Vec::new();
    for signal in STOPPING.into_iter().filter(|&signal| !is_ignored(signal)) {
        // If registration fails, the signal kills the process, which loses only time. SIGXCPU is sent every second, so
        // it never counts as the second signal.
        if signal != SIGXCPU {
            let code = i32::from(code);
            let ends =
                signal_hook::flag::register_conditional_shutdown(signal, code, again.clone());
            actions.extend(ends);
            actions.extend(signal_hook::flag::register(signal, again.clone()));
        }
        actions.extend(signal_hook::flag::register(signal, control.stop_flag()));
    }
    actions
}

/// Makes the usual signals end the process at once with this exit code, for commands that lose nothing by it.
pub(super) fn end_at_once(code: u8) {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let always = Arc::new(AtomicBool::new(true));
        // If registration fails, the signal kills the process.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, i32::from(code), always);
    }
}

/// Ends the command that runs at a prompt: the first SIGINT stops it, the second ends the process. At the prompt the
/// first one ends the process.
pub(super) struct CommandInterrupt {
    /// Whether the next signal ends the process: one has come, or nothing runs.
    is_raised: Arc<AtomicBool>,
}

impl CommandInterrupt {
    /// Registers the handler.
    pub(super) fn register() -> CommandInterrupt {
        let is_raised = Arc::new(AtomicBool::new(false));
        if !is_ignored(SIGINT) {
            // If registration fails, the signal kills the process, which loses only the walk.
            let code = 128 + SIGINT;
            let flag = is_raised.clone();
            let _ = signal_hook::flag::register_conditional_shutdown(SIGINT, code, flag);
            let _ = signal_hook::flag::register(SIGINT, is_raised.clone());
        }
        CommandInterrupt { is_raised }
    }

    /// Waits at the prompt.
    pub(super) fn at_prompt<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.is_raised.store(true, Ordering::Relaxed);
        let result = wait();
        self.is_raised.store(false, Ordering::Relaxed);
        result
    }

    /// Returns whether a signal has come since the prompt.
    pub(super) fn is_raised(&self) -> bool {
        self.is_raised.load(Ordering::Relaxed)
    }
}

/// Makes writes beyond the file size limit fail instead of killing the process.
pub(super) fn survive_file_limits() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Returns whether the process ignores a signal.
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action, the call only writes the present one to `action`.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: the call has written it if it succeeded.
    asked == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}
