//! Partial order on models whose processes start others of their kind, with channels as parameters.
//!
//! The relation of a state then depends on the processes that exist (`docs/reductions/partial-order.md`, "Live
//! processes"). The random models end processes and use their slots again, pass on channels of every origin, and send
//! channels in messages.

use crate::generated::choices::Choices;
use crate::generated::try_all;
use crate::partial_order::{Census, Extent, check_reductions, explore, explore_by_default};

use proptest::prelude::*;
use spillway::exec::Interp;
use spillway::front::{Language, Options};
use spillway::session::TextModel;
use spillway::source::SourceMap;

/// The limits of a trial.
const RANDOM_STARTS: Extent = Extent { states: 1500, checked_choices: 25 };

/// The processes of a kind that exist at a time, at most.
const SLOTS: u32 = 3;

/// Builds a model in Promela.
struct StartGenerator<'a> {
    choices: Choices<'a>,
}

impl StartGenerator<'_> {
    fn model(&mut self) -> String {
        let capacities = [(); 3].map(|()| self.choices.below(3));
        let [first, second, own] = capacities;
        let starts = self.choices.below(3) + 1;
        let mut text = format!(
            "chan g0 = [{first}] of {{ byte }}; chan g1 = [{second}] of {{ byte }};
             chan m = [1] of {{ chan }}; byte x; byte left = {starts};\n"
        );
        for kind in ["P", "Q"] {
            let body = self.body();
            text += &format!(
                "proctype {kind}(chan a; chan b) {{
                 chan own = [{own}] of {{ byte }}; chan k; byte v; k = {};\n{body} }}\n",
                self.channel(4)
            );
        }
        let mut init = vec![format!("run P({}, {})", self.global(), self.global())];
        for _ in 0..self.choices.below(3) {
            let statement = match self.choices.below(4) {
                0 => format!("run Q({}, {})", self.global(), self.global()),
                1 => format!("{}!1", self.global()),
                2 => "x = 1".to_owned(),
                _ => format!("{}?_", self.global()),
            };
            init.push(statement);
        }
        text + &format!("init {{ {} }}\n", init.join("; "))
    }

    fn global(&mut self) -> &'static str {
        self.choices.pick(&["g0", "g1"])
    }

    /// Returns one of the first `count` channels of a process: a parameter, its own, a global one, or a variable.
    fn channel(&mut self, count: usize) -> &'static str {
        let all = ["a", "own", "b", "g0", "g1", "k"];
        all[self.choices.below(count.min(all.len()))]
    }

    fn body(&mut self) -> String {
        let count = self.choices.below(3) + 2;
        (0..count).map(|_| self.statement(true) + ";\n").collect()
    }

    fn start(&mut self) -> String {
        let kind = self.choices.pick(&["P", "P", "Q"]);
        let run = format!("run {kind}({}, {})", self.channel(6), self.channel(6));
        match self.choices.below(3) {
            0 => format!("atomic {{ left > 0 && _nr_pr < 4 -> left--; {run} }}"),
            _ => format!(
                "if :: atomic {{ left > 0 && _nr_pr < 4 -> left-- }}; {run} :: left == 0 fi"
            ),
        }
    }

    fn statement(&mut self, may_branch: bool) -> String {
        match self.choices.weighted(&[6, 6, 5, 2, 1, 1, 2, 2, 3, 1]) {
            0 => format!("{}!{}", self.channel(6), self.choices.below(2)),
            1 => format!("{}?{}", self.channel(6), self.choices.pick(&["v", "_", "1"])),
            2 => self.start(),
            3 => self.choices.pick(&["x++", "x = 1", "v++", "v = x"]).to_owned(),
            4 => format!("m!{}", self.channel(5)),
            5 => "m?k".to_owned(),
            6 => self.choices.pick(&["x == 1", "x == 0", "_nr_pr < 3"]).to_owned(),
            7 => self.choices.pick(&["assert(x < 2)", "assert(v == 0)"]).to_owned(),
            8 if may_branch => {
                let branches = [(); 2].map(|()| self.statement(false));
                let more = self.choices.pick(&["", "", ":: else"]);
                format!("if :: {} :: {} {more} fi", branches[0], branches[1])
            }
            9 => format!("atomic {{ {}!1; x = 0 }}", self.channel(6)),
            _ => "skip".to_owned(),
        }
    }
}

fn model(text: &str) -> Option<Interp> {
    let mut sources = SourceMap::default();
    sources.add("model.pml", text);
    let options = Options { slots: Some(SLOTS), ..Options::default() };
    let language = Language::from_name("promela").unwrap();
    TextModel::load(language, sources, options).ok().map(|(model, _)| model.interp)
}

#[test]
fn random_starts_keep_their_verdicts() {
    let (census, tried) = (Census::default(), std::cell::Cell::new(0));
    try_all(120, prop::collection::vec(any::<u16>(), 80), |numbers| {
        let text = StartGenerator { choices: Choices::new(&numbers) }.model();
        let Some(interp) = model(&text) else { return Ok(()) };
        tried.set(tried.get() + 1);
        check_reductions(&interp, RANDOM_STARTS, &census)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))
    });
    census.show();
    assert!(tried.get() > 60 && census.fewer.get() > 200, "{} models are valid", tried.get());
}

/// Each process of a sieve has its own channel and one that it got. One order of its steps is enough.
#[test]
fn a_process_that_starts_another_of_its_kind_keeps_its_channels() {
    for capacity in [0, 1] {
        let text = format!(
            "proctype Filter(chan from; byte prime) {{
                chan to = [{capacity}] of {{ byte }}; byte value; bool has_next;
                do
                :: from?value ->
                    if
                    :: value == 0 -> break
                    :: value != 0 && value % prime == 0
                    :: value != 0 && value % prime != 0 ->
                        if
                        :: has_next -> to!value
                        :: else -> run Filter(to, value); has_next = true
                        fi
                    fi
                od;
                if :: has_next -> to!0 :: else fi
            }}
            init {{
                chan to = [{capacity}] of {{ byte }}; byte value = 3;
                run Filter(to, 2);
                do :: value <= 7 -> to!value; value++ :: else -> break od;
                to!0
            }}"
        );
        let mut sources = SourceMap::default();
        sources.add("model.pml", &text);
        let options = Options { slots: Some(5), ..Options::default() };
        let (model, _) =
            TextModel::load(Language::from_name("promela").unwrap(), sources, options).unwrap();
        let (full, _) = explore(&model.interp, usize::MAX).unwrap();
        let (reduced, found) = explore_by_default(&model.interp);
        println!("capacity {capacity}: {} of {} states", reduced.len(), full.len());
        assert!(found.is_empty() && 2 * reduced.len() < full.len());
    }
}
