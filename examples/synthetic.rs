//! Searches a synthetic state space of a given shape: what the search costs without the model.
//!
//! ```sh
//! cargo run --release --example synthetic -- --states 50000000 --memory 64 --threads 2
//! ```
//!
//! Prints the shape, the plan, and one line of figures. The exit code is 1 if the number of states
//! found is not the number asked for.

use clap::Parser;
use spill::{Metered, RealDisk};
use spillway::exec::Model;
use spillway::exec::synthetic::{Shape, Synthetic};
use spillway::search::{Control, Limits, MemoryPlan, Search, return_large_blocks};
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
    #[arg(long, default_value_t = Shape::default().levels)]
    levels: u32,
    /// Successors of a state
    #[arg(long, default_value_t = Shape::default().degree)]
    degree: u32,
    /// Of a thousand repeats, how many lie in earlier levels
    #[arg(long, default_value_t = Shape::default().backward)]
    backward: u32,
    /// How many levels back at most
    #[arg(long, default_value_t = Shape::default().reach)]
    reach: u32,
    /// Bits of noise in a key
    #[arg(long, default_value_t = Shape::default().noise)]
    noise: u32,
    /// Bytes of a key
    #[arg(long, default_value_t = Shape::default().width)]
    width: usize,
    /// The memory budget in MiB
    #[arg(long, default_value_t = 64)]
    memory: u64,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Where the search directory is made; it is removed at the end
    #[arg(long)]
    within: Option<PathBuf>,
}

fn main() -> ExitCode {
    return_large_blocks();
    match search(&Args::parse()) {
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
    let shape = Shape { states, levels, degree, backward, reach, noise, width };
    let model = Synthetic::new(shape.clone())?;
    let plan =
        MemoryPlan::new(args.memory << 20, MemoryPlan::resident(), args.threads, model.width())
            .map_err(|error| error.to_string())?;
    println!("{shape:?}, {} bits\n{plan}", model.bits());
    let within = args.within.clone().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::tempdir_in(within)?;
    let disk = Arc::new(Metered::new(Arc::new(RealDisk::open(folder.path())?), None)?);
    let control = Control::default();
    let begun = Instant::now();
    let mut search = Search::begin(&model, disk.clone(), plan, Limits::default(), &control)?;
    let outcome = search.run()?;
    let seconds = begun.elapsed().as_secs_f64();
    let (found, usage) = (outcome.states(), disk.usage());
    let each = |bytes: u64| bytes as f64 / found as f64;
    println!(
        "{found} states, {} transitions, {} levels: {seconds:.2} s, {:.1} ns a transition, \
         {:.1} ns a state; resident {:.1} MiB; bytes of disk a state: {:.2} at the peak, {:.2} at the end, {:.2} written, \
         {:.2} read",
        outcome.transitions,
        outcome.levels.len(),
        seconds * 1e9 / outcome.transitions as f64,
        seconds * 1e9 / found as f64,
        MemoryPlan::peak_resident() as f64 / f64::from(1 << 20),
        each(usage.peak),
        each(usage.live),
        each(usage.written),
        each(usage.read),
    );
    Ok(found == states)
}
