//! Flags of SPIN and of the checkers that it makes, and what does here what they do there.

use crate::front::Habit;

/// What those who come from SPIN type.
pub(super) const HABITS: &[Habit] = &[
    Habit::of("-search", "`spillway check MODEL` does all of it"),
    Habit::of("-run", "`spillway check MODEL` does all of it"),
    Habit::of("-a", "`--ltl NAME` asks about runs, `--acceptance` about `accept` labels"),
    Habit::of("-ltl", "`--ltl NAME`, or `--ltl 'FORMULA'`"),
    Habit::of("-N", "`--ltl NAME`, or `--claim NAME` for the end of a never claim"),
    Habit::of("-noclaim", "`--no-claim`"),
    Habit::of("-l", "`--non-progress`"),
    Habit::of("-f", "`--fair weak`, beside `--ltl`, `--acceptance` or `--non-progress`"),
    Habit::of("-E", "`--no-deadlock`"),
    Habit::of("-A", "`--only` names what to look for"),
    Habit::of("-e", "`--keep-going` counts all violations"),
    Habit::of("-c#", "`--keep-going` counts all violations"),
    Habit::of("-i", "counterexamples are shortest, or say so: then `--shortest` looks on"),
    Habit::of("-I", "counterexamples are shortest, or say so: then `--shortest` looks on"),
    Habit::of("-bfs", "the search is always breadth-first"),
    Habit::of("-dfs", "the search is always breadth-first"),
    Habit::of("-w#", "there is no hash table; `--memory SIZE` is all that the process may take"),
    Habit::of("-t", "`spillway trace DIR`, for a search with `--dir DIR`"),
    Habit::of("-m#", "depth has no bound"),
];
