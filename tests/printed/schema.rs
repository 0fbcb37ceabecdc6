//! The output of `--json` conforms to `docs/schema/output.json`, and every member of the schema is printed.

use super::{CommandOutput, Folder, check_hunts};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A protocol with a failing assertion, an unused clock, and properties that are not all checked.
const ABP: &str = "mtype = { DATA, ACK };
chan m2s = [2] of { mtype, bit };
byte clock;
active proctype Sender() { byte n; do :: n < 3 -> m2s!DATA(n % 2); n++ :: n == 3 -> break od; progress: skip }
active proctype Receiver() { bit b; do :: m2s?DATA(b) -> assert(b < 1) od }
active proctype Clock() { do :: clock < 9 -> clock++ od }
ltl ends { <> (clock == 9) }
ltl never_ends { [] (clock < 9) }
never quiet { do :: clock > 200 -> break :: else od }
";

const LOCK: &str = "const N: 3;
type Node: scalarset(N); State: enum { I, S, E };
var st: array [Node] of record at: State; end; owner: Node; net: multiset [2] of State; sharers: 0..N;
startstate begin for n: Node do st[n].at := I; end; undefine owner; undefine net; sharers := 0; end;
ruleset n: Node do
  rule \"ask to share\" st[n].at = I ==> begin st[n].at := S; sharers := sharers + 1; end;
  rule \"ask to own\" st[n].at = I & isundefined(owner) ==> begin st[n].at := E; owner := n; end;
end;
invariant \"one writer\" forall n: Node do st[n].at = E -> sharers = 0 end;
";

const CALLED: &str = "var x: 0..3;
procedure fails(); begin error \"too high\"; end;
startstate begin x := 0; end;
rule x < 3 ==> begin if x = 2 then fails(); end; x := x + 1; end;
";

/// Two processes count to the end. The first one then moves to a final state.
const COUNT: &str = "byte x = 0; byte y = 1; int room[4];
process P { state a, b; init a; trans a -> a { guard x < 60; effect x = x + 1, room[x % 4] = x; }, a -> b { guard x == 60; }; }
process Q { byte z; state a; init a; trans a -> a { guard z < 60; effect z = z + 1; }; }
system async;
";

/// The same model with divisions by zero.
fn dividing() -> String {
    COUNT.replace("x = x + 1", "x = x + 120 / (60 - x), y = 60 / (59 - x)")
}

/// Checks the output of commands against definitions of the schema.
struct SchemaChecker {
    schema: Value,
    any: Validator,
    /// The names of all members that were printed with a value.
    named: BTreeSet<String>,
}

impl SchemaChecker {
    fn new() -> SchemaChecker {
        let text = std::fs::read_to_string(format!("{ROOT}/docs/schema/output.json")).unwrap();
        let schema: Value = serde_json::from_str(&text).unwrap();
        assert!(jsonschema::meta::is_valid(&schema));
        let any = jsonschema::validator_for(&schema).unwrap();
        SchemaChecker { schema, any, named: BTreeSet::new() }
    }

    /// The validator of one definition of the schema.
    fn definition(&self, name: &str) -> Validator {
        let one = json!({
            "$schema": self.schema["$schema"], "$ref": format!("#/$defs/{name}"), "$defs": self.schema["$defs"],
        });
        jsonschema::validator_for(&one).unwrap()
    }

    /// Asserts that a command has this exit code, and prints an object of this definition.
    #[track_caller]
    fn assert_prints(
        &mut self,
        name: &str,
        (folder, args): (&Folder, &[&str]),
        code: i32,
    ) -> Value {
        let CommandOutput { code: ended, out, err } = folder.run(&[args, &["--json"]].concat());
        assert_eq!(ended, code, "{args:?}: {err}{out:.400}");
        let result: Value = serde_json::from_str(&out).unwrap();
        let wrong: Vec<String> = self
            .definition(name)
            .iter_errors(&result)
            .map(|it| format!("{}: {it}", it.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{args:?}: {wrong:#?}");
        assert!(self.any.is_valid(&result), "{args:?}: of several sorts or none\n{result:#}");
        collect_members(&result, &mut self.named);
        result
    }
}

/// Collects the names of members that have a value.
fn collect_members(value: &Value, named: &mut BTreeSet<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|it| collect_members(it, named)),
        Value::Object(members) => {
            for (name, value) in members.iter().filter(|(_, it)| !it.is_null()) {
                named.insert(name.clone());
                collect_members(value, named);
            }
        }
        _ => {}
    }
}

/// Collects the names of all members of objects in a schema, with their schemas.
fn members<'s>(schema: &'s Value, all: &mut Vec<(&'s str, &'s Value)>) {
    match schema {
        Value::Array(parts) => parts.iter().for_each(|it| members(it, all)),
        Value::Object(parts) => {
            for (key, part) in parts {
                if let ("properties", Value::Object(named)) = (key.as_str(), part) {
                    all.extend(
                        named
                            .iter()
                            .filter(|(_, it)| it.is_object())
                            .map(|(name, it)| (name.as_str(), it)),
                    );
                }
                members(part, all);
            }
        }
        _ => {}
    }
}

