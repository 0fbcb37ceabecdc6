//! PNML, the exchange format of Petri nets (ISO/IEC 15909-2): place/transition nets and symmetric nets.
//!
//! [`xml`] reads elements, [`parse`] puts together what the pages have, [`sorts`], [`colours`] and [`net`] give it a meaning,
//! [`bounds`] finds how many tokens places can have, [`symmetry`] which colours may be exchanged, [`lower`] makes a program, with what [`colour_guard`] says of colours, and [`annotations`]
//! says in reports what a transition waits for. [`marking_query`] reads what is asked of markings, [`mcc_properties`] files of such questions. [`dot`] draws a net.
//!
//! # Meaning
//!
//! - A transition without colours is an action; one with variables is an action for each binding for which its condition
//!   holds. A binding that leads to the same marking as another is a transition of its own.
//! - A marking without successor is a deadlock.
//! - Arcs of the types `test` (or `read`), `inhibitor` and `reset` are understood, as several tools write them.
//! - A place has room for as many tokens as linear algebra says it can have. Where that gives no bound there is room
//!   for 65,535 of each colour, or for one, if the file says by its units (NUPN) that the net is safe; more end the search
//!   with an error that names the place.
//! - The standard leaves out what a negative number of tokens is; what is subtracted has to be there for every binding.
//!
//! - An element of a partition stands for all values that it holds where tokens of the divided class are named, and a value
//!   equals it where the element holds the value.
//!
//! Refused: nets of other types, operators of users.

mod annotations;
mod bounds;
mod branching_formulas;
mod colour_guard;
mod colours;
mod dot;
mod lower;
mod marking_query;
mod mcc_properties;
mod net;
mod parse;
mod path_formulas;
mod sorts;
mod symmetry;
mod token_difference;
mod xml;

use super::language::stem;
use super::temporal_property::UnresolvedProperty;
use super::{
    DrawnState, ExternalProperty, Language, LanguageOptions, LoadedModel, Options, PropertySource,
};
use crate::diag::Diagnostic;
use crate::ltl::FormulaSyntax;
use crate::source::{SourceMap, Span};

/// The exchange format of Petri nets.
pub static LANGUAGE: Language = Language {
    name: "pnml",
    title: "PNML",
    origin: "ISO 15909-2's",
    extensions: &["pnml"],
    options: LanguageOptions { whole: Some("a marking"), ..LanguageOptions::NONE },
    load: |sources, options, asked| load(sources, options, asked).map_err(|error| vec![error]),
    spin_trail: None,
    read_properties: Some(questions),
    draw: Some(draw),
    template: include_str!("template.pnml"),
    foreign_flags: &[],
};

/// The net in file 0.
fn net_of(sources: &SourceMap) -> xml::PnmlResult<(parse::PnmlDocument, net::PetriNet)> {
    let document = parse::parse(0, &sources.file(0).text)?;
    let net = net::PetriNet::from_document(&document)?;
    Ok((document, net))
}

/// The net in file 0, drawn.
fn draw(sources: &SourceMap, drawn: &DrawnState<'_>) -> xml::PnmlResult<String> {
    Ok(dot::net_to_dot(&net_of(sources)?.1, drawn))
}

/// What another file asks of the net in file 0.
fn questions(sources: &SourceMap, file: u32) -> xml::PnmlResult<Vec<ExternalProperty>> {
    mcc_properties::questions(&net_of(sources)?.1, file, &sources.file(file).text)
}

/// Reads the net in file 0 of `sources`.
fn load(
    sources: &mut SourceMap,
    options: &Options,
    asked: Option<&PropertySource>,
) -> xml::PnmlResult<LoadedModel> {
    let file = sources.file(0);
    if let Some((name, _)) = options.defines.first() {
        let error = format!("a net has no constant `{name}` that could be defined");
        return Err(Diagnostic::error(Span::default(), error));
    }
    let (document, net) = net_of(sources)?;
    let left = |span: &Span| Diagnostic::warning(*span, "only the first net of a file is read");
    let warnings = document.others.iter().map(left).collect();
    // Files may be large, and it is not needed any more.
    drop(document);
    let split = UnresolvedProperty::parse(sources, asked, &FormulaSyntax::WORDS, &|name| {
        net.has_name(name)
    })?;
    let nodes = marking_query::NodeIndex::new(&net);
    let asked = split.iter().flat_map(|it| &it.propositions);
    let asked =
        asked.map(|span| marking_query::parse(&nodes, &sources.file(span.file).text, *span));
    let asked: Vec<marking_query::MarkingQuery> = asked.collect::<xml::PnmlResult<_>>()?;
    let (program, conditions) = lower::lower(&net, stem(&file.name, LANGUAGE.extensions), &asked)?;
    let observed = split.map(|it| it.resolve(sources, conditions));
    annotations::annotate_sources(&net, sources);
    sources.mark_as_counts();
    Ok(LoadedModel { program, warnings, property: observed })
}
