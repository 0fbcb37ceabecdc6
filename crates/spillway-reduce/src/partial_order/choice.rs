//! The choice of the enabled transitions that are taken in a state, for states of one configuration.

use super::PartialOrderMethod;
use super::choice_cache::ChoiceCache;
use super::deletion::{ContainingSets, DeletionSearch};
use super::enabling_sets::{EnablingSets, ObservedState};
use super::fact_dependence::FactDependence;
use super::multi_stubborn::{MultiStubbornSearch, SEVERAL_MAX};
use super::processes::ProcessSetChoice;
use super::relation::MemberRelation;
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
    /// The sets that contain each member, for the methods that use closed sets.
    having: Option<ContainingSets>,
    /// Words of a set of instances.
    words: usize,
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
    closure: StubbornClosure,
    deletion: DeletionSearch,
    best: Vec<u64>,
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
        let ClosedSetSearch { closure, deletion, .. } = &mut self.sets;
        std::mem::take(&mut closure.looked) + std::mem::take(&mut deletion.looked)
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
        let (processes, having) = match method {
            PartialOrderMethod::Stubborn
            | PartialOrderMethod::Conditional
            | PartialOrderMethod::ConfluentConditional
            | PartialOrderMethod::Simultaneous => (None, Some(ContainingSets::new(&relation))),
            PartialOrderMethod::Sleep | PartialOrderMethod::Confluence => (None, None),
            PartialOrderMethod::Local
            | PartialOrderMethod::LocalSleep
            | PartialOrderMethod::Overman => (Some(ProcessSetChoice::new(&relation)), None),
        };
        let words = bit_sets::words_of(relation.instances);
        let asking = FactDependence::new(&relation);
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
        self.relation.bytes()
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

    /// Finds the set with the fewest enabled members, among the closures from each enabled member and a set found by
    /// deletion. Of several, one that contains all monitors has priority, then the first.
    fn stubborn(&self, seen: ObservedState, drawing: &[u64], sets: &mut ClosedSetSearch) {
        let ClosedSetSearch { needs, closure, deletion, best, .. } = sets;
        let (relation, all) = (&self.relation, bit_sets::count(seen.enabled));
        let Some(having) = self.having.as_ref().filter(|_| all > 1) else { return };
        needs.update(self.number, relation, &self.asking, seen);
        let rules = self.rules(needs);
        closure.forget(relation);
        // Most choices are a single member. A closure that looks for one ends at the second enabled member.
        let mut single = None;
        for seed in bit_sets::members(seen.enabled).filter(|it| !bit_sets::has(drawing, *it)) {
            closure.begin_with(relation, seed);
            if closure.close(rules, seen, 1) {
                let cost = self.cost(seen, &closure.set, 1, all);
                if cost.enabled == 1 && single.is_none_or(|least| cost < least) {
                    single = Some(cost);
                    best.clone_from(&closure.set);
                }
                if cost == SetCost::LEAST {
                    break;
                }
            }
        }
        if single.is_some() {
            return;
        }
        closure.forget(relation);
        // The set of all enabled members is the last resort.
        let mut least = SetCost { enabled: all, reexpanded: u32::MAX };
        for seed in bit_sets::members(seen.enabled) {
            let most = self.most(least, all);
            if most == 0 {
                return;
            }
            // Until a smaller set is found, a universal seed gives all enabled members again.
            if least.enabled == all && bit_sets::has(drawing, seed) {
                continue;
            }
            closure.begin_with(relation, seed);
            if !closure.close(rules, seen, most) {
                // The selected enabling sets depend on the set so far, so a closure from another seed that reaches
                // this one may be smaller. The seed is avoided only if its closure exceeded the best set or met an
                // avoided member.
                if closure.enabled > least.enabled || closure.has_avoided {
                    closure.avoid(seed);
                }
                continue;
            }
            let cost = self.cost(seen, &closure.set, closure.enabled, all);
            if cost < least {
                least = cost;
                best.clone_from(&closure.set);
            }
        }
        // Among sets of equal cost, closures have fewer disabled members.
        deletion.run(rules, having, seen);
        let cost = self.cost(seen, &deletion.set, deletion.enabled, all);
        if deletion.enabled < all && cost < least {
            best.clone_from(&deletion.set);
        }
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

    /// Returns the most enabled members of a closure that would cost less than `least`.
    fn most(&self, least: SetCost, all: u32) -> u32 {
        match least.enabled {
            enabled if enabled == all => all - 1,
            enabled if least.reexpanded > 0 && !self.demands_ascent() => enabled,
            enabled => enabled - 1,
        }
    }

    /// Whether a set that does not ascend is expanded with all enabled members.
    fn demands_ascent(&self) -> bool {
        self.climbing.as_ref().is_some_and(|it| it.are_demanded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partial_order::relation::{VerificationGoal, dependence};
    use spillway_analysis::access::AccessTable;
    use spillway_analysis::dependence::ProgramDependence;
    use spillway_base::budget::AnalysisBudget;
    use spillway_base::source::SourceMap;
    use spillway_exec::{Interp, SelectiveStateSpace};
    use spillway_lang::{Language, Options};
    use spillway_model::{StateSpace, SuccessorSink};
    use std::collections::BTreeSet;

    const CHANNELS: &str = "chan q = [2] of { byte }; chan done = [1] of { byte }; byte sum;
        active [2] proctype sender() {
            byte n;
            do :: n < 2 -> q!n; n++ :: n >= 2 -> break od;
            done!1
        }
        active proctype receiver() {
            byte m;
            do :: q?m -> sum = sum + m :: done?m -> if :: sum > 1 -> assert(m == 1) :: else fi od
        }
        active proctype asker() {
            byte k;
            do :: nfull(q) -> k = 1 - k :: empty(q) && k > 0 -> break :: full(done) -> k = 0 od
        }";

    const FORKS: &str = "bool fork[3]; byte eaten;
        active [3] proctype philosopher() {
            byte bites;
            do :: bites < 1 ->
                if
                :: atomic { !fork[_pid] -> fork[_pid] = true }; atomic { !fork[(_pid + 1) % 3] -> fork[(_pid + 1) % 3] = true }
                :: atomic { !fork[(_pid + 1) % 3] -> fork[(_pid + 1) % 3] = true }; atomic { !fork[_pid] -> fork[_pid] = true }
                fi;
                bites++; fork[_pid] = false; fork[(_pid + 1) % 3] = false
            :: bites == 1 -> break
            od;
            eaten++; assert(eaten < 3)
        }";

    /// The length of the channel decides whether a send is independent of a test for room. One location leads
    /// nowhere.
    const ROOM: &str = "chan q = [3] of { byte }; byte x;
        active proctype sender() { do :: q!1 od }
        active proctype receiver() { byte m; do :: q?m -> if :: m == 2 -> (false); x = 1 :: m == 1 -> x = 2; x = 0 fi od }
        active proctype asker() { byte k; do :: nfull(q) -> k = 1 - k od }
        active proctype waiter() { do :: x == 2 -> x = 3; x = 0 od }";

    fn interp(text: &str) -> Interp {
        let mut sources = SourceMap::default();
        sources.add("model.pml", text);
        let language = Language::from_name("promela").unwrap();
        let loaded = language.load(&mut sources, &Options::default()).unwrap();
        Interp::new(loaded.program).unwrap()
    }

    /// Returns the states in key order.
    fn states(interp: &Interp) -> BTreeSet<Vec<u8>> {
        let collected = |run: &dyn Fn(&mut SuccessorSink)| {
            let mut all = Vec::new();
            let _ = SuccessorSink::collect(interp.width(), &mut all, |out| run(out)).unwrap();
            all.chunks_exact(interp.width()).map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        let (mut states, mut open) = (BTreeSet::new(), collected(&|out| interp.initial(out)));
        while let Some(state) = open.pop() {
            if states.insert(state.clone()) {
                open.extend(collected(&|out| interp.expand(&state, out)));
            }
        }
        states
    }

    fn chooser(interp: &Interp, method: PartialOrderMethod, number: u64) -> TransitionChooser {
        let table = AccessTable::new(interp.program(), interp.layout()).unwrap();
        let dependence = dependence(&table, &AnalysisBudget::largest()).unwrap();
        let matrix = dependence.matrix(&AnalysisBudget::largest()).unwrap();
        let related = ProgramDependence { relation: &dependence, matrix: &matrix };
        let aims = VerificationGoal::default();
        let relation = MemberRelation::new(
            interp,
            related,
            &aims,
            method.is_conditional(),
            &AnalysisBudget::largest(),
        )
        .unwrap();
        TransitionChooser::new(number, relation, method, None, Vec::new())
    }

    /// Returns the choice and the proviso transitions of a state, computed without caches and with all facts.
    fn afresh(chooser: &TransitionChooser, state: &[u8], enabled: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let mut room = ChooserBuffers::default();
        room.outlook.resize(chooser.words, chooser.relation.facts.words());
        room.outlook.assume_nothing();
        room.key = vec![chooser.number];
        room.key.extend_from_slice(enabled);
        room.key.resize(1 + chooser.words + chooser.relation.facts.words(), 0);
        chooser.relation.facts.read(state, &mut room.key[1 + chooser.words..]);
        room.value.resize(chooser.words + 1, 0);
        chooser.compute(&mut room);
        room.rest.resize(chooser.words, 0);
        chooser.compute_proviso_transitions(&mut room);
        (room.value, room.rest)
    }

    /// Choices are cached by the facts that they need, and requirements are updated from one state to the next. The
    /// results must equal those of a computation without caches.
    #[test]
    fn what_is_chosen_does_not_depend_on_what_was_chosen_before() {
        for (text, method) in [CHANNELS, FORKS, ROOM]
            .into_iter()
            .flat_map(|text| PartialOrderMethod::ALL.map(|it| (text, it)))
        {
            let interp = interp(text);
            let selector = interp.selector().unwrap();
            let (states, chooser) = (states(&interp), chooser(&interp, method, 1));
            assert!((40..10_000).contains(&states.len()), "{}", states.len());
            let (mut room, mut fewer) = (ChooserBuffers::default(), 0);
            let mut sets = selector.instances().sets();
            // Visits consecutive states, which are similar, and then distant ones.
            let far = states.iter().step_by(7).zip(states.iter().rev().step_by(5));
            for state in states.iter().chain(far.flat_map(|(one, other)| [one, other])) {
                selector.enabled(state, &mut sets).unwrap();
                let enabled = sets.words(0);
                if sets.is_none(0) {
                    continue;
                }
                let (value, besides) = afresh(&chooser, state, enabled);
                let TransitionChoice { chosen, needs_no_proviso: is_good, .. } =
                    chooser.choose(state, enabled, &mut room);
                assert_eq!((chosen, &[is_good.into()][..]), value.split_at(chooser.words));
                fewer += u64::from(chosen != enabled);
                let rest = chooser.proviso_transitions(state, enabled, &mut room);
                assert_eq!(rest, besides);
            }
            assert_eq!(fewer > 0, method != PartialOrderMethod::Sleep, "{method:?}");
        }
    }
}
