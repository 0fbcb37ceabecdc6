//! A resolved net: places with their colours and initial tokens, transitions with their arcs.

use super::colour_guard::ColourGuard;
use super::colours::{BagAddend, ClassId, ColourComponent, ColourDeclarations, TOKENS_MAX};
use super::parse::{ArcKind, ArcNode, PnmlDocument};
use super::xml::PnmlResult;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::validate::SCALARS_MAX;
use std::collections::{HashMap, HashSet};

/// A net.
pub(super) struct PetriNet {
    pub(super) colours: ColourDeclarations,
    pub(super) places: Vec<PetriPlace>,
    pub(super) transitions: Vec<PetriTransition>,
    /// Whether the file declares that no place ever has more than one token.
    pub(super) declared_safe: bool,
}

/// A place.
pub(super) struct PetriPlace {
    pub(super) id: String,
    /// The name in reports, unique among places.
    pub(super) name: String,
    /// The classes of its colours; empty for a place without colours.
    pub(super) sort: Vec<ClassId>,
    /// The initial tokens of each colour; colours that differ only in the last component are adjacent.
    pub(super) initial: Vec<i64>,
    pub(super) span: Span,
}

/// A transition.
pub(super) struct PetriTransition {
    pub(super) id: String,
    /// The name in reports, unique among transitions.
    pub(super) name: String,
    pub(super) condition: Option<ColourGuard>,
    /// The text of the condition, if the file has one.
    pub(super) condition_text: Option<String>,
    pub(super) arcs: Vec<PetriArc>,
    pub(super) span: Span,
}

/// An arc between a transition and a place.
#[derive(Clone, Debug)]
pub(super) struct PetriArc {
    pub(super) place: usize,
    pub(super) effect: ArcEffect,
    /// The tokens.
    pub(super) bag: Vec<BagAddend>,
    pub(super) span: Span,
}

/// The effect of an arc on its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArcEffect {
    /// The transition removes them.
    Take,
    /// The transition adds them.
    Put,
    /// The transition requires them.
    Test,
    /// The transition requires fewer tokens of each of these colours.
    Inhibit,
    /// The transition removes all tokens.
    Reset,
}

/// The node that a name of the file denotes.
#[derive(Clone, Copy)]
enum PetriNode {
    Place(usize),
    Transition(usize),
}

/// Assigns each node a name that is unique within its kind and that can be written in quotes.
struct UniqueNodeNames<'d> {
    /// The names in the file.
    written: HashSet<&'d str>,
    given: HashSet<String>,
}

impl<'d> UniqueNodeNames<'d> {
    fn new(written: impl Iterator<Item = &'d String>) -> Self {
        UniqueNodeNames { written: written.map(String::as_str).collect(), given: HashSet::new() }
    }

    /// Returns the written name, the id, or both: the first of these that no other node has.
    fn unique_name(&mut self, name: &str, id: &str) -> String {
        let is_own = |it: &&str| *it == name || !self.written.contains(it);
        let plain = [name, id].into_iter().filter(is_own).map(|it| it.replace('"', "'"));
        let both = format!("{name} ({id})").replace('"', "'");
        let numbered = (2..).map(|number| format!("{both} {number}"));
        let mut all = plain.chain([both.clone()]).chain(numbered);
        let free = all.find(|it| !it.is_empty() && !self.given.contains(it));
        let free = free.unwrap_or_else(|| unreachable!("there are numbers without end"));
        self.given.insert(free.clone());
        free
    }
}

