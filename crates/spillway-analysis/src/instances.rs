//! The action instances of a program, by number.
//!
//! An *action instance* is the start of a step: an action, the values of its parameters, and the slot of the process
//! that takes it. A rendezvous is one instance with both sides. The number of instances does not depend on the state,
//! so a set of instances is a bit set ([`InstanceSets`]). A step of several actions without interruption (Promela's
//! `atomic` and `d_step`) belongs to the instance with which it starts.
//!
//! Two kinds of instances have no transitions. They exist so that every run-time error belongs to an instance. The
//! evaluation of `provided` of a process with slots can fail before any action. For a rendezvous of such a process,
//! the guard, the channel or the message can fail before there is a partner. This failure belongs to the action by
//! itself.
//!
//! The numbers are ordered by action. The action by itself comes first, by slots and then by the values of the
//! parameters; the last parameter varies fastest. Then come its rendezvous as the sender, by receivers, by the
//! sender's instances, and by the receiver's. The queries whether processes may move come after all actions. A
//! process does not meet itself: such numbers exist, but their instances are never enabled.

mod instance_sets;

pub use instance_sets::{InstanceSets, is_in};

use spillway_ir::entity::entity;
use spillway_ir::{
    Action, ActionId, Arena, Communication, Entity, ProcessId, Program, Schedule, Type, TypeId,
};
use spillway_model::NotApplied;
use std::collections::BTreeMap;

entity! {
    /// The number of an action instance.
    InstanceId,
}

/// The maximum number of action instances of a program. A set of this size takes 128 KiB.
const INSTANCES_MAX: u64 = 1 << 20;

/// One side of an action instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceSide {
    /// The action.
    pub action: ActionId,
    /// The slot of the process that takes it; 0 for actions of no process.
    pub slot: u32,
    /// The number of the combination of its parameters' values. 0 is the least value of each, and the last parameter
    /// varies fastest.
    pub combination: u32,
}

/// The start of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActionInstance {
    /// An action that is taken alone, or fails before it has a partner.
    Alone(InstanceSide),
    /// A rendezvous.
    Meeting {
        /// The sender.
        sender: InstanceSide,
        /// The receiver.
        receiver: InstanceSide,
    },
    /// The query whether a process may move, if it fails.
    MayMove {
        /// The process.
        process: ProcessId,
        /// Its slot.
        slot: u32,
    },
}

impl ActionInstance {
    /// Returns the sides: the sender and the receiver of a rendezvous, the only side, or none.
    pub fn sides(self) -> impl Iterator<Item = InstanceSide> {
        let sides = match self {
            ActionInstance::Alone(side) => [Some(side), None],
            ActionInstance::Meeting { sender, receiver } => [Some(sender), Some(receiver)],
            ActionInstance::MayMove { .. } => [None, None],
        };
        sides.into_iter().flatten()
    }
}

/// The reason why the action instances of a program are not numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberingError {
    /// The reason, in words.
    pub reason: String,
}

impl std::fmt::Display for NumberingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for NumberingError {}

impl From<NumberingError> for NotApplied {
    fn from(error: NumberingError) -> NotApplied {
        NotApplied::Instances(error.reason)
    }
}

/// The instances of a range of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberRangeKind {
    Alone(ActionId),
    Meetings { sender: ActionId, receiver: ActionId },
    MayMove(ProcessId),
}

/// The values of a scalar type: `count` consecutive integers.
#[derive(Clone, Copy, Debug)]
struct ParameterRange {
    least: i64,
    count: u32,
}

/// The numbers of the rendezvous of two actions in two slots.
#[derive(Clone, Copy, Debug)]
pub struct RendezvousNumbers {
    /// The first number.
    pub first: u32,
    /// The distance between consecutive combinations of the sender's values. The combinations of the receiver's
    /// values are consecutive.
    pub sender_stride: u32,
}

/// The action instances of a program.
#[derive(Clone, Debug)]
pub struct ActionInstances {
    /// The number of combinations of parameter values of each action.
    combinations: Arena<ActionId, u32>,
    /// The number of slots of the process of each action; 1 for actions of no process.
    slots: Arena<ActionId, u32>,
    /// The values of each parameter of each action.
    parameters: Arena<ActionId, Vec<ParameterRange>>,
    /// The ranges of numbers, ascending.
    stretches: Vec<(u32, NumberRangeKind)>,
    /// The first number of each action by itself, if it can be alone.
    alone: Arena<ActionId, Option<u32>>,
    /// The first number of each pair of a sender and a receiver that can meet.
    meetings: BTreeMap<(ActionId, ActionId), u32>,
    /// The first number of each process with a query whether it may move.
    may_move: Arena<ProcessId, Option<u32>>,
    count: u32,
}

