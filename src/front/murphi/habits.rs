//! Flags of the checkers that Murphi compilers make, and what does here what they do there.

use crate::front::Habit;

/// What those who come from Murphi type.
pub(super) const HABITS: &[Habit] = &[
    Habit::of("-k#", "`--memory SIZE` is all that the process may take"),
    Habit::of("-b#", "states are stored exactly, in as many bits as they need"),
    Habit::of("-ndl", "`--no-deadlock`"),
    Habit::of("-sym", "`--symmetry exact` or `--symmetry fast`"),
    Habit::of("-nosym", "`--symmetry off`"),
    Habit::of("-vbfs", "the search is always breadth-first"),
    Habit::of("-vdfs", "the search is always breadth-first"),
    Habit::of("-s", "`spillway simulate MODEL`"),
    Habit::of("-ta", "states are not written out: `spillway simulate MODEL` shows some"),
    Habit::of("-d", "`--dir DIR`"),
    Habit::of("-m#", "`--memory SIZE` is all that the process may take"),
];
