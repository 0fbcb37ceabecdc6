//! The modules of a specification: the root and all that it extends or instantiates.
//!
//! A module is searched in these places, in this order: after the first module of a file that was read, next to the
//! root's file, in further folders, in the folders of the variable `TLA_LIBRARY`. A standard module that is native needs
//! no file. A community module that is partly native is read if the search finds its file.

use crate::library::StandardModule;
use crate::syntax::ast::{
    Argument, Definition, DefinitionBody, Expr, Instance, LetUnit, Module, Name, Unit,
};
use crate::syntax::lexer::{ModuleHeader, module_headers};
use crate::syntax::parser::parse_from;
use crate::syntax::walk;
use spillway_base::diag::Diagnostic;
use spillway_base::source::{SourceMap, Span, read};
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The places in which modules are searched.
#[derive(Clone, Debug, Default)]
pub struct SearchPath {
    /// The folders, in order.
    pub folders: Vec<PathBuf>,
    /// The texts that take the place of all files, if there are any.
    texts: Option<Vec<NamedText>>,
    /// The texts that take the place of single files, as an editor has them.
    open: Vec<NamedText>,
}

/// A text that takes the place of a file.
#[derive(Clone, Debug)]
pub struct NamedText {
    /// The path of the file.
    pub path: PathBuf,
    /// The content.
    pub text: String,
}

impl SearchPath {
    /// Creates the search path for a root module: its folder, further folders, and those of a value of `TLA_LIBRARY`.
    pub fn new(root: &Path, further: &[PathBuf], library: Option<&std::ffi::OsStr>) -> Self {
        let own = root.parent().map(Path::to_owned).unwrap_or_default();
        let mut folders = vec![own];
        folders.extend(further.iter().cloned());
        folders.extend(library.iter().flat_map(|it| std::env::split_paths(it)));
        Self { folders, ..Self::default() }
    }

    /// Sets texts that take the place of single files.
    pub fn with_open_texts(self, open: Vec<NamedText>) -> Self {
        Self { open, ..self }
    }

    /// Creates a search path on which these texts are the only files.
    pub fn of_texts(texts: Vec<NamedText>) -> Self {
        Self { texts: Some(texts), ..Self::default() }
    }

    /// Returns the file of a module.
    pub fn find(&self, module: &str) -> Option<PathBuf> {
        let name = format!("{module}.tla");
        let Some(texts) = &self.texts else {
            let is_open = |path: &PathBuf| self.open.iter().any(|it| it.path == *path);
            let paths = self.folders.iter().map(|it| it.join(&name));
            return { paths }.find(|it| is_open(it) || it.is_file());
        };
        let is_wanted = |it: &&NamedText| it.path.file_name().is_some_and(|it| *it == *name);
        texts.iter().find(is_wanted).map(|it| it.path.clone())
    }

    /// Returns the text of a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no UTF-8.
    pub(crate) fn read(&self, path: &Path) -> io::Result<String> {
        if let Some(open) = self.open.iter().find(|it| it.path == path) {
            return Ok(open.text.clone());
        }
        let Some(texts) = &self.texts else {
            let text = String::from_utf8(read(path)?);
            return text.map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is no UTF-8"));
        };
        let found = texts.iter().find(|it| it.path == path);
        found.map(|it| it.text.clone()).ok_or_else(|| io::Error::from(ErrorKind::NotFound))
    }
}

/// The modules of a specification.
#[derive(Clone, Debug, Default)]
pub struct ModuleSet {
    /// The files' modules in the order in which they are read: the root first, each before those that it needs.
    pub modules: Vec<Module>,
    /// The index of each module by its name.
    indices: HashMap<String, usize>,
    /// The indices in an order in which each module follows those that it needs.
    pub order: Vec<usize>,
    /// What each module needs.
    pub needs: Vec<ModuleNeeds>,
}

/// The modules that a module needs, by name, without those inside it.
#[derive(Clone, Debug, Default)]
pub struct ModuleNeeds {
    /// Those of EXTENDS.
    pub extends: Vec<Name>,
    /// Those of INSTANCE.
    pub instances: Vec<Name>,
}

