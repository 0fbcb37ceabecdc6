//! The choice of the enabled transitions that are taken in a state, for states of one configuration.

use super::PartialOrderMethod;
use super::choice_cache::ChoiceCache;
use super::deletion::{ContainingSets, DeletionGoal, DeletionSearch};
use super::enabling_sets::{EnablingSets, ObservedState};
use super::fact_dependence::FactDependence;
use super::multi_stubborn::{MultiStubbornSearch, SEVERAL_MAX};
use super::processes::ProcessSetChoice;
use super::relation::MemberRelation;
use super::singletons::{SingletonRules, SingletonSearch};
use super::state_facts::EnabledSetFacts;
use super::stubborn::{ClosureRules, StubbornClosure};
use spillway_analysis::bit_sets::{self, BitMatrix};

/// The bit of a key's number that marks proviso transitions.
const REST: u64 = 1 << 63;

/// The bit of a key's number that marks facts about an enabled set.
const OUTLOOK: u64 = 1 << 62;

/// Chooses transitions of one program by one method.
#[derive(Clone, Debug)]
pub(super) struct TransitionChooser {
    /// The number of the cache keys. Choosers with equal choices share it.
    number: u64,
    relation: MemberRelation,
    asking: FactDependence,
    method: PartialOrderMethod,
    /// The instances whose transitions ascend, if the proviso uses the order.
    climbing: Option<AscendingInstances>,
    /// The confluent instances. Where any is enabled, one is taken. Empty if there are none.
    confluent: Vec<u64>,
    /// The processes, for the methods that choose whole processes.
    processes: Option<ProcessSetChoice>,
    /// The tables of the methods that use closed sets.
    having: Option<ClosedSetTables>,
    /// Words of a set of instances.
    words: usize,
}

/// The tables for closed sets.
#[derive(Clone, Debug)]
struct ClosedSetTables {
    /// The sets that contain each member.
    containing: ContainingSets,
    singletons: SingletonRules,
}

/// The instances whose transitions ascend in the order of the states.
#[derive(Clone, Debug)]
pub(super) struct AscendingInstances {
    pub instances: Vec<u64>,
    /// Whether a set that does not ascend is expanded together with all enabled members, so that it costs as much.
    /// Otherwise sets that ascend only have priority among sets of the same size: they close fewer cycles.
    pub are_demanded: bool,
}

/// Buffers for choices.
#[derive(Debug, Default)]
pub(super) struct ChooserBuffers {
    /// The key of `outlook`: the number of the chooser, then the enabled instances.
    around: Vec<u64>,
    outlook: EnabledSetFacts,
    /// The key of the current choice, if there is one: the number of the chooser, the enabled instances, the needed
    /// facts.
    key: Vec<u64>,
    /// The key of the wanted choice.
    next: Vec<u64>,
    /// The choice: the chosen instances, `needs_no_proviso`, then the sets whose transitions are taken
    /// simultaneously.
    value: Vec<u64>,
    /// The proviso transitions.
    rest: Vec<u64>,
    memo: ChoiceCache,
    sets: ClosedSetSearch,
}

/// Buffers for closed sets.
#[derive(Debug, Default)]
struct ClosedSetSearch {
    /// The enabled instances, as a set of members.
    enabled: Vec<u64>,
    needs: EnablingSets,
    singletons: SingletonSearch,
    closure: StubbornClosure,
    deletion: DeletionSearch,
    best: Vec<u64>,
    /// The wanted and the unwanted members of a deletion.
    wanted: Vec<u64>,
    unwanted: Vec<u64>,
}

/// The cost of a closed set. Fewer enabled members come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SetCost {
    /// The number of enabled members that are expanded.
    enabled: u32,
    /// The number of members that may be re-expanded.
    reexpanded: u32,
}

impl SetCost {
    /// The cost of a single member that is not re-expanded.
    const LEAST: SetCost = SetCost { enabled: 1, reexpanded: 0 };

    /// Returns the cost of a set with `enabled` of `all` enabled members. If the set does not ascend, all are
    /// expanded at once.
    fn with_climb(climbs: bool, enabled: u32, all: u32) -> SetCost {
        match climbs {
            true => SetCost { enabled, reexpanded: 0 },
            false => SetCost { enabled: all, reexpanded: enabled },
        }
    }
}

