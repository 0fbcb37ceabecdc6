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
    Habit::of("-F", "`--ltl 'FORMULA'`"),
    Habit::of("-noclaim", "`--no-claim`"),
    Habit::of("-safety", SAFETY),
    Habit::of("-l", "`--non-progress`"),
    Habit::of("-np", "`--non-progress`"),
    Habit::of("-f", "`--fair weak`, beside `--ltl`, `--acceptance` or `--non-progress`"),
    Habit::of("-E", "`--no-deadlock`"),
    Habit::of("-A", "`--only` names what to look for"),
    Habit::of("-e", "`--keep-going` counts all violations"),
    Habit::of("-c#", "`--keep-going` counts all violations"),
    Habit::of("-i", SHORTEST),
    Habit::of("-I", SHORTEST),
    Habit::of("-p", "`spillway simulate MODEL`, and with `--interactive` by hand"),
    Habit::of("-u#", "`--steps N` of `spillway simulate`"),
    Habit::of("-j#", "`spillway trace DIR --last N` shows the last steps"),
    Habit::of("-n", "`--no-coverage`: what is never taken is not listed"),
    Habit::of("-n#", "`--seed N` of `spillway simulate`"),
    Habit::of("-o#", "`--reduce LIST` says which reductions are used"),
    Habit::of("-O#", "no flag: models become machine code; `--exec interp` interprets them"),
    Habit::of("-Q#", "`--max-time TIME`"),
    Habit::of("-b", UNBOUNDED),
    Habit::of("-bfs", BREADTH_FIRST),
    Habit::of("-bfspar", "`--threads N`; the search is always breadth-first"),
    Habit::of("-dfs", BREADTH_FIRST),
    Habit::of("-bcs", "no flag: any number of context switches is looked at"),
    Habit::of("-w#", "`--memory SIZE` is all that the process may take: there is no hash table"),
    Habit::of("-h#", "no flag: there is no hash function to choose"),
    Habit::of("-hc", EXACT),
    Habit::of("-collapse", EXACT),
    Habit::of("-bitstate", EXACT),
    Habit::of("-biterate", EXACT),
    Habit::of("-swarm", EXACT),
    Habit::of("-swarm#", EXACT),
    Habit::of("-s", "no flag: states are exact; `spillway simulate MODEL` shows what is sent"),
    Habit::of(
        "-k",
        "`spillway trace DIR` shows a counterexample, `spin -t -k FILE` a trail; states are exact",
    ),
    Habit::of("-k#", EXACT),
    Habit::of("-g", SHOWN),
    Habit::of("-r", SHOWN),
    Habit::of("-M", "`spillway trace DIR --msc`"),
    Habit::of("-t", "`spillway trace DIR`, for a search with `--dir DIR`"),
    Habit::of("-replay", "`spillway trace DIR`, for a search with `--dir DIR`"),
    Habit::of("-d", "`spillway explain MODEL` shows the program and its variables"),
    Habit::of("-C", "`spillway explain MODEL` shows the program and its channels"),
    Habit::of("-m", "`--lossy` loses what is sent to a full channel; depth has no bound"),
    Habit::of("-m#", UNBOUNDED),
    Habit::of(
        "-q",
        "no flag: an end may leave messages in channels; `assert(empty(c))` checks that it does not",
    ),
    Habit::of("-q#", SHOWN),
    Habit::of("-x", TRAIL),
    Habit::of("-T", TRAIL),
    Habit::of("-X", "no flag: results are on standard output, all else on standard error"),
    Habit::of("-S", "`--no-trace`"),
    Habit::of("-B", "`--no-trace`"),
    Habit::of("-V", "`spillway --version`"),
    Habit::of("-link", "no flag: C code in a model is not supported"),
    Habit::of("-DBFS", BREADTH_FIRST),
    Habit::of("-DREACH", SHORTEST),
    Habit::of("-DSAFETY", SAFETY),
    Habit::of("-DNP", "`--non-progress`"),
    Habit::of("-DNOCLAIM", "`--no-claim`"),
    Habit::of("-DNFAIR", "`--fair weak` alone: there may be as many processes as there are"),
    Habit::of("-DNOFAIR", "no flag: runs need not be fair without `--fair weak`"),
    Habit::of("-DNOREDUCE", "`--reduce none`, which leaves out all reductions"),
    Habit::of("-DMEMLIM", "`--memory SIZE`"),
    Habit::of("-DNCORE", "`--threads N`"),
    Habit::of("-DVECTORSZ", "no flag: a state has as many bits as it needs"),
    Habit::of("-DCOLLAPSE", EXACT),
    Habit::of("-DHC#", EXACT),
    Habit::of("-DMA", EXACT),
    Habit::of("-DBITSTATE", EXACT),
];

const BREADTH_FIRST: &str = "no flag: the search is always breadth-first";
const SHORTEST: &str = "counterexamples are shortest, or say so: then `--shortest` looks on";
const UNBOUNDED: &str = "no flag: depth has no bound";
const SAFETY: &str = "`--no-claim`: then deadlocks, assertions and errors are checked";

/// For what saves memory there.
const EXACT: &str =
    "no flag: states are exact, and on disk; `--memory SIZE` is all that the process may take";

/// For what is to be shown of each step there.
const SHOWN: &str = "no flag: each step shows what it changes, in `spillway trace DIR` and `spillway simulate MODEL`";

/// For what is to become of a trail there.
const TRAIL: &str = "no flag: a trail is written only to the file of `--spin-trail FILE`";

/// What is meant by a macro that the model does not have, if it is one that checkers are compiled with.
pub(super) fn of_macro(name: &str) -> Option<String> {
    let typed = format!("-D{name}");
    let habit = HABITS.iter().find(|habit| habit.is(&typed))?;
    Some(format!("{typed} is for other checkers of Promela; here: {}", habit.here))
}
