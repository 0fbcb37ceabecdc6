//! Flags of SPIN and of its generated checkers, with their replacements here.
//!
//! Flags that begin with `-D` are for the C compiler. Here `-D` defines macros of the model, so such flags are
//! recognized as macros that no model has.

use crate::ForeignFlag;

/// The flags that users of SPIN may type.
pub(super) const FOREIGN_FLAGS: &[ForeignFlag] = &[
    ForeignFlag::new("-search", "`spillway check MODEL` does all of it"),
    ForeignFlag::new("-run", "`spillway check MODEL` does all of it"),
    ForeignFlag::new("-a", "`--ltl NAME` asks about runs, `--acceptance` about `accept` labels"),
    ForeignFlag::new("-ltl", "`--ltl NAME`, or `--ltl 'FORMULA'`"),
    ForeignFlag::new("-N", "`--ltl NAME`, or `--claim NAME` for the end of a never claim"),
    ForeignFlag::new("-F", "`--ltl 'FORMULA'`"),
    ForeignFlag::new("-noclaim", "`--no-claim`"),
    ForeignFlag::new("-safety", SAFETY),
    ForeignFlag::new("-l", "`--non-progress`"),
    ForeignFlag::new("-np", "`--non-progress`"),
    ForeignFlag::new("-f", "`--fair weak`, beside `--ltl`, `--acceptance` or `--non-progress`"),
    ForeignFlag::new("-E", "`--no-deadlock`"),
    ForeignFlag::new("-A", "`--only` names what to look for"),
    ForeignFlag::new("-e", "`--keep-going` counts all violations"),
    ForeignFlag::new("-c#", "`--keep-going` counts all violations"),
    ForeignFlag::new("-i", SHORTEST),
    ForeignFlag::new("-I", SHORTEST),
    ForeignFlag::new("-p", "`spillway simulate MODEL`, and with `--interactive` by hand"),
    ForeignFlag::new("-u#", "`--steps N` of `spillway simulate`"),
    ForeignFlag::new("-j#", "`spillway trace DIR --last N` shows the last steps"),
    ForeignFlag::new("-n", "`--no-coverage`: actions that were never executed are not listed"),
    ForeignFlag::new("-n#", "`--seed N` of `spillway simulate`"),
    ForeignFlag::new("-o#", "`--reduce LIST` says which reductions are used"),
    ForeignFlag::new("-O#", "no flag: models become machine code; `--exec interp` interprets them"),
    ForeignFlag::new("-Q#", "`--max-time TIME`"),
    ForeignFlag::new("-b", UNBOUNDED),
    ForeignFlag::new("-bfs", BREADTH_FIRST),
    ForeignFlag::new("-bfspar", "`--threads N`; the search is always breadth-first"),
    ForeignFlag::new("-dfs", BREADTH_FIRST),
    ForeignFlag::new("-bcs", "no flag: any number of context switches is looked at"),
    ForeignFlag::new(
        "-w#",
        "`--memory SIZE` is all that the process may take: there is no hash table",
    ),
    ForeignFlag::new("-h#", "no flag: there is no hash function to choose"),
    ForeignFlag::new("-hc", EXACT),
    ForeignFlag::new("-collapse", EXACT),
    ForeignFlag::new("-bitstate", EXACT),
    ForeignFlag::new("-biterate", EXACT),
    ForeignFlag::new("-swarm", EXACT),
    ForeignFlag::new("-swarm#", EXACT),
    ForeignFlag::new(
        "-s",
        "no flag: states are exact; `spillway simulate MODEL` shows what is sent",
    ),
    ForeignFlag::new(
        "-k",
        "`spillway trace DIR` shows a counterexample, `spin -t -k FILE` a trail; states are exact",
    ),
    ForeignFlag::new("-k#", EXACT),
    ForeignFlag::new("-g", SHOWN),
    ForeignFlag::new("-r", SHOWN),
    ForeignFlag::new("-M", "`spillway trace DIR --msc`"),
    ForeignFlag::new("-t", "`spillway trace DIR`, for a search with `--dir DIR`"),
    ForeignFlag::new("-replay", "`spillway trace DIR`, for a search with `--dir DIR`"),
    ForeignFlag::new("-d", "`spillway explain MODEL` shows the program and its variables"),
    ForeignFlag::new("-C", "`spillway explain MODEL` shows the program and its channels"),
    ForeignFlag::new("-m", "`--lossy` loses what is sent to a full channel; depth has no bound"),
    ForeignFlag::new("-m#", UNBOUNDED),
    ForeignFlag::new(
        "-q",
        "no flag: an end may leave messages in channels; `assert(empty(c))` checks that it does not",
    ),
    ForeignFlag::new("-q#", SHOWN),
    ForeignFlag::new("-x", TRAIL),
    ForeignFlag::new("-T", TRAIL),
    ForeignFlag::new("-S", "`--no-trace`"),
    ForeignFlag::new("-B", "`--no-trace`"),
    ForeignFlag::new("-V", "`spillway --version`"),
    ForeignFlag::new("-link", "no flag: C code in a model is not supported"),
    ForeignFlag::new("-DBFS", BREADTH_FIRST),
    ForeignFlag::new("-DREACH", SHORTEST),
    ForeignFlag::new("-DSAFETY", SAFETY),
    ForeignFlag::new("-DNP", "`--non-progress`"),
    ForeignFlag::new("-DNOCLAIM", "`--no-claim`"),
    ForeignFlag::new("-DNFAIR", "`--fair weak` alone: there may be as many processes as there are"),
    ForeignFlag::new("-DNOFAIR", "no flag: runs need not be fair without `--fair weak`"),
    ForeignFlag::new("-DNOREDUCE", "`--reduce none`, which leaves out all reductions"),
    ForeignFlag::new("-DMEMLIM", "`--memory SIZE`"),
    ForeignFlag::new("-DNCORE", "`--threads N`"),
    ForeignFlag::new("-DVECTORSZ", "no flag: a state has as many bits as it needs"),
    ForeignFlag::new("-DCOLLAPSE", EXACT),
    ForeignFlag::new("-DHC#", EXACT),
    ForeignFlag::new("-DMA", EXACT),
    ForeignFlag::new("-DBITSTATE", EXACT),
];

const BREADTH_FIRST: &str = "no flag: the search is always breadth-first";
const SHORTEST: &str = "counterexamples are shortest, or say so: then `--shortest` looks on";
const UNBOUNDED: &str = "no flag: depth has no bound";
const SAFETY: &str = "`--no-claim`: then deadlocks, assertions and errors are checked";

/// The replacement of flags that save memory.
const EXACT: &str =
    "no flag: states are exact, and on disk; `--memory SIZE` is all that the process may take";

/// The replacement of flags that print more about each step.
const SHOWN: &str = "no flag: each step shows what it changes, in `spillway trace DIR` and `spillway simulate MODEL`";

/// The replacement of flags about trail files.
const TRAIL: &str = "no flag: a trail is written only to the file of `--spin-trail FILE`";

/// Returns the replacement of a macro that the model lacks, if it is one with which SPIN's checkers are compiled.
pub(super) fn foreign_macro_replacement(name: &str) -> Option<String> {
    let typed = format!("-D{name}");
    let habit = FOREIGN_FLAGS.iter().find(|habit| habit.matches(&typed))?;
    Some(format!("{typed} is for other checkers of Promela; here: {}", habit.replacement))
}
