//! Two jugs of five and of three litres: can one measure four? A model that is a Rust type.

use spillway::{Check, Error, Invariant, Steps, TransitionSystem};

struct Jugs;

impl TransitionSystem for Jugs {
    type State = (u8, u8);

    fn initial(&self) -> Vec<(u8, u8)> {
        vec![(0, 0)]
    }

    fn steps(&self, &(five, three): &(u8, u8), steps: &mut Steps<(u8, u8)>) {
        let (to_three, to_five) = (five.min(3 - three), three.min(5 - five));
        steps.add("fill the larger", (5, three));
        steps.add("fill the smaller", (five, 3));
        steps.add("empty the larger", (0, three));
        steps.add("empty the smaller", (five, 0));
        steps.add("pour into the smaller", (five - to_three, three + to_three));
        steps.add("pour into the larger", (five + to_five, three - to_five));
    }

    fn invariants(&self) -> Vec<Invariant<(u8, u8)>> {
        vec![Invariant::new("nobody has four litres", |&(five, _)| five != 4)]
    }
}

fn main() -> Result<(), Error> {
    print!("{}", Check::new(&Jugs).memory(64 << 20).run()?);
    Ok(())
}
