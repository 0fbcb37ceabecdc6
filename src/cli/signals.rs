//! Signals: the first asks for a stop at a checkpoint, the second ends the process.
//!
//! That holds for those by which people, terminals, systems and batch queues end programs: SIGINT,
//! SIGTERM, SIGHUP and SIGXCPU. One that the process was started to ignore, as by `nohup`, stays ignored.
//! SIGXFSZ is only kept from killing: the write that met the limit on the size of files then fails.

use super::failure::STOPPED;
use crate::search::SearchControl;
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Those that ask for a stop.
const STOPPING: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGXCPU];

/// What signals do at present.
pub(super) struct SignalHandlers {
    actions: Vec<SigId>,
}

impl SignalHandlers {
    /// The first signal stops what `control` controls; the second ends the process, with the code of a
    /// search that was stopped.
    pub(super) fn stop(control: &SearchControl) -> SignalHandlers {
        SignalHandlers { actions: actions(control, STOPPED) }
    }

    /// The same from now on, but for the code: what has been found stands, whatever comes.
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
        // What cannot be registered leaves the signal to kill the process, which loses only time.
        // SIGXCPU comes every second once it comes, so that it is never the second one.
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

/// Has writes beyond the limit on the size of files fail instead of killing the process.
pub(super) fn survive_file_limits() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Whether the process ignores a signal.
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action, it only writes the present one to where it may.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: it has been written if asking succeeded.
    asked == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}
