//! Which of the enabled steps of a state are taken, in states of one configuration.

use super::Method;
use super::deletion::{Deletion, Having};
use super::memo::Memo;
use super::needs::{Needs, Seen};
use super::processes::Processes;
use super::relation::Relation;
use super::stubborn::Closure;
use crate::analysis::bits::{self, Rows};

/// In the number of a key: it is about what has to be taken besides.
const REST: u64 = 1 << 63;

/// Chooses, by one method, for one program.
#[derive(Debug)]
pub(super) struct Chooser {
    /// Choosers that choose alike have the same.
    number: u64,
    relation: Relation,
    method: Method,
    /// The instances whose steps climb, if something put off is taken up where none does.
    climbing: Option<Vec<u64>>,
    /// What is known of whole processes, for the methods that choose among these.
    processes: Option<Processes>,
    /// Which sets have whom, for the methods that look for small ones.
    having: Option<Having>,
    /// Words of a set of instances.
    words: usize,
}

/// What choosing takes.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// The key of the choice: which chooser it is by, what is enabled, then the facts.
    key: Vec<u64>,
    /// The choice: the chosen instances, then whether it is good.
    value: Vec<u64>,
    memo: Memo,
    sets: Sets,
}

/// Room for looking for closed sets.
#[derive(Debug, Default)]
struct Sets {
    needs: Needs,
    closure: Closure,
    deletion: Deletion,
    best: Vec<u64>,
}

/// What is taken of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice<'r> {
    /// The instances whose steps are taken: enabled ones, as a set of instances.
    pub chosen: &'r [u64],
    /// Whether all that is looked for is chosen, or waited for by what is: nothing is put off that would
    /// have to be taken up.
    pub is_good: bool,
}

impl Chooser {
    pub fn new(
        number: u64,
        relation: Relation,
        method: Method,
        climbing: Option<Vec<u64>>,
    ) -> Chooser {
        let (processes, having) = match method {
            Method::Stubborn | Method::Conditional => (None, Some(Having::new(&relation))),
            Method::Sleep => (None, None),
            Method::Local | Method::LocalSleep | Method::Overman => {
                (Some(Processes::new(&relation)), None)
            }
        };
        let words = bits::words_of(relation.instances);
        Chooser { number, relation, method, climbing, processes, having, words }
    }

    /// Makes its choices those of another too, if that chooses alike; tells whether.
    pub fn join(&mut self, other: &Chooser) -> bool {
        let is_alike = self.relation.chooses_like(&other.relation);
        if is_alike {
            self.number = other.number;
        }
        is_alike
    }

    /// Whether anything is looked for but deadlocks.
    pub fn has_monitors(&self) -> bool {
        self.relation.has_monitors()
    }

    /// Of each instance those that do not go with it, and watchers.
    pub fn dependent(&self) -> &Rows {
        &self.relation.dependent
    }

