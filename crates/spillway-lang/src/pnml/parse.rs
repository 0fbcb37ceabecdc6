//! From elements to the parts of a net: places, transitions and arcs of all pages, and declarations of colours.
//!
//! Elements without a meaning in the standard (graphics, tool-specific parts) are skipped, except the units of a
//! nested-unit Petri net (NUPN; Garavel 2019), which declare a property of all places.

use super::xml::{PnmlResult, PnmlXmlReader, XmlElement, number};
use spillway_base::diag::Diagnostic;
use spillway_base::numbers::count;
use spillway_base::source::Span;
use std::collections::HashMap;

/// A net as it is written.
#[derive(Default)]
pub(super) struct PnmlDocument {
    pub(super) places: Vec<PlaceNode>,
    pub(super) transitions: Vec<TransitionNode>,
    pub(super) arcs: Vec<ArcNode>,
    /// The node that each reference node denotes, by its name.
    pub(super) references: HashMap<String, String>,
    /// Sorts, operators and variables, in order.
    pub(super) declarations: Vec<PnmlDeclaration>,
    /// Whether its type is one of the coloured types.
    says_coloured: bool,
    /// Whether its units (NUPN) declare that no place ever has more than one token.
    pub(super) declared_safe: bool,
    /// Other nets of the file, which are ignored.
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
    /// The condition as text for readers.
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

/// The kind of an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArcKind {
    /// Removes or adds tokens.
    Normal,
    /// Requires tokens and leaves them.
    Test,
    /// Requires fewer tokens.
    Inhibitor,
    /// Removes all tokens.
    Reset,
}

/// A sort, a value or a condition: an element with its operands.
#[derive(Clone)]
pub(super) struct PnmlTerm {
    pub(super) element: XmlElement,
    /// The text in it, without that of the operands.
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

    /// Returns the operands, if there are exactly `N`.
    pub(super) fn parts<const N: usize>(&self) -> PnmlResult<&[PnmlTerm; N]> {
        let (name, wanted) = (self.name(), count(N as u64, "part"));
        let wrong = || format!("<{name}> has {wanted}, and not {}", self.terms.len());
        self.terms.as_slice().try_into().map_err(|_| Diagnostic::error(self.span(), wrong()))
    }
}

/// A declaration.
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

/// Returns whether the type of a net is one of the coloured types.
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
    /// Reads the contents of a net or a page.
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

    /// Returns whether places and arcs have colours. The type is not decisive: some tools give coloured nets the type
    /// of plain ones.
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

/// Returns the text in a label.
fn text_of(xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<Option<String>> {
    label(xml, of).map(|it| it.0)
}

/// Returns the number in a label.
fn number_of(xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<Option<i64>> {
    text_of(xml, of)?.map(|text| number(&text, of.span)).transpose()
}

/// Returns the term in a label.
fn structure_of(xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<Option<PnmlTerm>> {
    label(xml, of).map(|it| it.1)
}

/// Reads a label: its text and its structure.
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

/// Reads the operands of an element.
pub(super) fn terms_of(xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<Vec<PnmlTerm>> {
    made_of(xml, of).map(|it| it.1)
}

/// Reads the text and the operands of an element.
fn made_of(xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<(String, Vec<PnmlTerm>)> {
    let mut terms = Vec::new();
    let text = xml.each_with_text(of, &mut |xml, element| {
        let (text, parts) = made_of(xml, &element)?;
        match element.name.as_str() {
            // A wrapper without a meaning.
            "subterm" => terms.extend(parts),
            _ => terms.push(PnmlTerm { element, text, terms: parts }),
        }
        Ok(())
    })?;
    Ok((text, terms))
}
