//! XML as elements one after the other, each with its place; whatever nobody asks for is passed over.
//!
//! No tree is kept. Entities that a document declares are not known, so that none can be expanded without end.

use crate::diag::Diagnostic;
use crate::source::Span;
use quick_xml::XmlVersion;
use quick_xml::errors::{Error, IllFormedError};
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// How deep elements may stand in each other.
const DEPTH_MAX: usize = 256;

/// What came of reading something.
pub(super) type PnmlResult<T> = Result<T, Diagnostic>;

/// A document that is being read.
pub(super) struct PnmlXmlReader<'a> {
    reader: Reader<&'a [u8]>,
    file: u32,
    /// The elements that have begun and not ended.
    open: Vec<Span>,
}

/// An element that has begun.
#[derive(Clone, Debug)]
pub(super) struct XmlElement {
    /// Its name, without prefix.
    pub(super) name: String,
    attributes: Vec<(String, String)>,
    /// Where it begins.
    pub(super) span: Span,
    /// How many stand around it; nothing if it has ended as it began.
    depth: Option<usize>,
}

impl XmlElement {
    /// What an attribute says, if it has that.
    pub(super) fn get(&self, attribute: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == attribute).map(|(_, value)| value.as_str())
    }

    /// What an attribute says that it has to have.
    pub(super) fn need(&self, attribute: &str) -> PnmlResult<&str> {
        let missing = || format!("<{}> has no attribute `{attribute}`", self.name);
        self.get(attribute).ok_or_else(|| Diagnostic::error(self.span, missing()))
    }

    /// A whole number that an attribute has to say.
    pub(super) fn number(&self, attribute: &str) -> PnmlResult<i64> {
        number(self.need(attribute)?, self.span)
    }
}

/// A whole number.
pub(super) fn number(text: &str, span: Span) -> PnmlResult<i64> {
    let wrong = |_| Diagnostic::error(span, format!("`{}` is no whole number", text.trim()));
    text.trim().parse().map_err(wrong)
}

impl<'a> PnmlXmlReader<'a> {
    /// A document that begins.
    pub(super) fn new(file: u32, text: &'a str) -> PnmlXmlReader<'a> {
        PnmlXmlReader { reader: Reader::from_str(text), file, open: Vec::new() }
    }

    /// Shows each element in another, which has to be the last that was shown. What is not read of it is passed over.
    pub(super) fn each(
        &mut self,
        of: &XmlElement,
        visit: &mut dyn FnMut(&mut Self, XmlElement) -> PnmlResult<()>,
    ) -> PnmlResult<()> {
        self.each_with_text(of, visit).map(|_| ())
    }

    /// The same; gives the text that stands beside these elements.
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

    /// Shows the elements that stand in none.
    pub(super) fn each_root(
        &mut self,
        visit: &mut dyn FnMut(&mut Self, XmlElement) -> PnmlResult<()>,
    ) -> PnmlResult<()> {
        let span = Span::new(self.file, 0..0);
        let all = XmlElement { name: String::new(), attributes: Vec::new(), span, depth: Some(0) };
        self.each(&all, visit)
    }

    /// The text of an element, without that of those in it.
    pub(super) fn text(&mut self, of: &XmlElement) -> PnmlResult<String> {
        self.each_with_text(of, &mut |_, _| Ok(()))
    }

    /// Passes over what is left in an element with so many around it.
    fn leave(&mut self, depth: usize) -> PnmlResult<()> {
        while self.open.len() >= depth && self.next(depth, &mut |_| ())?.is_some() {}
        Ok(())
    }

    /// The next element at any depth, until the one with so many around it ends.
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

    /// The file is at its end.
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
