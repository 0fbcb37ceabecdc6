//! Lowering of rules to actions, starts and properties, with the parameters of the enclosing constructs.
//!
//! The enclosing constructs are lowered again for each rule inside, because each rule has its own locals.

use super::super::ast::{
    AliasDefinition, MurphiBlock, MurphiExpr as Tree, MurphiPropertyKind as TreeProperty,
    MurphiQuantifier, MurphiRule, MurphiRuleKind, SourceName,
};
use super::super::lex::unescaped;
use super::constant_folding::binary;
use super::places::PlaceOrValue;
use super::sorts::ScalarSort;
use super::statements::AliasBinding;
use super::{BodyContext, HoistPolicy, LocalKind, MurphiLowering, MurphiMeaning};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{
    Action, ActionControl, BinaryOp, Expr, ExprKind, MultisetContains, Parameter, ProgramProperty,
    PropertyKind, Quantifier as Which, StartRule, Stmt, UnaryOp, UncheckedKind,
    UncheckedRequirement,
};

/// A construct that encloses rules.
#[derive(Clone, Copy)]
enum RuleEnclosure<'m, 'a> {
    Quantifier(&'m MurphiQuantifier<'a>),
    Alias(&'m AliasDefinition<'a>),
    Choose(SourceName<'a>, &'m Tree<'a>),
}

/// A rule or a property, with its enclosing constructs.
struct EnclosedRule<'m, 'a> {
    context: RuleContext<'m, 'a>,
    name: String,
    span: Span,
}

/// The result of lowering the constructs around a rule.
#[derive(Default)]
struct RuleContext<'m, 'a> {
    parameters: Vec<Parameter>,
    /// The conditions on the parameters: that the chosen elements exist.
    conditions: Vec<Expr>,
    /// Aliases that depend on the state, for bodies to evaluate once.
    aliases: Vec<&'m AliasDefinition<'a>>,
}

impl<'a> MurphiLowering<'a, '_> {
    /// Lowers all rules of the model.
    pub(super) fn all_rules(&mut self, rules: &[MurphiRule<'a>]) {
        self.rules(rules, &mut Vec::new());
        let end = Span::default();
        if self.report.errors() > 0 {
            return;
        }
        if self.program.starts.is_empty() {
            let help = "it needs one: `startstate ... end;`";
            self.error_with(end, "the model has no start state", help);
        }
    }

    fn rules<'m>(&mut self, rules: &'m [MurphiRule<'a>], around: &mut Vec<RuleEnclosure<'m, 'a>>) {
        for rule in rules {
            if self.report.is_full() {
                return;
            }
            let depth = around.len();
            match &rule.kind {
                MurphiRuleKind::Ruleset(quantifiers, rules) => {
                    around.extend(quantifiers.iter().map(RuleEnclosure::Quantifier));
                    self.rules(rules, around);
                }
                MurphiRuleKind::Alias(aliases, rules) => {
                    around.extend(aliases.iter().map(RuleEnclosure::Alias));
                    self.rules(rules, around);
                }
                MurphiRuleKind::Choose(name, multiset, rules) => {
                    around.push(RuleEnclosure::Choose(*name, multiset));
                    self.rules(rules, around);
                }
                _ => self.rule(rule, around),
            }
            around.truncate(depth);
        }
    }

    fn rule(&mut self, rule: &MurphiRule<'a>, around: &[RuleEnclosure<'_, 'a>]) {
        self.body = BodyContext::default();
        let depth = self.scopes.depth();
        self.scopes.push();
        if let Some(context) = self.enter(around) {
            let span = rule.span;
            match &rule.kind {
                MurphiRuleKind::Simple { name, priority, guard, block } => {
                    let name = self.rule_name(*name, "rule", span);
                    let rule = EnclosedRule { context, name, span };
                    self.action(rule, -priority, guard.as_ref(), block);
                }
                MurphiRuleKind::Start { name, block } => {
                    let name = self.rule_name(*name, "start state", span);
                    self.start(EnclosedRule { context, name, span }, block);
                }
                MurphiRuleKind::Property { kind, name, condition } => {
                    let word =
                        if *kind == TreeProperty::Invariant { "invariant" } else { "property" };
                    let name = self.rule_name(*name, word, span);
                    self.property(EnclosedRule { context, name, span }, *kind, condition);
                }
                _ => unreachable!("what encloses rules is no rule"),
            }
        }
        self.scopes.close(depth);
    }

    fn rule_name(&self, name: Option<&str>, what: &str, span: Span) -> String {
        match name {
            Some(name) => unescaped(name).trim().to_owned(),
            None => format!("{what} of line {}", self.report.line(span)),
        }
    }

    /// Declares the names of the constructs around a rule.
    fn enter<'m>(&mut self, around: &[RuleEnclosure<'m, 'a>]) -> Option<RuleContext<'m, 'a>> {
        let mut entered = RuleContext::default();
        for enclosure in around {
            self.scopes.push();
            match enclosure {
                RuleEnclosure::Quantifier(quantifier) => {
                    let (local, over) = self.bind_quantifier(quantifier)?;
                    let (low, high) = self.program.bounds(self.domain(over)?);
                    // Executors number the values of a rule's parameters.
                    if u32::try_from(i128::from(high) - i128::from(low) + 1).is_err() {
                        let message = "this ranges over more than 2^32 - 1 values";
                        self.error(quantifier.name.span, message);
                        return None;
                    }
                    let name = quantifier.name.text.to_owned();
                    entered.parameters.push(Parameter { local, name, over });
                }
                RuleEnclosure::Alias(alias) => {
                    // Guards and properties change nothing, so there an alias is replaced by its definition.
                    let meaning =
                        match self.without_hoisting(|it| it.lower_place_or_value(&alias.value))? {
                            PlaceOrValue::TypedPlace(part) => {
                                if !super::places::is_fixed(&part.place) {
                                    entered.aliases.push(alias);
                                }
                                MurphiMeaning::Place(part.place, part.ty, part.writable)
                            }
                            PlaceOrValue::Value(value, sort) => {
                                if !super::constant_folding::is_stable(&value) {
                                    entered.aliases.push(alias);
                                }
                                MurphiMeaning::Value(value, sort)
                            }
                        };
                    self.declare(alias.name, meaning);
                }
                RuleEnclosure::Choose(name, multiset) => {
                    let found = self.without_hoisting(|it| it.multiset(multiset))?;
                    let over = self.range_type(0, i64::from(found.capacity) - 1);
                    let (local, span) = (self.fresh(LocalKind::Value(over)), name.span);
                    let position = Expr::new(ExprKind::Local(local), span);
                    let there =
                        MultisetContains { multiset: found.place, position: position.clone() };
                    let kind = ExprKind::Contains(Box::new(there));
                    entered.conditions.push(Expr::new(kind, span));
                    self.declare(*name, MurphiMeaning::Value(position, ScalarSort::Number));
                    let name = name.text.to_owned();
                    entered.parameters.push(Parameter { local, name, over });
                }
            }
        }
        Some(entered)
    }

