//! The generation of expressions: every operator, with operands of any kind.

use super::{Bound, Builder};
use spillway::ir::{
    Arithmetic, BinaryOp, ChannelRef, Entity, Expr, ExprKind, LocationId, PlaceRoot, ProcessId,
    Quantifier, Type, UnaryOp,
};

/// The maximum nesting of expressions, not counting the indices and guards inside.
pub(super) const DEPTH: u32 = 3;

const COMPARISONS: [BinaryOp; 6] = [
    BinaryOp::Equal,
    BinaryOp::NotEqual,
    BinaryOp::Less,
    BinaryOp::LessEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterEqual,
];

impl Builder<'_> {
    /// Returns an expression of any value.
    pub(super) fn any_expr(&mut self, depth: u32) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        match self.choices.weighted(&[22, 7, 18, 8, 14, 10, 6, 7, 9, 4, 4, 4, 3, 5]) {
            0 => self.leaf(),
            1 => {
                let operator =
                    self.choices.pick(&[UnaryOp::Not, UnaryOp::Negate, UnaryOp::Complement]);
                let operand = Box::new(self.any_expr(depth - 1));
                self.expr(ExprKind::Unary(operator, operand))
            }
            2 => self.arithmetic(depth),
            3 => {
                let operators = [BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor];
                self.operation(&operators, depth)
            }
            4 => self.operation(&COMPARISONS, depth),
            5 => self.operation(&[BinaryOp::And, BinaryOp::Or, BinaryOp::Implies], depth),
            6 => self.shielded(depth),
            7 => {
                let condition = self.any_expr(depth - 1);
                let then = self.any_expr(depth - 1);
                let otherwise = self.any_expr(depth - 1);
                self.conditional(condition, then, otherwise)
            }
            8 => self.state_query(depth),
            9 => self.quantified(depth),
            10 => self.count(depth),
            11 => self.same(depth),
            12 => self.converted(depth),
            _ => self.pure_call().unwrap_or_else(|| self.leaf()),
        }
    }

    pub(super) fn constant(&mut self, value: i64) -> Expr {
        self.expr(ExprKind::Constant(value))
    }

    pub(super) fn binary(&mut self, operator: BinaryOp, left: Expr, right: Expr) -> Expr {
        self.expr(ExprKind::Binary(operator, Box::new(left), Box::new(right)))
    }

    pub(super) fn conditional(&mut self, condition: Expr, then: Expr, otherwise: Expr) -> Expr {
        let (condition, then) = (Box::new(condition), Box::new(then));
        self.expr(ExprKind::Conditional(condition, then, Box::new(otherwise)))
    }

    fn operation(&mut self, operators: &[BinaryOp], depth: u32) -> Expr {
        let operator = self.choices.pick(operators);
        let left = self.any_expr(depth - 1);
        let right = self.any_expr(depth - 1);
        self.binary(operator, left, right)
    }

    fn leaf(&mut self) -> Expr {
        match self.choices.weighted(&[30, 50, 25]) {
            0 => self.any_constant(),
            1 => self.read(0),
            _ => self.name(|_| true).unwrap_or_else(|expr| expr),
        }
    }

    /// Returns one of the suitable names in scope, or else a constant.
    fn name(&mut self, will_do: impl Fn(&Bound) -> bool) -> Result<Expr, Expr> {
        let names: Vec<Bound> = self.locals.iter().copied().filter(will_do).collect();
        match names.is_empty() {
            true => Err(self.any_constant()),
            false => {
                let local = self.choices.pick(&names).local;
                Ok(self.expr(ExprKind::Local(local)))
            }
        }
    }

    pub(super) fn any_constant(&mut self) -> Expr {
        let value = match self.choices.weighted(&[60, 15, 15, 10]) {
            0 => self.choices.between(0, 5),
            1 => self.choices.between(-5, -1),
            2 => self.choices.between(-300, 300),
            _ => self.extreme(),
        };
        self.constant(value)
    }

    /// Returns an integer at the limits of words.
    fn extreme(&mut self) -> i64 {
        let narrow = [i32::MAX, i32::MIN, i32::MAX - 1, i32::MIN + 1, 1 << 16, -1 << 24, 0xffff];
        let wide = [i64::MAX, i64::MIN, 1 << 32, -1 << 31, (1 << 31) + 1, 1 << 62, u32::MAX as i64];
        match self.program.arithmetic == Arithmetic::Checked64 && self.risks() {
            true => self.choices.pick(&wide),
            false => self.choices.pick(&narrow).into(),
        }
    }

    /// Returns a read of a scalar, if it exists and is defined, or else a constant.
    pub(super) fn read(&mut self, depth: u32) -> Expr {
        let Some(part) = self.part(|it, part| it.scalar(part.ty).is_some()) else {
            return self.any_constant();
        };
        if self.risks() || !part.is_in_multiset() && !self.may_be_undefined(part.ty) {
            if let (PlaceRoot::Local(local), true) = (part.root, part.is_whole()) {
                return self.expr(ExprKind::Local(local));
            }
            let place = self.place(&part, depth);
            return self.expr(ExprKind::Read(place));
        }
        let fixed_place = self.fixed_place(&part);
        let condition = self.readable(&fixed_place);
        let place = self.place_at(&fixed_place);
        let read = self.expr(ExprKind::Read(place));
        match condition {
            None => read,
            Some(condition) => {
                let otherwise = self.any_constant();
                self.conditional(condition, read, otherwise)
            }
        }
    }

    fn arithmetic(&mut self, depth: u32) -> Expr {
        let left = self.any_expr(depth - 1);
        match self.choices.weighted(&[30, 20, 10, 12, 12, 8, 8]) {
            at @ 0..3 => {
                let operator = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply][at];
                let right = self.any_expr(depth - 1);
                self.binary(operator, left, right)
            }
            at @ 3..5 => {
                let operator = [BinaryOp::Divide, BinaryOp::Remainder][at - 3];
                let right = self.divisor(depth - 1);
                self.binary(operator, left, right)
            }
            at => {
                let operator = [BinaryOp::ShiftLeft, BinaryOp::ShiftRight][at - 5];
                let right = match self.risks() {
                    true => self.any_within(-2, 70, depth - 1),
                    false => self.any_within(0, 31, depth - 1),
                };
                self.binary(operator, left, right)
            }
        }
    }

    fn divisor(&mut self, depth: u32) -> Expr {
        match self.choices.below(3) {
            _ if self.risks() => self.any_expr(depth),
            0 => self.any_within(1, 9, depth),
            1 => self.any_within(-3, -1, depth),
            _ => {
                let some = self.any_within(0, 7, depth);
                let one = self.constant(1);
                self.binary(BinaryOp::BitOr, some, one)
            }
        }
    }

    /// Returns an operand that would fault, behind a test that prevents its evaluation.
    fn shielded(&mut self, depth: u32) -> Expr {
        let Some(part) = self.part(|it, part| it.scalar(part.ty).is_some()) else {
            return self.leaf();
        };
        let fixed_place = self.fixed_place(&part);
        let readable = self.readable(&fixed_place);
        let zero = self.constant(0);
        let divisor = self.place_at(&fixed_place);
        let divisor = self.expr(ExprKind::Read(divisor));
        let is_divisor = self.binary(BinaryOp::NotEqual, divisor, zero);
        let test = self.conjunction(readable, Some(is_divisor)).expect("one is given");
        let divisor = self.place_at(&fixed_place);
        let divisor = self.expr(ExprKind::Read(divisor));
        let dividend = self.any_expr(depth - 1);
        let operator = self.choices.pick(&[BinaryOp::Divide, BinaryOp::Remainder]);
        let quotient = self.binary(operator, dividend, divisor);
        match self.choices.below(4) {
            0 => self.binary(BinaryOp::And, test, quotient),
            1 => self.binary(BinaryOp::Implies, test, quotient),
            2 => {
                let test = self.expr(ExprKind::Unary(UnaryOp::Not, Box::new(test)));
                self.binary(BinaryOp::Or, test, quotient)
            }
            _ => {
                let otherwise = self.any_expr(depth - 1);
                self.conditional(test, quotient, otherwise)
            }
        }
    }

    /// Returns a query of the state.
    fn state_query(&mut self, depth: u32) -> Expr {
        let buffered = self.buffered();
        match self.choices.below(3) {
            0 if !buffered.is_empty() => {
                let channel = self.choices.pick(&buffered);
                let named = ChannelRef::Named(channel);
                match self.choices.below(4) {
                    0 => self.expr(ExprKind::Length(named)),
                    1 => self.expr(ExprKind::IsEmpty(named)),
                    2 => self.expr(ExprKind::IsFull(named)),
                    _ => self.can_receive(channel, depth - 1),
                }
            }
            1 if !self.program.processes.is_empty() => self.at(),
            _ => self.is_undefined(depth),
        }
    }

    pub(super) fn at(&mut self) -> Expr {
        let process = ProcessId::from_index(self.choices.below(self.program.processes.len()));
        let locations = self.program.processes[process].locations.len();
        let location = LocationId::from_index(self.choices.below(locations));
        self.expr(ExprKind::At { process, slot: None, location })
    }

    fn is_undefined(&mut self, depth: u32) -> Expr {
        let undefined =
            self.part(|it, part| it.may_be_undefined(part.ty) && !part.is_in_multiset());
        let any = self.part(|it, part| it.scalar(part.ty).is_some());
        match any.filter(|_| self.risks()).or(undefined) {
            Some(part) => {
                let place = self.place(&part, depth);
                self.expr(ExprKind::IsUndefined(place))
            }
            None => self.leaf(),
        }
    }

    fn quantified(&mut self, depth: u32) -> Expr {
        let over = self.choices.pick(&self.small);
        let quantifier = self.choices.pick(&[Quantifier::All, Quantifier::Some]);
        let ((low, high), local) = (self.bounds(over), self.local());
        let bound = Bound { local, low, high, position_in: None };
        let body = Box::new(self.binding(bound, |it| it.any_expr(depth - 1)));
        self.expr(ExprKind::Quantified { quantifier, local, over, body })
    }

    fn count(&mut self, depth: u32) -> Expr {
        let multiset =
            self.part(|it, part| matches!(it.program.types[part.ty], Type::Multiset { .. }));
        let Some(part) = multiset.filter(|part| !part.is_in_multiset()) else {
            return self.quantified(depth);
        };
        let Type::Multiset { capacity, .. } = self.program.types[part.ty] else {
            unreachable!("the part is a multiset")
        };
        let is_variable = part.is_whole();
        let multiset = self.place(&part, depth);
        let (local, high) = (self.local(), i64::from(capacity) - 1);
        let position_in = is_variable.then_some(part.root);
        let bound = Bound { local, low: 0, high, position_in };
        let body = Box::new(self.binding(bound, |it| it.any_expr(depth - 1)));
        self.expr(ExprKind::Count { multiset, local, body })
    }

    /// Returns a constant within these bounds, or just outside.
    pub(super) fn constant_near(&mut self, low: i64, high: i64) -> Expr {
        let value = match self.choices.below(3) {
            0 => high.saturating_add(1),
            1 => low.saturating_sub(1),
            _ => low,
        };
        let least = match self.program.arithmetic {
            Arithmetic::Wrapping32 => value.clamp(i32::MIN.into(), i32::MAX.into()),
            Arithmetic::Checked64 => value,
        };
        self.constant(least)
    }

    /// Returns an expression whose value, if it has one, is within these bounds.
    pub(super) fn any_within(&mut self, low: i64, high: i64, depth: u32) -> Expr {
        let size = i128::from(high) - i128::from(low) + 1;
        let deep = if depth > 0 { 25 } else { 0 };
        match self.choices.weighted(&[35, 25, 20, deep]) {
            1 => match self.name(|bound| low <= bound.low && bound.high <= high) {
                Ok(name) => name,
                Err(_) => self.constant_within(low, high),
            },
            2 => self.read_within(low, high, depth).unwrap_or_else(|expr| expr),
            3 if low <= 0 && high >= 1 && self.choices.chance(30) => {
                self.operation(&COMPARISONS, depth)
            }
            3 if size <= 1 << 30 => self.reduced(low, size as i64, depth),
            _ => self.constant_within(low, high),
        }
    }

    pub(super) fn constant_within(&mut self, low: i64, high: i64) -> Expr {
        let value = match self.choices.weighted(&[40, 40, 20]) {
            0 => self.choices.between(low, high.min(low.saturating_add(3))),
            1 => 0.clamp(low, high),
            _ => high,
        };
        self.constant(value)
    }

    /// Returns a read of a scalar whose values are all within these bounds, or else a constant.
    fn read_within(&mut self, low: i64, high: i64, depth: u32) -> Result<Expr, Expr> {
        let part = self.part(|it, part| {
            !part.is_in_multiset()
                && it.scalar(part.ty).is_some_and(|scalar| {
                    let (least, greatest) = it.program.bounds(&scalar.domain);
                    !scalar.undefined && low <= least && greatest <= high
                })
        });
        match part {
            None => Err(self.constant_within(low, high)),
            Some(part) => {
                let place = self.place(&part, depth);
                Ok(self.expr(ExprKind::Read(place)))
            }
        }
    }

    /// Returns `low + (e % size + size) % size`, for some `e`.
    fn reduced(&mut self, low: i64, size: i64, depth: u32) -> Expr {
        let any = self.any_expr(depth - 1);
        let sizes = [self.constant(size), self.constant(size), self.constant(size)];
        let [one, two, three] = sizes;
        let rest = self.binary(BinaryOp::Remainder, any, one);
        let positive = self.binary(BinaryOp::Add, rest, two);
        let rest = self.binary(BinaryOp::Remainder, positive, three);
        let low = self.constant(low);
        self.binary(BinaryOp::Add, low, rest)
    }
}
