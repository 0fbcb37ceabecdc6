//! An interactive walk whose command is interrupted by a signal.

use super::{ENDLESS, signal};
use crate::Bench;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

#[test]
fn a_signal_interrupts_a_command_of_an_interactive_walk() {
    let bench = Bench::new();
    let model = bench.write("m.dve", ENDLESS);
    for (command, says) in [
        ("random 99999", "stopped by a signal after "),
        ("until x > 29999", "`x > 29999` did not hold; stopped by a signal after "),
    ] {
        let mut process = bench.command(&["simulate", &model, "-i"]);
        let mut walk = process.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut typed = walk.stdin.take().unwrap();
        let mut out = BufReader::new(walk.stdout.take().unwrap());
        writeln!(typed, "{command}").unwrap();
        // The first steps are printed while the command runs.
        let mut line = String::new();
        while !line.starts_with("   30  ") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0);
        }
        signal(&walk, "-INT");
        writeln!(typed, "where\nq").unwrap();
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(walk.wait().unwrap().code(), Some(0), "{rest}");
        let position = rest.lines().position(|it| it.starts_with(says));
        assert!(position.is_some() && rest.contains("       depth "), "{rest}");
    }
}