    /// Lowers the body of a rule, in which aliases are evaluated once.
    fn rule_body(
        &mut self,
        aliases: &[&AliasDefinition<'a>],
        block: &MurphiBlock<'a>,
    ) -> Option<Vec<Stmt>> {
        self.body.hoists = HoistPolicy::All;
        let mut found: Vec<(SourceName<'a>, AliasBinding)> = Vec::new();
        for alias in aliases {
            let value = self.without_hoisting(|it| it.lower_place_or_value(&alias.value))?;
            self.scopes.push();
            found.extend(self.alias(alias.name, value).map(|it| (alias.name, it)));
        }
        let body = self.block(block);
        Some(found.into_iter().rev().fold(body, |body, (name, found)| {
            vec![Stmt { kind: found.wrap_body(name, body), span: name.span }]
        }))
    }

    fn action(
        &mut self,
        rule: EnclosedRule<'_, 'a>,
        priority: i32,
        guard: Option<&Tree<'a>>,
        block: &MurphiBlock<'a>,
    ) {
        let EnclosedRule { context: entered, name, span } = rule;
        let guard = match guard {
            Some(guard) => self.pure_condition(guard),
            None => Some(Expr::constant(1, span)),
        };
        let body = self.rule_body(&entered.aliases, block);
        let (Some(guard), Some(body)) = (guard, body) else { return };
        let guard =
            entered.conditions.into_iter().rev().fold(guard, |guard, condition| {
                match guard.as_constant() {
                    Some(1) => condition,
                    _ => binary(BinaryOp::And, condition, guard, span),
                }
            });
        self.program.actions.push(Action {
            name,
            edge: None,
            parameters: entered.parameters,
            guard: (guard.as_constant() != Some(1)).then_some(guard),
            communication: None,
            body,
            priority,
            control: ActionControl::default(),
            span,
        });
    }

    fn start(&mut self, rule: EnclosedRule<'_, 'a>, block: &MurphiBlock<'a>) {
        let EnclosedRule { context: entered, name, span } = rule;
        if !entered.conditions.is_empty() {
            return self.error(span, "before the start, multisets have nothing to choose");
        }
        let Some(body) = self.rule_body(&entered.aliases, block) else { return };
        self.program.starts.push(StartRule { name, parameters: entered.parameters, body, span });
    }

    fn property(&mut self, rule: EnclosedRule<'_, 'a>, kind: TreeProperty, condition: &Tree<'a>) {
        let EnclosedRule { context: entered, name, span } = rule;
        let Some(condition) = self.pure_condition(condition) else { return };
        let place = condition.span;
        // A cover must hold for some values of the parameters, other properties for all.
        let (by, quantifier) = match kind {
            TreeProperty::Cover => (BinaryOp::And, Which::Some),
            _ => (BinaryOp::Implies, Which::All),
        };
        let condition = entered
            .conditions
            .into_iter()
            .rev()
            .fold(condition, |all, chosen| binary(by, chosen, all, place));
        let condition = entered.parameters.into_iter().rev().fold(condition, |body, it| {
            let (local, over, body) = (it.local, it.over, Box::new(body));
            let kind = ExprKind::Quantified { quantifier, local, over, body };
            Expr::new(kind, place)
        });
        let kind = match kind {
            TreeProperty::Invariant => PropertyKind::Invariant(condition),
            TreeProperty::Assume => PropertyKind::Assumption(condition),
            TreeProperty::Cover => PropertyKind::Cover(Expr::new(
                ExprKind::Unary(UnaryOp::Not, Box::new(condition)),
                place,
            )),
            TreeProperty::Liveness => {
                let kind = UncheckedKind::Liveness;
                self.program.unchecked.push(UncheckedRequirement {
                    kind,
                    name: name.clone(),
                    span,
                });
                let message = format!("`{name}` is read, but not verified yet");
                return self.report.add(Diagnostic::warning(span, message));
            }
        };
        self.program.properties.push(ProgramProperty { name, kind, span });
    }
}
