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

/// How often each file is changed.
const TIMES: usize = 60;

/// A small generator (Knuth's MMIX constants); the same numbers every time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// The model's words, signs and the space between them.
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

fn mutated(words: &[String], random: &mut Random) -> String {
    let mut words = words.to_vec();
    for _ in 0..=random.below(2) {
        let at = random.below(words.len());
        match random.below(5) {
            0 => words.truncate(at),
            1 => drop(words.remove(at)),
            2 => words.insert(at, words[at].clone()),
            3 => {
                let other = random.below(words.len());
                words.swap(at, other);
            }
            _ => words[at] = words[random.below(words.len())].clone(),
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
        let is_small = || path.metadata().is_ok_and(|about| about.len() < 40_000);
        if path.is_dir() {
            models(&path, found);
        } else if path.extension().is_none_or(|it| it != "tsv" && it != "md") && is_small() {
            found.push(path);
        }
    }
}

/// Reads a model; a message must point into it.
fn read(path: &Path, text: &str) {
    let mut sources = SourceMap::default();
    sources.add(path.display().to_string(), text.to_owned());
    match promela::LANGUAGE.load(&mut sources, &Options::default()) {
        Ok(loaded) => {
            let valid = validate(&loaded.program);
            assert!(valid.is_ok(), "{}:\n{text}", path.display());
            // It may still be refused as too large.
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
fn every_change_of_a_model_is_read_or_refused() {
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
        for _ in 0..TIMES {
            read(&path, &mutated(&words, &mut random));
        }
    }
}

#[test]
fn deep_nests_are_refused() {
    let deep = |open: &str, inner: &str, close: &str| {
        format!("init {{ {}{inner}{} }}", open.repeat(50_000), close.repeat(50_000))
    };
    let path = Path::new("model.pml");
    read(path, &deep("{ ", "skip", " }"));
    read(path, &deep("( ", "1", " )"));
    read(path, &deep("!", "1", ""));
    read(path, &deep("if :: ", "skip", " fi"));
    read(path, &deep("atomic { ", "skip", " }"));
    read(path, &deep("L: ", "skip", ""));
    read(path, &format!("byte x; ltl p {{ {}x }} init {{ skip }}", "[]".repeat(50_000)));
    read(path, &format!("init {{ byte x; x = 1{} }}", " + 1".repeat(50_000)));
    read(path, &format!("init {{ skip{} }}", " unless skip".repeat(50_000)));
    read(path, "#define A B + B\n#define B C + C\n#define C A\ninit { int x; x = A }");
    read(path, "init { L: goto K; K: goto L }");
    read(path, "init { do :: goto L; K: skip; L: goto K od }");
    read(path, "inline f() { g() } inline g() { f() } init { f() }");
}

/// Reads a model that is large in one respect, and gives what is said of it.
fn large(language: &Language, text: &str) -> Result<(), ErrorMessage> {
    let mut sources = SourceMap::default();
    sources.add("model", text.to_owned());
    let loaded = language
        .load(&mut sources, &Options::default())
        .map_err(|errors| errors[0].render(&sources).to_string())?;
    Interp::new(loaded.program).map_err(|error| error.render(&sources).to_string().into()).map(drop)
}

/// Numbered pieces, one after another.
fn pieces(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

#[test]
fn what_is_too_large_is_refused_by_its_limit() {
    let promela = |text: String, said: &str| {
        let error = large(&promela::LANGUAGE, &text).unwrap_err();
        assert!(error.contains(said) && error.contains("help: "), "{error}");
    };
    let chain =
        |call: &str, count| pieces(count, |at| format!("#define m{}{call} m{at}{call}\n", at + 1));
    let used = |call: &str, count| format!("byte x; init {{ x = m{count}{call} }}");
    for (define, call) in [("", ""), ("(a)", "(1)")] {
        let first = format!("#define m0{define} 1\n");
        let chain = chain(define, 100_000);
        promela(format!("{first}{chain}{}", used(call, 100_000)), "more than 1000 deep");
        assert_eq!(
            large(&promela::LANGUAGE, &format!("{first}{chain}{}", used(call, 900))),
            Ok(())
        );
    }
    for (depth, limit) in [(500, "100 deep"), (50_000, "more than 1000 brackets are open here")] {
        let nested = format!("{}1{}", "m(".repeat(depth), ")".repeat(depth));
        promela(format!("#define m(a) a\nbyte x; init {{ x = {nested} }}"), limit);
    }
    let doubling = pieces(20, |at| format!("inline f{}() {{ f{at}(); f{at}() }}\n", at + 1));
    let inlines =
        |last| format!("byte x; inline f0() {{ x = 1 }}\n{doubling} init {{ f{last}() }}");
    promela(inlines(20), "inlines come to more than 1048576 tokens");
    assert_eq!(large(&promela::LANGUAGE, &inlines(8)), Ok(()));
    promela("inline f() { g() } inline g() { f() } init { f() }".into(), "calls itself");
    let active = |count| pieces(count, |at| format!("active proctype P{at}() {{ skip }}\n"));
    promela(active(5000), "255 at one time");
    assert_eq!(large(&promela::LANGUAGE, &active(40)), Ok(()));

    let murphi = |part: String, said: &str| {
        let text = format!("var x: 0..3;\n{part}\nstartstate begin x := 0; end;");
        match (large(&murphi::LANGUAGE, &text), said) {
            (Ok(()), "") => {}
            (Err(error), said) if !said.is_empty() => assert!(error.contains(said), "{error}"),
            (other, said) => panic!("{other:?}, not {said}"),
        }
    };
    let rule = |guard: String, body: String| format!("rule {guard} ==> begin {body} end;");
    let calls = |depth| {
        let last = format!("rule true ==> begin f{depth}(); end;");
        let chain = pieces(depth, |at| format!("procedure f{}(); begin f{at}(); end;\n", at + 1));
        format!("procedure f0(); begin x := 1; end;\n{chain}{last}")
    };
    murphi(calls(5000), "100 functions deep");
    murphi(calls(90), "");
    murphi(rule(format!("true{}", " & x = 0".repeat(20_000)), "x := 1;".into()), "");
    murphi(rule(format!("x{} = 0", " + x".repeat(20_000)), "x := 1;".into()), "1000 operators");
    let locals = pieces(5000, |at| format!("l{at}: 0..1;"));
    murphi(format!("rule true ==> var {locals} begin x := 1; end;"), "500 variables");
    let many = (0..5000).map(|at| format!("a{at}: x")).collect::<Vec<_>>().join("; ");
    murphi(rule("true".into(), format!("alias {many} do x := 1; end;")), "50 names");
}

/// States of a mutant that are expanded.
const STATES: usize = 200;

/// Mutants without a variable that says otherwise.
const MUTANTS: usize = 150;

/// A mutant that takes longer is named, and the run ends.
const LONGEST: Duration = Duration::from_secs(60);

/// What a model writes, as states; not more than some thousand of them.
fn written(model: &dyn StateSpace, run: impl FnOnce(&mut SuccessorSink)) -> Vec<Vec<u8>> {
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
    let done = SuccessorSink::collect_in_batches(width, &mut buffer, limit, on_full, run);
    if done.is_ok() {
        states.extend(buffer.chunks_exact(width).map(<[u8]>::to_vec));
    }
    states
}

/// Expands the first states of a model.
fn explore(model: &dyn StateSpace) {
    let mut open = VecDeque::from(written(model, |out| model.initial(out)));
    let mut seen = BTreeSet::new();
    while let Some(state) = open.pop_front().filter(|_| seen.len() < STATES) {
        if seen.insert(state.clone()) {
            open.extend(written(model, |out| model.expand(&state, out)));
        }
    }
}

/// Reads, compiles and runs a mutant, compiled code and the interpreter in turns.
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

/// Ends the process, with a word, where a mutant takes too long.
fn watch(current: &'static Mutex<(String, Instant)>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let (name, since) = current.lock().unwrap().clone();
            if since.elapsed() > LONGEST {
                eprintln!("{name} is not done after {LONGEST:?}");
                std::process::exit(1);
            }
        }
    });
}

#[test]
fn mutants_in_every_language_end() {
    static CURRENT: Mutex<Option<&'static Mutex<(String, Instant)>>> = Mutex::new(None);
    let wanted = std::env::var("SPILLWAY_MUTANTS").ok().and_then(|it| it.parse().ok());
    let corpus = std::env::var_os("SPILLWAY_CORPUS").filter(|_| wanted.is_some());
    let folder = corpus.map_or(Path::new(env!("CARGO_MANIFEST_DIR")).join("models"), PathBuf::from);
    let mut paths = Vec::new();
    models(&folder, &mut paths);
    paths.retain(|path| Language::from_file_name(&path.to_string_lossy()).is_some());
    assert!(paths.len() > 40);
    let from = std::env::var("SPILLWAY_MUTANTS_FROM").ok().and_then(|it| it.parse().ok());
    let file = wanted.is_some().then(|| std::env::temp_dir().join("spillway-mutant"));
    if file.is_some() {
        let current = Box::leak(Box::new(Mutex::new((String::new(), Instant::now()))));
        *CURRENT.lock().unwrap() = Some(current);
        watch(current);
    }
    let all = wanted.unwrap_or(MUTANTS);
    for number in from.unwrap_or(0)..all {
        // Each model as often as any other, in an order that mixes them.
        let path = &paths[number * 7919 % paths.len()];
        let language = Language::from_file_name(&path.to_string_lossy()).unwrap();
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let text = mutated(&words(&text), &mut Random(number as u64));
        let name = path.display().to_string();
        if let Some(file) = &file {
            let kept = file.with_extension(path.extension().unwrap_or_default());
            std::fs::write(&kept, &text).unwrap();
            let named = format!("mutant {number}, of {name}, in {}", kept.display());
            let current = CURRENT.lock().unwrap();
            *current.unwrap().lock().unwrap() = (named, Instant::now());
        }
        if text.trim().is_empty() {
            continue;
        }
        run(language, &name, &text, number);
    }
}