impl ActionInstances {
    /// Numbers the action instances of a program. Fails if that is impossible.
    pub fn new(program: &Program) -> Result<ActionInstances, NumberingError> {
        if program.schedule == Schedule::Lockstep {
            return Err(NumberingError { reason: "its processes move in lockstep".to_owned() });
        }
        let mut all = ActionInstances::sizes(program)?;
        let receivers = RendezvousReceivers::new(program);
        for (id, action) in program.actions.iter() {
            let meets = meeting_channels(program, action).next().is_some();
            let by_itself = !meets || program.has_dynamic_processes();
            let first = match by_itself {
                true => Some(all.stretch(NumberRangeKind::Alone(id), all.size(id))?),
                false => None,
            };
            all.alone.push(first);
            for receiver in receivers.of(program, id) {
                let what = NumberRangeKind::Meetings { sender: id, receiver };
                let count = all.size(id) * all.size(receiver);
                let first = all.stretch(what, count)?;
                all.meetings.insert((id, receiver), first);
            }
        }
        for (id, process) in program.processes.iter() {
            let life = &process.life;
            let is_asked = life.provided.is_some() || life.priority.is_some();
            let first = match is_asked {
                true => Some(all.stretch(NumberRangeKind::MayMove(id), program.slots(id).into())?),
                false => None,
            };
            all.may_move.push(first);
        }
        Ok(all)
    }

    /// Computes the sizes, without numbers.
    fn sizes(program: &Program) -> Result<ActionInstances, NumberingError> {
        let mut all = ActionInstances {
            combinations: Arena::new(),
            slots: Arena::new(),
            parameters: Arena::new(),
            stretches: Vec::new(),
            alone: Arena::new(),
            meetings: BTreeMap::new(),
            may_move: Arena::new(),
            count: 0,
        };
        for action in program.actions.values() {
            let parameters: Option<Vec<ParameterRange>> =
                action.parameters.iter().map(|it| values(program, it.over)).collect();
            let parameters = parameters.ok_or_else(too_many)?;
            let product = |all: Option<u32>, it: &ParameterRange| all?.checked_mul(it.count);
            let combinations = parameters.iter().fold(Some(1), product).ok_or_else(too_many)?;
            all.combinations.push(combinations);
            all.parameters.push(parameters);
            all.slots.push(action.edge.map_or(1, |edge| program.slots(edge.process)));
        }
        Ok(all)
    }

    /// Assigns the next `count` numbers and returns the first one.
    fn stretch(&mut self, what: NumberRangeKind, count: u64) -> Result<u32, NumberingError> {
        let first = self.count;
        let end = u64::from(first).checked_add(count).filter(|&end| end <= INSTANCES_MAX);
        self.count = end.ok_or_else(too_many)? as u32;
        self.stretches.push((first, what));
        Ok(first)
    }

    /// Returns the number of sides of an action.
    fn size(&self, action: ActionId) -> u64 {
        u64::from(self.slots[action]) * u64::from(self.combinations[action])
    }

    /// Returns the number of instances. Their numbers are below it.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the number of instances that are a rendezvous.
    pub fn count_meetings(&self) -> u64 {
        let pairs = self.meetings.keys();
        pairs.map(|&(sender, receiver)| self.size(sender) * self.size(receiver)).sum()
    }

    /// Returns an empty sequence of sets of these instances.
    pub fn sets(&self) -> InstanceSets {
        InstanceSets::new(self.count)
    }

    /// Panics unless `sets` has one set of these instances for each of `states` states.
    pub fn assert_fit(&self, sets: &InstanceSets, states: usize) {
        assert_eq!((sets.instances(), sets.len()), (self.count, states), "a set for each state");
    }

    /// Returns the first number of an action by itself in a slot. Its other combinations follow.
    pub fn first_alone(&self, action: ActionId, slot: u32) -> Option<u32> {
        Some(self.alone[action]? + slot * self.combinations[action])
    }

    /// Returns the number of instances of an action by itself, if it can be alone.
    pub fn count_alone(&self, action: ActionId) -> u32 {
        self.slots[action] * self.combinations[action]
    }

    /// Returns the numbers of the rendezvous of two actions in two slots.
    pub fn first_meeting(
        &self,
        sender: ActionId,
        sender_slot: u32,
        receiver: ActionId,
        receiver_slot: u32,
    ) -> Option<RendezvousNumbers> {
        let first = *self.meetings.get(&(sender, receiver))?;
        let stride = self.size(receiver) as u32;
        let sender_slots = sender_slot * self.combinations[sender] * stride;
        let receiver_slots = receiver_slot * self.combinations[receiver];
        Some(RendezvousNumbers {
            first: first + sender_slots + receiver_slots,
            sender_stride: stride,
        })
    }

    /// Returns the actions that an action can meet as the sender of a rendezvous, ascending.
    pub fn receivers_of(&self, sender: ActionId) -> impl Iterator<Item = ActionId> {
        let first = (sender, ActionId(0));
        let from = self.meetings.range(first..).map(|((sender, receiver), _)| (*sender, *receiver));
        from.take_while(move |it| it.0 == sender).map(|it| it.1)
    }

    /// Returns the sides of an action: each slot with each combination of parameter values.
    pub fn sides_of(&self, action: ActionId) -> impl Iterator<Item = InstanceSide> {
        (0..self.size(action) as u32).map(move |offset| self.side(action, offset))
    }

