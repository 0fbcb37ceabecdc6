//! Sorted processes, compared with the least image.

use super::super::blocks::{self, SortableBlocks};
use super::super::group::{AutomorphismGroup, ImageBuffers};
use super::load_dve;
use spillway_analysis::automorphisms::automorphisms;
use spillway_base::budget::AnalysisBudget;
use spillway_base::random::SplitMix64;

/// Returns a model of `count` processes, each with its own variables and array elements.
fn processes(count: usize) -> String {
    let one = |at: usize| {
        format!(
            "process P_{at} {{ byte x; byte y; state a, b, c; init a; trans a -> b {{ guard t[{at}] == 0; effect t[{at}] = 1, x = 1; }},
            b -> c {{ effect u[{at}] = x, y = (y + 1) % 3; }}, c -> a {{ effect t[{at}] = 0, x = 1 - x; }}; }}"
        )
    };
    let all: Vec<String> = (0..count).map(one).collect();
    format!("byte t[{count}]; byte u[{count}]; {} system async;", all.join("\n"))
}

#[test]
fn sorted_blocks_are_the_least_image() {
    for count in 2..=5 {
        let interp = load_dve(&processes(count));
        let (program, layout) = (interp.program(), interp.layout());
        let found = automorphisms(program, layout, &AnalysisBudget::largest()).unwrap();
        let blocks = SortableBlocks::of(&found, layout).unwrap();
        let listed = AutomorphismGroup::of(&found, layout).unwrap();
        assert_eq!(blocks.order(), Some((1..=count as u64).product()));
        let (mut block_buffers, mut images) =
            (blocks::BlockBuffers::default(), ImageBuffers::default());
        let (mut random, mut changed) = (SplitMix64::new(7), 0);
        for _ in 0..2_000 {
            let mut state = vec![0; layout.bytes];
            for (cell, about) in layout.cells.iter().take(layout.state_cells as usize) {
                let code = random.below(about.count().min(2) as usize) as u32;
                layout.set_code(&mut state, cell, code);
            }
            let (mut sorted, mut least) = (state.clone(), state.clone());
            blocks.represent(layout, &mut block_buffers, &mut sorted);
            listed.represent(layout, &mut images, &mut least);
            assert_eq!(sorted, least);
            changed += u32::from(sorted != state);
        }
        assert!(changed > 500, "{changed}");
    }
}

/// Processes are not sorted if values refer to them, or if they form a ring.
#[test]
fn named_and_neighbouring_processes_are_no_blocks() {
    let named = "byte x = 255; process P_0 { state a, b; init a; trans a -> b { guard x == 255; effect x = 0; }, b -> a { guard x == 0; effect x = 255; }; }
        process P_1 { state a, b; init a; trans a -> b { guard x == 255; effect x = 1; }, b -> a { guard x == 1; effect x = 255; }; } system async;";
    let fork = |at: usize| {
        let next = (at + 1) % 3;
        format!(
            "process P_{at} {{ state a, b; init a; trans a -> b {{ guard t[{at}] == 0; effect t[{at}] = 1; }}, b -> a {{ effect t[{next}] = 0; }}; }}"
        )
    };
    let ring = format!("byte t[3]; {} {} {} system async;", fork(0), fork(1), fork(2));
    for text in [named, &ring] {
        let interp = load_dve(text);
        let found =
            automorphisms(interp.program(), interp.layout(), &AnalysisBudget::largest()).unwrap();
        assert!(!found.is_empty());
        assert!(SortableBlocks::of(&found, interp.layout()).is_none());
    }
}
