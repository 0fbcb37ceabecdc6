//! Whether cases are the same for all elements of each scalarset (Ip and Dill 1996, Definition 6).

use super::cases::{CaseCell, CaseMultiset, ReversibleCase};
use crate::symmetry::{ElementExchange, Symmetry, SymmetryEffort};
use spillway_analysis::instances::InstanceId;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_exec::Interp;
use spillway_exec::interp::{MultisetCells, multisets};
use spillway_ir::layout::CellId;
use std::collections::BTreeSet;

/// Units of work to compute the image of a case and look it up.
const EACH_IMAGE: u64 = 64;

/// Whether the cases are closed under exchanges of elements.
pub(super) fn is_symmetric(
    interp: &Interp,
    cases: &[ReversibleCase],
    budget: &AnalysisBudget,
) -> Result<bool, BudgetExceeded> {
    Ok(symmetric_of(interp, cases.to_vec(), budget)?.len() == cases.len())
}

/// Returns the largest subset of the cases that is closed under exchanges of elements.
pub(super) fn symmetric_of(
    interp: &Interp,
    mut cases: Vec<ReversibleCase>,
    budget: &AnalysisBudget,
) -> Result<Vec<ReversibleCase>, BudgetExceeded> {
    let (program, layout) = (interp.program(), interp.layout());
    let Some(symmetry) = Symmetry::of(program, layout, SymmetryEffort::Exact) else {
        return Ok(cases);
    };
    let multisets = multisets(program, layout);
    // The effect of a case determines its instance.
    let plain = |case: &ReversibleCase| ReversibleCase { instance: InstanceId(0), ..case.clone() };
    loop {
        let (count, all) =
            (cases.len(), cases.iter().map(plain).collect::<BTreeSet<ReversibleCase>>());
        let mut stay = Vec::with_capacity(count);
        for case in cases {
            let image = |it: ElementExchange| exchanged(&plain(&case), &it, &multisets);
            let mut stays = true;
            for exchange in symmetry.exchanges() {
                budget.work(EACH_IMAGE + case.held.len() as u64)?;
                stays &= image(exchange).is_some_and(|it| all.contains(&it));
                if !stays {
                    break;
                }
            }
            stay.extend(stays.then_some(case));
        }
        cases = stay;
        if cases.len() == count {
            return Ok(cases);
        }
    }
}

/// Returns the image of a case under an exchange.
fn exchanged(
    case: &ReversibleCase,
    exchange: &ElementExchange,
    multisets: &[MultisetCells],
) -> Option<ReversibleCase> {
    let held = |&CaseCell { cell, before, after }: &CaseCell| {
        let [before, after] = [before, after].map(|code| exchange.code(cell, code));
        CaseCell { cell: exchange.cell(cell), before, after }
    };
    let counted = |CaseMultiset { bag, sizes, added }: &CaseMultiset| {
        let first = multisets[*bag].first;
        let to = exchange.cell(first);
        let bag = multisets.iter().position(|it| it.first == to)?;
        let added = added.as_ref().map(|codes| {
            let mut after = codes.clone();
            for (cell, &code) in (first.0 + 1..).map(CellId).zip(codes) {
                let there = exchange.cell(cell).0 - to.0 - 1;
                after[there as usize] = exchange.code(cell, code);
            }
            after
        });
        Some(CaseMultiset { bag, sizes: *sizes, added })
    };
    let mut image = ReversibleCase {
        held: case.held.iter().map(held).collect(),
        counted: case.counted.iter().map(counted).collect::<Option<_>>()?,
        ..case.clone()
    };
    image.held.sort();
    image.counted.sort();
    Some(image)
}
