//! What editors show of a model: hovers, definitions, outlines and code lenses.

use super::documents::OpenModel;
use crate::cli::editors::positions::{
    is_word, location_of, offset_of, path_of, plain_path, range_of,
};
use crate::front::Language;
use crate::session::{ModelSymbol, StoredRange, SymbolKind};
use crate::source::{SourceFile, SourceMap, Span};
use lsp_types::{
    CodeLens, Command, DocumentSymbol, Hover, HoverContents, Location, MarkupContent, MarkupKind,
    Position, Range, Uri,
};
use serde_json::{Value, json};
use std::path::Path;

/// The command of a check.
pub(super) const CHECK: &str = "spillway.check";

/// The maximum number of characters of a source line in a hover.
const LINE_MAX: usize = 200;

/// A position in a document.
#[derive(Clone, Copy)]
pub(super) struct DocumentPosition<'p> {
    pub uri: &'p Uri,
    pub text: &'p str,
    pub position: Position,
}

/// The names of a model without errors, with its texts.
struct ReadModel<'m> {
    language: &'static Language,
    symbols: &'m [ModelSymbol],
    sources: &'m SourceMap,
}

impl<'m> ReadModel<'m> {
    fn of(open: &'m OpenModel) -> Option<ReadModel<'m>> {
        let (symbols, sources) = open.declared.as_ref()?;
        Some(ReadModel { language: open.language, symbols, sources })
    }

    /// Returns the index of a document among the texts.
    fn file(&self, uri: &Uri) -> Option<u32> {
        let path = path_of(uri)?;
        let is_it = |it: &SourceFile| !it.is_property && plain_path(Path::new(&it.name)) == path;
        self.sources.iter().position(is_it).map(|it| it as u32)
    }

    /// Returns the symbol at a position: the one that a name there means, or else the step there.
    fn symbol_at(&self, at: DocumentPosition<'_>) -> Option<ModelSymbol> {
        let file = self.file(at.uri)?;
        let text = SourceMap::of_text(at.text);
        let offset = offset_of(text.file(0), at.position);
        if self.language.comments.contains(at.text, offset) {
            return None;
        }
        let symbols = self.symbols;
        let place = FileOffset { file, offset };
        let is_in_scope = |it: &ModelSymbol| {
            let is_of_block = matches!(it.kind, SymbolKind::Variable | SymbolKind::Channel);
            let is_elsewhere = it.span.file != file;
            !is_of_block || is_elsewhere || is_in_block(at.text, it.span.end as usize..offset)
        };
        let seen: Vec<&ModelSymbol> = symbols.iter().filter(|it| is_in_scope(it)).collect();
        let named = word_at(at.text, offset).and_then(|it| find_named(&seen, it, place));
        let step = || {
            let is_here = |it: &&ModelSymbol| {
                let Span { file: of, start, end } = it.span;
                of == file && (start as usize..=end as usize).contains(&offset)
            };
            let steps = symbols.iter().filter(|it| it.kind == SymbolKind::Step);
            steps.filter(is_here).min_by_key(|it| it.span.end - it.span.start)
        };
        named.or_else(step).cloned()
    }
}

/// A byte of a file, both as numbers.
#[derive(Clone, Copy)]
struct FileOffset {
    file: u32,
    offset: usize,
}

/// Returns the name at an offset of a text.
fn word_at(text: &str, offset: usize) -> Option<&str> {
    let start = text[..offset].rfind(|it| !is_word(it));
    let start = start.map_or(0, |it| it + text[it..].chars().next().map_or(1, char::len_utf8));
    let end = text[offset..].find(|it| !is_word(it)).map_or(text.len(), |it| offset + it);
    Some(&text[start..end]).filter(|it| !it.is_empty())
}

/// Returns the symbol that a name means at a place: one of the process there, or else of the model, or else of any
/// process. Of several, it is the last one that is declared before the place.
fn find_named<'s>(
    symbols: &[&'s ModelSymbol],
    word: &str,
    place: FileOffset,
) -> Option<&'s ModelSymbol> {
    let process = process_at(symbols, place);
    let is_named =
        |it: &&ModelSymbol| it.kind != SymbolKind::Step && it.name.trim_matches([':', '"']) == word;
    let rank = |it: &&ModelSymbol| {
        let of_owner = match (&it.owner, process) {
            (Some(owner), Some(process)) if *owner == process.name => 0,
            (None, _) => 1,
            (Some(_), _) => 2,
        };
        let start = it.span.start as usize;
        let distance = place.offset.checked_sub(start).filter(|_| it.span.file == place.file);
        (of_owner, distance.is_none(), distance)
    };
    symbols.iter().copied().filter(is_named).min_by_key(rank)
}

