//! States from which the shapes of variables are inferred.

use crate::eval::{CompiledSpecification, Evaluator, GeneratedStates};
use crate::standard::Outcome;
use crate::value::Value;
use rustc_hash::FxHashSet;
use spillway_base::random::SplitMix64;

/// The seed of the random walks.
const SEED: u64 = 0x7163_5a60_4cb1_3d5b;

/// The size of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSize {
    /// The most states of the breadth-first part.
    pub breadth: usize,
    /// The number of random walks.
    pub walks: usize,
    /// The most steps of a walk.
    pub steps: usize,
}

impl Default for SampleSize {
    fn default() -> Self {
        Self { breadth: 3000, walks: 30, steps: 150 }
    }
}

/// Returns a sample of reachable states: the first ones breadth-first, then those of random walks. The sample depends
/// only on the program and the size.
///
/// An evaluation that fails ends its part of the sample. The search reports it when it gets there.
pub fn sample_states(program: &CompiledSpecification, size: SampleSize) -> Vec<Vec<Value>> {
    let mut sampler = Sampler { evaluator: Evaluator::new(program), size, states: Vec::new() };
    let mut random = SplitMix64::new(SEED);
    let Ok(SampledInitialStates { first, starts }) = sampler.initial(&mut random) else {
        return sampler.states;
    };
    let _ = sampler.breadth_first(&first);
    for start in &starts {
        let _ = sampler.walk(start, &mut random);
    }
    sampler.states
}

/// Some of the initial states that satisfy the constraints.
#[derive(Default)]
struct SampledInitialStates {
    /// The first ones, as many as the sample can have.
    first: Vec<Vec<Value>>,
    /// Where each walk starts: any of them, with equal probability.
    starts: Vec<Vec<Value>>,
}

struct Sampler<'p> {
    evaluator: Evaluator<'p>,
    size: SampleSize,
    states: Vec<Vec<Value>>,
}

impl SampledInitialStates {
    /// Adds a state that is the `count`th: reservoirs of one state each.
    fn add(&mut self, state: &[Value], count: usize, size: SampleSize, random: &mut SplitMix64) {
        if self.first.len() < size.breadth {
            self.first.push(state.to_vec());
        }
        self.starts.resize_with(size.walks, Vec::new);
        for start in &mut self.starts {
            if random.below(count) == 0 {
                start.clear();
                start.extend_from_slice(state);
            }
        }
    }
}

impl Sampler<'_> {
    fn initial(&mut self, random: &mut SplitMix64) -> Outcome<SampledInitialStates> {
        let program = self.evaluator.program();
        let (mut sampled, mut count, mut checked) = (SampledInitialStates::default(), 0, Ok(()));
        let mut checker = Evaluator::new(program);
        checker.set_level(1);
        self.evaluator.set_level(1);
        self.evaluator.visit_initial_states(&mut |piece| {
            for state in piece.chunks(program.variable_count()) {
                checker.set_state(state);
                match checker.is_in_model() {
                    Ok(true) => count += 1,
                    Ok(false) => continue,
                    Err(failure) => {
                        checked = Err(failure);
                        return false;
                    }
                }
                sampled.add(state, count, self.size, random);
            }
            true
        })?;
        checked.map(|()| sampled)
    }

    /// Returns the successors that satisfy the constraints.
    fn successors(&mut self, state: &[Value], level: u32) -> Outcome<Vec<Vec<Value>>> {
        let mut generated = GeneratedStates::default();
        self.evaluator.set_level(level);
        self.evaluator.successors(state, &mut generated)?;
        let mut states = Vec::new();
        for successor in generated.values.chunks(state.len()) {
            self.evaluator.set_level(level + 1);
            self.evaluator.set_state(successor);
            if !self.evaluator.is_in_model()? {
                continue;
            }
            self.evaluator.set_state(state);
            self.evaluator.set_successor(successor);
            if self.evaluator.is_step_in_model()? {
                states.push(successor.to_vec());
            }
        }
        Ok(states)
    }

    fn breadth_first(&mut self, initial: &[Vec<Value>]) -> Outcome<()> {
        let mut seen = FxHashSet::default();
        let mut level: Vec<_> = initial.to_vec();
        for number in 1.. {
            let mut next = Vec::new();
            for state in level {
                if self.states.len() >= self.size.breadth {
                    return Ok(());
                }
                if !seen.insert(state.clone()) {
                    continue;
                }
                self.states.push(state.clone());
                next.extend(self.successors(&state, number)?);
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        Ok(())
    }

    fn walk(&mut self, initial: &[Value], random: &mut SplitMix64) -> Outcome<()> {
        let mut state = initial.to_vec();
        for step in 1..=self.size.steps {
            let mut successors = self.successors(&state, step as u32)?;
            if successors.is_empty() {
                break;
            }
            state = successors.swap_remove(random.below(successors.len()));
            self.states.push(state.clone());
        }
        Ok(())
    }
}
