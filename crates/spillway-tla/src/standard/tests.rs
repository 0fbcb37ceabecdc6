//! Each operator with a few operands: ordinary ones, edge cases of its domain, and rejected ones.

use super::*;
use crate::library::STANDARD_MODULES;
use crate::value::{ModelValue, Symbol, shared_names};

/// An operator that is an argument.
type Callback = fn(&[Value]) -> Outcome<Value>;

/// A host whose closures accept nothing and whose operator arguments are functions.
struct TestHost {
    symbols: SymbolTable,
    callback: Callback,
    printed: Vec<String>,
    environment: BTreeMap<String, String>,
    level: Option<u32>,
    infinite_components: bool,
}

impl ClosureHost for TestHost {
    fn symbols(&self) -> &SymbolTable {
        &self.symbols
    }

    fn apply_closure(&mut self, _: &Arc<LazyValue>, argument: &Value) -> Outcome<Value> {
        (self.callback)(std::slice::from_ref(argument))
    }

    fn infinite_components(&mut self) -> &mut bool {
        &mut self.infinite_components
    }
}

impl OperatorHost for TestHost {
    fn call(&mut self, _: usize, arguments: &[Value]) -> Outcome<Value> {
        (self.callback)(arguments)
    }

    fn statistics(&self) -> Option<super::SearchStatistics> {
        None
    }

    fn level(&self) -> Option<u32> {
        self.level
    }

    fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    fn print(&mut self, line: String) {
        self.printed.push(line);
    }

    fn closures(&mut self) -> &mut dyn ClosureHost {
        self
    }
}

fn host() -> TestHost {
    let mut symbols = SymbolTable::default();
    for text in ["b", "a", "level", "m", "edge", "node"] {
        symbols.intern(text);
    }
    let environment = BTreeMap::from([("a".to_owned(), "12".to_owned())]);
    TestHost {
        symbols,
        callback: |it| Ok(it[0].clone()),
        printed: Vec::new(),
        environment,
        level: Some(7),
        infinite_components: false,
    }
}

fn symbol(text: &str) -> Symbol {
    host().symbols.find(text).unwrap()
}

fn string(text: &str) -> Value {
    Value::Str(symbol(text))
}

fn model() -> Value {
    Value::Model(ModelValue::new(symbol("m"), "m"))
}

fn int(value: i32) -> Value {
    Value::Int(value)
}

fn ints(values: &[i32]) -> Vec<Value> {
    values.iter().copied().map(Value::Int).collect()
}

fn set(values: &[i32]) -> Value {
    Value::set(ints(values)).unwrap()
}

fn tuple(values: &[i32]) -> Value {
    Value::tuple(ints(values))
}

fn boolean_value(value: bool) -> Value {
    Value::Bool(value)
}

fn nat() -> Value {
    sets::lazy(LazyValue::Infinite(InfiniteSet::Nat))
}

/// Returns the text of the canonical result, or the reason of the failure.
fn result(host: &mut TestHost, operator: StandardOperator, operands: &[Value]) -> String {
    let arities = operator.arities();
    let mut values = operands.iter();
    let operands: Vec<_> = arities
        .iter()
        .map(|arity| if *arity == 0 { values.next().cloned() } else { None })
        .collect();
    assert!(values.next().is_none(), "{operator:?} has fewer operands");
    let outcome = super::call(host, operator, &operands)
        .and_then(|it| if sets::is_infinite(&it) { Ok(it) } else { sets::normalise(host, it) });
    match outcome {
        Ok(value) => value.text(&host.symbols).to_string(),
        Err(failure) => format!("error: {}", failure.reason),
    }
}

#[track_caller]
fn check(operator: StandardOperator, operands: &[Value], expected: &str) {
    assert_eq!(result(&mut host(), operator, operands), expected, "{operator:?}");
}

#[track_caller]
fn check_with(callback: Callback, operator: StandardOperator, operands: &[Value], expected: &str) {
    let mut host = TestHost { callback, ..host() };
    assert_eq!(result(&mut host, operator, operands), expected, "{operator:?}");
}

