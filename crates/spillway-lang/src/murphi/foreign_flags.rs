//! Flags of Murphi compilers and of the generated checkers, with their replacements here.

use crate::ForeignFlag;

/// The flags that users of other Murphi tools may type.
pub(super) const FOREIGN_FLAGS: &[ForeignFlag] = &[
    ForeignFlag::new("-k#", "`--memory SIZE` is all that the process may take"),
    ForeignFlag::new("-b#", "states are stored exactly, in as many bits as they need"),
    ForeignFlag::new("-ndl", "`--no-deadlock`"),
    ForeignFlag::new("-sym#", "`--symmetry exact` or `--symmetry fast`"),
    ForeignFlag::new("-nosym", "`--symmetry off`"),
    ForeignFlag::new("-vbfs", "the search is always breadth-first"),
    ForeignFlag::new("-vdfs", "the search is always breadth-first"),
    ForeignFlag::new("-s", "`spillway simulate MODEL`"),
    ForeignFlag::new("-ta", "states are not written out: `spillway simulate MODEL` shows some"),
    ForeignFlag::new("-d", "`--dir DIR`"),
    ForeignFlag::new("-m#", "`--memory SIZE` is all that the process may take"),
    ForeignFlag::new("-c", "states are stored exactly, in as many bits as they need"),
    ForeignFlag::new("-tv", TRACE),
    ForeignFlag::new("-tf", TRACE),
    ForeignFlag::new("-td", TRACE),
    ForeignFlag::new("-p#", "how far it is stands in the last line of the terminal"),
    ForeignFlag::new("-o", "`spillway check MODEL` does all of it: nothing is to be compiled"),
    ForeignFlag::new(
        "--output",
        "`spillway check MODEL` does all of it: nothing is to be compiled",
    ),
    ForeignFlag::new(
        "--symmetry-reduction",
        "`--symmetry exact`, `--symmetry fast` or `--symmetry off`",
    ),
    ForeignFlag::new("--deadlock-detection", "`--no-deadlock`, or `--deadlock stuck`"),
    ForeignFlag::new("--max-errors", "`--keep-going` counts all violations"),
    ForeignFlag::new("--counterexample-trace", TRACE),
    ForeignFlag::new(
        "--bound",
        "depth has no bound; `--max-states N` and `--max-time TIME` stop a search",
    ),
    ForeignFlag::new(
        "--set-capacity",
        "there is no hash table; `--memory SIZE` is all that it may take",
    ),
];

const TRACE: &str =
    "the counterexample is shown, with what each step changed; `--no-trace` leaves it out";
