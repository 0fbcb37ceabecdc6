//! Every action instance of a program, by number.
//!
//! An *action instance* is what a step begins with: an action, the values of its parameters, and the
//! slot of the process that takes it. Where two processes meet, it is both sides together. So a
//! program has as many as there are things to do, whatever the state, and a set of them is a set of
//! bits ([`InstanceSets`]). A step of several actions that nobody comes between (Promela's `atomic`
//! and `d_step`) is one of the instance it begins with.
//!
//! Two kinds of instances never lead anywhere: they are there so that every run-time error belongs to
//! one. What a process that comes and goes is asked before it moves (`provided`) can fail, before any
//! action. And of a send or receive by rendezvous of such a process, its guard, its channel or its
//! message can fail before anybody is met; that is the action by itself.
//!
//! Numbers go by action: the action by itself, slot by slot and within one by the values of the
//! parameters, the last varying fastest; then its meetings as the sender, receiver by receiver,
//! likewise for the sender and then the receiver. Behind all actions come the processes' questions.
//! A process does not meet itself; such numbers are there, but nothing is ever possible by them.

mod instance_sets;

pub use instance_sets::{InstanceSets, is_in};

use crate::ir::entity::entity;
use crate::ir::{
    Action, ActionId, Arena, Communication, Entity, ProcessId, Program, Schedule, Type, TypeId,
};
use std::collections::BTreeMap;

entity! {
    /// Names an action instance.
    InstanceId,
}

/// The most action instances of a program that are numbered: a set of them takes 128 KiB then.
const INSTANCES_MAX: u64 = 1 << 20;

/// One side of an action instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceSide {
    /// The action.
    pub action: ActionId,
    /// The slot of the process that takes it; 0 for actions of no process.
    pub slot: u32,
    /// Which combination of its parameters' values: 0 is the least of each, and the last parameter
    /// varies fastest.
    pub combination: u32,
}

/// What a step begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActionInstance {
    /// An action that is taken alone, or fails before it meets anybody.
    Alone(InstanceSide),
    /// A rendezvous.
    Meeting {
        /// Who sends.
        sender: InstanceSide,
        /// Who receives.
        receiver: InstanceSide,
    },
    /// Whether a process may move, where asking that fails.
    MayMove {
        /// The process.
        process: ProcessId,
        /// Its slot.
        slot: u32,
    },
}

impl ActionInstance {
    /// Both sides of a meeting, the sender's first, or the only one, or none.
    pub fn sides(self) -> impl Iterator<Item = InstanceSide> {
        let sides = match self {
            ActionInstance::Alone(side) => [Some(side), None],
            ActionInstance::Meeting { sender, receiver } => [Some(sender), Some(receiver)],
            ActionInstance::MayMove { .. } => [None, None],
        };
        sides.into_iter().flatten()
    }
}

/// Why the action instances of a program are not numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberingError {
    /// What stands in the way.
    pub reason: String,
}

impl std::fmt::Display for NumberingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for NumberingError {}

/// What a stretch of numbers stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberRangeKind {
    Alone(ActionId),
    Meetings { sender: ActionId, receiver: ActionId },
    MayMove(ProcessId),
}

/// The values of a scalar type: as many integers as `count`, one after the other.
#[derive(Clone, Copy, Debug)]
struct ParameterRange {
    least: i64,
    count: u32,
}

/// The numbers of a meeting of two actions in two slots.
#[derive(Clone, Copy, Debug)]
pub struct RendezvousNumbers {
    /// The first.
    pub first: u32,
    /// By how much the number grows from one combination of the sender's values to the next. Those
    /// of the receiver's follow one another.
    pub sender_stride: u32,
}