/// Returns the process in whose text a place is: between its name and the end of its last declaration or step.
fn process_at<'s>(
    symbols: &[&'s ModelSymbol],
    FileOffset { file, offset }: FileOffset,
) -> Option<&'s ModelSymbol> {
    let is_before = |it: &&ModelSymbol| it.span.file == file && it.span.start as usize <= offset;
    let processes = || symbols.iter().copied().filter(|it| it.kind == SymbolKind::Process);
    let process = processes().filter(is_before).max_by_key(|it| it.span.start)?;
    // The text of a macro may be behind other processes.
    let is_next = |it: &&ModelSymbol| it.span.file == file && it.span.start > process.span.start;
    let next = processes().filter(is_next).map(|it| it.span.start).min().unwrap_or(u32::MAX);
    let own = symbols.iter().filter(|it| it.owner.as_ref() == Some(&process.name));
    let spans = own.map(|it| it.span);
    let spans =
        spans.filter(|it| it.file == file && (process.span.start..next).contains(&it.start));
    let end = spans.map(|it| it.end).fold(process.span.end, u32::max);
    (offset <= end as usize).then_some(process)
}

/// Returns whether no block that is open at the beginning of a range of a text ends in it. A range that begins behind
/// its end is one.
fn is_in_block(text: &str, range: std::ops::Range<usize>) -> bool {
    let mut depth = 0_i32;
    text.get(range).unwrap_or_default().bytes().all(|it| {
        depth += i32::from(it == b'{') - i32::from(it == b'}');
        depth >= 0
    })
}

/// Returns the hover at a position.
pub(super) fn hover(open: &OpenModel, at: DocumentPosition<'_>) -> Option<Hover> {
    let read = ReadModel::of(open)?;
    let symbol = read.symbol_at(at)?;
    let value = hover_text(&read, &symbol);
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: None })
}

/// Describes a symbol as Markdown.
fn hover_text(read: &ReadModel<'_>, symbol: &ModelSymbol) -> String {
    let ModelSymbol { name, kind, span, owner, detail, stored } = symbol;
    let of = owner.as_ref().map_or(String::new(), |it| format!(" of {it}"));
    let mut lines = Vec::new();
    if let Some(file) = read.sources.get(span.file) {
        let place = read.sources.place(*span);
        let (line, name_of_file) = place.map_or((1, String::new()), |it| {
            let file = Path::new(&it.file).file_name().unwrap_or_default();
            (it.position.line, file.to_string_lossy().into_owned())
        });
        lines.push(format!("{} `{name}`{of}, line {line} of {name_of_file}", kind_word(*kind)));
        let text: String = file.line(line).trim().chars().take(LINE_MAX).collect();
        lines.push(format!("```{}\n{text}\n```", read.language.name));
    }
    match (kind, detail) {
        (SymbolKind::Operator, Some(parameters)) => {
            lines.push(format!("parameters: `{parameters}`"));
        }
        (_, Some(ty)) => lines.push(format!("type: `{ty}`")),
        (_, None) => {}
    }
    lines.extend(stored.iter().flat_map(stored_lines));
    lines.join("\n\n")
}

/// Describes the stored values of a variable.
fn stored_lines(stored: &StoredRange) -> Vec<String> {
    let StoredRange { range, bits, is_constant, is_never_read } = *stored;
    let bits = crate::report::count(bits.into(), "bit");
    let mut lines = vec![match range {
        Some((least, most)) if least == most => format!("values: {least}; {bits} in a state"),
        Some((least, most)) => format!("values: {least} to {most}; {bits} in a state"),
        None => format!("{bits} in a state"),
    }];
    if is_constant {
        lines.push("constant: it has the same value in all states".to_owned());
    }
    if is_never_read {
        lines.push("dead: nothing reads it".to_owned());
    }
    lines
}

/// Returns the word for a kind of symbols.
fn kind_word(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Variable => "variable",
        SymbolKind::Channel => "channel",
        SymbolKind::Process => "process",
        SymbolKind::Location => "location",
        SymbolKind::Function => "function",
        SymbolKind::Rule => "rule",
        SymbolKind::Start => "start state",
        SymbolKind::Property(kind) | SymbolKind::RunProperty(kind) => kind,
        SymbolKind::Constant => "constant",
        SymbolKind::Type => "type",
        SymbolKind::Macro => "macro",
        SymbolKind::Operator => "operator",
        SymbolKind::Step => "step",
    }
}

