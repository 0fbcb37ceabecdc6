//! Combined reductions: of two incompatible ones, one is omitted, and the message names it.

use spillway::front::{Language, Options};
use spillway::reduce::ReductionPlan;
use spillway::session::TextModel;
use spillway::source::SourceMap;
use std::path::Path;

/// Exchangeable processes may differ in their reversible rules. A representative of a state need not represent the
/// state's image. Both reductions together could not reconstruct the counterexample of this model.
#[test]
fn reversible_rules_exclude_symmetry_of_processes() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/dve/dijkstra.dve");
    let mut sources = SourceMap::default();
    sources.add("dijkstra.dve", std::fs::read_to_string(&file).unwrap());
    let options = Options { defines: vec![("BUG".into(), 1)], ..Options::default() };
    let language = Language::from_name("dve").unwrap();
    let mut model = TextModel::load(language, sources, options).unwrap().0;
    model.wished = ReductionPlan::of(["reversible", "symmetry"]);
    let searched = model.searched();
    let [refused] = searched.stack().refusals() else {
        panic!("{:?}", searched.stack().refusals())
    };
    assert_eq!(refused.name, "symmetry of processes");
    assert_eq!(refused.reason.to_string(), "reversible rules may differ between processes");
}