/// The action instances of a program.
#[derive(Clone, Debug)]
pub struct ActionInstances {
    /// Of each action, how many combinations of values its parameters have.
    combinations: Arena<ActionId, u32>,
    /// Of each action, how many slots its process has, if it has one; else 1.
    slots: Arena<ActionId, u32>,
    /// The values of each parameter of each action.
    parameters: Arena<ActionId, Vec<ParameterRange>>,
    /// Stretches of numbers, ascending by their first.
    stretches: Vec<(u32, NumberRangeKind)>,
    /// The first number of each action by itself, if it can be that.
    alone: Arena<ActionId, Option<u32>>,
    /// The first number of each sender and receiver that can meet.
    meetings: BTreeMap<(ActionId, ActionId), u32>,
    /// The first number of each process that is asked whether it may move.
    may_move: Arena<ProcessId, Option<u32>>,
    count: u32,
}

impl ActionInstances {
    /// Numbers those of a program, or says why not.
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

    /// How many there are of each action, and no numbers.
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

    /// Gives out so many numbers more; tells the first.
    fn stretch(&mut self, what: NumberRangeKind, count: u64) -> Result<u32, NumberingError> {
        let first = self.count;
        let end = u64::from(first).checked_add(count).filter(|&end| end <= INSTANCES_MAX);
        self.count = end.ok_or_else(too_many)? as u32;
        self.stretches.push((first, what));
        Ok(first)
    }

    /// How many sides an action has.
    fn size(&self, action: ActionId) -> u64 {
        u64::from(self.slots[action]) * u64::from(self.combinations[action])
    }

    /// How many there are: they are the numbers below.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// No sets yet of these.
    pub fn sets(&self) -> InstanceSets {
        InstanceSets::new(self.count)
    }

    /// Panics unless there is a set of these for each of so many states.
    pub fn assert_fit(&self, sets: &InstanceSets, states: usize) {
        assert_eq!((sets.instances(), sets.len()), (self.count, states), "a set for each state");
    }

    /// The first number of an action by itself in a slot; those of its other combinations follow.
    pub fn first_alone(&self, action: ActionId, slot: u32) -> Option<u32> {
        Some(self.alone[action]? + slot * self.combinations[action])
    }

    /// How many instances an action by itself has, if it can be that.
    pub fn count_alone(&self, action: ActionId) -> u32 {
        self.slots[action] * self.combinations[action]
    }

    /// The numbers of a meeting of two actions in two slots.
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

    /// The number of what a process is asked before it moves.
    pub fn may_move(&self, process: ProcessId, slot: u32) -> Option<u32> {
        Some(self.may_move[process]? + slot)
    }

    /// The number of an instance of the program.
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

    /// The instance with a number, if there is one.
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

    /// The values of a side's parameters.
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
    NumberingError { reason: format!("it has more than {INSTANCES_MAX} action instances") }
}

/// The values of a scalar type, if these are not too many.
fn values(program: &Program, over: TypeId) -> Option<ParameterRange> {
    let Type::Scalar(scalar) = &program.types[over] else { return None };
    let (low, high) = program.bounds(&scalar.domain);
    let count = i128::from(high) - i128::from(low) + 1;
    Some(ParameterRange { least: low, count: u32::try_from(count.max(0)).ok()? })
}

/// The channels without room that an action may send to or receive from.
fn meeting_channels<'a>(
    program: &'a Program,
    action: &Action,
) -> impl Iterator<Item = crate::ir::ChannelId> + use<'a> {
    let channel = action.communication.as_ref().map(Communication::channel);
    let meant = channel.map(|channel| channel.possible_channels(program));
    meant.into_iter().flatten().filter(|&id| program.channels[id].capacity == 0)
}

/// Who receives from each channel without room.
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

    /// The actions that an action can meet as the sender, ascending.
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
        // A process without others of its kind meets no action of its own.
        let mover = action.edge.map(|edge| edge.process);
        all.retain(|&receiver| {
            let other = program.actions[receiver].edge.map(|edge| edge.process);
            other != mover || mover.is_some_and(|process| program.slots(process) > 1)
        });
        all
    }
}
