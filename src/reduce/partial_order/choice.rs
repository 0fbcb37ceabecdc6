//! Which of the enabled steps of a state are taken, in states of one configuration.

use super::Method;
use super::deletion::{Deletion, Needed};
use super::memo::Memo;
use super::processes::Processes;
use super::relation::Relation;
use super::stubborn::{Closure, Seen};
use crate::analysis::bits::{self, Rows};

/// Chooses, by one method, for one program.
#[derive(Debug)]
pub(super) struct Chooser {
    relation: Relation,
    method: Method,
    /// The instances whose steps climb, if something put off is taken up where none does.
    climbing: Option<Vec<u64>>,
    /// What is known of whole processes, for the methods that choose among these.
    processes: Option<Processes>,
    /// Who cannot stay in a set without whom, for the methods that look for small ones.
    needed: Option<Needed>,
    /// Words of a set of instances.
    words: usize,
}

/// What choosing takes.
#[derive(Debug)]
pub(super) struct Room {
    padded: Vec<u8>,
    /// The key of the choice: what is enabled, then the facts.
    key: Vec<u64>,
    /// The choice: the chosen instances, then whether it is good.
    value: Vec<u64>,
    memo: Memo,
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
    pub fn new(relation: Relation, method: Method, climbing: Option<Vec<u64>>) -> Chooser {
        let (processes, needed) = match method {
            Method::Stubborn | Method::Conditional => (None, Some(Needed::new(&relation))),
            Method::Sleep => (None, None),
            Method::Local | Method::LocalSleep | Method::Overman => {
                (Some(Processes::new(&relation)), None)
            }
        };
        let words = bits::words_of(relation.instances);
        Chooser { relation, method, climbing, processes, needed, words }
    }

    /// Whether anything is looked for but deadlocks.
    pub fn has_monitors(&self) -> bool {
        self.relation.has_monitors()
    }

    /// Of each instance those that do not go with it, and watchers.
    pub fn dependent(&self) -> &Rows {
        &self.relation.dependent
    }

    pub fn room(&self) -> Room {
        let key_words = self.words + self.relation.facts.words();
        Room {
            padded: Vec::new(),
            key: vec![0; key_words],
            value: vec![0; self.words + 1],
            memo: Memo::new(key_words, self.words + 1),
            closure: Closure::default(),
            deletion: Deletion::default(),
            best: Vec::new(),
        }
    }

    /// What is taken of a state in which something is enabled.
    pub fn choose<'r>(&self, state: &[u8], enabled: &[u64], room: &'r mut Room) -> Choice<'r> {
        let (own, facts) = room.key.split_at_mut(self.words);
        own.copy_from_slice(enabled);
        self.relation.facts.read(state, &mut room.padded, facts);
        let slot = room.memo.slot(&room.key);
        match room.memo.get(slot, &room.key) {
            Some(value) => room.value.copy_from_slice(value),
            None => {
                self.compute(room);
                room.memo.put(slot, &room.key, &room.value);
            }
        }
        let (chosen, is_good) = room.value.split_at(self.words);
        Choice { chosen, is_good: is_good[0] != 0 }
    }

    /// What has to be taken of a state besides, so that everything that is looked for is
    /// chosen or waited for.
    pub fn rest<'r>(&self, state: &[u8], enabled: &[u64], room: &'r mut Room) -> &'r [u64] {
        let chosen = self.choose(state, enabled, room).chosen.to_vec();
        let Room { key, closure, value, .. } = room;
        let (enabled, facts) = self.seen(key);
        let seen = Seen { enabled: &enabled, facts };
        let mut with = self.relation.monitors.clone();
        bits::extend(&mut with, &chosen);
        closure.look(&self.relation, seen);
        closure.begin(&self.relation, seen, &with);
        closure.close(&self.relation, seen, u32::MAX);
        let rest = closure.set.iter().zip(&enabled).zip(&chosen);
        value.iter_mut().zip(rest).for_each(|(word, ((set, enabled), chosen))| {
            *word = set & enabled & !chosen;
        });
        &value[..self.words]
    }

    /// A key as sets: of members, and of facts.
    fn seen<'k>(&self, key: &'k [u64]) -> (Vec<u64>, &'k [u64]) {
        let (enabled, facts) = key.split_at(self.words);
        let mut all = vec![0; self.relation.monitors.len()];
        all[..self.words].copy_from_slice(enabled);
        (all, facts)
    }

    fn compute(&self, room: &mut Room) {
        let Room { key, value, closure, deletion, best, .. } = room;
        let (enabled, facts) = self.seen(key);
        let seen = Seen { enabled: &enabled, facts };
        best.clone_from(&self.relation.monitors);
        best.fill(u64::MAX);
        match (self.method, &self.processes) {
            (Method::Sleep, _) => {}
            (Method::Local | Method::LocalSleep, Some(processes)) => processes.local(seen, best),
            (Method::Overman, Some(processes)) => processes.overman(seen, best),
            _ => self.stubborn(seen, closure, deletion, best),
        }
        let is_whole = bits::is_within(&enabled, best);
        let is_good = is_whole || bits::is_within(&self.relation.monitors, best);
        for (word, (set, enabled)) in value.iter_mut().zip(best.iter().zip(&enabled)) {
            *word = set & enabled;
        }
        value[self.words] = is_good.into();
    }

    /// The set with the fewest enabled members, of the closures from each enabled member and one found by
    /// deletion; of several one that has all that is looked for, or the first.
    fn stubborn(
        &self,
        seen: Seen,
        closure: &mut Closure,
        deletion: &mut Deletion,
        best: &mut Vec<u64>,
    ) {
        let (relation, all) = (&self.relation, bits::count(seen.enabled));
        let Some(needed) = self.needed.as_ref().filter(|_| all > 1) else { return };
        closure.look(relation, seen);
        closure.forget(relation);
        // All that is enabled is the last choice.
        let mut least = (all, u32::MAX);
        for seed in bits::members(seen.enabled) {
            let most = self.most(least, all);
            if most == 0 {
                return;
            }
            closure.begin_with(relation, seed);
            if !closure.close(relation, seen, most) {
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
        deletion.run(relation, needed, seen, closure);
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
