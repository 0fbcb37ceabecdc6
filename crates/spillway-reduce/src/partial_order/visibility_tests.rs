//! Whether the instances that may change what a claim reads are visible, in the states of random programs.

use super::relation::dependence;
use super::test_programs::{interp, state_graph};
use super::visibility::ClaimVisibility;
use spillway_analysis::access::AccessTable;
use spillway_analysis::bit_sets;
use spillway_analysis::instances::InstanceId;
use spillway_base::budget::AnalysisBudget;
use spillway_base::random::SplitMix64;
use spillway_exec::SelectiveStateSpace;
use spillway_ir::PropertyKind;
use spillway_model::SuccessorSink;

/// Returns a statement over the variables that the claim reads.
fn statement(random: &mut SplitMix64) -> String {
    let (variable, value) = (random.below(3), random.below(4));
    match random.below(8) {
        0..3 => format!("x{variable} = {value}"),
        3 => format!("x{variable} > {value} -> x{variable} = {}", random.below(4)),
        4 => format!("x{variable} == {value} -> x{variable}++"),
        5 => format!("x{variable} = x{}", random.below(3)),
        6 => format!("atomic {{ x{variable} = {value}; x{} = 3 - x{variable} }}", random.below(3)),
        _ => format!("if :: x{variable} < {value} -> x{variable} = 1 - x{variable} :: else fi"),
    }
}

/// Returns a condition of the claim.
fn condition(random: &mut SplitMix64, depth: u32) -> String {
    let (variable, value) = (random.below(3), random.below(4));
    if depth == 0 {
        return match random.below(4) {
            0 => format!("x{variable} == {value}"),
            1 => format!("x{variable} > {value}"),
            2 => format!("x{variable} < x{}", random.below(3)),
            _ => format!("P@at{}", random.below(2)),
        };
    }
    let (one, other) = (condition(random, depth - 1), condition(random, depth - 1));
    match random.below(3) {
        0 => format!("({one} && {other})"),
        1 => format!("({one} || {other})"),
        _ => format!("!({one})"),
    }
}

fn program(seed: u64) -> String {
    let mut random = SplitMix64::new(seed);
    let mut text = "byte x0, x1, x2;\n".to_owned();
    for name in ["P", "Q"] {
        let [one, two, three] = [0; 3].map(|_| statement(&mut random));
        text += &format!(
            "active proctype {name}() {{ {one}; at0: skip; do :: {two} :: {three}; at1: skip od }}\n"
        );
    }
    let guards = [0, 1].map(|depth| condition(&mut random, depth));
    text + &format!("never {{ do :: {} :: {} :: else od }}\n", guards[0], guards[1])
}

/// An instance that changes a condition of the claim is visible. Some that write what the claim reads are not.
#[test]
fn an_invisible_instance_keeps_the_letter() {
    let (mut changes, mut refined) = (0, 0);
    for seed in 0..150 {
        let text = program(seed);
        let interp = interp(&text);
        let table = AccessTable::new(interp.program(), interp.layout()).unwrap();
        let dependence = dependence(&table, &AnalysisBudget::largest()).unwrap();
        let claims = interp.program().properties.iter().find_map(|(id, it)| match &it.kind {
            PropertyKind::Claim(claim) => Some((id, claim)),
            _ => None,
        });
        let (property, claim) = claims.unwrap();
        let visible = ClaimVisibility::new(&interp, &dependence, false).visible(property, claim);
        refined += u32::from(visible.len() < dependence.visible(property).len());
        let letter = |state: &[u8]| -> Vec<Option<bool>> {
            let guards = claim.moves.iter().filter_map(|it| it.action.guard.as_ref());
            guards.map(|it| interp.judge_condition(it, None, &[], state)).collect()
        };
        let selector = interp.selector().unwrap();
        let (mut enabled, mut one) = (selector.instances().sets(), selector.instances().sets());
        for state in state_graph(&interp).keys() {
            selector.enabled(state, &mut enabled).unwrap();
            let all: Vec<InstanceId> = enabled.iter(0).collect();
            for by in all {
                one.clear(1);
                bit_sets::insert(one.words_mut(0), by.0 as usize);
                let mut after = Vec::new();
                let run = |out: &mut SuccessorSink| selector.expand_chosen(state, &one, out);
                let _ = SuccessorSink::collect(state.len(), &mut after, run).unwrap();
                for next in after.chunks_exact(state.len()) {
                    let is_changed = letter(state) != letter(next);
                    changes += u32::from(is_changed);
                    assert!(!is_changed || visible.contains(&by), "{seed}: {by:?}\n{text}");
                }
            }
        }
    }
    assert!(changes > 300 && refined > 20, "{changes} {refined}");
}