/// Prints checks of safety properties in each language.
fn print_searches(checker: &mut SchemaChecker, folder: &Folder) {
    let pml = ["check", "abp.pml", "--no-claim", "--threads", "1"];
    let no_reductions = ["--reduce", "none"];
    let mut check = |args: &[&str], code| checker.assert_prints("check", (folder, args), code);
    let result = check(&[&pml[..], &["--only", "assert"]].concat(), 1);
    assert_eq!(result["violations"][0]["line"], 5);
    assert_eq!(result["violations"][0]["file"], "abp.pml");
    assert_eq!(result["counterexample"]["operands"], json!({ "b": 1 }));
    check(&[&pml[..], &["--only", "deadlock", "--shortest", "--reduce", "por"]].concat(), 1);
    check(&[&pml[..], &["--only", "deadlock", "--no-trace", "--store", "comback"]].concat(), 1);
    check(&["check", "abp.pml", "--claim", "quiet", "--only", "claim"], 0);
    check(&["check", "lock.m", "--dir", "d"], 1);
    check(&["check", "lock.m", "--only", "deadlock"], 1);
    check(&["check", "lock.m", "--only", "error", "--reversible"], 0);
    let result = check(&["check", "called.m"], 1);
    let steps = result["counterexample"]["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["error"]["calls"][0]["function"], "fails");
    check(&["check", "count.dve", "-X", "key-order=sampled", "--store", "huffman"], 1);
    let result = check(&["check", "dividing.dve"], 1);
    let steps = result["counterexample"]["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["error"]["line"], 2);
    check(
        &[&["check", "count.dve", "--dir", "stopped", "--max-states", "400"][..], &no_reductions]
            .concat(),
        3,
    );
    check(&["resume", "stopped", "--max-states", "500"], 3);
    for (dir, code) in [("d", 1), ("stopped", 0)] {
        checker.assert_prints("status", (folder, &["status", dir]), 0);
        checker.assert_prints("trace", (folder, &["trace", dir]), code);
        checker.assert_prints("values_met", (folder, &["values", dir]), 0);
    }
    checker.assert_prints("check", (folder, &["resume", "stopped"]), 1);
    std::fs::remove_file(folder.path("stopped/manifest")).unwrap();
    checker.assert_prints("status", (folder, &["status", "stopped"]), 0);
    checker.assert_prints("trace", (folder, &["trace", "stopped"]), 0);
}

/// Prints results about nets.
fn print_nets(checker: &mut SchemaChecker, folder: &Folder) {
    let net = "<pnml><net id='n' type='ptnet'><place id='p'><initialMarking><text>3</text></initialMarking></place><transition id='t'/><arc source='p' target='t'/></net></pnml>";
    folder.write("three.pnml", net);
    checker.assert_prints("check", (folder, &["check", "three.pnml", "--dir", "three"]), 1);
    let property_file = "<property-set><property><id>few</id><formula><place-bound><place>p</place></place-bound></formula></property>
        <property><id>stuck</id><formula><exists-path><finally><deadlock/></finally></exists-path></formula></property></property-set>";
    folder.write("three.xml", property_file);
    let check = ["check", "three.pnml", "--property", "three.xml"];
    let result = checker.assert_prints("check", (folder, &check), 0);
    assert!(
        result["answers"].as_array().unwrap().iter().all(|it| it["open"].is_null()),
        "{result}"
    );
    let stopped = [&check[..], &["--max-states", "1"]].concat();
    let result = checker.assert_prints("check", (folder, &stopped), 3);
    assert!(
        result["answers"].as_array().unwrap().iter().any(|it| it["open"].is_string()),
        "{result}"
    );
    let result =
        checker.assert_prints("values_met", (folder, &["values", "three", "--sum", "p"]), 0);
    assert_eq!(result["all_together"], json!({ "least": 0, "greatest": 3 }));
}

/// Prints violations that are decided after the search.
fn print_final_violations(checker: &mut SchemaChecker, folder: &Folder) {
    let rules =
        "var x: 0..3; startstate begin x := 0; end; rule \"r\" x < 2 ==> begin x := x + 1; end;";
    folder.write("covers.m", &format!("{rules} cover \"three\" x = 3;"));
    let result =
        checker.assert_prints("check", (folder, &["check", "covers.m", "--no-deadlock"]), 1);
    assert_eq!(result["violations"][0]["kind"], "cover");
    let module = "---- MODULE Turns ----\nEXTENDS Naturals, TLC\nVARIABLE x\nInit == x = 0\n\
        Next == x' = (x + 1) % 3\nPost == TLCGet(\"distinct\") = 5\n====\n";
    folder.write("Turns.tla", module);
    folder.write("Turns.cfg", "INIT Init\nNEXT Next\nPOSTCONDITION Post\n");
    let result = checker.assert_prints("check", (folder, &["check", "Turns.tla"]), 1);
    assert_eq!(result["violations"][0]["kind"], "postcondition");
}

/// Prints liveness checks.
fn print_liveness_checks(checker: &mut SchemaChecker, folder: &Folder) {
    let mut check = |args: &[&str], code| checker.assert_prints("check_runs", (folder, args), code);
    check(&["check", "abp.pml", "--ltl", "ends"], 0);
    check(&["check", "abp.pml", "--ltl", "ends", "--fair", "weak"], 0);
    check(&["check", "abp.pml", "--ltl", "never_ends", "--shortest", "--no-trace"], 1);
    check(&["check", "abp.pml", "--non-progress", "--reduce", "por"], 0);
    checker.assert_prints("check_all", (folder, &["check", "abp.pml", "--ltl", "all"]), 1);
    let mut check = |args: &[&str], code| checker.assert_prints("check_runs", (folder, args), code);
    let result = check(&["check", "lock.m", "--ltl", "[] (sharers >= 0 | true)"], 0);
    assert_eq!(result["vacuous"], true);
    check(&["check", "count.dve", "--ltl", "[] (x < 30)", "--shortest"], 1);
    // The limit stops the search on disk.
    let on_disk = ["check", "count.dve", "--ltl", "<> (x > 60)", "--dir", "runs"];
    check(&[&on_disk[..], &["--max-states", "50"]].concat(), 3);
    checker.assert_prints("status_runs", (folder, &["status", "runs"]), 0);
    checker.assert_prints("check_runs", (folder, &["trace", "runs"]), 0);
    checker.assert_prints("check_runs", (folder, &["resume", "runs"]), 1);
    checker.assert_prints("check_runs", (folder, &["trace", "runs"]), 1);
    checker.assert_prints("status_runs", (folder, &["status", "runs"]), 0);
    std::fs::remove_file(folder.path("runs/manifest")).unwrap();
    std::fs::remove_file(folder.path("runs/cycles")).unwrap();
    checker.assert_prints("check_runs", (folder, &["trace", "runs"]), 0);
    // The cycle of Q postpones the transitions of P.
    let text = "byte x; active proctype P() { do :: x < 3 -> x++ :: x == 3 -> break od }
        active proctype Q() { byte y; do :: y = 1 - y od }";
    folder.write("rounds.pml", text);
    let by_states = ["check", "rounds.pml", "--ltl", "[] (x <= 3)", "--reduce", "por"];
    let result = checker.assert_prints("check_runs", (folder, &by_states), 0);
    assert_eq!(result["stage"], "invariant");
    let flags =
        ["--ltl", "[]<> (x <= 3)", "--reduce", "por", "--max-states", "1", "--dir", "rounds"];
    checker.assert_prints(
        "check_runs",
        (folder, &[&["check", "rounds.pml"], &flags[..]].concat()),
        3,
    );
    let result = checker.assert_prints("check_runs", (folder, &["resume", "rounds"]), 0);
    assert!(result["round"]["number"].as_u64().unwrap() > 1, "{result}");
    assert!(result["round"]["fully_expanded"].as_u64().unwrap() > 0, "{result}");
}

/// Prints evaluated expressions along a counterexample, and the difference of two counterexamples.
fn print_traces(checker: &mut SchemaChecker, folder: &Folder) {
    let args = ["trace", "d", "--eval", "sharers,st[Node_1].at,sharers < 1"];
    let result = checker.assert_prints("trace_eval", (folder, &args), 1);
    let values: Vec<&Value> =
        result["states"].as_array().unwrap().iter().map(|it| &it["values"]).collect();
    assert_eq!(values[0], &json!([0, "I", true]));
    assert_eq!(values.len(), 3);
    let bug = LOCK.replace("sharers = 0 end", "sharers < 2 end");
    folder.write("later.m", &bug);
    checker.assert_prints("check", (folder, &["check", "later.m", "--dir", "later"]), 1);
    let result =
        checker.assert_prints("trace_diff", (folder, &["trace", "d", "--diff", "later"]), 1);
    assert!(result["difference"]["step"].as_u64().unwrap() > 0, "{result}");
    let result = checker.assert_prints("trace_diff", (folder, &["trace", "d", "--diff", "d"]), 0);
    assert_eq!(result["difference"], Value::Null);
    folder.write("turn.dve", "byte x; process P { state a; init a; trans a -> a { effect x = (x + 1) % 3; }; } system async;");
    let check = ["check", "turn.dve", "--ltl", "<> (x > 3)", "--dir", "turn"];
    checker.assert_prints("check_runs", (folder, &check), 1);
    let result =
        checker.assert_prints("trace_eval", (folder, &["trace", "turn", "--eval", "x,P"]), 1);
    assert!(result["loop_start"].is_u64(), "{result}");
}

/// Prints sweeps.
fn print_sweeps(checker: &mut SchemaChecker, folder: &Folder) {
    let grid = "const byte N = 2; byte x; byte y;
process P { state a; init a; trans a -> a { guard x < N; effect x = x + 1; }, a -> a { guard y < N; effect y = y + 1; }, a -> a { guard x == N; effect x = 0; }; }
system async;
";
    folder.write("grid.dve", grid);
    let args = ["sweep", "grid.dve", "--threads", "1", "--reduce", "none", "--over"];
    let mut sweep = |further: &[&str], code| {
        checker.assert_prints("sweep", (folder, &[&args[..], further].concat()), code)
    };
    let result = sweep(&["N=2..4"], 0);
    let states: Vec<&Value> =
        result["rows"].as_array().unwrap().iter().map(|it| &it["states"]).collect();
    assert_eq!(states, [9, 16, 25]);
    assert_eq!(result["rows"][1]["growth"], json!(16.0 / 9.0));
    assert_eq!(result["estimate"]["constants"], json!({ "N": 5 }));
    let result = sweep(&["N=2..4", "--max-states", "10", "--dir", "swept"], 3);
    let verdicts: Vec<&Value> =
        result["rows"].as_array().unwrap().iter().map(|it| &it["verdict"]).collect();
    assert_eq!(verdicts, ["verified", "stopped", "stopped"]);
    assert_eq!(result["rows"][1]["stopped_by"], "limit");
    let result = sweep(&["N=2..4", "--dir", "swept"], 0);
    let rows = result["rows"].as_array().unwrap();
    assert_eq!(rows.iter().map(|it| &it["reused"]).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(rows.iter().map(|it| &it["states"]).collect::<Vec<_>>(), [9, 16, 25]);
    let result = sweep(&["N=2,two"], 2);
    assert_eq!(result["rows"][1]["verdict"], "error");
    assert!(result["rows"][1]["error"].as_str().unwrap().contains("no integer"), "{result}");
}

/// Prints failed commands.
fn print_failures(checker: &mut SchemaChecker, folder: &Folder) {
    for args in [
        &["check", "absent.pml"][..],
        &["check", "wrong.pml"],
        &["check", "abp.pml", "--frobnicate"],
        &["check", "abp.pml", "-m10000"],
        &["check", "abp.pml", "--ltl", "[] nobody"],
        &["check", "abp.pml", "--memory", "64"],
        &["chekc"],
        &["resume", "absent"],
        &["status", "absent"],
        &["trace", "absent"],
        &["explain", "abp.pml"],
    ] {
        let result = checker.assert_prints("failure", (folder, args), 2);
        assert_eq!(result["exit_code"], 2);
    }
    let result = checker.assert_prints("failure", (folder, &["check", "wrong.pml"]), 2);
    assert!(result["error"].as_str().unwrap().contains("wrong.pml:1:"), "{result}");
    std::fs::write(folder.path("d/job"), "dear reader").unwrap();
    checker.assert_prints("failure", (folder, &["status", "d"]), 4);
}

/// Counts in a cycle of this length.
struct Count(u16);

impl spillway::TransitionSystem for Count {
    type State = u16;
    type Action = ();

    fn initial(&self) -> Vec<u16> {
        vec![0]
    }

    fn actions(&self, _: &u16, actions: &mut Vec<()>) {
        actions.push(());
    }

    fn next(&self, state: &u16, (): &()) -> Option<u16> {
        Some((state + 1) % self.0)
    }

    fn properties(&self) -> Vec<spillway::Property<'_, u16>> {
        vec![
            spillway::Property::always("few", |state| *state < 400),
            spillway::Property::eventually("many", |state| *state > 250),
        ]
    }
}

/// Prints a search of a specification.
fn print_specifications(checker: &mut SchemaChecker, folder: &Folder) {
    let text = "---- MODULE Counter ----\nEXTENDS Naturals\nVARIABLE v\nInit == v = 0\nNext == v' = (v + 1) % 3\n====\n";
    folder.write("Counter.tla", text);
    folder.write("Counter.cfg", "INIT Init\nNEXT Next\n");
    let result =
        checker.assert_prints("check", (folder, &["check", "Counter.tla", "--dir", "counter"]), 0);
    assert_eq!((&result["states"], &result["states_generated"]), (&json!(3), &json!(4)));
    let result = checker.assert_prints("status", (folder, &["status", "counter"]), 0);
    assert_eq!(result["states_generated"], json!(4));
    let within = ["check", "Counter.tla", "--constraint", "v < 1"];
    let result = checker.assert_prints("check", (folder, &within), 0);
    assert_eq!((&result["states"], &result["constraints"]), (&json!(1), &json!(["v < 1"])));
}

/// A model with so many states that reductions are tried.
const WIDE: &str = "byte x; byte y;
    process P { state a; init a; trans
        a -> a { guard x < 200; effect x = x + 1; }, a -> a { guard x == 200; effect x = 0; }; }
    process Q { state a; init a; trans
        a -> a { guard y < 150; effect y = y + 1; }, a -> a { guard y == 150; effect y = 0; }; }
    system async;";

/// A model whose search is restarted.
const CYCLES: &str = "short x, y;
    active proctype Watch() { assert(x + y < 800) }
    active proctype P() { do :: x = (x + 1) % 350 od }
    active proctype Q() { do :: y = (y + 1) % 350 od }";

/// Prints searches of a Rust type.
fn print_rust_types(checker: &mut SchemaChecker, folder: &Folder) {
    let search = |to, dir: &str, most| {
        let model = Count(to);
        let check = spillway::Check::new(&model).memory(1 << 30).dir(folder.path(dir));
        drop(check.max_states(most).run().unwrap());
    };
    let mut verdicts = Vec::new();
    for most in [100, u64::MAX] {
        search(500, "rust", most);
        let result = checker.assert_prints("status_rust", (folder, &["status", "rust"]), 0);
        assert!(result["model"].as_str().unwrap().ends_with("Count"));
        verdicts.push((result["verdict"].clone(), result["states"].clone()));
    }
    assert_eq!(verdicts, [(json!("incomplete"), json!(100)), (json!("violated"), json!(401))]);
    assert!(!folder.run(&["status", "rust"]).out.contains("memory budget"));
    let CommandOutput { code, out, .. } = folder.run(&["status", "rust", "--verbose"]);
    assert_eq!(code, 0);
    for words in [
        "Count: VIOLATED: the program that created this directory reports the violation\n",
        "many: decided by the program that created this directory\n",
        "  found    401 states, 401 transitions, 401 levels; ",
        "  kept in  rust\n",
        "memory budget 1GiB\n",
    ] {
        assert!(out.contains(words), "no `{words}` in\n{out}");
    }
    search(300, "whole", u64::MAX);
    let CommandOutput { out, .. } = folder.run(&["status", "whole"]);
    let verdict = "Count: verified: every reachable state was visited, no violation\n";
    assert!(out.replace("\n           ", " ").contains(verdict), "{out}");
    assert!(out.contains("many: holds\n"), "{out}");
    search(200, "never", u64::MAX);
    let result = checker.assert_prints("status_rust", (folder, &["status", "never"]), 0);
    assert_eq!(
        (&result["verdict"], &result["eventually"][0]["cycle"]),
        (&json!("violated"), &json!(200))
    );
    let CommandOutput { code, err, .. } = folder.run(&["resume", "rust"]);
    assert_eq!(code, 2);
    assert!(err.contains("resume with the program that started the search"), "{err}");
}

#[test]
fn json_output_conforms_to_the_schema_and_covers_it() {
    let mut checker = SchemaChecker::new();
    let folder = Folder::with("abp.pml", ABP);
    folder.write("lock.m", LOCK);
    folder.write("called.m", CALLED);
    folder.write("count.dve", COUNT);
    folder.write("dividing.dve", &dividing());
    folder.write("wrong.pml", "active proctype P() { x = 1 }");
    print_searches(&mut checker, &folder);
    print_nets(&mut checker, &folder);
    print_final_violations(&mut checker, &folder);
    print_liveness_checks(&mut checker, &folder);
    print_sweeps(&mut checker, &folder);
    print_traces(&mut checker, &folder);
    print_specifications(&mut checker, &folder);
    print_rust_types(&mut checker, &folder);
    std::fs::create_dir_all(folder.path("tmp/spillway-damaged")).unwrap();
    folder.write("tmp/spillway-damaged/job", "dear reader");
    folder.write("deep.dve", check_hunts::DVE);
    let hunted =
        checker.assert_prints("check", (&folder, &["check", "deep.dve", "--reduce", "none"]), 1);
    assert_eq!(hunted["hunt"]["strategy"], "dive");
    folder.write("wide.dve", WIDE);
    let result = checker.assert_prints("check", (&folder, &["check", "wide.dve"]), 0);
    assert_eq!(result["tried"][0]["reductions"], json!([]));
    folder.write("cycles.pml", CYCLES);
    let result = checker.assert_prints("check", (&folder, &["check", "cycles.pml"]), 0);
    assert_eq!(result["restarted_after"], json!(100_000));
    let stopped = ["check", "count.dve", "--max-states", "100"];
    checker.assert_prints("check", (&folder, &stopped), 3);
    checker.assert_prints("searches", (&folder, &["status", "--all"]), 0);
    print_failures(&mut checker, &folder);
    // Every member of the schema is printed. tests/running prints a running search, tests/printed/watch.rs prints
    // estimates.
    let elsewhere = ["running_seconds", "seconds_left", "disk_full_in_seconds"];
    let mut all_members = Vec::new();
    members(&checker.schema, &mut all_members);
    let all_members: BTreeSet<&str> = all_members.into_iter().map(|(name, _)| name).collect();
    let named: BTreeSet<&str> = checker.named.iter().map(String::as_str).chain(elsewhere).collect();
    let unseen: Vec<_> = all_members.difference(&named).collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}

#[test]
fn each_member_is_described_and_named_in_the_manual() {
    let checker = SchemaChecker::new();
    let manual = std::fs::read_to_string(format!("{ROOT}/docs/reference/json.md")).unwrap();
    let mut all_members = Vec::new();
    members(&checker.schema["$defs"], &mut all_members);
    assert!(all_members.len() > 100);
    for (name, member) in all_members {
        assert!(member["description"].as_str().is_some_and(|it| it.ends_with('.')), "{name}");
        assert!(manual.contains(&format!("`{name}`")), "{name} is not in the manual");
    }
}

/// An object with an unknown member, a missing member or a wrong value is rejected.
#[test]
fn the_schema_rejects_changed_output() {
    let checker = SchemaChecker::new();
    let folder = Folder::with("dividing.dve", &dividing());
    let result: Value =
        serde_json::from_str(&folder.run(&["check", "dividing.dve", "--json"]).out).unwrap();
    assert!(checker.any.is_valid(&result));
    let refuses = |changed: &Value, what: &str| assert!(!checker.any.is_valid(changed), "{what}");
    for object in [
        "",
        "/violations/0",
        "/counterexample",
        "/counterexample/steps/1",
        "/counterexample/steps/1/places/0",
        "/counterexample/ends_at/0",
        "/store_parts",
        "/store_parts/filter",
    ] {
        let mut more = result.clone();
        let at =
            more.pointer_mut(object).unwrap_or_else(|| panic!("{object}")).as_object_mut().unwrap();
        at.insert("more".into(), 1.into());
        refuses(&more, object);
    }
    for name in result.as_object().unwrap().keys() {
        let mut less = result.clone();
        less.as_object_mut().unwrap().remove(name);
        refuses(&less, name);
    }
    for (place, wrong) in [
        ("/violations/0/line", json!("2")),
        ("/violations/0/column", json!(0)),
        ("/states", json!(-1)),
        ("/verdict", json!("perhaps")),
        ("/warnings", json!([1])),
        ("/counterexample/steps/1/changes/x", json!([1])),
    ] {
        let mut other = result.clone();
        *other.pointer_mut(place).unwrap_or_else(|| panic!("{place}")) = wrong;
        refuses(&other, place);
    }
}