impl PetriNet {
    /// Returns whether a place or a transition has this name.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.places.iter().any(|it| it.name == name)
            || self.transitions.iter().any(|it| it.name == name)
    }

    pub(super) fn from_document(document: &PnmlDocument) -> PnmlResult<PetriNet> {
        let mut net = PetriNet {
            colours: ColourDeclarations::from_document(document)?,
            places: Vec::new(),
            transitions: Vec::new(),
            declared_safe: document.declared_safe,
        };
        let mut nodes = HashMap::new();
        let mut names = UniqueNodeNames::new(document.places.iter().map(|it| &it.name));
        let is_coloured = document.is_coloured();
        let mut twice = |id: &str, node, span| match nodes.insert(id.to_owned(), node) {
            None => Ok(()),
            Some(_) => {
                Err(Diagnostic::error(span, format!("something else has the id `{id}`, too")))
            }
        };
        for it in &document.places {
            twice(&it.id, PetriNode::Place(net.places.len()), it.span)?;
            let sort = match &it.sort {
                Some(sort) if is_coloured => net.colours.sort_of(sort)?,
                _ => Vec::new(),
            };
            let name = names.unique_name(&it.name, &it.id);
            let id = it.id.clone();
            let mut place = PetriPlace { id, name, sort, initial: Vec::new(), span: it.span };
            let bag = match (&it.marking, it.tokens) {
                (Some(marking), _) => net.colours.bag(marking, &place.sort)?,
                (None, Some(tokens)) => vec![plain(tokens, it.span)?],
                (None, None) => Vec::new(),
            };
            place.mark(&net.colours, &bag)?;
            net.places.push(place);
        }
        let mut names = UniqueNodeNames::new(document.transitions.iter().map(|it| &it.name));
        for it in &document.transitions {
            twice(&it.id, PetriNode::Transition(net.transitions.len()), it.span)?;
            let condition =
                it.condition.as_ref().map(|it| ColourGuard::from_term(&net.colours, it));
            net.transitions.push(PetriTransition {
                id: it.id.clone(),
                name: names.unique_name(&it.name, &it.id),
                condition: condition.transpose()?,
                condition_text: it.says.clone(),
                arcs: Vec::new(),
                span: it.span,
            });
        }
        for arc in &document.arcs {
            let [source, target] =
                [&arc.source, &arc.target].map(|it| find(&nodes, document, it, arc.span));
            net.connect(arc, source?, target?)?;
        }
        Ok(net)
    }

    fn connect(&mut self, arc: &ArcNode, source: PetriNode, target: PetriNode) -> PnmlResult<()> {
        let error = |message: &str| Err(Diagnostic::error(arc.span, message));
        let (place, transition, does) = match ((source, target), arc.kind) {
            ((PetriNode::Place(place), PetriNode::Transition(it)), ArcKind::Normal) => {
                (place, it, ArcEffect::Take)
            }
            ((PetriNode::Transition(it), PetriNode::Place(place)), ArcKind::Normal) => {
                (place, it, ArcEffect::Put)
            }
            ((PetriNode::Place(place), PetriNode::Transition(it)), ArcKind::Test) => {
                (place, it, ArcEffect::Test)
            }
            ((PetriNode::Place(place), PetriNode::Transition(it)), ArcKind::Inhibitor) => {
                (place, it, ArcEffect::Inhibit)
            }
            ((PetriNode::Place(place), PetriNode::Transition(it)), ArcKind::Reset) => {
                (place, it, ArcEffect::Reset)
            }
            ((PetriNode::Transition(_), PetriNode::Place(_)), _) => {
                return error("such an arc leads from a place to a transition");
            }
            _ => {
                return error(
                    "an arc leads from a place to a transition, or from a transition to a place",
                );
            }
        };
        let sort = &self.places[place].sort;
        let bag = match (&arc.inscription, sort.is_empty()) {
            (Some(term), _) => self.colours.bag(term, sort)?,
            (None, true) => vec![plain(arc.weight.unwrap_or(1), arc.span)?],
            (None, false) if does == ArcEffect::Reset => Vec::new(),
            (None, false) => {
                let message =
                    format!("the arc does not say which tokens of `{}`", self.places[place].name);
                return Err(Diagnostic::error(arc.span, message)
                    .help("as the <structure> of its <hlinscription>"));
            }
        };
        self.reject_negative(&bag, self.transitions[transition].condition.as_ref(), arc.span)?;
        let flows = &mut self.transitions[transition].arcs;
        let known = flows.iter_mut().find(|it| it.place == place && it.effect == does);
        match known.filter(|_| matches!(does, ArcEffect::Take | ArcEffect::Put)) {
            Some(flow) => flow.bag.extend(bag),
            None => flows.push(PetriArc { place, effect: does, bag, span: arc.span }),
        }
        Ok(())
    }
}

/// Returns tokens without colour.
fn plain(times: i64, span: Span) -> PnmlResult<BagAddend> {
    match (0..=TOKENS_MAX).contains(&times) {
        true => Ok(BagAddend { times, colour: Vec::new(), span }),
        false => {
            Err(Diagnostic::error(span, format!("a number of tokens is from 0 to {TOKENS_MAX}")))
        }
    }
}

/// Returns the node that a name denotes, through reference nodes.
fn find(
    nodes: &HashMap<String, PetriNode>,
    document: &PnmlDocument,
    name: &str,
    span: Span,
) -> PnmlResult<PetriNode> {
    let (mut at, mut steps) = (name, 0);
    while let Some(next) =
        document.references.get(at).filter(|_| steps <= document.references.len())
    {
        (at, steps) = (next, steps + 1);
    }
    let unknown = || format!("there is no place or transition `{at}`");
    nodes.get(at).copied().ok_or_else(|| Diagnostic::error(span, unknown()))
}

impl PetriPlace {
    /// Adds the initial tokens.
    fn mark(&mut self, colours: &ColourDeclarations, bag: &[BagAddend]) -> PnmlResult<()> {
        let sizes: Vec<u64> =
            self.sort.iter().map(|it| u64::from(colours.classes[*it].size())).collect();
        let count = sizes
            .iter()
            .try_fold(1u64, |all, it| all.checked_mul(*it).filter(|it| *it <= SCALARS_MAX));
        let Some(count) = count else {
            let message = format!("the place has more than {SCALARS_MAX} colours");
            return Err(Diagnostic::error(self.span, message));
        };
        self.initial = vec![0; count as usize];
        for it in bag {
            for colour in colours_of(&it.colour, &sizes, it.span)? {
                let tokens = &mut self.initial[colour as usize];
                *tokens = tokens.saturating_add(it.times);
            }
        }
        match self.initial.iter().all(|it| (0..=TOKENS_MAX).contains(it)) {
            true => Ok(()),
            false => Err(Diagnostic::error(
                self.span,
                format!("a place has from 0 to {TOKENS_MAX} tokens of a colour"),
            )),
        }
    }
}

/// Returns the numbers of these colours in a product of classes of these sizes.
fn colours_of(parts: &[ColourComponent], sizes: &[u64], span: Span) -> PnmlResult<Vec<u64>> {
    let mut all = vec![0];
    for (part, size) in parts.iter().zip(sizes) {
        let positions = match part {
            ColourComponent::Constant(it) => u64::from(*it)..u64::from(*it) + 1,
            ColourComponent::All => 0..*size,
            ColourComponent::Variable(..) | ColourComponent::Element(..) => {
                return Err(Diagnostic::error(span, "the first tokens have no variables"));
            }
        };
        let longer = |it: u64| positions.clone().map(move |position| it * size + position);
        all = all.into_iter().flat_map(longer).collect();
    }
    Ok(all)
}
