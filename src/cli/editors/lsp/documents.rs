//! The open documents and the models in them.

use crate::cli::editors::positions::{path_of, plain_path};
use crate::diag::Diagnostic;
use crate::front::{Language, ModelForm};
use crate::session::{CheckConfig, EditedModel, ModelSymbol, is_same_file};
use crate::source::SourceMap;
use lsp_types::Uri;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// An open document.
struct OpenDocument {
    uri: Uri,
    path: PathBuf,
    text: String,
    language: Option<&'static Language>,
}

/// A model in an open document, as it was last read.
pub(super) struct OpenModel {
    /// The texts of the last reading.
    pub sources: SourceMap,
    /// The errors or warnings of the last reading.
    pub diagnostics: Vec<Diagnostic>,
    /// The language.
    pub language: &'static Language,
    /// The names of the last reading without errors, with its texts.
    pub declared: Option<(Vec<ModelSymbol>, SourceMap)>,
    /// The number of the last reading that found other texts.
    pub version: u64,
    /// Whether a text may have changed since the last reading.
    is_outdated: bool,
}

impl OpenModel {
    /// Returns whether the last reading, or the last one without errors, has read a file other than that of the model.
    /// An error in the model does not make a model of each of its parts.
    fn includes(&self, name: &str) -> bool {
        let declared = self.declared.as_ref().map(|it| &it.1);
        let mut files =
            [&self.sources].into_iter().chain(declared).flat_map(|it| it.model_files().skip(1));
        files.any(|it| is_same_file(&it.name, name))
    }
}

/// The open documents and their models, by path.
#[derive(Default)]
pub(super) struct OpenDocuments {
    documents: Vec<OpenDocument>,
    models: BTreeMap<PathBuf, OpenModel>,
    /// The number of readings that found other texts.
    readings: u64,
}

impl OpenDocuments {
    /// Opens a document, or replaces its text. The client's name of the language counts before the file name.
    pub(super) fn open(&mut self, uri: &Uri, language: &str, text: String) {
        let Some(path) = path_of(uri) else { return };
        let name = path.display().to_string();
        let language = Language::from_name(language).or_else(|| Language::from_file_name(&name));
        self.documents.retain(|it| it.path != path);
        self.documents.push(OpenDocument { uri: uri.clone(), path: path.clone(), text, language });
        self.change(&path);
    }

    /// Replaces the text of an open document.
    pub(super) fn set_text(&mut self, uri: &Uri, text: String) {
        let found = self.documents.iter_mut().find(|it| it.uri == *uri);
        let Some(document) = found else { return };
        document.text = text;
        let path = document.path.clone();
        self.change(&path);
    }

    /// Closes a document. Its model is no longer read.
    pub(super) fn close(&mut self, uri: &Uri) -> Option<PathBuf> {
        let path = path_of(uri)?;
        self.documents.retain(|it| it.path != path);
        self.models.remove(&path);
        self.change(&path);
        self.revive_parts(&[]);
        Some(path)
    }

    /// Starts to read the models in open files that no other model includes any more, except some.
    fn revive_parts(&mut self, except: &[PathBuf]) {
        let is_orphan = |it: &&OpenDocument| {
            it.language.is_some() && !except.contains(&it.path) && !self.is_read(&it.path)
        };
        let orphans: Vec<PathBuf> =
            self.documents.iter().filter(is_orphan).map(|it| it.path.clone()).collect();
        orphans.iter().for_each(|it| self.change(it));
    }

    /// Returns whether a model reads a file.
    fn is_read(&self, path: &Path) -> bool {
        let name = path.display().to_string();
        self.models.contains_key(path) || self.models.values().any(|model| model.includes(&name))
    }

    /// Marks the models that read a file, which has changed.
    pub(super) fn change(&mut self, path: &Path) {
        for root in self.roots_of(path) {
            let document = self.documents.iter().find(|it| it.path == root);
            let Some(language) = document.and_then(|it| it.language) else { continue };
            let fresh = || OpenModel {
                sources: SourceMap::default(),
                diagnostics: Vec::new(),
                language,
                declared: None,
                version: 0,
                is_outdated: true,
            };
            self.models.entry(root).or_insert_with(fresh).is_outdated = true;
        }
    }

    /// Returns the models that a file belongs to: those that have read it, or else the one in it.
    fn roots_of(&self, path: &Path) -> Vec<PathBuf> {
        let name = path.display().to_string();
        let mut roots: Vec<PathBuf> = { self.models.iter() }
            .filter(|(root, model)| root.as_path() == path || model.includes(&name))
            .map(|it| it.0.clone())
            .collect();
        roots.extend(self.configured_by(path).filter(|it| !roots.contains(it)));
        let has_model = |it: &&OpenDocument| it.path == path && it.language.is_some();
        if roots.is_empty() && self.documents.iter().any(|it| has_model(&it)) {
            roots.push(path.to_path_buf());
        }
        roots
    }