#[test]
fn integers_have_32_bits() {
    use StandardOperator::*;
    check(Add, &[int(2), int(3)], "5");
    check(Add, &[int(i32::MAX), int(1)], "error: the result of + does not fit 32 bits");
    check(Subtract, &[int(i32::MIN), int(1)], "error: the result of - does not fit 32 bits");
    check(Subtract, &[int(2), int(3)], "-1");
    check(Multiply, &[int(65536), int(32768)], "error: the result of * does not fit 32 bits");
    check(Negate, &[int(i32::MIN)], "error: the result of -. does not fit 32 bits");
    check(Negate, &[int(4)], "-4");
    check(Power, &[int(2), int(30)], "1073741824");
    check(Power, &[int(2), int(31)], "error: the result of ^ does not fit 32 bits");
    check(Power, &[int(-2), int(31)], "-2147483648");
    check(Power, &[int(5), int(0)], "1");
    check(Power, &[int(0), int(0)], "error: ^ is not defined for these operands");
    check(Power, &[int(2), int(-1)], "error: the second operand of ^ must not be negative");
    check(Add, &[int(1), boolean_value(true)], "error: + needs an integer");
}

#[test]
fn division_rounds_down_and_a_remainder_is_not_negative() {
    use StandardOperator::*;
    for (one, two, quotient, remainder) in
        [(7, 2, 3, 1), (-7, 2, -4, 1), (-8, 2, -4, 0), (0, 3, 0, 0)]
    {
        check(IntegerDivide, &[int(one), int(two)], &quotient.to_string());
        check(Modulo, &[int(one), int(two)], &remainder.to_string());
    }
    check(IntegerDivide, &[int(7), int(-2)], "-4");
    check(IntegerDivide, &[int(-7), int(-2)], "3");
    check(IntegerDivide, &[int(1), int(0)], "error: the second operand of \\div must not be zero");
    check(
        IntegerDivide,
        &[int(i32::MIN), int(-1)],
        "error: the result of \\div does not fit 32 bits",
    );
    check(Modulo, &[int(7), int(-2)], "error: the second operand of % must be positive");
    check(Modulo, &[int(7), int(0)], "error: the second operand of % must be positive");
}

#[test]
fn integer_comparisons_ranges_and_bit_operations_are_evaluated() {
    use StandardOperator::*;
    check(Less, &[int(1), int(1)], "FALSE");
    check(LessOrEqual, &[int(1), int(1)], "TRUE");
    check(Greater, &[int(2), int(1)], "TRUE");
    check(GreaterOrEqual, &[int(0), int(1)], "FALSE");
    check(Less, &[string("a"), int(1)], "error: < needs an integer");
    check(Range, &[int(-1), int(2)], "{-1, 0, 1, 2}");
    check(Range, &[int(3), int(2)], "{}");
    check(Range, &[int(3), int(-3)], "{}");
    check(BitwiseAnd, &[int(12), int(10)], "8");
    check(BitwiseOr, &[int(12), int(10)], "14");
    check(BitwiseXor, &[int(12), int(10)], "6");
    check(BitwiseNot, &[int(0)], "-1");
    check(ShiftRight, &[int(12), int(2)], "3");
    check(Binomial, &[int(5), int(2)], "10");
    check(Nat, &[], "Nat");
}

#[test]
fn sequence_operators_are_evaluated() {
    use StandardOperator::*;
    let error = "is not defined for these operands";
    check(Len, &[tuple(&[4, 5])], "2");
    check(Len, &[string("level")], "5");
    check(Len, &[set(&[1])], "error: Len needs a sequence");
    check(Concat, &[tuple(&[1]), tuple(&[2, 3])], "<<1, 2, 3>>");
    check(Concat, &[string("a"), string("b")], "\"ab\"");
    check(Append, &[tuple(&[]), set(&[1])], "<<{1}>>");
    check(Append, &[tuple(&[1]), Value::Interval(1, 2)], "<<1, {1, 2}>>");
    check(Head, &[tuple(&[4, 5])], "4");
    check(Head, &[tuple(&[])], &format!("error: Head {error}"));
    check(Tail, &[tuple(&[4, 5])], "<<5>>");
    check(Tail, &[tuple(&[])], &format!("error: Tail {error}"));
    check(SubSeq, &[tuple(&[4, 5, 6]), int(2), int(3)], "<<5, 6>>");
    check(SubSeq, &[tuple(&[4, 5, 6]), int(9), int(7)], "<<>>");
    check(SubSeq, &[tuple(&[4, 5, 6]), int(0), int(1)], &format!("error: SubSeq {error}"));
    check(SubSeq, &[tuple(&[4, 5, 6]), int(2), int(4)], &format!("error: SubSeq {error}"));
    let is_odd: Callback = |it| Ok(Value::Bool(matches!(it[0], Value::Int(it) if it % 2 == 1)));
    check_with(is_odd, SelectSeq, &[tuple(&[1, 2, 3])], "<<1, 3>>");
    check(SelectSeq, &[tuple(&[1])], "error: SelectSeq needs a Boolean");
    check(Seq, &[set(&[1])], "Seq({1})");
}

