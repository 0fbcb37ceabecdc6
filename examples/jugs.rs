//! Two jugs of five and of three litres: can they measure four? The model is a Rust type.

use spillway::{Error, Property, TransitionSystem};

struct Jugs;

#[derive(Debug)]
enum Do {
    FillLarger,
    FillSmaller,
    EmptyLarger,
    EmptySmaller,
    PourIntoSmaller,
    PourIntoLarger,
}

impl TransitionSystem for Jugs {
    type State = (u8, u8);
    type Action = Do;

    fn initial(&self) -> Vec<(u8, u8)> {
        vec![(0, 0)]
    }

    fn actions(&self, _: &(u8, u8), actions: &mut Vec<Do>) {
        actions.extend([Do::FillLarger, Do::FillSmaller, Do::EmptyLarger]);
        actions.extend([Do::EmptySmaller, Do::PourIntoSmaller, Do::PourIntoLarger]);
    }

    fn next(&self, &(five, three): &(u8, u8), action: &Do) -> Option<(u8, u8)> {
        let (to_three, to_five) = (five.min(3 - three), three.min(5 - five));
        Some(match action {
            Do::FillLarger => (5, three),
            Do::FillSmaller => (five, 3),
            Do::EmptyLarger => (0, three),
            Do::EmptySmaller => (five, 0),
            Do::PourIntoSmaller => (five - to_three, three + to_three),
            Do::PourIntoLarger => (five + to_five, three - to_five),
        })
    }

    fn properties(&self) -> Vec<Property<'_, (u8, u8)>> {
        vec![Property::always("nobody has four litres", |&(five, _)| five != 4)]
    }
}

fn main() -> Result<(), Error> {
    print!("{}", spillway::check(&Jugs)?);
    Ok(())
}
