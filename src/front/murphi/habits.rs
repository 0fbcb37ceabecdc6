//! Flags of Murphi compilers and of the checkers that they make, and what does here what they do there.

use crate::front::Habit;

/// What those who come from Murphi type.
pub(super) const HABITS: &[Habit] = &[
    Habit::of("-k#", "`--memory SIZE` is all that the process may take"),
    Habit::of("-b#", "states are stored exactly, in as many bits as they need"),
    Habit::of("-ndl", "`--no-deadlock`"),
    Habit::of("-sym#", "`--symmetry exact` or `--symmetry fast`"),
    Habit::of("-nosym", "`--symmetry off`"),
    Habit::of("-vbfs", "the search is always breadth-first"),
    Habit::of("-vdfs", "the search is always breadth-first"),
    Habit::of("-s", "`spillway simulate MODEL`"),
    Habit::of("-ta", "states are not written out: `spillway simulate MODEL` shows some"),
    Habit::of("-d", "`--dir DIR`"),
    Habit::of("-m#", "`--memory SIZE` is all that the process may take"),
    Habit::of("-c", "states are stored exactly, in as many bits as they need"),
    Habit::of("-tv", TRACE),
    Habit::of("-tf", TRACE),
    Habit::of("-td", TRACE),
    Habit::of("-p#", "how far it is stands in the last line of the terminal"),
    Habit::of("-o", "`spillway check MODEL` does all of it: nothing is to be compiled"),
    Habit::of("--output", "`spillway check MODEL` does all of it: nothing is to be compiled"),
    Habit::of("--symmetry-reduction", "`--symmetry exact`, `--symmetry fast` or `--symmetry off`"),
    Habit::of("--deadlock-detection", "`--no-deadlock`, or `--deadlock stuck`"),
    Habit::of("--max-errors", "`--keep-going` counts all violations"),
    Habit::of("--counterexample-trace", TRACE),
    Habit::of(
        "--bound",
        "depth has no bound; `--max-states N` and `--max-time TIME` stop a search",
    ),
    Habit::of("--set-capacity", "there is no hash table; `--memory SIZE` is all that it may take"),
];

const TRACE: &str =
    "the counterexample is shown, with what each step changed; `--no-trace` leaves it out";