#[test]
fn finite_set_operators_are_evaluated() {
    use StandardOperator::*;
    check(Cardinality, &[set(&[3, 4])], "2");
    check(Cardinality, &[Value::Interval(1, 0)], "0");
    check(Cardinality, &[Value::Interval(-5, 5)], "11");
    check(Cardinality, &[nat()], "error: the set cannot be enumerated");
    let subsets = |count| sets::lazy(LazyValue::Subsets(Value::Interval(1, count)));
    check(Cardinality, &[subsets(20)], "1048576");
    check(Cardinality, &[subsets(31)], "error: the result of Cardinality does not fit 32 bits");
    check(IsFiniteSet, &[nat()], "FALSE");
    check(IsFiniteSet, &[subsets(30)], "TRUE");
    check(IsFiniteSet, &[int(1)], "error: IsFiniteSet needs a set");
}

#[test]
fn operators_of_the_module_tlc_are_evaluated() {
    use StandardOperator::*;
    check(FunctionPair, &[int(1), int(5)], "<<5>>");
    check(FunctionPair, &[string("a"), int(5)], "[a |-> 5]");
    check(FunctionPair, &[int(0), Value::Interval(1, 2)], "(0 :> {1, 2})");
    check(FunctionOverlay, &[tuple(&[1]), tuple(&[5, 6])], "<<1, 6>>");
    check(FunctionOverlay, &[tuple(&[]), tuple(&[])], "<<>>");
    check(FunctionOverlay, &[int(1), tuple(&[])], "error: @@ needs functions");
    check(Permutations, &[set(&[1, 2])], "{<<1, 2>>, <<2, 1>>}");
    check(Permutations, &[set(&[])], "{<<>>}");
    let less: Callback = |it| Ok(Value::Bool(it[0] < it[1]));
    check_with(less, SortSeq, &[tuple(&[3, 1, 2, 1])], "<<1, 1, 2, 3>>");
    check(ToString, &[tuple(&[1])], "\"<<1>>\"");
    check(TlcEval, &[Value::Interval(1, 2)], "{1, 2}");
    check(TlcGet, &[string("level")], "7");
    check(TlcGet, &[int(1)], "error: TLCGet, except TLCGet(\"level\"), cannot be evaluated");
    check(Assert, &[boolean_value(true), string("a")], "TRUE");
    check(Assert, &[boolean_value(false), string("a")], "error: assertion failed: a");
    check(Assert, &[int(1), string("a")], "error: Assert needs a Boolean");
    check(AssertEq, &[int(1), int(2)], "FALSE");
    check(RandomElement, &[set(&[1])], "error: RandomElement of TLC cannot be evaluated");
    let mut host = host();
    host.level = None;
    let expected = "error: TLCGet(\"level\"), which states do not keep, cannot be evaluated";
    assert_eq!(result(&mut host, TlcGet, &[string("level")]), expected);
    assert_eq!(result(&mut host, Print, &[string("a"), int(1)]), "1");
    assert_eq!(result(&mut host, PrintT, &[tuple(&[1])]), "TRUE");
    assert_eq!(host.printed, ["\"a\"", "<<1>>"]);
}