impl ModuleSet {
    /// Returns the root module.
    pub fn root(&self) -> &Module {
        &self.modules[0]
    }

    /// Returns the module of a file by its name.
    pub fn get(&self, name: &str) -> Option<&Module> {
        self.index(name).map(|it| &self.modules[it])
    }

    /// Returns the index of the module of a file by its name.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }
}

/// Reads a root module and all that it needs. Adds their texts to the sources.
pub fn load(
    root: &Path,
    search: &SearchPath,
    sources: &mut SourceMap,
) -> Result<ModuleSet, Diagnostic> {
    let file = read_file(root, search, sources)?;
    load_file(file, search, sources)
}

/// Reads a root module in a file of the sources, and all that it needs. Adds the other texts to the sources.
pub fn load_file(
    file: u32,
    search: &SearchPath,
    sources: &mut SourceMap,
) -> Result<ModuleSet, Diagnostic> {
    let (set, open, further) = (ModuleSet::default(), Vec::new(), HashMap::new());
    let mut loader = Loader { search, sources, set, open, further };
    loader.add_file(file)?;
    Ok(loader.set)
}

/// Reads a file into the sources, and returns its index.
pub(crate) fn read_file(
    path: &Path,
    search: &SearchPath,
    sources: &mut SourceMap,
) -> Result<u32, Diagnostic> {
    let text = search.read(path).map_err(|error| {
        let message = format!("cannot read {}: {error}", path.display());
        let diagnostic = Diagnostic::error(Span::default(), message);
        match error.kind() {
            ErrorKind::InvalidData => diagnostic.help("save the file as UTF-8"),
            _ => diagnostic,
        }
    })?;
    Ok(sources.add(path.display().to_string(), text))
}

/// Reads a root module from a text with a name, and all that it needs. Adds the texts to the sources.
pub fn load_text(
    name: &str,
    text: &str,
    search: &SearchPath,
    sources: &mut SourceMap,
) -> Result<ModuleSet, Diagnostic> {
    let (set, open, further) = (ModuleSet::default(), Vec::new(), HashMap::new());
    let mut loader = Loader { search, sources, set, open, further };
    let file = loader.sources.add(name, text);
    let module = loader.parse_file(file)?;
    loader.add(module)?;
    Ok(loader.set)
}

struct Loader<'a> {
    search: &'a SearchPath,
    sources: &'a mut SourceMap,
    set: ModuleSet,
    /// The names of the modules that are being read, from the root to the present one.
    open: Vec<String>,
    /// The modules that follow the first one in their file.
    further: HashMap<String, FurtherModule>,
}

/// A module that follows another one in its file.
#[derive(Clone, Copy)]
struct FurtherModule {
    file: u32,
    start: usize,
}

