//! Rebuilding of states by replay, many at a time.
//!
//! From the last level down, the back-edges of all wanted states are followed until they end at a cached state or at an
//! initial state. Paths that meet are merged. Then the paths are replayed level by level from the start. The successors
//! of each state on them are generated once, and the successors on a path are kept. The paths have at most as many
//! states of each level as there are wanted states, which bounds the memory.

use super::RebuildStats;
use super::cache::StateCache;
use super::edges::BackEdgeTable;
use super::tagged_model::{OrderedSuccessors, starts_at};
use spill::{Disk, Error, Result, SavedLevels};
use spillway_model::{BackEdge, StateSpace};

/// Rebuilds states.
pub(super) struct StateRebuilder<'r> {
    pub(super) model: &'r dyn StateSpace,
    pub(super) disk: &'r dyn Disk,
    pub(super) levels: &'r SavedLevels,
    pub(super) edges: &'r mut BackEdgeTable,
    pub(super) cache: &'r mut StateCache,
    pub(super) rebuilt: &'r mut RebuildStats,
    /// Buffers for the states on paths, of a level and of the previous one.
    pub(super) room: &'r mut [Vec<u8>; 2],
}

/// The states of one level that are on a path.
struct ReplayStage {
    level: usize,
    /// Ascending by number.
    nodes: Vec<ReplayNode>,
    /// The cached states, in this order.
    cached: Vec<u8>,
}

struct ReplayNode {
    number: u64,
    /// The back-edge; none if the state was cached.
    edge: Option<BackEdge>,
}

impl StateRebuilder<'_> {
    /// Rebuilds the states with the ascending numbers `wanted` and passes each to `show` with its index. As many are
    /// rebuilt together as fit `bytes` bytes, but at least one.
    pub(super) fn rebuild_all(
        &mut self,
        wanted: &[u64],
        bytes: usize,
        show: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<()> {
        // The states of two levels are in memory, and the cached states of all levels.
        let together = (bytes / (4 * self.model.width() + size_of::<ReplayNode>())).max(1);
        let nodes_max = bytes / 4 / size_of::<ReplayNode>();
        let mut start = 0;
        while start < wanted.len() {
            let mut end = wanted.len().min(start + together);
            let stages = loop {
                match self.stages(&wanted[start..end], nodes_max)? {
                    Some(stages) => break stages,
                    // Their paths are too long to fit together.
                    None => end = start + (end - start) / 2,
                }
            };
            self.replay(stages, &wanted[start..end], &mut |at, state| show(start + at, state))?;
            self.rebuilt.states += (end - start) as u64;
            start = end;
        }
        Ok(())
    }

    /// Returns the paths to `wanted`, from the last level to the first. Returns `None` if they have more than
    /// `nodes_max` states and there is more than one path.
    fn stages(&mut self, wanted: &[u64], nodes_max: usize) -> Result<Option<Vec<ReplayStage>>> {
        let Some(&last) = wanted.last() else { return Ok(Some(Vec::new())) };
        let (mut stages, mut nodes) = (Vec::new(), 0);
        let (mut rest, mut parents) = (wanted, Vec::new());
        let mut level = self.edges.level(last);
        loop {
            let first = self.edges.first(level);
            let here;
            (rest, here) = rest.split_at(rest.partition_point(|&number| number < first));
            let stage = self.stage(level, union(here, &parents), &mut parents)?;
            nodes += stage.nodes.len();
            stages.push(stage);
            if nodes > nodes_max && wanted.len() > 1 {
                return Ok(None);
            }
            level = match (parents.is_empty(), rest.last()) {
                (false, _) => level - 1,
                (true, Some(&last)) => self.edges.level(last),
                (true, None) => return Ok(Some(stages)),
            };
        }
    }

    /// Returns the states `numbers` of a level. Replaces `parents` by their parents.
    fn stage(
        &mut self,
        level: usize,
        numbers: Vec<u64>,
        parents: &mut Vec<u64>,
    ) -> Result<ReplayStage> {
        let mut stage =
            ReplayStage { level, nodes: Vec::with_capacity(numbers.len()), cached: Vec::new() };
        parents.clear();
        for number in numbers {
            let edge = match self.cache.get(number) {
                Some(state) => {
                    stage.cached.extend_from_slice(state);
                    None
                }
                None => Some(self.edges.get(self.disk, self.levels, level, number)?),
            };
            if let Some(BackEdge { parent, .. }) = edge
                && level > 0
                && parents.last() != Some(&parent)
            {
                parents.push(parent);
            }
            stage.nodes.push(ReplayNode { number, edge });
        }
        Ok(stage)
    }

    fn replay(
        &mut self,
        stages: Vec<ReplayStage>,
        wanted: &[u64],
        show: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<()> {
        let width = self.model.width();
        let (mut before, mut shown) = (ReplayStage::empty(), 0);
        let mut successors = OrderedSuccessors::new(self.model);
        let [states, states_before] = &mut *self.room;
        for stage in stages.into_iter().rev() {
            states.clear();
            states.reserve_exact(stage.nodes.len() * width);
            let mut cached = stage.cached.chunks_exact(width);
            let starts = starts(self.model, &stage)?;
            let mut starts = starts.chunks_exact(width);
            let (mut expanded, mut position) = (None, 0);
            for node in &stage.nodes {
                let state = match node.edge {
                    None => cached.next().unwrap_or_default(),
                    Some(_) if stage.level == 0 => starts.next().unwrap_or_default(),
                    Some(BackEdge { parent, index }) => {
                        if expanded != Some(parent) {
                            // Parents ascend as their children do.
                            let skipped = before.nodes[position..]
                                .iter()
                                .position(|node| node.number == parent);
                            position += skipped.unwrap_or(0);
                            let _ = successors.take(&states_before[position * width..][..width])?;
                            expanded = Some(parent);
                        }
                        self.rebuilt.actions += 1;
                        successors.get(index).ok_or_else(|| {
                            let what = format!("state {parent} has no successor {index}");
                            Error::corrupt("levels", 0, what)
                        })?
                    }
                };
                if wanted.get(shown) == Some(&node.number) {
                    show(shown, state);
                    shown += 1;
                }
                match node.edge {
                    None => self.rebuilt.cached += 1,
                    Some(_) => self.cache.offer(node.number, stage.level, state),
                }
                states.extend_from_slice(state);
            }
            before = stage;
            std::mem::swap(states, states_before);
        }
        Ok(())
    }
}

impl ReplayStage {
    fn empty() -> ReplayStage {
        ReplayStage { level: 0, nodes: Vec::new(), cached: Vec::new() }
    }
}

/// Returns the initial states of a stage that are not cached.
fn starts(model: &dyn StateSpace, stage: &ReplayStage) -> Result<Vec<u8>> {
    let mut states = Vec::new();
    if stage.level == 0 {
        let edges = stage.nodes.iter().filter_map(|node| node.edge);
        let wanted: Vec<u64> = edges.map(BackEdge::start).collect();
        starts_at(model, &wanted, &mut |_, state| states.extend_from_slice(state))?;
    }
    Ok(states)
}

/// Returns the union of two ascending lists of numbers.
fn union(one: &[u64], other: &[u64]) -> Vec<u64> {
    let mut all = [one, other].concat();
    all.sort_unstable();
    all.dedup();
    all
}