#[test]
fn bag_operators_are_evaluated() {
    use StandardOperator::*;
    // The sequence <<2, 1>> is the bag with two copies of 1 and one of 2.
    let bag = tuple(&[2, 1]);
    check(IsABag, std::slice::from_ref(&bag), "TRUE");
    check(IsABag, &[tuple(&[0])], "FALSE");
    check(IsABag, &[int(1)], "FALSE");
    check(BagToSet, std::slice::from_ref(&bag), "{1, 2}");
    check(SetToBag, &[set(&[1, 2])], "<<1, 1>>");
    check(SetToBag, &[set(&[7])], "(7 :> 1)");
    check(BagIn, &[int(2), bag.clone()], "TRUE");
    check(BagIn, &[int(3), bag.clone()], "FALSE");
    check(EmptyBag, &[], "<<>>");
    check(BagAddition, &[bag.clone(), tuple(&[1])], "<<3, 1>>");
    check(BagSubtraction, &[bag.clone(), tuple(&[2])], "(2 :> 1)");
    check(BagSubtraction, &[bag.clone(), tuple(&[5, 5])], "<<>>");
    check(BagUnion, &[Value::set(vec![bag.clone(), tuple(&[1])]).unwrap()], "<<3, 1>>");
    check(BagSubset, &[tuple(&[1]), bag.clone()], "TRUE");
    check(BagSubset, &[bag.clone(), tuple(&[1])], "FALSE");
    check(SubBag, &[tuple(&[2])], "{<<>>, <<1>>, <<2>>}");
    check(BagCardinality, std::slice::from_ref(&bag), "3");
    check(CopiesIn, &[int(1), bag.clone()], "2");
    check(CopiesIn, &[int(9), bag.clone()], "0");
    check(BagCardinality, &[tuple(&[0])], "error: BagCardinality needs a bag");
    check_with(|_| Ok(Value::Int(1)), BagOfAll, std::slice::from_ref(&bag), "<<3>>");
    check(BagAdd, &[bag.clone(), int(3)], "<<2, 1, 1>>");
    check(BagRemove, &[bag.clone(), int(2)], "<<2>>");
    check(BagRemove, &[bag.clone(), int(1)], "<<1, 1>>");
    check(BagRemoveAll, &[bag.clone(), int(1)], "(2 :> 1)");
    check(SumBag, &[bag], "4");
}

#[test]
fn folds_and_operators_of_finite_set_extensions_are_evaluated() {
    use StandardOperator::*;
    let pair: Callback = |it| Ok(Value::tuple(it.to_vec()));
    check_with(pair, FoldSet, &[int(0), set(&[1, 2])], "<<2, <<1, 0>>>>");
    check_with(pair, ReduceSet, &[set(&[1, 2]), int(0)], "<<2, <<1, 0>>>>");
    check_with(pair, FoldFunction, &[int(0), tuple(&[5, 6])], "<<6, <<5, 0>>>>");
    check_with(pair, FoldFunctionOnSet, &[int(0), tuple(&[5, 6]), set(&[2])], "<<6, 0>>");
    check_with(pair, FoldSeq, &[int(0), tuple(&[5, 6])], "<<6, <<5, 0>>>>");
    check_with(pair, FoldLeft, &[int(0), tuple(&[5, 6])], "<<<<0, 5>>, 6>>");
    check_with(pair, FoldRight, &[tuple(&[5, 6]), int(0)], "<<5, <<6, 0>>>>");
    check_with(pair, FoldLeftDomain, &[int(0), tuple(&[5, 6])], "<<<<0, 1>>, 2>>");
    check_with(pair, FoldRightDomain, &[tuple(&[5, 6]), int(0)], "<<1, <<2, 0>>>>");
    check(SumSet, &[set(&[1, 2])], "3");
    check(ProductSet, &[set(&[4, 5])], "20");
    check(SumSet, &[set(&[])], "0");
    check(MapThenSumSet, &[set(&[1, 2])], "3");
    check(SumFunction, &[tuple(&[5, 6])], "11");
    check(SumFunctionOnSet, &[tuple(&[5, 6]), set(&[1])], "5");
    check(FlattenSet, &[Value::set(vec![set(&[1]), set(&[2])]).unwrap()], "{1, 2}");
    check(SymDiff, &[set(&[1, 2]), set(&[2, 3])], "{1, 3}");
    check_with(|_| Ok(Value::Bool(true)), Quantify, &[set(&[1, 2])], "2");
    check(KSubset, &[int(2), set(&[1, 2, 3])], "{{1, 2}, {1, 3}, {2, 3}}");
    check(KSubset, &[int(-1), set(&[1])], "{}");
    check(KSubset, &[int(0), set(&[1])], "{{}}");
    check(KSubset, &[int(2), set(&[1])], "{}");
    check(Max, &[set(&[1, 3])], "3");
    check(Min, &[set(&[1, 3])], "1");
    check(Max, &[set(&[])], "error: Max is not defined for these operands");
    check(Choices, &[Value::set(vec![set(&[1, 2]), set(&[3])]).unwrap()], "{{1, 3}, {2, 3}}");
    let is_two: Callback = |it| Ok(Value::Bool(it[0] == Value::Int(2)));
    check_with(is_two, ChooseUnique, &[set(&[1, 2])], "2");
}

/// `choose` takes all remaining elements, `f` is the identity, and `op` makes pairs.
#[test]
fn map_then_fold_set_follows_its_definition() {
    let callback: Callback = |arguments| match arguments {
        [Value::Set(elements)] => Ok(elements.slice[elements.slice.len() - 1].clone()),
        [one] => Ok(one.clone()),
        more => Ok(Value::tuple(more.to_vec())),
    };
    let operands = [int(0), set(&[1, 2, 3])];
    check_with(callback, StandardOperator::MapThenFoldSet, &operands, "<<3, <<2, <<1, 0>>>>>>");
}