    /// Returns the number of the query whether a process may move.
    pub fn may_move(&self, process: ProcessId, slot: u32) -> Option<u32> {
        Some(self.may_move[process]? + slot)
    }

    /// Returns the number of an instance of the program.
    ///
    /// # Panics
    /// If the program has no such instance.
    pub fn number(&self, instance: ActionInstance) -> InstanceId {
        let number = match instance {
            ActionInstance::Alone(InstanceSide { action, slot, combination }) => {
                self.first_alone(action, slot).map(|first| first + combination)
            }
            ActionInstance::Meeting { sender, receiver } => {
                let numbers =
                    self.first_meeting(sender.action, sender.slot, receiver.action, receiver.slot);
                numbers.map(|numbers| {
                    let with_sender = numbers.first + sender.combination * numbers.sender_stride;
                    with_sender + receiver.combination
                })
            }
            ActionInstance::MayMove { process, slot } => self.may_move(process, slot),
        };
        InstanceId(number.unwrap_or_else(|| panic!("the program has no {instance:?}")))
    }

    /// Returns the instance with a number, if there is one.
    pub fn get(&self, number: InstanceId) -> Option<ActionInstance> {
        if number.0 >= self.count {
            return None;
        }
        let at = self.stretches.partition_point(|&(first, _)| first <= number.0).checked_sub(1)?;
        let (first, stretch) = self.stretches[at];
        let offset = number.0 - first;
        Some(match stretch {
            NumberRangeKind::Alone(action) => ActionInstance::Alone(self.side(action, offset)),
            NumberRangeKind::Meetings { sender, receiver } => {
                let stride = self.size(receiver) as u32;
                ActionInstance::Meeting {
                    sender: self.side(sender, offset / stride),
                    receiver: self.side(receiver, offset % stride),
                }
            }
            NumberRangeKind::MayMove(process) => ActionInstance::MayMove { process, slot: offset },
        })
    }

    fn side(&self, action: ActionId, offset: u32) -> InstanceSide {
        let combinations = self.combinations[action];
        InstanceSide { action, slot: offset / combinations, combination: offset % combinations }
    }

    /// Returns the values of a side's parameters.
    pub fn values(&self, side: InstanceSide) -> Vec<i64> {
        let mut rest = side.combination;
        let mut values: Vec<i64> = (self.parameters[side.action].iter().rev())
            .map(|&ParameterRange { least, count }| {
                let value = least + i64::from(rest % count);
                rest /= count;
                value
            })
            .collect();
        values.reverse();
        values
    }
}

fn too_many() -> NumberingError {
    NumberingError { reason: format!("the model has more than {INSTANCES_MAX} action instances") }
}

/// Returns the values of a scalar type, unless there are too many.
fn values(program: &Program, over: TypeId) -> Option<ParameterRange> {
    let Type::Scalar(scalar) = &program.types[over] else { return None };
    let (low, high) = program.bounds(&scalar.domain);
    let count = i128::from(high) - i128::from(low) + 1;
    Some(ParameterRange { least: low, count: u32::try_from(count.max(0)).ok()? })
}

/// Returns the rendezvous channels that an action may use.
fn meeting_channels<'a>(
    program: &'a Program,
    action: &Action,
) -> impl Iterator<Item = spillway_ir::ChannelId> + use<'a> {
    let channel = action.communication.as_ref().map(Communication::channel);
    let meant = channel.map(|channel| channel.possible_channels(program));
    meant.into_iter().flatten().filter(|&id| program.channels[id].capacity == 0)
}

/// The receivers of each rendezvous channel.
struct RendezvousReceivers {
    by_channel: Vec<Vec<ActionId>>,
}

impl RendezvousReceivers {
    fn new(program: &Program) -> RendezvousReceivers {
        let mut by_channel = vec![Vec::new(); program.channels.len()];
        for (id, action) in program.actions.iter() {
            if matches!(action.communication, Some(Communication::Receive { .. })) {
                for channel in meeting_channels(program, action) {
                    by_channel[channel.index()].push(id);
                }
            }
        }
        RendezvousReceivers { by_channel }
    }

    /// Returns the actions that an action can meet as the sender, in ascending order.
    fn of(&self, program: &Program, sender: ActionId) -> Vec<ActionId> {
        let action = &program.actions[sender];
        if !matches!(action.communication, Some(Communication::Send { .. })) {
            return Vec::new();
        }
        let channels = meeting_channels(program, action);
        let mut all: Vec<ActionId> =
            channels.flat_map(|channel| self.by_channel[channel.index()].iter().copied()).collect();
        all.sort();
        all.dedup();
        // A process with one instance does not meet its own actions.
        let mover = action.edge.map(|edge| edge.process);
        all.retain(|&receiver| {
            let other = program.actions[receiver].edge.map(|edge| edge.process);
            other != mover || mover.is_some_and(|process| program.slots(process) > 1)
        });
        all
    }
}