/// The transitions taken in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TransitionChoice<'r> {
    /// The enabled instances whose transitions are taken.
    pub chosen: &'r [u64],
    /// Whether the chosen set contains all monitors: no postponed transition is a proviso obligation.
    pub needs_no_proviso: bool,
    /// For simultaneous transitions, the sets with more than one member, as sets of instances one after the other.
    /// Each other member of `chosen` is a set of its own. Empty if the chosen transitions are taken one by one.
    pub several: &'r [u64],
}

impl ChooserBuffers {
    /// Returns the number of members examined since the last call.
    pub fn take_examined(&mut self) -> u64 {
        let ClosedSetSearch { singletons, closure, deletion, .. } = &mut self.sets;
        let all = [&mut singletons.looked, &mut closure.looked, &mut deletion.looked];
        all.into_iter().map(std::mem::take).sum()
    }
}

impl ClosedSetTables {
    fn new(relation: &MemberRelation, asking: &FactDependence) -> ClosedSetTables {
        ClosedSetTables {
            containing: ContainingSets::new(relation),
            singletons: SingletonRules::new(relation, asking),
        }
    }
}

impl TransitionChooser {
    pub fn new(
        number: u64,
        relation: MemberRelation,
        method: PartialOrderMethod,
        climbing: Option<AscendingInstances>,
        confluent: Vec<u64>,
    ) -> TransitionChooser {
        let asking = FactDependence::new(&relation);
        let (processes, having) = match method {
            PartialOrderMethod::Stubborn
            | PartialOrderMethod::Conditional
            | PartialOrderMethod::ConfluentConditional
            | PartialOrderMethod::Simultaneous => {
                (None, Some(ClosedSetTables::new(&relation, &asking)))
            }
            PartialOrderMethod::Sleep | PartialOrderMethod::Confluence => (None, None),
            PartialOrderMethod::Local
            | PartialOrderMethod::LocalSleep
            | PartialOrderMethod::Overman => (Some(ProcessSetChoice::new(&relation)), None),
        };
        let words = bit_sets::words_of(relation.instances);
        TransitionChooser {
            number,
            relation,
            asking,
            method,
            climbing,
            confluent,
            processes,
            having,
            words,
        }
    }

    /// Returns the same chooser without the order of states, for another proviso.
    pub fn without_order(&self) -> TransitionChooser {
        TransitionChooser { climbing: None, ..self.clone() }
    }

    /// Returns the same chooser for a proviso that does not demand that sets ascend.
    pub fn without_demand(&self) -> TransitionChooser {
        let climbing = self.climbing.clone();
        let climbing = climbing.map(|it| AscendingInstances { are_demanded: false, ..it });
        TransitionChooser { climbing, ..self.clone() }
    }

    /// Returns the approximate size in bytes.
    pub fn bytes(&self) -> usize {
        let tables = self.having.as_ref().map_or(0, |it| it.singletons.bytes());
        self.relation.bytes() + tables
    }

    /// Shares the choices of another chooser if both always choose the same. Returns whether they do.
    pub fn join(&mut self, other: &TransitionChooser) -> bool {
        let is_alike =
            self.relation.chooses_like(&other.relation) && self.confluent == other.confluent;
        if is_alike {
            self.number = other.number;
        }
        is_alike
    }

    /// Whether anything but deadlocks is checked.
    pub fn has_monitors(&self) -> bool {
        self.relation.has_monitors()
    }

    /// Returns the instances and watchers that are dependent on each instance.
    pub fn dependent(&self) -> &BitMatrix {
        &self.relation.dependent
    }