impl Loader<'_> {
    /// Adds the first module of a file, which has the name of the file.
    fn add_file(&mut self, file: u32) -> Result<(), Diagnostic> {
        let module = self.parse_file(file)?;
        let path = Path::new(&self.sources.file(file).name);
        if path.file_stem().is_none_or(|it| *it != *module.name.text) {
            let message = format!("the module `{}` is in a file of another name", module.name.text);
            return Err(Diagnostic::error(module.name.span, message)
                .help(format!("name the file `{}.tla`", module.name.text)));
        }
        self.add(module)
    }

    /// Parses the first module of a file, and finds those that follow.
    fn parse_file(&mut self, file: u32) -> Result<Module, Diagnostic> {
        let text = &self.sources.file(file).text;
        let module = parse_from(file, text, 0)?;
        for ModuleHeader { name, start } in module_headers(text, module.span.end as usize) {
            self.further.entry(name).or_insert(FurtherModule { file, start });
        }
        Ok(module)
    }

    /// Adds a module, then the modules that it needs.
    fn add(&mut self, module: Module) -> Result<(), Diagnostic> {
        let needed = needed_by(&module);
        let (index, name) = (self.set.modules.len(), module.name.text.to_string());
        self.set.indices.insert(name.clone(), index);
        self.set.modules.push(module);
        self.set.needs.push(needed.clone());
        self.open.push(name);
        for name in needed.extends.iter().chain(&needed.instances) {
            self.require(name)?;
        }
        self.open.pop();
        self.set.order.push(index);
        Ok(())
    }

    fn require(&mut self, name: &Name) -> Result<(), Diagnostic> {
        if self.open.iter().any(|it| **it == *name.text) {
            let message = format!("the module `{}` needs itself", name.text);
            let chain = format!("{} -> {}", self.open.join(" -> "), name.text);
            return Err(Diagnostic::error(name.span, message).help(chain));
        }
        let standard = StandardModule::find(&name.text);
        if self.set.indices.contains_key(&*name.text) || standard.is_some_and(|it| it.is_complete) {
            return Ok(());
        }
        if let Some(&FurtherModule { file, start }) = self.further.get(&*name.text) {
            let module = parse_from(file, &self.sources.file(file).text, start)?;
            return self.add(module);
        }
        match self.search.find(&name.text) {
            Some(path) => {
                let file = read_file(&path, self.search, self.sources);
                self.add_file(file.map_err(|it| Diagnostic { span: name.span, ..it })?)
            }
            None if standard.is_some() => Ok(()),
            None => {
                let folders: Vec<String> =
                    self.search.folders.iter().map(|it| format!("`{}`", it.display())).collect();
                let message = format!("there is no module `{}`", name.text);
                Err(Diagnostic::error(name.span, message).help(format!(
                    "no file `{}.tla` in {}; name further folders with --library or in TLA_LIBRARY",
                    name.text,
                    folders.join(", ")
                )))
            }
        }
    }
}

/// Returns the modules that a module needs, in the order of its text.
fn needed_by(module: &Module) -> ModuleNeeds {
    let mut needed = NeededModules::default();
    needed.add_module(module);
    needed.needs
}

/// Collects names of modules.
#[derive(Default)]
struct NeededModules {
    needs: ModuleNeeds,
    /// The names of the inner modules that are in scope.
    inner: Vec<Box<str>>,
}

impl NeededModules {
    fn add_instantiated(&mut self, name: &Name) {
        if !self.inner.contains(&name.text) {
            self.needs.instances.push(name.clone());
        }
    }

    fn add_module(&mut self, module: &Module) {
        let scope = self.inner.len();
        for name in &module.extends {
            if !self.inner.contains(&name.text) {
                self.needs.extends.push(name.clone());
            }
        }
        for unit in &module.units {
            match unit {
                Unit::Module(inner) => {
                    self.add_module(inner);
                    self.inner.push(inner.name.text.clone());
                }
                Unit::Definition { definition, .. } => self.add_definition(definition),
                Unit::Instance { instance, .. } => self.add_instance(instance),
                Unit::Assume { body, .. } => self.add_expr(body),
                _ => {}
            }
        }
        self.inner.truncate(scope);
    }

    fn add_definition(&mut self, definition: &Definition) {
        match &definition.body {
            DefinitionBody::Operator(body) => self.add_expr(body),
            DefinitionBody::Function { bounds, body } => {
                bounds.iter().for_each(|it| self.add_expr(&it.set));
                self.add_expr(body);
            }
            DefinitionBody::Instance(instance) => self.add_instance(instance),
        }
    }

    fn add_instance(&mut self, instance: &Instance) {
        self.add_instantiated(&instance.module);
        for substitution in &instance.substitutions {
            match &substitution.value {
                Argument::Expression(value) => self.add_expr(value),
                Argument::Lambda { body, .. } => self.add_expr(body),
                Argument::Symbol { .. } => {}
            }
        }
    }

    /// Adds the modules of instances within LET.
    fn add_expr(&mut self, expr: &Expr) {
        walk::each_let_unit(expr, &mut |unit| {
            if let LetUnit::Definition(Definition {
                body: DefinitionBody::Instance(instance),
                ..
            }) = unit
            {
                self.add_instantiated(&instance.module);
            }
        });
    }
}
