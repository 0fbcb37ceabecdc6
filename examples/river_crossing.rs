//! A farmer takes a wolf, a goat and a cabbage across a river: how many crossings are needed?

use spillway::{Error, Property, TransitionSystem};

/// A state contains, for the farmer, the wolf, the goat and the cabbage, whether they are across.
pub struct River;

impl TransitionSystem for River {
    type State = [bool; 4];
    type Action = (usize, &'static str);

    fn initial(&self) -> Vec<[bool; 4]> {
        vec![[false; 4]]
    }

    fn actions(&self, state: &[bool; 4], actions: &mut Vec<Self::Action>) {
        let how = ["alone", "with the wolf", "with the goat", "with the cabbage"];
        actions.extend(how.into_iter().enumerate().filter(|&(who, _)| state[who] == state[0]));
    }

    fn next(&self, state: &[bool; 4], &(who, _): &Self::Action) -> Option<[bool; 4]> {
        let mut next = *state;
        (next[0], next[who]) = (!state[0], !state[0]);
        let [farmer, wolf, goat, cabbage] = next;
        (goat == farmer || (goat != wolf && goat != cabbage)).then_some(next)
    }

    fn properties(&self) -> Vec<Property<'_, [bool; 4]>> {
        vec![Property::always("somebody is left behind", |state| *state != [true; 4])]
    }
}

fn main() -> Result<(), Error> {
    spillway::check(&River).map(|found| print!("{found}"))
}