#[test]
fn operators_of_function_extensions_are_evaluated() {
    use StandardOperator::*;
    check(Restrict, &[tuple(&[5, 6]), set(&[2])], "(2 :> 6)");
    let is_six: Callback = |it| Ok(Value::Bool(it[0] == Value::Int(6)));
    check_with(is_six, RestrictValues, &[tuple(&[5, 6])], "(2 :> 6)");
    check_with(is_six, RestrictDomain, &[tuple(&[5, 6])], "<<>>");
    check(IsRestriction, &[tuple(&[5]), tuple(&[5, 6])], "TRUE");
    check(IsRestriction, &[tuple(&[5, 6]), tuple(&[5])], "FALSE");
    check(FunctionRange, &[tuple(&[5, 6, 5])], "{5, 6}");
    check(IsInjective, &[tuple(&[5, 6, 5])], "FALSE");
    check(AntiFunction, &[tuple(&[2, 1])], "<<2, 1>>");
    check(Inverse, &[tuple(&[5, 6]), set(&[1, 2]), set(&[6, 7])], "(6 :> 2 @@ 7 :> 1)");
    check(Injection, &[set(&[1]), set(&[4, 5])], "{<<4>>, <<5>>}");
    check(Surjection, &[set(&[1, 2]), set(&[4])], "{<<4, 4>>}");
    check(Bijection, &[set(&[1, 2]), set(&[4, 5])], "{<<4, 5>>, <<5, 4>>}");
    check(ExistsInjection, &[set(&[1, 2]), set(&[4])], "FALSE");
    check(ExistsSurjection, &[set(&[1]), set(&[])], "FALSE");
    check(ExistsBijection, &[set(&[]), set(&[])], "TRUE");
}

