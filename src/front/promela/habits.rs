//! Flags of SPIN and of the checkers that it makes, and what does here what they do there.
//!
//! Those that begin with `-D` are for the C compiler: here that is how macros of the model are given values, so that they
//! are met as macros which no model has.

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
    Habit::of("-p", "`spillway simulate MODEL`, and with `--interactive` by hand"),
    Habit::of("-u#", "`--steps N` of `spillway simulate`"),
    Habit::of("-n", "nothing: what is never reached is not listed"),
    Habit::of("-n#", "`--seed N` of `spillway simulate`"),
    Habit::of("-o#", "`--reduce LIST` says which reductions are used"),
    Habit::of("-b", "depth has no bound"),
    Habit::of("-bfs", "the search is always breadth-first"),
    Habit::of("-dfs", "the search is always breadth-first"),
    Habit::of("-w#", "there is no hash table; `--memory SIZE` is all that the process may take"),
    Habit::of("-t", "`spillway trace DIR`, for a search with `--dir DIR`"),
    Habit::of("-m", "`--lossy` loses what is sent to a full channel; depth has no bound"),
    Habit::of("-m#", "depth has no bound"),
    Habit::of("-DBFS", "the search is always breadth-first"),
    Habit::of("-DREACH", "counterexamples are shortest, or say so: then `--shortest` looks on"),
    Habit::of("-DSAFETY", "nothing: deadlocks, assertions and errors are what is looked for"),
    Habit::of("-DNP", "`--non-progress`"),
    Habit::of("-DNOCLAIM", "`--no-claim`"),
    Habit::of("-DNFAIR", "`--fair weak` alone: there may be as many processes as there are"),
    Habit::of("-DNOFAIR", "nothing: runs need not be fair without `--fair weak`"),
    Habit::of("-DNOREDUCE", "`--reduce none`, which leaves out all reductions"),
    Habit::of("-DMEMLIM", "`--memory SIZE`"),
    Habit::of("-DNCORE", "`--threads N`"),
    Habit::of("-DVECTORSZ", "nothing: a state has as many bits as it needs"),
    Habit::of("-DCOLLAPSE", EXACT),
    Habit::of("-DHC#", EXACT),
    Habit::of("-DMA", EXACT),
    Habit::of("-DBITSTATE", EXACT),
];

/// For what saves memory there.
const EXACT: &str =
    "nothing: states are exact, and on disk; `--memory SIZE` is all that the process may take";

/// What is meant by a macro that the model does not have, if it is one that checkers are compiled with.
pub(super) fn of_macro(name: &str) -> Option<String> {
    let typed = format!("-D{name}");
    let habit = HABITS.iter().find(|habit| habit.is(&typed))?;
    Some(format!("{typed} is for other checkers of Promela; here: {}", habit.here))
}
