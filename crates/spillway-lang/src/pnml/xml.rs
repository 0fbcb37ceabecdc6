//! XML as a sequence of elements, each with its place; elements that are not read are skipped.
//!
//! No tree is built. Entities that a document declares are not expanded, which prevents exponential expansion.

use quick_xml::XmlVersion;
use quick_xml::errors::{Error, IllFormedError};
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// The maximum nesting of elements.
const DEPTH_MAX: usize = 256;

/// The result of reading.
pub(super) type PnmlResult<T> = Result<T, Diagnostic>;

/// A reader of a document.
pub(super) struct PnmlXmlReader<'a> {
    reader: Reader<&'a [u8]>,
    file: u32,
    /// The open elements.
    open: Vec<Span>,
}

/// The start of an element.
#[derive(Clone, Debug)]
pub(super) struct XmlElement {
    /// Its name, without prefix.
    pub(super) name: String,
    attributes: Vec<(String, String)>,
    /// The span of its start tag.
    pub(super) span: Span,
    /// The number of elements around it; `None` if it is an empty-element tag.
    depth: Option<usize>,
}

impl XmlElement {
    /// Returns the value of an attribute, if present.
    pub(super) fn get(&self, attribute: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == attribute).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a required attribute.
    pub(super) fn need(&self, attribute: &str) -> PnmlResult<&str> {
        let missing = || format!("<{}> has no attribute `{attribute}`", self.name);
        self.get(attribute).ok_or_else(|| Diagnostic::error(self.span, missing()))
    }

    /// Returns the value of a required attribute that is an integer.
    pub(super) fn number(&self, attribute: &str) -> PnmlResult<i64> {
        number(self.need(attribute)?, self.span)
    }
}

/// Parses an integer.
pub(super) fn number(text: &str, span: Span) -> PnmlResult<i64> {
    let wrong = |_| Diagnostic::error(span, format!("`{}` is no whole number", text.trim()));
    text.trim().parse().map_err(wrong)
}

impl<'a> PnmlXmlReader<'a> {
    /// Creates a reader at the start of a document.
    pub(super) fn new(file: u32, text: &'a str) -> PnmlXmlReader<'a> {
        PnmlXmlReader { reader: Reader::from_str(text), file, open: Vec::new() }
    }

    /// Visits each child of an element, which must be the element visited last. Contents that the visitor does not read
    /// are skipped.
    pub(super) fn each(
        &mut self,
        of: &XmlElement,
        visit: &mut dyn FnMut(&mut Self, XmlElement) -> PnmlResult<()>,
    ) -> PnmlResult<()> {
        self.each_with_text(of, visit).map(|_| ())
    }

    /// Does the same, and returns the text between these children.
    pub(super) fn each_with_text(
        &mut self,
        of: &XmlElement,
        visit: &mut dyn FnMut(&mut Self, XmlElement) -> PnmlResult<()>,
    ) -> PnmlResult<String> {
        let mut text = String::new();
        let Some(depth) = of.depth else { return Ok(text) };
        while let Some(child) = self.next(depth, &mut |it| text.push_str(it))? {
            let inside = child.depth;
            visit(self, child)?;
            if let Some(inside) = inside {
                self.leave(inside)?;
            }
        }
        Ok(text)
    }

    /// Visits the elements at the top level.
    pub(super) fn each_root(
        &mut self,
        visit: &mut dyn FnMut(&mut Self, XmlElement) -> PnmlResult<()>,
    ) -> PnmlResult<()> {
        let span = Span::new(self.file, 0..0);
        let all = XmlElement { name: String::new(), attributes: Vec::new(), span, depth: Some(0) };
        self.each(&all, visit)
    }

    /// Returns the text of an element, without that of its children.
    pub(super) fn text(&mut self, of: &XmlElement) -> PnmlResult<String> {
        self.each_with_text(of, &mut |_, _| Ok(()))
    }

    /// Skips the rest of an element that has this depth.
    fn leave(&mut self, depth: usize) -> PnmlResult<()> {
        while self.open.len() >= depth && self.next(depth, &mut |_| ())?.is_some() {}
        Ok(())
    }

    /// Returns the next element at any depth, until the one of this depth ends.
    fn next(&mut self, depth: usize, text: &mut dyn FnMut(&str)) -> PnmlResult<Option<XmlElement>> {
        if self.open.len() < depth {
            return Ok(None);
        }
        loop {
            let start = self.reader.buffer_position() as usize;
            let event = self.reader.read_event();
            let span = Span::new(self.file, start..self.reader.buffer_position() as usize);
            let wrong = |error: String| Diagnostic::error(span, error);
            match event.map_err(|error| self.ill_formed(&error))? {
                Event::Start(start) => {
                    self.open.push(span);
                    if self.open.len() > DEPTH_MAX {
                        let error = format!("more than {DEPTH_MAX} elements stand in each other");
                        return Err(wrong(error));
                    }
                    return element(&start, span, Some(self.open.len())).map(Some);
                }
                Event::Empty(start) => return element(&start, span, None).map(Some),
                Event::End(_) => {
                    self.open.pop();
                    if self.open.len() < depth {
                        return Ok(None);
                    }
                }
                Event::Text(it) => text(&it.decode().map_err(|it| wrong(it.to_string()))?),
                Event::CData(it) => text(&it.decode().map_err(|it| wrong(it.to_string()))?),
                Event::GeneralRef(it) => {
                    let name = it.decode().map_err(|it| wrong(it.to_string()))?;
                    let known = it.resolve_char_ref().map_err(|it| wrong(it.to_string()))?;
                    match (known, quick_xml::escape::resolve_predefined_entity(&name)) {
                        (Some(it), _) => text(it.encode_utf8(&mut [0; 4])),
                        (None, Some(it)) => text(it),
                        (None, None) => {
                            let error = format!("the entity `&{name};` is not known");
                            let help = "entities that a document declares are not expanded";
                            return Err(wrong(error).help(help));
                        }
                    }
                }
                Event::Eof => return self.end(span).map(|()| None),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
    }

    /// Checks at the end of the file that no element is open.
    fn end(&self, span: Span) -> PnmlResult<()> {
        match self.open.last() {
            None => Ok(()),
            Some(&open) => Err(Diagnostic::error(open, "the file ends within this element")
                .help(format!("{} bytes were read; is it whole?", span.end))),
        }
    }

    fn ill_formed(&self, error: &Error) -> Diagnostic {
        let at = self.reader.error_position() as usize;
        let message = match error {
            Error::IllFormed(IllFormedError::MismatchedEndTag { expected, found }) => {
                format!("</{found}> ends <{expected}>, which has begun before")
            }
            other => format!("this is not well-formed XML: {other}"),
        };
        Diagnostic::error(Span::new(self.file, at..at + 1), message)
    }
}

fn element(start: &BytesStart<'_>, span: Span, depth: Option<usize>) -> PnmlResult<XmlElement> {
    let name = String::from_utf8_lossy(start.local_name().as_ref()).into_owned();
    let wrong = |error: String| Diagnostic::error(span, format!("in <{name}>: {error}"));
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|it| wrong(it.to_string()))?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|it| wrong(it.to_string()))?;
        let key = String::from_utf8_lossy(attribute.key.local_name().as_ref()).into_owned();
        attributes.push((key, value.into_owned()));
    }
    Ok(XmlElement { name, attributes, span, depth })
}