#[test]
fn operators_of_sequence_extensions_are_evaluated() {
    use StandardOperator::*;
    let error = "is not defined for these operands";
    check(ToSet, &[tuple(&[2, 1, 2])], "{1, 2}");
    check(ToBag, &[tuple(&[2, 1, 2])], "<<1, 2>>");
    check(SetToSeq, &[set(&[2, 1])], "<<1, 2>>");
    check(SetToSeqs, &[set(&[1, 2])], "{<<1, 2>>, <<2, 1>>}");
    check(SetToAllKPermutations, &[set(&[1, 2])], "{<<>>, <<1>>, <<2>>, <<1, 2>>, <<2, 1>>}");
    check_with(|it| Ok(Value::Bool(it[0] > it[1])), SetToSortSeq, &[set(&[1, 2])], "<<2, 1>>");
    check(TupleOf, &[set(&[1]), int(2)], "{<<1, 1>>}");
    check(SeqOf, &[set(&[1]), int(2)], "{<<>>, <<1>>, <<1, 1>>}");
    check(Reverse, &[tuple(&[1, 2])], "<<2, 1>>");
    check(Remove, &[tuple(&[1, 2, 1]), int(1)], "<<2>>");
    check(ReplaceAll, &[tuple(&[1, 2, 1]), int(1), int(9)], "<<9, 2, 9>>");
    check(InsertAt, &[tuple(&[1, 2]), int(3), int(9)], "<<1, 2, 9>>");
    check(InsertAt, &[tuple(&[1, 2]), int(4), int(9)], &format!("error: InsertAt {error}"));
    check(RemoveAt, &[tuple(&[1, 2]), int(2)], "<<1>>");
    check(RemoveAt, &[tuple(&[1, 2]), int(3)], &format!("error: RemoveAt {error}"));
    check(ReplaceAt, &[tuple(&[1, 2]), int(2), int(9)], "<<1, 9>>");
    check(RemoveFirst, &[tuple(&[1, 2, 1]), int(1)], "<<2, 1>>");
    check_with(|_| Ok(Value::Bool(false)), RemoveFirstMatch, &[tuple(&[1])], "<<1>>");
    check(Cons, &[int(0), tuple(&[1])], "<<0, 1>>");
    check(Snoc, &[tuple(&[1]), int(0)], "<<1, 0>>");
    check(Front, &[tuple(&[1, 2])], "<<1>>");
    check(Last, &[tuple(&[1, 2])], "2");
    check(Last, &[tuple(&[])], &format!("error: Last {error}"));
    check(FlattenSeq, &[Value::tuple(vec![tuple(&[1]), tuple(&[2, 3])])], "<<1, 2, 3>>");
    check(Zip, &[tuple(&[1, 2]), tuple(&[3])], "<<<<1, 3>>>>");
    check(Interleave, &[tuple(&[1, 3]), tuple(&[2, 4])], "<<<<1>>, <<2>>, <<3>>, <<4>>>>");
    check(Contains, &[tuple(&[1]), int(2)], "FALSE");
    check_with(|it| Ok(Value::Bool(it[0] <= it[1])), IsSorted, &[tuple(&[1, 1, 2])], "TRUE");
    let is_two: Callback = |it| Ok(Value::Bool(it[0] == Value::Int(2)));
    check_with(is_two, SelectInSeq, &[tuple(&[1, 2, 2])], "2");
    check_with(is_two, SelectLastInSeq, &[tuple(&[1, 2, 2])], "3");
    check_with(is_two, SelectInSeq, &[tuple(&[1])], "0");
    check_with(is_two, SelectInSubSeq, &[tuple(&[1, 2, 2]), int(2), int(3)], "1");
    check(IsPrefix, &[tuple(&[1]), tuple(&[1, 2])], "TRUE");
    check(IsStrictPrefix, &[tuple(&[1]), tuple(&[1])], "FALSE");
    check(IsSuffix, &[tuple(&[2]), tuple(&[1, 2])], "TRUE");
    check(IsStrictSuffix, &[tuple(&[1]), tuple(&[1, 2])], "FALSE");
    check(Prefixes, &[tuple(&[1, 2])], "{<<>>, <<1>>, <<1, 2>>}");
    check(Suffixes, &[tuple(&[1, 2])], "{<<>>, <<2>>, <<1, 2>>}");
    let sequences = Value::set(vec![tuple(&[1, 2]), tuple(&[1, 3])]).unwrap();
    check(CommonPrefixes, std::slice::from_ref(&sequences), "{<<>>, <<1>>}");
    check(LongestCommonPrefix, &[sequences], "<<1>>");
    check(SubSeqs, &[tuple(&[1, 2])], "{<<>>, <<1>>, <<2>>, <<1, 2>>}");
    check(AllSubSeqs, &[tuple(&[1, 2])], "{<<>>, <<1>>, <<2>>, <<1, 2>>}");
    check(IndexFirstSubSeq, &[tuple(&[2, 3]), tuple(&[1, 2, 3])], "2");
    check(ReplaceFirstSubSeq, &[tuple(&[9]), tuple(&[1]), tuple(&[1, 1])], "<<9, 1>>");
    check(ReplaceAllSubSeqs, &[tuple(&[9]), tuple(&[1]), tuple(&[1, 1])], "<<9, 9>>");
    check(ReplaceSubSeqAt, &[int(2), tuple(&[9]), tuple(&[1]), tuple(&[1, 1])], "<<1, 9>>");
    check(SeqMod, &[int(4), int(2)], "2");
}

fn graph(nodes: &[i32], edges: &[[i32; 2]]) -> Value {
    let edges = Value::set(edges.iter().map(|it| tuple(it)).collect()).unwrap();
    Value::record(shared_names(vec![symbol("edge"), symbol("node")]), vec![edges, set(nodes)])
}

#[test]
fn operators_of_relations_and_graphs_are_evaluated() {
    use StandardOperator::*;
    let line = graph(&[1, 2, 3], &[[1, 2], [2, 3]]);
    check(AreConnectedInDigraph, &[int(1), int(3), line.clone()], "TRUE");
    check(AreConnectedInDigraph, &[int(3), int(1), line.clone()], "FALSE");
    check(HasCycle, std::slice::from_ref(&line), "FALSE");
    check(HasCycle, &[graph(&[1], &[[1, 1]])], "TRUE");
    check(Successors, &[line.clone(), int(1)], "{2}");
    check(Predecessors, &[line.clone(), int(1)], "{}");
    check(InDegree, &[line.clone(), int(3)], "1");
    check(IsStronglyConnectedDigraph, &[line], "FALSE");
    let less: Callback = |it| Ok(Value::Bool(it[0] < it[1]));
    check_with(less, IsTransitiveUnder, &[set(&[1, 2, 3])], "TRUE");
    check_with(less, IsReflexiveUnder, &[set(&[1, 2, 3])], "FALSE");
    check_with(less, IsStrictlyTotallyOrderedUnder, &[set(&[1, 2, 3])], "TRUE");
    check_with(less, IsSymmetricUnder, &[set(&[])], "TRUE");
}

