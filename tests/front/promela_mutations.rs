//! Every fault of a model has a message. The tests read mutants of model files: truncated files, and files with words
//! omitted, doubled or exchanged. With `SPILLWAY_CORPUS` set to a folder, its Promela models are mutated as well.
//!
//! Some mutants of models in every language are also compiled, and some hundred of their states expanded; both must
//! terminate. `SPILLWAY_MUTANTS=10000` creates that many mutants of the models in `SPILLWAY_CORPUS`. Each mutant is
//! written to a file before the test, and one that takes a minute is reported.

use crate::support::error_message::ErrorMessage;
use spillway::exec::jit::CompileLimits;
use spillway::exec::{Interp, Jit};
use spillway::front::{Language, Options, murphi, promela};
use spillway::ir::validate::validate;
use spillway::model::{StateSpace, SuccessorSink};
use spillway::source::SourceMap;
use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The number of mutants of each file.
const MUTANTS_PER_FILE: usize = 60;

/// A small generator (Knuth's MMIX constants) with the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// Splits a model into words, signs and white space.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for character in text.chars() {
        let class = |it: char| match it {
            it if it.is_alphanumeric() || it == '_' => 1,
            it if it.is_whitespace() => 2,
            _ => 3,
        };
        match words.last_mut() {
            Some(last)
                if class(character) != 3
                    && last.chars().all(|it| class(it) == class(character)) =>
            {
                last.push(character);
            }
            _ => words.push(character.to_string()),
        }
    }
    words
}