    /// Returns the open specification whose configuration a file is.
    fn configured_by(&self, path: &Path) -> Option<PathBuf> {
        let is_configured = |it: &&OpenDocument| {
            it.language.is_some_and(|language| match language.form {
                ModelForm::Specification { configuration_extension, .. } => {
                    it.path.with_extension(configuration_extension) == path
                }
                ModelForm::Program(_) => false,
            })
        };
        self.documents.iter().find(is_configured).map(|it| it.path.clone())
    }

    /// Returns the model that a document belongs to: the one in it, or else one that has read it.
    pub(super) fn root_of(&self, uri: &Uri) -> Option<PathBuf> {
        let path = path_of(uri)?;
        match self.models.contains_key(&path) {
            true => Some(path),
            false => self.roots_of(&path).into_iter().next(),
        }
    }

    /// Returns the model in a file with the texts of the open documents.
    pub(super) fn edited(&self, root: &Path) -> Option<EditedModel> {
        let document = self.documents.iter().find(|it| it.path == root)?;
        let open = self.documents.iter().map(|it| (it.path.display().to_string(), it.text.clone()));
        let open = open.collect();
        Some(EditedModel { path: root.to_path_buf(), language: document.language?, open })
    }

    /// Returns a model as it was last read.
    pub(super) fn model(&self, root: &Path) -> Option<&OpenModel> {
        self.models.get(root)
    }

    /// Returns the text of an open document.
    pub(super) fn text(&self, uri: &Uri) -> Option<&str> {
        self.documents.iter().find(|it| it.uri == *uri).map(|it| it.text.as_str())
    }

    /// Returns the address by which the client knows a file, if the file is open.
    pub(super) fn uri_of(&self, path: &Path) -> Option<&Uri> {
        let plain = plain_path(path);
        self.documents.iter().find(|it| it.path == plain).map(|it| &it.uri)
    }

    /// Reads the models whose texts may have changed. Returns the paths of those whose texts have.
    pub(super) fn read_changed(&mut self, config: &CheckConfig) -> Vec<PathBuf> {
        let (mut read, mut changed) = (Vec::new(), Vec::new());
        loop {
            let outdated = self.models.iter().filter(|it| it.1.is_outdated);
            let outdated: Vec<PathBuf> = outdated.map(|it| it.0.clone()).collect();
            if outdated.is_empty() {
                return changed;
            }
            changed.extend(outdated.iter().filter(|it| self.read_model(it, config)).cloned());
            self.drop_included(&outdated);
            read.extend(outdated);
            // Each model is read once, so the reading of models that include each other ends.
            self.revive_parts(&read);
        }
    }

    /// Reads a model. Returns whether its texts have changed.
    fn read_model(&mut self, root: &Path, config: &CheckConfig) -> bool {
        let Some(edited) = self.edited(root) else {
            self.models.remove(root);
            return false;
        };
        let reading = catch_unwind(AssertUnwindSafe(|| edited.read(config)));
        let Some(model) = self.models.get_mut(root) else { return false };
        model.is_outdated = false;
        let failure = match reading {
            Ok(Ok(reading)) if reading.sources.model_texts() == model.sources.model_texts() => {
                return false;
            }
            Ok(Ok(reading)) => {
                if let Some(symbols) = reading.symbols {
                    model.declared = Some((symbols, reading.sources.clone()));
                }
                (model.sources, model.diagnostics) = (reading.sources, reading.diagnostics);
                None
            }
            Ok(Err(why)) => Some(why.to_string()),
            Err(_) => Some(BUG.to_owned()),
        };
        if let Some(why) = failure {
            let error = Diagnostic::error(Default::default(), why);
            (model.sources, model.diagnostics) = (SourceMap::default(), vec![error]);
        }
        self.readings += 1;
        model.version = self.readings;
        true
    }

    /// Forgets the models in files that another model includes.
    fn drop_included(&mut self, read: &[PathBuf]) {
        for root in read {
            let Some(model) = self.models.get(root) else { continue };
            let names: Vec<PathBuf> = { model.sources.model_files().skip(1) }
                .map(|it| plain_path(Path::new(&it.name)))
                // A model may include itself.
                .filter(|it| it != root)
                .collect();
            self.models.retain(|path, _| !names.contains(path));
        }
    }
}

/// What a panic of a front end is called.
const BUG: &str = "this model cannot be read; this is a bug in spillway, please report it";