#[test]
fn membership_is_tested_without_enumeration() {
    let mut host = host();
    let mut contains = |set: &Value, element: &Value| {
        sets::contains(&mut host, set, element).map_err(|it| it.reason.to_string())
    };
    let sequences = sets::lazy(LazyValue::Sequences(nat()));
    assert_eq!(contains(&sequences, &tuple(&[1, 2])), Ok(true));
    assert_eq!(contains(&sequences, &tuple(&[-1])), Ok(false));
    assert_eq!(contains(&nat(), &model()), Ok(false));
    assert!(contains(&nat(), &string("a")).is_err());
    let subsets = sets::lazy(LazyValue::Subsets(nat()));
    assert_eq!(contains(&subsets, &set(&[1, 2])), Ok(true));
    assert!(contains(&subsets, &int(1)).is_err());
    let functions = sets::lazy(LazyValue::Functions(Value::Interval(1, 2), nat()));
    assert_eq!(contains(&functions, &tuple(&[0, 9])), Ok(true));
    assert_eq!(contains(&functions, &tuple(&[0])), Ok(false));
    let records = sets::lazy(LazyValue::Records(vec![(symbol("a"), nat())]));
    let record = Value::record(shared_names(vec![symbol("a")]), ints(&[3]));
    assert_eq!(contains(&records, &record), Ok(true));
    assert_eq!(contains(&records, &model()), Ok(false));
    assert_eq!(contains(&sets::lazy(LazyValue::Cup(nat(), set(&[-3]))), &int(-3)), Ok(true));
    assert_eq!(contains(&sets::lazy(LazyValue::Difference(nat(), set(&[3]))), &int(3)), Ok(false));
}

#[test]
fn lazy_sets_are_enumerated_in_order() {
    let mut host = host();
    let mut shown = |set: LazyValue| {
        let value = sets::normalise(&mut host, sets::lazy(set)).unwrap();
        value.text(&host.symbols).to_string()
    };
    assert_eq!(shown(LazyValue::Subsets(set(&[1, 2]))), "{{}, {1}, {2}, {1, 2}}");
    let functions = LazyValue::Functions(set(&[1, 2]), set(&[0, 1]));
    assert_eq!(shown(functions), "{<<0, 0>>, <<0, 1>>, <<1, 0>>, <<1, 1>>}");
    assert_eq!(shown(LazyValue::Functions(set(&[]), nat())), "{<<>>}");
    assert_eq!(shown(LazyValue::Functions(set(&[1]), set(&[]))), "{}");
    assert_eq!(shown(LazyValue::Product(vec![set(&[1, 2]), set(&[3])])), "{<<1, 3>>, <<2, 3>>}");
    let records = LazyValue::Records(vec![(symbol("a"), set(&[1, 2]))]);
    assert_eq!(shown(records), "{[a |-> 1], [a |-> 2]}");
    assert_eq!(shown(LazyValue::Cap(nat(), Value::Interval(-1, 1))), "{0, 1}");
}

#[test]
fn sets_are_merged_and_compared() {
    let mut host = host();
    let one = sets::union(&mut host, set(&[1, 3]), Value::Interval(2, 3)).unwrap();
    assert_eq!(one, set(&[1, 2, 3]));
    assert_eq!(sets::difference(&mut host, one.clone(), nat()).unwrap(), set(&[]));
    assert_eq!(sets::intersection(&mut host, nat(), one.clone()).unwrap(), one);
    assert!(sets::union(&mut host, set(&[1]), int(1)).is_err());
    assert!(sets::union(&mut host, set(&[1]), Value::set(vec![string("a")]).unwrap()).is_err());
    assert!(sets::equals(&mut host, &Value::Interval(3, 1), &set(&[])).unwrap());
    assert!(sets::is_subset(&mut host, &set(&[1]), &nat()).unwrap());
    assert!(sets::is_subset(&mut host, &nat(), &set(&[1])).is_err());
    let sets = Value::set(vec![set(&[1]), set(&[2])]).unwrap();
    assert_eq!(super::sets::big_union(&mut host, &sets).unwrap(), set(&[1, 2]));
    assert!(super::sets::big_union(&mut host, &set(&[1])).is_err());
}

