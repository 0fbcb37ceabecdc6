//! From elements to what a net has: places, transitions and arcs of all pages together, and declarations of colours.
//!
//! What the standard gives no meaning for states (graphics, tool-specific parts) is passed over, but for what units of a
//! nested-unit Petri net (NUPN; Garavel 2019) say of all places.

use super::xml::{PnmlResult, PnmlXmlReader, XmlElement, number};
use crate::diag::Diagnostic;
use crate::numbers::count;
use crate::source::Span;
use std::collections::HashMap;

/// A net as it is written.
#[derive(Default)]
pub(super) struct PnmlDocument {
    pub(super) places: Vec<PlaceNode>,
    pub(super) transitions: Vec<TransitionNode>,
    pub(super) arcs: Vec<ArcNode>,
    /// What a reference node stands for, by its name.
    pub(super) references: HashMap<String, String>,
    /// Sorts, operators and variables, in order.
    pub(super) declarations: Vec<PnmlDeclaration>,
    /// Whether its type is one of nets with colours.
    says_coloured: bool,
    /// Whether it says, by its units (NUPN), that no place ever has more than one token.
    pub(super) declared_safe: bool,
    /// Other nets of the file, which are left aside.
    pub(super) others: Vec<Span>,
}

/// A place.
pub(super) struct PlaceNode {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) tokens: Option<i64>,
    pub(super) sort: Option<PnmlTerm>,
    pub(super) marking: Option<PnmlTerm>,
    pub(super) span: Span,
}

/// A transition.
pub(super) struct TransitionNode {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) condition: Option<PnmlTerm>,
    /// The condition as its author wrote it for people.
    pub(super) says: Option<String>,
    pub(super) span: Span,
}

/// An arc, from a place to a transition or the other way round.
pub(super) struct ArcNode {
    pub(super) source: String,
    pub(super) target: String,
    pub(super) weight: Option<i64>,
    pub(super) inscription: Option<PnmlTerm>,
    pub(super) kind: ArcKind,
    pub(super) span: Span,
}

/// What an arc does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArcKind {
    /// Takes tokens, or puts them.
    Normal,
    /// Asks for tokens and leaves them.
    Test,
    /// Asks that there are fewer.
    Inhibitor,
    /// Takes all there are.
    Reset,
}

/// A sort, a value or a condition: an element with those that it is made of.
#[derive(Clone)]
pub(super) struct PnmlTerm {
    pub(super) element: XmlElement,
    /// What stands in it beside the terms.
    pub(super) text: String,
    pub(super) terms: Vec<PnmlTerm>,
}

impl PnmlTerm {
    pub(super) fn name(&self) -> &str {
        &self.element.name
    }

    pub(super) fn span(&self) -> Span {
        self.element.span
    }

    /// What it is made of, if that are so many.
    pub(super) fn parts<const N: usize>(&self) -> PnmlResult<&[PnmlTerm; N]> {
        let (name, wanted) = (self.name(), count(N as u64, "part"));
        let wrong = || format!("<{name}> has {wanted}, and not {}", self.terms.len());
        self.terms.as_slice().try_into().map_err(|_| Diagnostic::error(self.span(), wrong()))
    }
}

/// Something that is declared.
pub(super) struct PnmlDeclaration {
    pub(super) element: XmlElement,
    pub(super) terms: Vec<PnmlTerm>,
}

/// Reads a file.
pub(super) fn parse(file: u32, text: &str) -> PnmlResult<PnmlDocument> {
    let mut xml = PnmlXmlReader::new(file, text);
    let mut found: Option<PnmlDocument> = None;
    let mut root = None;
    xml.each_root(&mut |xml, element| {
        let is_root = element.name == "pnml";
        root = root.or(Some(element.span));
        if !is_root {
            let error = format!("a net stands in <pnml>, and this is <{}>", element.name);
            return Err(Diagnostic::error(element.span, error));
        }
        xml.each(&element, &mut |xml, net| match (net.name.as_str(), &mut found) {
            ("net", None) => {
                let says_coloured = has_coloured_type(&net)?;
                let mut document = PnmlDocument { says_coloured, ..PnmlDocument::default() };
                document.page(xml, &net)?;
                found = Some(document);
                Ok(())
            }
            ("net", Some(first)) => {
                first.others.push(net.span);
                Ok(())
            }
            _ => Ok(()),
        })
    })?;
    let nowhere = root.unwrap_or(Span::new(file, 0..1));
    found.ok_or_else(|| Diagnostic::error(nowhere, "there is no <net> in it"))
}

/// Whether the type of a net is one of those with colours.
fn has_coloured_type(net: &XmlElement) -> PnmlResult<bool> {
    let kind = net.need("type")?;
    match kind.rsplit('/').next().unwrap_or(kind) {
        "ptnet" => Ok(false),
        "symmetricnet" => Ok(true),
        _ => Err(Diagnostic::error(net.span, format!("nets of the type `{kind}` are not read"))
            .help("place/transition nets (`ptnet`) and symmetric nets (`symmetricnet`) are")),
    }
}

