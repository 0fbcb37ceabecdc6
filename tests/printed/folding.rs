//! Folding of repeated steps of counterexamples.

use super::Folder;

const COUNTS: &str = "chan m2s = [1] of { byte };
byte sent;
active proctype Sender() { do :: m2s!1 -> sent++; assert(sent < 9) od }
active proctype Receiver() { byte b; do :: m2s?b od }
";

const LOOPS: &str = "byte n;
active proctype P() {
  do
  :: n < 20 -> n++
  :: n >= 20 && n < 30 -> n++
  :: n == 30 -> n = 20
  od
}
ltl low { <> (n == 40) }
";

/// Repetitions within repetitions.
const ROUNDS: &str = "byte i; byte j;
process P { state a, b, c; init a;
trans a -> a { guard i < 40 and i % 3 < 2; effect i = i + 1; },
  a -> b { guard i < 40 and i % 3 == 2; effect i = i + 1; },
  b -> a { guard j % 2 == 0; effect j = j + 1; },
  b -> c { guard j % 2 == 1; effect j = j + 1; },
  c -> a { }; }
system async;
";

#[test]
fn repeated_steps_are_shown_once_with_their_total_changes() {
    let expected = "\
counterexample in counts.pml: assert: assertion failed in Sender: assert(sent <
           9), 35 steps
    0  initial state
         sent = 0
         m2s = <>
         Sender[0] = line 3:28
         Receiver[1] = line 4
         Receiver[1].b = 0
    1  Sender[0]: m2s!1    line 3:34
         m2s: <> -> <1>
         Sender[0]: line 3:28 -> line 3:43
    2  Receiver[1]: m2s?b    line 4:44
         m2s: <1> -> <>
         Receiver[1].b: 0 -> 1
    3  Sender[0]: sent++    line 3:43
         sent: 0 -> 1
         Sender[0]: line 3:43 -> line 3:51
    4  Sender[0]: assert(sent < 9)    line 3:51
         Sender[0]: line 3:51 -> line 3:28
  ...  steps 1-4 again 7 times, to step 32
         sent: 1 -> 8
   33  Sender[0]: m2s!1    line 3:34
         m2s: <> -> <1>
         Sender[0]: line 3:28 -> line 3:43
   34  Sender[0]: sent++    line 3:43
         sent: 8 -> 9
         Sender[0]: line 3:43 -> line 3:51
   35  Sender[0]: assert(sent < 9)    line 3:51
         assert: (sent < 9) (line 3:51)

counts.pml: VIOLATED: assert: assertion failed in Sender: assert(sent < 9) at
           counts.pml:3:51
  after    35 steps (shortest)
  with     sent = 9
  ends at  Sender[0]    line 3:51
           Receiver[1]  line 4
  found    1 violation in 52 states, 70 transitions, 35 levels, 0 deadlocks; *
  checked  deadlocks, assertions, run-time errors
  reduced  by dead variables, which preserves everything: 1 variable reset in 1
           place
           off: --reduce none
  kept in  d
  next     spillway trace d --msc
           spillway simulate counts.pml --from d
";
    let folder = Folder::with("counts.pml", COUNTS);
    folder.assert_prints(&["check", "counts.pml", "--dir", "d"], 1, expected);
    // With some variables selected, folding depends on the shown variables.
    let expected = "\
counterexample in counts.pml: assert: assertion failed in Sender: assert(sent <
           9), 35 steps
    0  initial state
         sent = 0
    3  Sender[0]: sent++    line 3:43
         sent: 0 -> 1
  ...  step 3 again 8 times, to step 34
         sent: 1 -> 9
   35  Sender[0]: assert(sent < 9)    line 3:51
         assert: (sent < 9) (line 3:51)
VIOLATED: assert: assertion failed in Sender: assert(sent < 9) at
           counts.pml:3:51
  after    35 steps (shortest)
  with     sent = 9
  ends at  Sender[0]    line 3:51
           Receiver[1]  line 4

";
    folder.assert_prints(&["trace", "d", "--only", "sent"], 1, expected);
}

#[test]
fn stems_and_cycles_are_folded_separately() {
    let expected = "\
counterexample in loops.pml: low: 40 steps, then a cycle of 22 steps
    0  initial state
         claim low = state 0
         n = 0
         P[0] = line 3
    1  P[0]: n < 20    line 4:6
         P[0]: line 3 -> line 4
    2  P[0]: n++    line 4:16
         n: 0 -> 1
         P[0]: line 4 -> line 3
  ...  steps 1-2 again 19 times, to step 40
         n: 1 -> 20
       <<<the loop starts here>>>
   41  P[0]: n >= 20 && n < 30    line 5:6
         P[0]: line 3 -> line 5
   42  P[0]: n++    line 5:27
         n: 20 -> 21
         P[0]: line 5 -> line 3
  ...  steps 41-42 again 9 times, to step 60
         n: 21 -> 30
   61  P[0]: n == 30    line 6:6
         P[0]: line 3 -> line 6
   62  P[0]: n = 20    line 6:17
         n: 30 -> 20
         P[0]: line 6 -> line 3
       back to the state after step 40

loops.pml: VIOLATED: a run does not satisfy low
  after    40 steps, then a cycle of 22 steps
  loop     P[0]  moves: line 3, line 5, line 6
  shortest search for shorter runs: none has less than 62 steps (61 states)
  found    62 states, 62 transitions of the model and the automaton
  searched in memory, without reductions
  not checked  deadlocks, run-time errors
           use --no-claim
  next     spillway check loops.pml --shortest --reduce none --msc
           spillway check loops.pml --shortest --reduce none --dir DIR;
           spillway simulate loops.pml --from DIR
";
    let args = ["check", "loops.pml", "--shortest", "--reduce", "none"];
    Folder::with("loops.pml", LOOPS).assert_prints(&args, 1, expected);
}

/// The titles of the shown steps, with folded steps expanded, and the number of omitted steps.
fn expand_titles(out: &str) -> (Vec<String>, usize) {
    let (mut titles, mut left_out) = (Vec::<String>::new(), 0);
    for line in out.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["...", _, which, "again", times, _, "to", "step", until] => {
                let (from, to) = which.split_once('-').unwrap_or((which, which));
                let [from, to, times, until] =
                    [from, to, times, until].map(|it| it.parse::<usize>().unwrap());
                let round = titles[from..=to].to_vec();
                (0..times).for_each(|_| titles.extend(round.iter().cloned()));
                assert_eq!(titles.len(), until + 1, "{line}");
                left_out += times * round.len();
            }
            [number, ..] if line.get(5..7) == Some("  ") && number.parse() == Ok(titles.len()) => {
                titles.push(line[7..].to_owned());
            }
            _ => {}
        }
    }
    (titles, left_out)
}

#[test]
fn folded_steps_expand_to_the_unfolded_counterexample() {
    for (name, text, least) in
        [("counts.pml", COUNTS, 28), ("loops.pml", LOOPS, 56), ("rounds.dve", ROUNDS, 36)]
    {
        let folder = Folder::with(name, text);
        let [folded, unfolded] =
            [&["check", name][..], &["check", name, "--unfolded"]].map(|args| folder.run(args).out);
        let ((titles, left_out), (all, none)) = (expand_titles(&folded), expand_titles(&unfolded));
        assert!(left_out >= least && none == 0, "{name}: {left_out}\n{folded}");
        assert_eq!(titles, all, "{name}");
    }
}
