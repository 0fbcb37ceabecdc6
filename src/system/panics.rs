//! Panics of a model, converted to its errors.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread runs code of a model now.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// The message and location of the last panic of a model in this thread.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A panic of a model, with its message and location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(super) struct SystemPanic {
    message: String,
}

/// Runs code of a model. Returns its result, or its panic, which is not printed.
pub(super) fn catch_panic<T>(run: impl FnOnce() -> T) -> Result<T, SystemPanic> {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |info| match INSIDE.get() {
            true => record_panic(info),
            false => others(info),
        }));
    });
    let before = INSIDE.replace(true);
    // The code has only shared references to the model, so a panic can break only the model's own state.
    let result = catch_unwind(AssertUnwindSafe(run));
    INSIDE.set(before);
    result.map_err(|_| SystemPanic { message: SAID.take() })
}

fn record_panic(info: &PanicHookInfo<'_>) {
    let what = info.payload_as_str().unwrap_or("a payload that is not text");
    // An `assert_eq!` prints the compared values on separate lines.
    let lines: Vec<&str> = what.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    let what = lines.join("; ");
    let place = info.location().map_or(String::new(), |at| format!(" ({at})"));
    SAID.replace(format!("it panics: {what}{place}"));
}

#[cfg(test)]
mod tests {
    use super::catch_panic;

    #[test]
    fn a_panic_is_caught_with_its_message_and_position() {
        let told = catch_panic(|| -> u8 { panic!("no {}", "way") }).unwrap_err().message;
        assert!(told.starts_with("it panics: no way (src/system/panics.rs:"), "{told}");
        assert_eq!(catch_panic(|| 1), Ok(1));
        let nested = catch_panic(|| catch_panic(|| [1][std::hint::black_box(1)]).unwrap_err());
        assert!(nested.unwrap().message.contains("out of bounds"));
        let compared =
            catch_panic(|| assert_eq!(1, std::hint::black_box(2), "as many")).unwrap_err().message;
        assert!(compared.contains(": as many; left: 1; right: 2 (src/"), "{compared}");
        let text = catch_panic(|| std::panic::panic_any(5_u8)).unwrap_err().message;
        assert!(text.contains("a payload that is not text"), "{text}");
    }
}
