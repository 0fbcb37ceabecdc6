//! Known states in order of discovery, each with the state before it.

/// The mark of a state without a state before it.
const NONE: u32 = u32::MAX;

/// The origin of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateOrigin {
    before: u32,
    depth: u32,
}

impl StateOrigin {
    /// The origin of a state in which a search starts.
    pub const START: StateOrigin = StateOrigin { before: NONE, depth: 0 };
}

/// A tree of states. Each has a number, in order of discovery.
pub struct StateTree {
    width: usize,
    /// The states, concatenated.
    states: Vec<u8>,
    origins: Vec<StateOrigin>,
}

impl StateTree {
    /// The largest number of states.
    pub const STATES_MAX: usize = NONE as usize;

    /// Creates an empty tree of states of `width` bytes.
    pub fn new(width: usize) -> StateTree {
        StateTree { width, states: Vec::new(), origins: Vec::new() }
    }

    /// Removes all states.
    pub fn clear(&mut self) {
        self.states.clear();
        self.origins.clear();
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.origins.len()
    }

    /// Returns whether there are no states.
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// Returns a state by its number.
    pub fn state(&self, number: u32) -> &[u8] {
        &self.states[number as usize * self.width..][..self.width]
    }

    /// Returns the number of steps to a state.
    pub fn depth(&self, number: u32) -> usize {
        self.origins[number as usize].depth as usize
    }

    /// Returns the origin of the successors of a state.
    pub fn origin_after(&self, number: u32) -> StateOrigin {
        StateOrigin { before: number, depth: self.origins[number as usize].depth + 1 }
    }

    /// Adds a state, and returns its number.
    pub fn add(&mut self, state: &[u8], origin: StateOrigin) -> u32 {
        self.origins.push(origin);
        self.states.extend_from_slice(state);
        self.origins.len() as u32 - 1
    }

    /// Returns the states on the path to a state, the first one and the state itself included.
    pub fn path_to(&self, number: u32) -> Vec<Vec<u8>> {
        let before = |&it: &u32| Some(self.origins[it as usize].before).filter(|&it| it != NONE);
        let path = std::iter::successors(Some(number), before);
        let mut states: Vec<Vec<u8>> = path.map(|it| self.state(it).to_vec()).collect();
        states.reverse();
        states
    }
}