    /// Chooses the transitions of a state with enabled instances.
    pub fn choose<'r>(
        &self,
        state: &[u8],
        enabled: &[u64],
        room: &'r mut ChooserBuffers,
    ) -> TransitionChoice<'r> {
        let is_chosen = match self.may_need_timeout(enabled) {
            true => self.choose_all(enabled, room),
            false => self.choose_confluent(enabled, room) || self.choose_all(enabled, room),
        };
        if !is_chosen {
            let ChooserBuffers { outlook, next, .. } = room;
            next.resize(1 + self.words + self.relation.facts.words(), 0);
            next[0] = self.number;
            let (own, facts) = next[1..].split_at_mut(self.words);
            own.copy_from_slice(enabled);
            self.relation.facts.read(state, facts);
            facts.iter_mut().zip(outlook.needed_facts()).for_each(|(facts, asked)| *facts &= asked);
            self.find(room);
        }
        let (chosen, about) = room.value.split_at(self.words);
        TransitionChoice { chosen, needs_no_proviso: about[0] != 0, several: &about[1..] }
    }

    /// Returns the words of a cached choice.
    fn value_words(&self) -> usize {
        let sets = if self.method.takes_several() { SEVERAL_MAX } else { 0 };
        self.words + 1 + sets * self.words
    }

    /// Returns the confluent instance that is taken: the first enabled one whose transition ascends. If none ascends,
    /// returns the first, or `None` if the order of states applies and the method computes closed sets instead.
    fn confluent_of(&self, enabled: &[u64]) -> Option<usize> {
        let words = || self.confluent.iter().zip(enabled).map(|(some, enabled)| some & enabled);
        let first = |words: &mut dyn Iterator<Item = u64>| {
            words.enumerate().find_map(|(at, word)| bit_sets::members_of_word(at, word).next())
        };
        let climbing = self.climbing.iter().flat_map(|it| &it.instances);
        let climbs = first(&mut words().zip(climbing).map(|(word, climbing)| word & climbing));
        let may_stay = !self.demands_ascent() || self.having.is_none();
        climbs.or_else(|| first(&mut words()).filter(|_| may_stay))
    }

    /// Chooses a confluent instance, if it is not the only enabled one. Returns whether it did. The choice needs no
    /// facts.
    fn choose_confluent(&self, enabled: &[u64], room: &mut ChooserBuffers) -> bool {
        if self.confluent.is_empty() || bit_sets::is_single(enabled) {
            return false;
        }
        let Some(taken) = self.confluent_of(enabled) else { return false };
        room.key.clear();
        room.value.clear();
        room.value.resize(self.words + 1, 0);
        bit_sets::insert(&mut room.value, taken);
        true
    }

    /// Returns the relation.
    pub fn relation(&self) -> &MemberRelation {
        &self.relation
    }

    /// Returns the confluent instances, which are taken first.
    pub fn confluent(&self) -> &[u64] {
        &self.confluent
    }

    /// Returns whether all enabled instances may need `timeout` to be true. The relation is not valid in such a state.
    fn may_need_timeout(&self, enabled: &[u64]) -> bool {
        let asking = &self.relation.asking_for_timeout;
        !asking.is_empty() && bit_sets::is_subset(enabled, asking)
    }

    /// Chooses all enabled instances, if they alone show that no smaller set is chosen, or if the relation is not
    /// valid in the state. Returns whether it did.
    fn choose_all(&self, enabled: &[u64], room: &mut ChooserBuffers) -> bool {
        let mut takes_all = bit_sets::is_single(enabled) || self.may_need_timeout(enabled);
        if !takes_all {
            self.examine_enabled(enabled, room);
            takes_all = bit_sets::is_subset(enabled, room.outlook.universal_seeds());
        }
        if takes_all {
            room.key.clear();
            room.value.clear();
            room.value.extend_from_slice(enabled);
            room.value.push(true.into());
            if self.method.takes_several() && !bit_sets::is_single(enabled) {
                room.value.extend_from_slice(enabled);
            }
            room.value.resize(self.value_words(), 0);
        }
        takes_all
    }

    /// Computes the facts about all states with these enabled instances.
    fn examine_enabled(&self, enabled: &[u64], room: &mut ChooserBuffers) {
        let ChooserBuffers { around, outlook, memo, .. } = room;
        let number = self.number | OUTLOOK;
        if around.first() == Some(&number) && around[1..] == *enabled {
            return;
        }
        around.clear();
        around.push(number);
        around.extend_from_slice(enabled);
        outlook.resize(self.words, self.relation.facts.words());
        if self.having.is_none() {
            outlook.assume_nothing();
        } else if !memo.get(around, outlook.words_mut()) {
            outlook.compute(&self.relation, &self.asking, enabled);
            memo.put(around, outlook.words());
        }
    }

    /// Computes the choice of the next key, or takes it from the cache.
    fn find(&self, room: &mut ChooserBuffers) {
        if room.next == room.key {
            return;
        }
        std::mem::swap(&mut room.key, &mut room.next);
        room.value.resize(self.value_words(), 0);
        if !room.memo.get(&room.key, &mut room.value) {
            self.compute(room);
            room.memo.put(&room.key, &room.value);
        }
    }

    /// Whether a single instance may be chosen: one that is independent of all other enabled ones.
    pub fn may_choose_one(&self, enabled: &[u64]) -> bool {
        let goes_with_all = |one: usize| {
            let row = self.relation.dependent.row(one).iter().zip(enabled);
            let with: u32 = row.map(|(row, enabled)| (row & enabled).count_ones()).sum();
            with == u32::from(bit_sets::has(self.relation.dependent.row(one), one))
        };
        bit_sets::intersects(&self.confluent, enabled)
            || bit_sets::members(enabled).any(goes_with_all)
    }

    /// Whether some of these instances require full expansion: a claim may observe them, or they may end a run. The
    /// relation does not know the effects of instances that need `timeout`.
    pub fn requires_full_expansion(&self, instances: &[u64]) -> bool {
        self.relation.intersects_visible(instances, instances)
            || bit_sets::intersects(&self.relation.asking_for_timeout, instances)
    }

    /// Returns the proviso transitions of a state: those to take in addition so that the closed set contains all
    /// monitors.
    pub fn proviso_transitions<'r>(
        &self,
        state: &[u8],
        enabled: &[u64],
        room: &'r mut ChooserBuffers,
    ) -> &'r [u64] {
        let is_all = self.choose(state, enabled, room).chosen == enabled;
        room.rest.clear();
        room.rest.resize(self.words, 0);
        if room.key.is_empty() {
            room.rest.copy_from_slice(enabled);
            bit_sets::subtract(&mut room.rest, &room.value[..self.words]);
        } else if !is_all {
            room.key[0] |= REST;
            if !room.memo.get(&room.key, &mut room.rest) {
                self.compute_proviso_transitions(room);
                room.memo.put(&room.key, &room.rest);
            }
            room.key[0] &= !REST;
        }
        &room.rest
    }

    /// Returns the closure rules with the current requirements of members.
    fn rules<'r>(&'r self, needs: &'r EnablingSets) -> ClosureRules<'r> {
        ClosureRules { relation: &self.relation, asking: &self.asking, needs }
    }

    fn compute_proviso_transitions(&self, room: &mut ChooserBuffers) {
        let ChooserBuffers { key, value, rest, sets, .. } = room;
        let chosen = &value[..self.words];
        let ClosedSetSearch { enabled, needs, closure, best: with, .. } = sets;
        with.clone_from(&self.relation.monitors);
        bit_sets::extend(with, chosen);
        let seen = self.seen(key, enabled);
        needs.update(self.number, &self.relation, &self.asking, seen);
        closure.begin(&self.relation, seen, with);
        closure.close(self.rules(needs), seen, u32::MAX);
        for (at, word) in rest.iter_mut().enumerate() {
            *word = closure.set[at] & seen.enabled[at] & !chosen[at];
        }
    }

    /// Decodes a key into sets of members and facts.
    fn seen<'k>(&self, key: &'k [u64], members: &'k mut Vec<u64>) -> ObservedState<'k> {
        let (enabled, facts) = key[1..].split_at(self.words);
        members.clear();
        members.extend_from_slice(enabled);
        members.resize(self.relation.monitors.len(), 0);
        ObservedState { enabled: members, facts }
    }

    fn compute(&self, room: &mut ChooserBuffers) {
        let ChooserBuffers { outlook, key, value, sets, .. } = room;
        let mut members = std::mem::take(&mut sets.enabled);
        let seen = self.seen(key, &mut members);
        sets.best.clone_from(&self.relation.monitors);
        sets.best.fill(u64::MAX);
        match (self.method, &self.processes) {
            (PartialOrderMethod::Sleep, _) => {}
            (PartialOrderMethod::Local | PartialOrderMethod::LocalSleep, Some(processes)) => {
                processes.local(seen, &mut sets.best)
            }
            (PartialOrderMethod::Overman, Some(processes)) => {
                processes.overman(seen, &mut sets.best)
            }
            _ => self.stubborn(seen, outlook.universal_seeds(), sets),
        }
        if self.relation.intersects_visible(&sets.best, seen.enabled) {
            sets.best.fill(u64::MAX);
        }
        let (chosen, about) = value.split_at_mut(self.words);
        let (is_good_word, several) = about.split_at_mut(1);
        if self.method.takes_several() {
            self.add_disjoint_sets(seen, sets, several);
        }
        let best = &sets.best;
        let is_whole = bit_sets::is_subset(seen.enabled, best);
        // For infinite runs, the monitors alone do not show what would be postponed for ever.
        let has_all = || bit_sets::is_subset(&self.relation.monitors, best);
        let is_good = is_whole || self.relation.shown.is_none() && has_all();
        for (word, (set, enabled)) in chosen.iter_mut().zip(best.iter().zip(seen.enabled)) {
            *word = set & enabled;
        }
        is_good_word[0] = is_good.into();
        sets.enabled = members;
    }

    /// Adds to the best set the members of disjoint sets whose transitions are taken simultaneously.
    fn add_disjoint_sets(
        &self,
        seen: ObservedState,
        sets: &mut ClosedSetSearch,
        several: &mut [u64],
    ) {
        let ClosedSetSearch { needs, closure, best, .. } = sets;
        let climbing = self.climbing.as_ref().map(|it| &it.instances[..]);
        several.fill(0);
        needs.update(self.number, &self.relation, &self.asking, seen);
        let further = MultiStubbornSearch { rules: self.rules(needs), seen, climbing };
        further.find(closure, best, several);
    }

    /// Finds a closed set with few enabled members: one with a single enabled member, or a minimal one.
    fn stubborn(&self, seen: ObservedState, drawing: &[u64], sets: &mut ClosedSetSearch) {
        let all = bit_sets::count(seen.enabled);
        let Some(tables) = self.having.as_ref().filter(|_| all > 1) else { return };
        if !self.find_singleton(seen, drawing, tables, sets) {
            self.find_minimal(seen, &tables.containing, sets);
        }
    }

    /// Finds the cheapest set with a single enabled member, the first of several. Returns whether there is one.
    fn find_singleton(
        &self,
        seen: ObservedState,
        drawing: &[u64],
        tables: &ClosedSetTables,
        sets: &mut ClosedSetSearch,
    ) -> bool {
        let ClosedSetSearch { singletons, best, .. } = sets;
        let (relation, all) = (&self.relation, bit_sets::count(seen.enabled));
        singletons.observe(&tables.singletons, &self.asking, seen);
        let mut least = None;
        for seed in bit_sets::members(seen.enabled).filter(|it| !bit_sets::has(drawing, *it)) {
            if !singletons.close(&tables.singletons, relation, seen, seed) {
                continue;
            }
            let cost = self.cost(seen, &singletons.set, 1, all);
            if cost.enabled == 1 && least.is_none_or(|least| cost < least) {
                least = Some(cost);
                best.clone_from(&singletons.set);
            }
            if cost == SetCost::LEAST {
                break;
            }
        }
        least.is_some()
    }

    /// Finds a minimal set by deletion. If the proviso makes it cost as much as all enabled members, finds one with the
    /// members that the proviso demands.
    fn find_minimal(
        &self,
        seen: ObservedState,
        containing: &ContainingSets,
        sets: &mut ClosedSetSearch,
    ) {
        let ClosedSetSearch { needs, deletion, best, wanted, unwanted, .. } = sets;
        let all = bit_sets::count(seen.enabled);
        needs.update(self.number, &self.relation, &self.asking, seen);
        let rules = self.rules(needs);
        let any = DeletionGoal { rules, containing, seen, wanted: seen.enabled, unwanted: &[] };
        if !deletion.run(any) || bit_sets::is_subset(seen.enabled, &deletion.set) {
            return;
        }
        best.clone_from(&deletion.set);
        let cost = self.cost(seen, &deletion.set, deletion.enabled(seen), all);
        if self.climbing.is_none() {
            return self.find_cheaper_closure(seen, cost, sets);
        }
        if cost.enabled == all
            && self.mark_demanded(seen, wanted, unwanted)
            && deletion.run(DeletionGoal { wanted, unwanted, ..any })
            && self.cost(seen, &deletion.set, deletion.enabled(seen), all) < cost
        {
            best.clone_from(&deletion.set);
        }
    }

    /// Replaces the best set, which costs `least`, by the cheapest closure of an enabled member, if the set may be
    /// re-expanded and the closure costs less.
    fn find_cheaper_closure(
        &self,
        seen: ObservedState,
        mut least: SetCost,
        sets: &mut ClosedSetSearch,
    ) {
        if least.reexpanded == 0 {
            return;
        }
        let ClosedSetSearch { needs, closure, best, .. } = sets;
        let rules = self.rules(needs);
        let all = bit_sets::count(seen.enabled);
        closure.forget(&self.relation);
        for seed in bit_sets::members(seen.enabled) {
            closure.begin_with(&self.relation, seed);
            if closure.close(rules, seen, least.enabled) {
                let cost = self.cost(seen, &closure.set, closure.enabled, all);
                if cost < least {
                    least = cost;
                    best.clone_from(&closure.set);
                }
            }
        }
    }

    /// Sets the enabled members of which the proviso demands one, and those that it excludes. Returns whether there are
    /// any of the first, and these are not all enabled members.
    fn mark_demanded(
        &self,
        seen: ObservedState,
        wanted: &mut Vec<u64>,
        unwanted: &mut Vec<u64>,
    ) -> bool {
        let Some(AscendingInstances { instances, are_demanded }) = &self.climbing else {
            return false;
        };
        wanted.clear();
        wanted.extend_from_slice(seen.enabled);
        unwanted.clear();
        unwanted.resize(seen.enabled.len(), 0);
        if *are_demanded {
            // Watchers are never enabled.
            let words = wanted.iter_mut().zip(instances.iter().chain(std::iter::repeat(&0)));
            words.for_each(|(wanted, climbing)| *wanted &= climbing);
        }
        if let Some(shown) = &self.relation.shown {
            bit_sets::subtract(wanted, shown);
            unwanted.copy_from_slice(seen.enabled);
            bit_sets::subtract(unwanted, wanted);
        }
        bit_sets::count(wanted) > 0 && wanted != seen.enabled
    }

    /// Returns the cost of a set: first its enabled members, then what may be re-expanded. If the proviso transitions
    /// are taken at once, these may be all enabled members.
    fn cost(&self, seen: ObservedState, set: &[u64], enabled: u32, all: u32) -> SetCost {
        let is_good = bit_sets::is_subset(&self.relation.monitors, set);
        let Some(AscendingInstances { instances, are_demanded }) = &self.climbing else {
            return SetCost { enabled, reexpanded: (!is_good).into() };
        };
        let words = instances.iter().zip(set).zip(seen.enabled);
        if self.relation.shown.is_some() {
            let all_climb =
                words.clone().all(|((climbing, set), enabled)| set & enabled & !climbing == 0);
            let fits = !self.relation.intersects_visible(set, seen.enabled);
            return match are_demanded {
                true => SetCost::with_climb(fits && all_climb, enabled, all),
                false if fits => SetCost { enabled, reexpanded: (!all_climb).into() },
                false => SetCost::with_climb(false, enabled, all),
            };
        }
        let climbs =
            words.fold(0, |any, ((climbing, set), enabled)| any | climbing & set & enabled);
        SetCost::with_climb(is_good || climbs != 0, enabled, all)
    }

    /// Whether a set that does not ascend is expanded with all enabled members.
    fn demands_ascent(&self) -> bool {
        self.climbing.as_ref().is_some_and(|it| it.are_demanded)
    }
}

#[cfg(test)]
mod tests;
