//! Declarations of a net: classes of values, sorts that are products of classes, partitions and variables.
//!
//! Declarations may come in any order: a sort is resolved at its first use.

use super::colours::{
    ClassId, ClassPartition, ClassValues, ColourClass, ColourDeclarations, ColourVariable,
};
use super::parse::{PnmlDeclaration, PnmlDocument, PnmlTerm};
use super::xml::PnmlResult;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use std::collections::{HashMap, HashSet};

/// The maximum number of values of a class.
const VALUES_MAX: i64 = 1 << 16;

/// The maximum length of a chain of sorts, each declared by the next.
const DEPTH_MAX: usize = 256;

/// The declared sorts that are unresolved or being resolved.
pub(super) struct UnresolvedSorts<'d> {
    declared: HashMap<&'d str, &'d PnmlDeclaration>,
    open: HashSet<&'d str>,
}

fn error<T>(span: Span, message: impl Into<String>) -> PnmlResult<T> {
    Err(Diagnostic::error(span, message))
}

impl ColourDeclarations {
    /// Returns the declarations of a net.
    pub(super) fn from_document(document: &PnmlDocument) -> PnmlResult<ColourDeclarations> {
        let mut all = ColourDeclarations::default();
        let mut pending = UnresolvedSorts { declared: HashMap::new(), open: HashSet::new() };
        for it in &document.declarations {
            let name = it.element.name.as_str();
            match name {
                "namedsort" | "partition" => {
                    let id = it.element.need("id")?;
                    if pending.declared.insert(id, it).is_some() {
                        let message = "a sort of this name has been declared before";
                        return error(it.element.span, message);
                    }
                }
                "variabledecl" => {}
                other => {
                    let message = format!("declarations by <{other}> are not read");
                    return error(it.element.span, message);
                }
            }
        }
        let of_kind = |kind: &'static str| {
            document.declarations.iter().filter(move |it| it.element.name == kind)
        };
        for it in of_kind("namedsort").chain(of_kind("partition")) {
            all.resolve(it.element.need("id")?, &mut pending)?;
        }
        for it in of_kind("variabledecl") {
            all.declare_variable(it, &mut pending)?;
        }
        Ok(all)
    }

    /// Returns the classes of a declared sort, or `None` if no sort has this name.
    fn resolve<'d>(
        &mut self,
        id: &str,
        pending: &mut UnresolvedSorts<'d>,
    ) -> PnmlResult<Option<Vec<ClassId>>> {
        if let Some(known) = self.sorts.get(id) {
            return Ok(Some(known.clone()));
        }
        let Some((&id, &declaration)) = pending.declared.get_key_value(id) else {
            return Ok(None);
        };
        let span = declaration.element.span;
        if !pending.open.insert(id) {
            return error(span, format!("the sort `{id}` is declared by itself"));
        }
        if pending.open.len() > DEPTH_MAX {
            return error(span, format!("more than {DEPTH_MAX} sorts are declared by each other"));
        }
        let classes = match declaration.element.name.as_str() {
            "partition" => vec![self.declare_partition(declaration, pending)?],
            _ => {
                let name = declaration.element.get("name").unwrap_or(id).to_owned();
                let [term] = declaration.terms.as_slice() else {
                    return error(span, "a sort is declared by one term");
                };
                self.resolve_term(term, Some(&name), pending)?
            }
        };
        pending.open.remove(id);
        self.sorts.insert(id.to_owned(), classes.clone());
        Ok(Some(classes))
    }

    fn declare_partition(
        &mut self,
        it: &PnmlDeclaration,
        pending: &mut UnresolvedSorts<'_>,
    ) -> PnmlResult<ClassId> {
        let (id, span) = (it.element.need("id")?, it.element.span);
        let Some((sort, elements)) = it.terms.split_first() else {
            return error(span, "a partition names the sort that it divides");
        };
        let [base] = self.resolve_term(sort, None, pending)?[..] else {
            return error(span, "a partition divides one class of values");
        };
        let size = self.classes[base].size() as usize;
        let (mut names, mut element_of) = (Vec::new(), vec![None; size]);
        for (element, position) in elements.iter().zip(0..) {
            let id = element.element.need("id")?;
            names.push(element.element.get("name").unwrap_or(id).to_owned());
            self.declare_constant(id, self.classes.len(), position, element.span())?;
            for value in &element.terms {
                let at = self.constant(value, base)?;
                if element_of[at as usize].replace(position).is_some() {
                    return error(value.span(), "this value is in two elements of the partition");
                }
            }
        }
        let Some(element_of) = element_of.into_iter().collect::<Option<Vec<u32>>>() else {
            let name = &self.classes[base].name;
            return error(
                span,
                format!("some value of `{name}` is in no element of the partition"),
            );
        };
        let name = it.element.get("name").unwrap_or(id).to_owned();
        let class = self.add_class(ColourClass { name, values: ClassValues::Names(names) });
        self.partitions.push(ClassPartition { class, base, element_of });
        Ok(class)
    }

    fn declare_variable(
        &mut self,
        it: &PnmlDeclaration,
        pending: &mut UnresolvedSorts<'_>,
    ) -> PnmlResult<()> {
        let (id, span) = (it.element.need("id")?.to_owned(), it.element.span);
        let name = it.element.get("name").unwrap_or(&id).to_owned();
        let [sort] = it.terms.as_slice() else {
            return error(span, "a variable is declared with one sort");
        };
        let classes = self.resolve_term(sort, None, pending)?;
        let first = self.variables.len();
        self.variables_by_name.insert(id, first..first + classes.len());
        let is_one = classes.len() == 1;
        for (class, number) in classes.into_iter().zip(1..) {
            // A variable of a product of classes becomes one variable for each class.
            let name = if is_one { name.clone() } else { format!("{name}.{number}") };
            self.variables.push(ColourVariable { name, class });
        }
        Ok(())
    }

    /// Returns the classes of a sort, once all declarations are known.
    pub(super) fn sort_of(&mut self, term: &PnmlTerm) -> PnmlResult<Vec<ClassId>> {
        let mut none = UnresolvedSorts { declared: HashMap::new(), open: HashSet::new() };
        self.resolve_term(term, None, &mut none)
    }

    /// Returns the classes of a sort; a new class gets this name.
    fn resolve_term(
        &mut self,
        term: &PnmlTerm,
        name: Option<&str>,
        pending: &mut UnresolvedSorts<'_>,
    ) -> PnmlResult<Vec<ClassId>> {
        let span = term.span();
        let values = match term.name() {
            "usersort" => {
                let declaration = term.element.need("declaration")?;
                return match self.resolve(declaration, pending)? {
                    Some(known) => Ok(known),
                    // Some tools use `dot` without declaring it.
                    None if declaration == "dot" => Ok(Vec::new()),
                    None => error(span, format!("the sort `{declaration}` is not declared")),
                };
            }
            "productsort" => {
                let each = term.terms.iter().map(|it| self.resolve_term(it, None, pending));
                return each.collect::<PnmlResult<Vec<_>>>().map(|it| it.concat());
            }
            "dot" => return Ok(Vec::new()),
            "bool" => ClassValues::Names(vec!["false".to_owned(), "true".to_owned()]),
            "cyclicenumeration" | "finiteenumeration" => {
                let names = term.terms.iter().zip(0..).map(|(it, position)| {
                    let id = it.element.need("id")?;
                    self.declare_constant(id, self.classes.len(), position, it.span())?;
                    Ok(it.element.get("name").unwrap_or(id).to_owned())
                });
                ClassValues::Names(names.collect::<PnmlResult<_>>()?)
            }
            "finiteintrange" => {
                let (low, high) = (term.element.number("start")?, term.element.number("end")?);
                let is_small = (0..VALUES_MAX).contains(&high.saturating_sub(low));
                if !is_small || low.saturating_abs() > VALUES_MAX {
                    return error(span, format!("a range has one to {VALUES_MAX} values"));
                }
                ClassValues::Range(low, high)
            }
            other => return error(span, format!("sorts by <{other}> are not read")),
        };
        let count = if let ClassValues::Names(names) = &values { names.len() as i64 } else { 1 };
        if !(1..=VALUES_MAX).contains(&count) {
            return error(span, format!("a class has one to {VALUES_MAX} values"));
        }
        // Equal sorts without a name are one class, unless they declare their values.
        let is_new = name.is_some() || term.name().ends_with("enumeration");
        let same = self.classes.iter().position(|it| !is_new && it.values == values);
        let name = name.unwrap_or(term.name()).to_owned();
        Ok(vec![same.unwrap_or_else(|| self.add_class(ColourClass { name, values }))])
    }

    fn add_class(&mut self, class: ColourClass) -> ClassId {
        self.classes.push(class);
        self.classes.len() - 1
    }

    /// Declares the name of a value of a class.
    fn declare_constant(
        &mut self,
        id: &str,
        class: ClassId,
        value: u32,
        span: Span,
    ) -> PnmlResult<()> {
        match self.constants.insert(id.to_owned(), (class, value)) {
            None => Ok(()),
            Some(_) => error(span, format!("the value `{id}` has been declared before")),
        }
    }
}