    /// What is taken of a state in which something is enabled.
    pub fn choose<'r>(&self, state: &[u8], enabled: &[u64], room: &'r mut Room) -> Choice<'r> {
        let Room { key, value, memo, .. } = room;
        key.resize(1 + self.words + self.relation.facts.words(), 0);
        value.resize(self.words + 1, 0);
        key[0] = self.number;
        let (own, facts) = key[1..].split_at_mut(self.words);
        own.copy_from_slice(enabled);
        self.relation.facts.read(state, facts);
        if !memo.get(key, value) {
            self.compute(room);
            room.memo.put(&room.key, &room.value);
        }
        let (chosen, is_good) = room.value.split_at(self.words);
        Choice { chosen, is_good: is_good[0] != 0 }
    }

    /// What has to be taken of a state besides, so that everything that is looked for is
    /// chosen or waited for.
    pub fn rest<'r>(&self, state: &[u8], enabled: &[u64], room: &'r mut Room) -> &'r [u64] {
        self.choose(state, enabled, room);
        room.key[0] |= REST;
        room.value.resize(2 * self.words + 1, 0);
        let (chosen, rest) = room.value.split_at_mut(self.words + 1);
        if !room.memo.get(&room.key, rest) {
            self.compute_rest(&room.key, chosen, rest, &mut room.sets);
            room.memo.put(&room.key, rest);
        }
        rest
    }

    fn compute_rest(&self, key: &[u64], chosen: &[u64], rest: &mut [u64], sets: &mut Sets) {
        let (enabled, facts) = self.seen(key);
        let seen = Seen { enabled: &enabled, facts };
        let mut with = self.relation.monitors.clone();
        bits::extend(&mut with, &chosen[..self.words]);
        let Sets { needs, closure, .. } = sets;
        needs.look(&self.relation, seen);
        closure.begin(&self.relation, seen, &with);
        closure.close(&self.relation, seen, needs, u32::MAX);
        for (at, word) in rest.iter_mut().enumerate() {
            *word = closure.set[at] & enabled[at] & !chosen[at];
        }
    }

    /// A key as sets: of members, and of facts.
    fn seen<'k>(&self, key: &'k [u64]) -> (Vec<u64>, &'k [u64]) {
        let (enabled, facts) = key[1..].split_at(self.words);
        let mut all = vec![0; self.relation.monitors.len()];
        all[..self.words].copy_from_slice(enabled);
        (all, facts)
    }

    fn compute(&self, room: &mut Room) {
        let Room { key, value, sets, .. } = room;
        let (enabled, facts) = self.seen(key);
        let seen = Seen { enabled: &enabled, facts };
        sets.best.clone_from(&self.relation.monitors);
        sets.best.fill(u64::MAX);
        match (self.method, &self.processes) {
            (Method::Sleep, _) => {}
            (Method::Local | Method::LocalSleep, Some(processes)) => {
                processes.local(seen, &mut sets.best)
            }
            (Method::Overman, Some(processes)) => processes.overman(seen, &mut sets.best),
            _ => self.stubborn(seen, sets),
        }
        let best = &sets.best;
        let is_whole = bits::is_within(&enabled, best);
        let is_good = is_whole || bits::is_within(&self.relation.monitors, best);
        for (word, (set, enabled)) in value.iter_mut().zip(best.iter().zip(&enabled)) {
            *word = set & enabled;
        }
        value[self.words] = is_good.into();
    }

    /// The set with the fewest enabled members, of the closures from each enabled member and one found by
    /// deletion; of several one that has all that is looked for, or the first.
    fn stubborn(&self, seen: Seen, sets: &mut Sets) {
        let Sets { needs, closure, deletion, best } = sets;
        let (relation, all) = (&self.relation, bits::count(seen.enabled));
        let Some(having) = self.having.as_ref().filter(|_| all > 1) else { return };
        needs.look(relation, seen);
        closure.forget(relation);
        // All that is enabled is the last choice.
        let mut least = (all, u32::MAX);
        for seed in bits::members(seen.enabled) {
            let most = self.most(least, all);
            if most == 0 {
                return;
            }
            closure.begin_with(relation, seed);
            if !closure.close(relation, seen, needs, most) {
                // What is made possible is chosen by what is there: from elsewhere it may be less, unless it
                // was too much before.
                if closure.enabled > least.0 || closure.has_avoided {
                    closure.avoid(seed);
                }
                continue;
            }
            let cost = self.cost(seen, &closure.set, (closure.enabled, all));
            if cost < least {
                least = cost;
                best.clone_from(&closure.set);
            }
        }
        if least.0 == 1 {
            return;
        }
        // Of sets that are as good otherwise, closures have fewer disabled members.
        deletion.run(relation, having, seen, needs);
        let cost = self.cost(seen, &deletion.set, (deletion.enabled, all));
        if deletion.enabled < all && cost < least {
            best.clone_from(&deletion.set);
        }
    }

    /// What a set costs: enabled members above all; if they are as many, what may have to be taken up again.
    /// Where that is taken up at once it may be all of them.
    fn cost(&self, seen: Seen, set: &[u64], (enabled, all): (u32, u32)) -> (u32, u32) {
        let is_good = bits::is_within(&self.relation.monitors, set);
        let Some(climbing) = &self.climbing else { return (enabled, (!is_good).into()) };
        let words = climbing.iter().zip(set).zip(seen.enabled);
        let climbs =
            words.fold(0, |any, ((climbing, set), enabled)| any | climbing & set & enabled);
        if is_good || climbs != 0 { (enabled, 0) } else { (all, enabled) }
    }

    /// The most enabled members that a closure may have to cost less than the least so far.
    fn most(&self, (least, besides): (u32, u32), all: u32) -> u32 {
        match self.climbing {
            _ if least == all => all - 1,
            None if besides > 0 => least,
            _ => least - 1,
        }
    }
}