/// Returns where the name at a position is declared.
pub(super) fn definition(open: &OpenModel, at: DocumentPosition<'_>) -> Option<Location> {
    let read = ReadModel::of(open)?;
    location_of(read.sources, read.symbol_at(at)?.span)
}

/// Returns the outline of a document.
pub(super) fn outline(open: &OpenModel, uri: &Uri) -> Option<Vec<DocumentSymbol>> {
    let read = ReadModel::of(open)?;
    let number = read.file(uri)?;
    let file = read.sources.get(number)?;
    let symbols = read.symbols.iter().filter(|it| it.span.file == number);
    let mut symbols: Vec<ModelSymbol> = symbols.cloned().collect();
    symbols.sort_by_key(|it| it.span);
    symbols.dedup_by(|one, other| (&one.name, one.span) == (&other.name, other.span));
    let is_listed = |it: &&ModelSymbol| it.kind != SymbolKind::Step && it.owner.is_none();
    let listed = symbols.iter().filter(is_listed);
    let entry = |it: &ModelSymbol| match it.kind {
        SymbolKind::Process => process_entry(file, &symbols, it),
        _ => outline_entry(file, it),
    };
    Some(listed.map(entry).collect())
}

/// Returns the entry of a process with what it declares. Its range contains its steps.
fn process_entry(
    file: &SourceFile,
    symbols: &[ModelSymbol],
    process: &ModelSymbol,
) -> DocumentSymbol {
    let own = || symbols.iter().filter(|it| it.owner.as_ref() == Some(&process.name));
    let whole = own().fold(process.span, |whole, it| whole.to(it.span));
    let named = own().filter(|it| it.kind != SymbolKind::Step);
    let children = named.map(|it| outline_entry(file, it)).collect();
    let entry = outline_entry(file, process);
    DocumentSymbol { range: range_of(file, whole), children: Some(children), ..entry }
}

fn outline_entry(file: &SourceFile, symbol: &ModelSymbol) -> DocumentSymbol {
    use lsp_types::SymbolKind as Kind;
    let kind = match symbol.kind {
        SymbolKind::Variable => Kind::VARIABLE,
        SymbolKind::Channel => Kind::INTERFACE,
        SymbolKind::Process => Kind::CLASS,
        SymbolKind::Location => Kind::ENUM_MEMBER,
        SymbolKind::Function | SymbolKind::Operator | SymbolKind::Macro => Kind::FUNCTION,
        SymbolKind::Type => Kind::STRUCT,
        SymbolKind::Rule | SymbolKind::Step => Kind::METHOD,
        SymbolKind::Start => Kind::CONSTRUCTOR,
        SymbolKind::Property(_) | SymbolKind::RunProperty(_) => Kind::BOOLEAN,
        SymbolKind::Constant => Kind::CONSTANT,
    };
    let range = range_of(file, symbol.span);
    // The type has no default.
    #[expect(deprecated)]
    DocumentSymbol {
        name: symbol.name.clone(),
        detail: Some(kind_word(symbol.kind).to_owned()),
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range: range,
        children: None,
    }
}

/// Returns the code lenses of a document: a check of the model, and one of each property.
pub(super) fn lenses(open: Option<&OpenModel>, uri: &Uri) -> Vec<CodeLens> {
    let lens = |range, title: String, mut selected: Value| {
        selected["uri"] = json!(uri);
        let arguments = Some(vec![selected]);
        let command = Command { title, command: CHECK.to_owned(), arguments };
        CodeLens { range, command: Some(command), data: None }
    };
    let mut lenses = vec![lens(Range::default(), "Check".to_owned(), json!({}))];
    let Some(read) = open.and_then(ReadModel::of) else { return lenses };
    let Some(number) = read.file(uri) else { return lenses };
    let file = read.sources.file(number);
    for symbol in read.symbols.iter().filter(|it| it.span.file == number) {
        let range = range_of(file, symbol.span);
        match symbol.kind {
            SymbolKind::RunProperty(_) => {
                let selected = json!({ "ltl": [symbol.name] });
                lenses.push(lens(range, format!("Check {}", symbol.name), selected));
            }
            SymbolKind::Property("invariant") => {
                let selected = json!({ "only": ["invariant"] });
                lenses.push(lens(range, "Check invariants".to_owned(), selected));
            }
            _ => {}
        }
    }
    lenses
}
