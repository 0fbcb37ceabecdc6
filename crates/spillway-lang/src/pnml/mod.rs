//! PNML, the exchange format of Petri nets (ISO/IEC 15909-2): place/transition nets and symmetric nets.
//!
//! [`xml`] reads elements. [`parse`] collects the contents of all pages. [`sorts`], [`colours`] and [`net`] resolve
//! names and sorts. [`bounds`] computes upper bounds of tokens. [`symmetry`] finds interchangeable colours. [`lower`]
//! creates the program, with the conditions of [`colour_guard`]. [`annotations`] describes the conditions of
//! transitions for reports. [`marking_query`] parses expressions over markings, [`mcc_properties`] property files.
//! [`dot`] draws a net.
//!
//! # Meaning
//!
//! - A transition without colours is an action; one with variables is an action for each binding for which its
//!   condition holds. A binding that leads to the same marking as another is a separate transition.
//! - A marking without successors is a deadlock.
//! - Arcs of the types `test` (or `read`), `inhibitor` and `reset` are supported, as several tools write them.
//! - The capacity of a place is a bound that linear algebra derives. Without such a bound, it is 65,535 tokens of each
//!   colour, or 1 if the file declares by its units (NUPN) that the net is safe. More tokens end the search with an
//!   error that names the place.
//! - The standard does not define negative numbers of tokens; a net is rejected unless every binding has the tokens
//!   that it subtracts.
//!
//! - In a bag of the divided class, an element of a partition denotes all values that it contains. A value equals an
//!   element that contains it.
//!
//! Rejected: nets of other types, user-defined operators.

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
    CommentSyntax, DrawnState, ExternalProperty, Language, LanguageOptions, LoadedModel, ModelForm,
    Options, PropertySource,
};
use crate::ltl::FormulaSyntax;
use spillway_base::diag::Diagnostic;
use spillway_base::source::{SourceMap, Span};

/// The exchange format of Petri nets.
pub static LANGUAGE: Language = Language {
    name: "pnml",
    title: "PNML",
    origin: "ISO 15909-2's",
    extensions: &["pnml"],
    options: LanguageOptions { whole: Some("a marking"), ..LanguageOptions::NONE },
    form: ModelForm::Program(|sources, options, asked| {
        load(sources, options, asked).map_err(|error| vec![error])
    }),
    comments: CommentSyntax { line: None, block: ("<!--", "-->"), nests: false, code_marks: &[] },
    local_separator: None,
    spin_trail: None,
    read_properties: Some(questions),
    draw: Some(draw),
    template: include_str!("template.pnml"),
    foreign_flags: &[],
};

/// Reads the net in file 0.
fn net_of(sources: &SourceMap) -> xml::PnmlResult<(parse::PnmlDocument, net::PetriNet)> {
    let document = parse::parse(0, &sources.file(0).text)?;
    let net = net::PetriNet::from_document(&document)?;
    Ok((document, net))
}

/// Draws the net in file 0.
fn draw(sources: &SourceMap, drawn: &DrawnState<'_>) -> xml::PnmlResult<String> {
    Ok(dot::net_to_dot(&net_of(sources)?.1, drawn))
}

/// Reads the properties of the net in file 0 from another file.
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
    // Files may be large, and the document is no longer needed.
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
    Ok(LoadedModel { program, warnings, property: observed, names: Vec::new() })
}