fn mutate(words: &[String], random: &mut Random) -> String {
    let mut words = words.to_vec();
    for _ in 0..=random.below(2) {
        let position = random.below(words.len());
        match random.below(5) {
            0 => words.truncate(position),
            1 => drop(words.remove(position)),
            2 => words.insert(position, words[position].clone()),
            3 => {
                let other = random.below(words.len());
                words.swap(position, other);
            }
            _ => words[position] = words[random.below(words.len())].clone(),
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
}

fn models(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let is_small = || path.metadata().is_ok_and(|metadata| metadata.len() < 40_000);
        if path.is_dir() {
            models(&path, found);
        } else if path.extension().is_none_or(|it| it != "tsv" && it != "md") && is_small() {
            found.push(path);
        }
    }
}

/// Loads a model. Checks that its messages point into it.
fn check_load(path: &Path, text: &str) {
    let mut sources = SourceMap::default();
    sources.add(path.display().to_string(), text.to_owned());
    match promela::LANGUAGE.load(&mut sources, &Options::default()) {
        Ok(loaded) => {
            let valid = validate(&loaded.program);
            assert!(valid.is_ok(), "{}:\n{text}", path.display());
            // The interpreter may still reject it as too large.
            drop(Interp::new(loaded.program));
        }
        Err(found) => {
            assert!(!found.is_empty());
            for diagnostic in found {
                assert!(!diagnostic.message.is_empty());
                assert!(diagnostic.render(&sources).to_string().contains("error: "));
            }
        }
    }
}

#[test]
fn mutants_of_promela_models_load_or_are_refused() {
    let mut paths = Vec::new();
    models(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models/promela"), &mut paths);
    assert!(paths.len() >= 19);
    if let Some(corpus) = std::env::var_os("SPILLWAY_CORPUS") {
        models(&Path::new(&corpus).join("promela"), &mut paths);
    }
    let mut random = Random(1);
    for path in paths {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let words = words(&text);
        for _ in 0..MUTANTS_PER_FILE {
            check_load(&path, &mutate(&words, &mut random));
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = |open: &str, inner: &str, close: &str| {
        format!("init {{ {}{inner}{} }}", open.repeat(50_000), close.repeat(50_000))
    };
    let path = Path::new("model.pml");
    check_load(path, &deep("{ ", "skip", " }"));
    check_load(path, &deep("( ", "1", " )"));
    check_load(path, &deep("!", "1", ""));
    check_load(path, &deep("if :: ", "skip", " fi"));
    check_load(path, &deep("atomic { ", "skip", " }"));
    check_load(path, &deep("L: ", "skip", ""));
    check_load(path, &format!("byte x; ltl p {{ {}x }} init {{ skip }}", "[]".repeat(50_000)));
    check_load(path, &format!("init {{ byte x; x = 1{} }}", " + 1".repeat(50_000)));
    check_load(path, &format!("init {{ skip{} }}", " unless skip".repeat(50_000)));
    check_load(path, "#define A B + B\n#define B C + C\n#define C A\ninit { int x; x = A }");
    check_load(path, "init { L: goto K; K: goto L }");
    check_load(path, "init { do :: goto L; K: skip; L: goto K od }");
    check_load(path, "inline f() { g() } inline g() { f() } init { f() }");
}

/// Loads a model that is large in one respect. Returns the error, if there is one.
fn load_large(language: &Language, text: &str) -> Result<(), ErrorMessage> {
    let mut sources = SourceMap::default();
    sources.add("model", text.to_owned());
    let loaded = language
        .load(&mut sources, &Options::default())
        .map_err(|errors| errors[0].render(&sources).to_string())?;
    Interp::new(loaded.program).map_err(|error| error.render(&sources).to_string().into()).map(drop)
}

/// Concatenates numbered pieces.
fn repeat_numbered(count: usize, text_of: impl Fn(usize) -> String) -> String {
    (0..count).map(text_of).collect()
}

#[test]
fn models_beyond_a_limit_are_refused_by_name_of_the_limit() {
    let promela = |text: String, said: &str| {
        let error = load_large(&promela::LANGUAGE, &text).unwrap_err();
        assert!(error.contains(said) && error.contains("help: "), "{error}");
    };
    let chain = |call: &str, count| {
        repeat_numbered(count, |at| format!("#define m{}{call} m{at}{call}\n", at + 1))
    };
    let used = |call: &str, count| format!("byte x; init {{ x = m{count}{call} }}");
    for (define, call) in [("", ""), ("(a)", "(1)")] {
        let first = format!("#define m0{define} 1\n");
        let chain = chain(define, 100_000);
        promela(format!("{first}{chain}{}", used(call, 100_000)), "more than 1000 deep");
        assert_eq!(
            load_large(&promela::LANGUAGE, &format!("{first}{chain}{}", used(call, 900))),
            Ok(())
        );
    }
    for (depth, limit) in [(500, "100 deep"), (50_000, "more than 1000 brackets are open here")] {
        let nested = format!("{}1{}", "m(".repeat(depth), ")".repeat(depth));
        promela(format!("#define m(a) a\nbyte x; init {{ x = {nested} }}"), limit);
    }
    let doubling =
        repeat_numbered(20, |at| format!("inline f{}() {{ f{at}(); f{at}() }}\n", at + 1));
    let inlines =
        |last| format!("byte x; inline f0() {{ x = 1 }}\n{doubling} init {{ f{last}() }}");
    promela(inlines(20), "inlines come to more than 1048576 tokens");
    assert_eq!(load_large(&promela::LANGUAGE, &inlines(8)), Ok(()));
    promela("inline f() { g() } inline g() { f() } init { f() }".into(), "calls itself");
    let active =
        |count| repeat_numbered(count, |at| format!("active proctype P{at}() {{ skip }}\n"));
    promela(active(5000), "255 at one time");
    assert_eq!(load_large(&promela::LANGUAGE, &active(40)), Ok(()));

    let murphi = |part: String, said: &str| {
        let text = format!("var x: 0..3;\n{part}\nstartstate begin x := 0; end;");
        match (load_large(&murphi::LANGUAGE, &text), said) {
            (Ok(()), "") => {}
            (Err(error), said) if !said.is_empty() => assert!(error.contains(said), "{error}"),
            (other, said) => panic!("{other:?}, not {said}"),
        }
    };
    let rule = |guard: String, body: String| format!("rule {guard} ==> begin {body} end;");
    let calls = |depth| {
        let last = format!("rule true ==> begin f{depth}(); end;");
        let chain =
            repeat_numbered(depth, |at| format!("procedure f{}(); begin f{at}(); end;\n", at + 1));
        format!("procedure f0(); begin x := 1; end;\n{chain}{last}")
    };
    murphi(calls(5000), "100 functions deep");
    murphi(calls(90), "");
    murphi(rule(format!("true{}", " & x = 0".repeat(20_000)), "x := 1;".into()), "");
    murphi(rule(format!("x{} = 0", " + x".repeat(20_000)), "x := 1;".into()), "1000 operators");
    let locals = repeat_numbered(5000, |at| format!("l{at}: 0..1;"));
    murphi(format!("rule true ==> var {locals} begin x := 1; end;"), "500 variables");
    let many = (0..5000).map(|at| format!("a{at}: x")).collect::<Vec<_>>().join("; ");
    murphi(rule("true".into(), format!("alias {many} do x := 1; end;")), "50 names");
}

/// The number of states of a mutant that are expanded.
const STATES: usize = 200;

/// The number of mutants, unless a variable sets another one.
const MUTANTS: usize = 150;

/// A mutant that takes longer is reported, and the test fails.
const TIME_MAX: Duration = Duration::from_secs(60);

/// Returns the states that a model writes, up to some thousand.
fn collect_states(model: &dyn StateSpace, run: impl FnOnce(&mut SuccessorSink)) -> Vec<Vec<u8>> {
    let (mut buffer, mut states, width) = (Vec::new(), Vec::new(), model.width());
    let on_full = |buffer: &mut Vec<u8>| {
        states.extend(buffer.chunks_exact(width).map(<[u8]>::to_vec));
        buffer.clear();
        match states.len() < 20 * STATES {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    };
    let limit = 100 * width;
    let collected = SuccessorSink::collect_in_batches(width, &mut buffer, limit, on_full, run);
    if collected.is_ok() {
        states.extend(buffer.chunks_exact(width).map(<[u8]>::to_vec));
    }
    states
}

/// Expands the first states of a model.
fn explore(model: &dyn StateSpace) {
    let mut open = VecDeque::from(collect_states(model, |out| model.initial(out)));
    let mut seen = BTreeSet::new();
    while let Some(state) = open.pop_front().filter(|_| seen.len() < STATES) {
        if seen.insert(state.clone()) {
            open.extend(collect_states(model, |out| model.expand(&state, out)));
        }
    }
}

/// Loads, compiles and runs a mutant. The interpreter runs every fourth one.
fn run(language: &Language, name: &str, text: &str, number: usize) {
    let mut sources = SourceMap::default();
    sources.add(name, text.to_owned());
    let loaded = match language.load(&mut sources, &Options::default()) {
        Ok(loaded) => loaded,
        Err(found) => return assert!(!found.is_empty()),
    };
    assert!(validate(&loaded.program).is_ok(), "{name}:\n{text}");
    let Ok(interp) = Interp::new(loaded.program) else { return };
    let time = Duration::from_millis(200);
    let limits = CompileLimits { time, memory: 32 << 20, ..CompileLimits::default() };
    match Jit::within(&interp, limits) {
        Ok(jit) if !number.is_multiple_of(4) => explore(&jit),
        _ => explore(&interp),
    }
}

/// Ends the process with a message if a mutant takes too long.
fn end_process_on_timeout(current: &'static Mutex<(String, Instant)>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let (name, since) = current.lock().unwrap().clone();
            if since.elapsed() > TIME_MAX {
                eprintln!("{name} is not done after {TIME_MAX:?}");
                std::process::exit(1);
            }
        }
    });
}

#[test]
fn mutants_in_every_language_terminate() {
    static CURRENT: Mutex<Option<&'static Mutex<(String, Instant)>>> = Mutex::new(None);
    let requested = std::env::var("SPILLWAY_MUTANTS").ok().and_then(|it| it.parse().ok());
    let corpus = std::env::var_os("SPILLWAY_CORPUS").filter(|_| requested.is_some());
    let folder = corpus.map_or(Path::new(env!("CARGO_MANIFEST_DIR")).join("models"), PathBuf::from);
    let mut paths = Vec::new();
    models(&folder, &mut paths);
    paths.retain(|path| Language::from_file_name(&path.to_string_lossy()).is_some());
    assert!(paths.len() > 40);
    let from = std::env::var("SPILLWAY_MUTANTS_FROM").ok().and_then(|it| it.parse().ok());
    let file = requested.is_some().then(|| std::env::temp_dir().join("spillway-mutant"));
    if file.is_some() {
        let current = Box::leak(Box::new(Mutex::new((String::new(), Instant::now()))));
        *CURRENT.lock().unwrap() = Some(current);
        end_process_on_timeout(current);
    }
    let all = requested.unwrap_or(MUTANTS);
    for number in from.unwrap_or(0)..all {
        // Each model is used equally often, in a mixed order.
        let path = &paths[number * 7919 % paths.len()];
        let language = Language::from_file_name(&path.to_string_lossy()).unwrap();
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let text = mutate(&words(&text), &mut Random(number as u64));
        let name = path.display().to_string();
        if let Some(file) = &file {
            let mutant_file = file.with_extension(path.extension().unwrap_or_default());
            std::fs::write(&mutant_file, &text).unwrap();
            let description = format!("mutant {number}, of {name}, in {}", mutant_file.display());
            let current = CURRENT.lock().unwrap();
            *current.unwrap().lock().unwrap() = (description, Instant::now());
        }
        if text.trim().is_empty() {
            continue;
        }
        run(language, &name, &text, number);
    }
}
