//! The commands suggested with a counterexample work as printed.

use super::{CommandOutput, Folder};
use std::process::Command;

/// The suggested commands, one a line.
fn suggested_commands(out: &str) -> Vec<String> {
    let rows = out.lines().skip_while(|it| !it.starts_with("  next     "));
    rows.map(|it| it.get(11..).unwrap_or_default().to_owned()).collect()
}

/// Runs a line in a shell, with `DIR` replaced.
fn run_in_shell(folder: &Folder, line: &str, dir: &str) -> CommandOutput {
    let spillway = env!("CARGO_BIN_EXE_spillway");
    let line = line.replace("spillway ", &format!("{spillway} ")).replace("DIR", dir);
    let output =
        Command::new("sh").args(["-c", &line]).current_dir(folder.path("")).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    CommandOutput { code: output.status.code().unwrap(), out, err }
}

const LIMIT: &str = "byte x;
active proctype P() { do :: x < LIM -> x++ :: else -> break od; assert(x < 4) }
active proctype Q() { skip }
ltl low { [] (x < 3) }
";
const LOW: &str = "var x: 0..9; startstate begin x := 0; end;
rule x < 9 ==> begin x := x + 1; end; invariant \"low\" x < 5;";
const AT_ONCE: &str = "var x: 0..3; startstate begin undefine x; x := x + 1; end; rule x < 3 ==> begin x := x + 1; end;";
const NOWHERE: &str = "var x: 0..3; startstate begin x := 0; end; rule true ==> begin x := 0; end; cover \"two\" x = 2;";
const NET: &str = "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">
<place id=\"p\"><initialMarking><text>1</text></initialMarking></place><transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"/></page></net></pnml>";

#[test]
fn suggested_commands_work_as_printed() {
    let folder = Folder::with("lim it.pml", LIMIT);
    folder.write("low.m", LOW);
    folder.write("low.txt", LOW);
    folder.write("at_once.m", AT_ONCE);
    folder.write("nowhere.m", NOWHERE);
    folder.write("net.pnml", NET);
    let limit = ["check", "lim it.pml", "-D", "LIM=5", "--no-claim"];
    for (number, (args, has_chart, has_walk)) in [
        (&limit[..], true, true),
        (
            &["check", "lim it.pml", "-DLIM=5", "--no-claim", "--no-trace", "--keep-going"],
            true,
            true,
        ),
        (&["check", "lim it.pml", "-DLIM=5"], true, true),
        (&["check", "lim it.pml", "-DLIM=5", "--ltl", "[] (x != 2)"], true, true),
        (&["check", "low.m", "--threads", "1"], false, true),
        (&["check", "low.txt", "--language", "murphi"], false, true),
        (&["check", "low.m", "--invariant", "x != 3"], false, true),
        (&["check", "low.m", "--ltl", "[] (x < 2)"], false, true),
        (&["check", "net.pnml"], false, true),
        (&["check", "at_once.m"], false, false),
        (&["check", "nowhere.m", "--no-deadlock"], false, false),
    ]
    .into_iter()
    .enumerate()
    {
        let output = folder.run(args);
        assert_eq!(output.code, 1, "{args:?}: {}", output.err);
        let lines = suggested_commands(&output.out);
        let count = usize::from(has_chart) + 2 * usize::from(has_walk);
        assert_eq!(lines.len(), count, "{args:?}: {}", output.out);
        if has_chart {
            let shown = run_in_shell(&folder, &lines[0], "");
            assert!(
                lines[0].ends_with(" --msc") && shown.out.contains("\n step  P"),
                "{}",
                shown.out
            );
            assert_eq!((shown.code, shown.err.as_str()), (1, ""));
        }
        if has_walk {
            let dir = format!("d{number}");
            let kept = run_in_shell(&folder, &lines[count - 2], &dir);
            assert_eq!(kept.code, 1, "{}: {}", lines[count - 2], kept.err);
            let walk = run_in_shell(&folder, &lines[count - 1], &dir);
            assert!(
                walk.out.contains(" of the counterexample to "),
                "{}: {}",
                lines[count - 1],
                walk.err
            );
            assert_eq!(
                walk.err.replace("note: stopped after 20 steps; --steps N takes more\n", ""),
                ""
            );
            // The commands suggested for a kept search work, too.
            let lines = suggested_commands(&kept.out);
            assert_eq!(lines.len(), 2, "{}", kept.out);
            assert_eq!(lines[0].ends_with(" --msc"), has_chart, "{}", kept.out);
            for line in lines {
                let output = run_in_shell(&folder, &line, "");
                assert!(
                    output.code < 2 && !output.out.contains("the chart is empty"),
                    "{line}: {}",
                    output.err
                );
            }
            // `status` suggests the same commands.
            let status = folder.run(&["status", &dir]).out;
            let is_of_runs = args.contains(&"--ltl") || args == ["check", "lim it.pml", "-DLIM=5"];
            assert_eq!(
                suggested_commands(&status).len(),
                if is_of_runs { 0 } else { 2 },
                "{status}"
            );
        }
    }
}

#[test]
fn msc_prints_a_chart() {
    let folder = Folder::with("lim.pml", LIMIT);
    let output =
        folder.run(&["check", "lim.pml", "-DLIM=5", "--no-claim", "--reduce", "none", "--msc"]);
    assert!(
        output.code == 1 && output.out.contains("\n step  P[0]\n    1  x < LIM\n"),
        "{}",
        output.out
    );
    assert!(
        !suggested_commands(&output.out).iter().any(|it| it.ends_with("--msc")),
        "{}",
        output.out
    );
    for other in ["--json", "--no-trace", "--unfolded"] {
        let output = folder.run(&["check", "lim.pml", "-DLIM=5", "--msc", other]);
        assert!(output.code == 2 && output.err.contains("cannot be used with"), "{}", output.err);
    }
    folder.write("fine.pml", "byte x; active proctype P() { x = 1 }");
    let output = folder.run(&["check", "fine.pml", "--msc"]);
    assert!(output.code == 0 && suggested_commands(&output.out).is_empty(), "{}", output.out);
}

/// SPIN's command has the macros, too.
#[test]
fn the_suggested_spin_command_replays_the_trail() {
    let folder = Folder::with("lim.pml", LIMIT);
    let args =
        ["check", "lim.pml", "-DLIM=5", "--no-claim", "--no-trace", "--spin-trail", "a trail"];
    let output = folder.run(&args);
    let message = "wrote a trail; `spin -DLIM=5 -t -p -k 'a trail' lim.pml` replays it\n";
    assert_eq!((output.code, output.err.as_str()), (1, message));
    let command = message.split('`').nth(1).unwrap();
    if Command::new("spin").arg("-V").output().is_err() {
        return eprintln!("left out: there is no SPIN");
    }
    let replayed = run_in_shell(&folder, command, "");
    assert!(replayed.out.contains("assertion violated"), "{} {}", replayed.out, replayed.err);
}
