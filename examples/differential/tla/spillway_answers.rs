//! Spillway's answers for a module: values of expressions, and searches over values and over cells.

use super::answers::{Answers, STATES_MAX, SearchAnswer, SearchCounts};
use super::modules::{CONFIGURATION, expression_count};
use spillway::source::SourceMap;
use spillway::tla::cell_search::{CellEncoding, CellSearch, CellSearchEnding, SampleSize};
use spillway::tla::config;
use spillway::tla::eval::{
    CompiledSpecification, Evaluator, MemorySearch, MemorySearchOptions, SearchEnding,
};
use spillway::tla::modules::{SearchPath, load_text};
use spillway::tla::resolve::{Request, resolve};
use spillway::tla::standard::sets;
use spillway::tla::syntax::parse_expression;

/// A module that was loaded.
pub struct LoadedModule {
    pub program: CompiledSpecification,
    pub sources: SourceMap,
}

/// Loads a module. Returns the message if it is rejected.
pub fn read(text: &str) -> Result<LoadedModule, String> {
    let (mut sources, search) = (SourceMap::default(), SearchPath::default());
    let file = sources.add("Model.cfg", CONFIGURATION);
    let config =
        config::parse(file, CONFIGURATION).map_err(|it| it.render(&sources).to_string())?;
    let set = load_text("Model.tla", text, &search, &mut sources)
        .map_err(|it| it.render(&sources).to_string())?;
    let mut formulas = Vec::new();
    for number in 1..=expression_count(text) {
        let name = format!("E{number}");
        let file = sources.add_property("formula", &*name);
        formulas.push(parse_expression(file, &name).map_err(|it| it.render(&sources).to_string())?);
    }
    let request = Request { set: &set, config: &config, formulas: &formulas, sources: &sources };
    let resolved = resolve(request).map_err(|errors| {
        errors.iter().map(|it| it.render(&sources).to_string()).collect::<Vec<_>>().join("\n")
    })?;
    Ok(LoadedModule { program: CompiledSpecification::new(resolved.specification), sources })
}

/// Returns the answers of the evaluator and of the search in memory. Panics if a search over cells has other counts.
pub fn answers(program: &CompiledSpecification) -> Answers {
    let mut evaluator = Evaluator::new(program);
    let checks = &program.specification.checks;
    let values = checks.formulas.iter().map(|&formula| {
        let value = evaluator.evaluate(formula);
        let value = value.and_then(|it| sets::normalise(&mut evaluator, it));
        match value {
            Ok(value) => Ok(value.text(&program.symbols).to_string()),
            Err(failure) => Err(failure.text(&program.symbols).to_string()),
        }
    });
    let values = values.collect();
    let search = search(program);
    if let SearchAnswer::Verified(counts) = &search {
        assert_cells_agree(program, counts);
    }
    Answers { values, search }
}

fn search(program: &CompiledSpecification) -> SearchAnswer {
    let options = MemorySearchOptions { checks_deadlock: false, states_max: STATES_MAX };
    let found = MemorySearch::run(program, options);
    let level = (found.trace.len() as u64).saturating_sub(1);
    match found.ending {
        SearchEnding::Complete => {
            let with_deadlocks = MemorySearch::run(
                program,
                MemorySearchOptions { checks_deadlock: true, ..options },
            );
            let deadlock = matches!(with_deadlocks.ending, SearchEnding::Deadlock)
                .then(|| with_deadlocks.trace.len() as u64 - 1);
            SearchAnswer::Verified(SearchCounts {
                distinct: found.distinct,
                generated: found.generated,
                levels: found.depth.into(),
                deadlock,
            })
        }
        SearchEnding::LimitReached => SearchAnswer::Large,
        SearchEnding::Violation(_) => SearchAnswer::Violated { level },
        SearchEnding::Failure(failure) => {
            SearchAnswer::Failed(failure.text(&program.symbols).to_string())
        }
        SearchEnding::Deadlock | SearchEnding::Assumption(_) | SearchEnding::Postcondition(_) => {
            unreachable!("neither is checked")
        }
    }
}

/// Panics unless the searches over cells of every kind have these counts.
fn assert_cells_agree(program: &CompiledSpecification, counts: &SearchCounts) {
    // The small sample misses values.
    let large = SampleSize { breadth: 300, walks: 5, steps: 20 };
    let small = SampleSize { breadth: 10, walks: 0, steps: 0 };
    let encodings = [
        CellEncoding::Cells(large),
        CellEncoding::Cells(small),
        CellEncoding::Escapes,
        CellEncoding::Numbers,
    ];
    for encoding in encodings {
        let found = CellSearch::run(program, encoding, false);
        assert!(matches!(found.ending, CellSearchEnding::Complete), "{encoding:?}: {found:?}");
        let found = (found.distinct, found.generated, u64::from(found.depth));
        assert_eq!(found, (counts.distinct, counts.generated, counts.levels), "{encoding:?}");
    }
}