#[test]
fn replacement_changes_one_value_only() {
    let before = tuple(&[1, 2, 3]);
    let after = functions::replace(before.clone(), 1, int(9));
    assert_eq!((before, after), (tuple(&[1, 2, 3]), tuple(&[1, 9, 3])));
    assert_eq!(functions::replace(tuple(&[1, 2]), 0, int(9)), tuple(&[9, 2]));
    let record = Value::record(shared_names(vec![symbol("b"), symbol("a")]), ints(&[1, 2]));
    let index = functions::index_of(&record, &string("a")).unwrap();
    assert_eq!(
        functions::replace(record, index, int(9)),
        Value::record(shared_names(vec![symbol("b"), symbol("a")]), ints(&[1, 9]))
    );
}

#[test]
fn files_and_the_environment_are_read() {
    use StandardOperator::*;
    check(IoEnv, &[], "[a |-> \"12\"]");
    check(IoAtoi, &[string("a")], "error: atoi needs the digits of an integer");
    check(ToJson, &[tuple(&[1, 2])], "\"[1,2]\"");
    check(ToJson, &[graph(&[1], &[])], r#""{\"edge\":[],\"node\":[1]}""#);
    check(ToJsonObject, &[tuple(&[7])], r#""{\"0\":7}""#);
    let folder = tempfile::tempdir().unwrap();
    let mut host = host();
    let mut path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        Value::Str(host.symbols.intern(path.to_str().unwrap()))
    };
    let json = path("json", r#"{"a": [1, true], "b": "m"}"#);
    let lines = path("lines", "1\n\n[2]\n");
    let table = path("table", "1;2\n");
    let wrong = path("wrong", "{\"a\": 1.5}");
    assert_eq!(result(&mut host, JsonDeserialize, &[json]), "[b |-> \"m\", a |-> <<1, TRUE>>]");
    assert_eq!(result(&mut host, NdJsonDeserialize, &[lines]), "<<1, <<2>>>>");
    assert_eq!(result(&mut host, CsvRecords, std::slice::from_ref(&table)), "1");
    let columns = Value::tuple(vec![string("a"), string("b")]);
    let delimiter = Value::Str(host.symbols.intern(";"));
    let read = result(&mut host, CsvRead, &[columns, delimiter, table]);
    assert_eq!(read, "<<[b |-> \"2\", a |-> \"1\"]>>");
    assert!(result(&mut host, JsonDeserialize, &[wrong]).contains("no integer of 32 bits"));
}

/// Native operators that are refused by name. A row of the table hides the definition in the file of a module. So every
/// other operator must be evaluated.
const REFUSED: &[&str] = &[
    "Reals.Real",
    "Reals./",
    "Reals.Infinity",
    "TLC.JavaTime",
    "TLC.TLCGet",
    "TLC.TLCSet",
    "TLC.RandomElement",
    "TLCExt.AssertError",
    "TLCExt.TLCGetOrDefault",
    "TLCExt.TLCGetAndSet",
    "TLCExt.Trace",
    "TLCExt.CounterExample",
    "TLCExt.ToTrace",
    "TLCExt.TLCModelValue",
    "TLCExt.PickSuccessor",
    "TLCExt.TLCCache",
    "TLCExt.TLCFP",
    "TLCExt.TLCEvalDefinition",
    "Randomization.RandomSubset",
    "Randomization.RandomSetOfSubsets",
    "Randomization.TestRandomSetOfSubsets",
    "Toolbox._TETrace",
    "Toolbox._TEPosition",
    "IOUtils.IOSerialize",
    "IOUtils.IODeserialize",
    "IOUtils.Serialize",
    "IOUtils.Deserialize",
    "IOUtils.IOExec",
    "IOUtils.IOEnvExec",
    "IOUtils.IOExecTemplate",
    "IOUtils.IOEnvExecTemplate",
    "Json.JsonSerialize",
    "Json.ndJsonSerialize",
    "CSV.CSVWrite",
    "CSV.CSVWriteRecord",
];

#[test]
fn every_native_operator_is_evaluated_or_refused_on_purpose() {
    let mut host = host();
    let mut refused = Vec::new();
    for module in STANDARD_MODULES {
        for &operator in module.operators {
            let arities = operator.arities().iter();
            let operands: Vec<Option<Value>> =
                arities.map(|it| (*it == 0).then(Value::empty_set)).collect();
            let Err(failure) = call(&mut host, operator, &operands) else { continue };
            if matches!(failure.reason, FailureReason::Unsupported { .. }) {
                refused.push(format!("{}.{}", module.name, operator.name()));
            }
        }
    }
    assert_eq!(refused, REFUSED);
}