impl PnmlDocument {
    /// Reads what stands in a net or a page.
    fn page(&mut self, xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<()> {
        xml.each(of, &mut |xml, element| match element.name.as_str() {
            "page" => self.page(xml, &element),
            "place" => self.place(xml, &element),
            "transition" => self.transition(xml, &element),
            "arc" => self.arc(xml, &element),
            "referencePlace" | "referenceTransition" => {
                let (id, to) = (element.need("id")?.to_owned(), element.need("ref")?.to_owned());
                self.references.insert(id, to);
                Ok(())
            }
            "declaration" => self.declaration(xml, &element),
            "toolspecific" if element.get("tool") == Some("nupn") => {
                xml.each(&element, &mut |_, it| {
                    self.declared_safe |= it.name == "structure" && it.get("safe") == Some("true");
                    Ok(())
                })
            }
            _ => Ok(()),
        })
    }

    /// Whether places and arcs have colours, whatever the type says: some tools give coloured nets the type of plain ones.
    pub(super) fn is_coloured(&self) -> bool {
        self.says_coloured || self.places.iter().any(|it| it.sort.is_some())
    }

    fn place(&mut self, xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<()> {
        let id = of.need("id")?.to_owned();
        let (mut name, span) = (None, of.span);
        let (mut tokens, mut sort, mut marking) = (None, None, None);
        xml.each(of, &mut |xml, element| {
            match element.name.as_str() {
                "name" => name = text_of(xml, &element)?,
                "initialMarking" => tokens = number_of(xml, &element)?,
                "type" => sort = structure_of(xml, &element)?,
                "hlinitialMarking" => marking = structure_of(xml, &element)?,
                _ => {}
            }
            Ok(())
        })?;
        let name = name.unwrap_or_else(|| id.clone());
        self.places.push(PlaceNode { id, name, tokens, sort, marking, span });
        Ok(())
    }

    fn transition(&mut self, xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<()> {
        let id = of.need("id")?.to_owned();
        let (mut name, mut condition, mut says, span) = (None, None, None, of.span);
        xml.each(of, &mut |xml, element| {
            match element.name.as_str() {
                "name" => name = text_of(xml, &element)?,
                "condition" => (says, condition) = label(xml, &element)?,
                _ => {}
            }
            Ok(())
        })?;
        let name = name.unwrap_or_else(|| id.clone());
        self.transitions.push(TransitionNode { id, name, condition, says, span });
        Ok(())
    }

    fn arc(&mut self, xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<()> {
        let (source, target) = (of.need("source")?.to_owned(), of.need("target")?.to_owned());
        let (mut weight, mut inscription) = (None, None);
        let (mut kind, span) = (of.get("type").map(str::to_owned), of.span);
        xml.each(of, &mut |xml, element| {
            match element.name.as_str() {
                "inscription" => weight = number_of(xml, &element)?,
                "hlinscription" => inscription = structure_of(xml, &element)?,
                "type" => {
                    let value = element.get("value").map(str::to_owned);
                    kind = match value {
                        Some(value) => Some(value),
                        None => text_of(xml, &element)?,
                    };
                }
                _ => {}
            }
            Ok(())
        })?;
        let kind = match kind.as_deref() {
            None | Some("normal") => ArcKind::Normal,
            Some("test" | "read") => ArcKind::Test,
            Some("inhibitor") => ArcKind::Inhibitor,
            Some("reset") => ArcKind::Reset,
            Some(other) => {
                let error = format!("arcs of the type `{other}` are not read");
                return Err(Diagnostic::error(span, error)
                    .help("`normal`, `test` (or `read`), `inhibitor` and `reset` are"));
            }
        };
        self.arcs.push(ArcNode { source, target, weight, inscription, kind, span });
        Ok(())
    }

    fn declaration(&mut self, xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<()> {
        xml.each(of, &mut |xml, structure| {
            xml.each(&structure, &mut |xml, declarations| {
                xml.each(&declarations, &mut |xml, element| {
                    let terms = terms_of(xml, &element)?;
                    self.declarations.push(PnmlDeclaration { element, terms });
                    Ok(())
                })
            })
        })
    }
}

/// The text in a label.
fn text_of(xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<Option<String>> {
    label(xml, of).map(|it| it.0)
}

/// The number in a label.
fn number_of(xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<Option<i64>> {
    text_of(xml, of)?.map(|text| number(&text, of.span)).transpose()
}

/// The term in a label.
fn structure_of(xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<Option<PnmlTerm>> {
    label(xml, of).map(|it| it.1)
}

/// What a label says to people, and to machines.
fn label(
    xml: &mut PnmlXmlReader,
    of: &XmlElement,
) -> PnmlResult<(Option<String>, Option<PnmlTerm>)> {
    let (mut text, mut term) = (None, None);
    xml.each(of, &mut |xml, element| {
        match element.name.as_str() {
            "text" => {
                let words = xml.text(&element)?.split_whitespace().collect::<Vec<_>>().join(" ");
                text = Some(words).filter(|it| !it.is_empty());
            }
            "structure" => term = terms_of(xml, &element)?.into_iter().next(),
            _ => {}
        }
        Ok(())
    })?;
    Ok((text, term))
}

/// The terms that an element is made of.
pub(super) fn terms_of(xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<Vec<PnmlTerm>> {
    made_of(xml, of).map(|it| it.1)
}

/// The text in an element, and the terms.
fn made_of(xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<(String, Vec<PnmlTerm>)> {
    let mut terms = Vec::new();
    let text = xml.each_with_text(of, &mut |xml, element| {
        let (text, parts) = made_of(xml, &element)?;
        match element.name.as_str() {
            // It only wraps what it has.
            "subterm" => terms.extend(parts),
            _ => terms.push(PnmlTerm { element, text, terms: parts }),
        }
        Ok(())
    })?;
    Ok((text, terms))
}
