//! Searches a synthetic state space of a given shape: the cost of the search without the model.
//!
//! ```sh
//! cargo run --release --example synthetic -- --states 50000000 --memory 64 --threads 2
//! ```
//!
//! With `--owing`, states leave proviso obligations although no transition is postponed
//! (`docs/reductions/ignoring.md`). This measures the cost of obligations.
//!
//! The output is the shape, the plan, and one line of figures. The exit code is 1 if the number of states found is not
//! the requested one.

use clap::Parser;
use spill::{MeteredDisk, RealDisk};
use spillway::model::{
    Capabilities, ObligationSink, PostponingStateSpace, StateSpace, SuccessorSink,
    SystemDescription,
};
use spillway::search::{
    ExternalSearch, MemoryPlan, SearchControl, SearchLimits, SearchResources, return_large_blocks,
};
use spillway::system::synthetic::{StateSpaceShape, SyntheticStateSpace};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

#[derive(Parser)]
struct Args {
    /// States in all
    #[arg(long, default_value_t = 10_000_000)]
    states: u64,
    /// Breadth-first levels
    #[arg(long, default_value_t = StateSpaceShape::default().levels)]
    levels: u32,
    /// Successors of a state
    #[arg(long, default_value_t = StateSpaceShape::default().degree)]
    degree: u32,
    /// Of a thousand repeats, how many lie in earlier levels
    #[arg(long, default_value_t = StateSpaceShape::default().backward)]
    backward: u32,
    /// How many levels back at most
    #[arg(long, default_value_t = StateSpaceShape::default().reach)]
    reach: u32,
    /// Bits of noise in a key
    #[arg(long, default_value_t = StateSpaceShape::default().noise)]
    noise: u32,
    /// Bytes of a key
    #[arg(long, default_value_t = StateSpaceShape::default().width)]
    width: usize,
    /// The memory budget in MiB
    #[arg(long, default_value_t = 64)]
    memory: u64,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Of a hundred states, how many leave obligations
    #[arg(long, default_value_t = 0)]
    owing: u64,
    /// Where the search directory is made; it is removed at the end
    #[arg(long)]
    within: Option<PathBuf>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    return_large_blocks(args.memory << 20);
    match search(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn search(args: &Args) -> Result<bool, Box<dyn std::error::Error>> {
    let &Args { states, levels, degree, backward, reach, noise, width, .. } = args;
    let shape = StateSpaceShape { states, levels, degree, backward, reach, noise, width };
    let model =
        ObligationStateSpace { model: SyntheticStateSpace::new(shape.clone())?, share: args.owing };
    let plan =
        MemoryPlan::new(args.memory << 20, MemoryPlan::resident(), args.threads, model.width())
            .map_err(|error| error.to_string())?;
    let plan = if args.owing > 0 { plan.for_obligations() } else { plan };
    println!("{shape:?}, {} bits\n{plan}", model.bits());
    let within = args.within.clone().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::tempdir_in(within)?;
    let disk = Arc::new(MeteredDisk::new(Arc::new(RealDisk::open(folder.path())?), None)?);
    let control = SearchControl::default();
    let begun = Instant::now();
    let resources = SearchResources { disk: disk.clone(), plan, control: &control };
    let mut search = ExternalSearch::begin(&model, resources, SearchLimits::default())?;
    let outcome = search.run()?;
    let seconds = begun.elapsed().as_secs_f64();
    let (found, usage) = (outcome.states(), disk.usage());
    let each = |bytes: u64| bytes as f64 / found as f64;
    println!(
        "{found} states, {} transitions, {} levels: {seconds:.2} s, {:.1} ns a transition, \
         {:.1} ns a state; resident {:.1} MiB; bytes of disk a state: {:.2} at the peak, {:.2} at the end, {:.2} written, \
         {:.2} read",
        outcome.counters.transitions,
        outcome.levels.len(),
        seconds * 1e9 / outcome.counters.transitions as f64,
        seconds * 1e9 / found as f64,
        MemoryPlan::peak_resident() as f64 / f64::from(1 << 20),
        each(usage.peak),
        each(usage.live),
        each(usage.written),
        each(usage.read),
    );
    if args.owing > 0 {
        println!(
            "{} states left obligations, {} were expanded again",
            outcome.counters.partially_expanded, outcome.counters.re_expanded
        );
    }
    Ok(found == states)
}

/// A state space in which some states report postponed transitions, although all transitions are taken.
struct ObligationStateSpace {
    model: SyntheticStateSpace,
    /// The percentage of these states.
    share: u64,
}

impl PostponingStateSpace for ObligationStateSpace {
    fn expand_reduced(&self, states: &[u8], out: &mut SuccessorSink, owed: &mut ObligationSink) {
        let (width, mut successors) = (self.width(), Vec::new());
        for (position, state) in states.chunks_exact(width).enumerate() {
            let owes = spill::hash(state) % 100 < self.share;
            successors.clear();
            let expand = |inner: &mut SuccessorSink| self.model.expand(state, inner);
            if out.wrap(width, &mut successors, expand).is_none() {
                return;
            }
            for successor in successors.chunks_exact(width) {
                out.candidate(successor);
                if owes {
                    owed.add(position, successor);
                }
            }
            out.count_partially_expanded(u64::from(owes));
        }
    }

    fn expand_postponed(&self, _: &[u8], _: &mut SuccessorSink) {}
}

impl StateSpace for ObligationStateSpace {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.model.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.model.expand(states, out);
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.model.write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        self.model.digest()
    }

    fn description(&self) -> &dyn SystemDescription {
        &self.model
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: None,
            postponing: (self.share > 0).then_some(self),
            cycle_proviso: None,
            sleep_sets: None,
            dominance: None,
            growing: None,
            views: None,
        }
    }
}
