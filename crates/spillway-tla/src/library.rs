//! The table of operators of standard and community modules that are evaluated natively.
//!
//! A module of this table need not exist as a file. If the search path has a file with its name, the definitions of the
//! file that the table lacks are added; an operator of the table always replaces the definition with its name.

use crate::level::Level;

/// A standard or community module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandardModule {
    /// The name.
    pub name: &'static str,
    /// The modules that it extends, whose operators it makes visible.
    pub extends: &'static [&'static str],
    /// Whether its file is never read, because the table has all of it.
    pub is_complete: bool,
    /// Its own operators.
    pub operators: &'static [StandardOperator],
}

/// A row of the table.
struct Row {
    module: &'static str,
    name: &'static str,
    arities: &'static [usize],
}

/// Defines the operators and the modules from one table. Each operator has the arities of its parameters: 0 for an
/// expression, more for an operator with that number of parameters.
macro_rules! standard_modules {
    ($($module:literal ($completeness:ident) extends [$($extended:literal)*] {
        $($variant:ident $name:literal [$($arity:literal)*];)*
    })*) => {
        /// An operator of a standard or community module.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum StandardOperator {
            $($(
                #[doc = concat!("`", $name, "` of ", $module)]
                $variant,
            )*)*
        }

        /// Every operator, in the order of the table.
        const ROWS: &[Row] = &[
            $($(Row { module: $module, name: $name, arities: &[$($arity),*] },)*)*
        ];

        /// Every module.
        pub const STANDARD_MODULES: &[StandardModule] = &[
            $(StandardModule {
                name: $module,
                extends: &[$($extended),*],
                is_complete: standard_modules!(@ $completeness),
                operators: &[$(StandardOperator::$variant),*],
            },)*
        ];
    };
    (@ complete) => { true };
    (@ partial) => { false };
}

standard_modules! {
    "Naturals" (complete) extends [] {
        Nat "Nat" [];
        Add "+" [0 0];
        Subtract "-" [0 0];
        Multiply "*" [0 0];
        Power "^" [0 0];
        Less "<" [0 0];
        Greater ">" [0 0];
        LessOrEqual "\\leq" [0 0];
        GreaterOrEqual "\\geq" [0 0];
        Modulo "%" [0 0];
        IntegerDivide "\\div" [0 0];
        Range ".." [0 0];
    }
    "Integers" (complete) extends ["Naturals"] {
        Int "Int" [];
        Negate "-." [0];
    }
    "Reals" (complete) extends ["Integers"] {
        Real "Real" [];
        Divide "/" [0 0];
        Infinity "Infinity" [];
    }
    "Sequences" (complete) extends [] {
        Seq "Seq" [0];
        Len "Len" [0];
        Concat "\\o" [0 0];
        Append "Append" [0 0];
        Head "Head" [0];
        Tail "Tail" [0];
        SubSeq "SubSeq" [0 0 0];
        SelectSeq "SelectSeq" [0 1];
    }
    "FiniteSets" (complete) extends [] {
        IsFiniteSet "IsFiniteSet" [0];
        Cardinality "Cardinality" [0];
    }
    "Bags" (complete) extends ["TLC"] {
        IsABag "IsABag" [0];
        BagToSet "BagToSet" [0];
        SetToBag "SetToBag" [0];
        BagIn "BagIn" [0 0];
        EmptyBag "EmptyBag" [];
        BagAddition "\\oplus" [0 0];
        BagSubtraction "\\ominus" [0 0];
        BagUnion "BagUnion" [0];
        BagSubset "\\sqsubseteq" [0 0];
        SubBag "SubBag" [0];
        BagOfAll "BagOfAll" [1 0];
        BagCardinality "BagCardinality" [0];
        CopiesIn "CopiesIn" [0 0];
    }
    "TLC" (complete) extends [] {
        Print "Print" [0 0];
        PrintT "PrintT" [0];
        Assert "Assert" [0 0];
        JavaTime "JavaTime" [];
        TlcGet "TLCGet" [0];
        TlcSet "TLCSet" [0 0];
        FunctionPair ":>" [0 0];
        FunctionOverlay "@@" [0 0];
        Permutations "Permutations" [0];
        SortSeq "SortSeq" [0 2];
        RandomElement "RandomElement" [0];
        Any "Any" [];
        ToString "ToString" [0];
        TlcEval "TLCEval" [0];
    }
    "TLCExt" (complete) extends [] {
        AssertEq "AssertEq" [0 0];
        AssertError "AssertError" [0 0];
        TlcGetOrDefault "TLCGetOrDefault" [0 0];
        TlcGetAndSet "TLCGetAndSet" [0 2 0 0];
        Trace "Trace" [];
        CounterExample "CounterExample" [];
        ToTrace "ToTrace" [0];
        TlcModelValue "TLCModelValue" [0];
        TlcDefer "TLCDefer" [0];
        TlcNoOp "TLCNoOp" [0];
        PickSuccessor "PickSuccessor" [0];
        TlcCache "TLCCache" [0 0];
        TlcFingerprint "TLCFP" [0];
        TlcEvalDefinition "TLCEvalDefinition" [0];
    }
    "Randomization" (complete) extends [] {
        RandomSubset "RandomSubset" [0 0];
        RandomSetOfSubsets "RandomSetOfSubsets" [0 0 0];
        TestRandomSetOfSubsets "TestRandomSetOfSubsets" [0 0 0];
    }
    // The modules of the proof system have theorems, which are not checked, and operators for proofs, which are skipped.
    "TLAPS" (partial) extends [] {}
    "NaturalsInduction" (partial) extends ["Integers"] {}
    "WellFoundedInduction" (partial) extends ["NaturalsInduction"] {}
    "FunctionTheorems" (partial) extends ["Functions" "Integers"] {}
    "FiniteSetTheorems" (partial) extends
        ["FiniteSets" "Integers" "Functions" "WellFoundedInduction"] {}
    "SequenceTheorems" (partial) extends ["Sequences" "Functions"] {}
    "Toolbox" (complete) extends [] {
        ToolboxTrace "_TETrace" [];
        ToolboxPosition "_TEPosition" [];
    }
    "Functions" (partial) extends ["Integers" "Folds"] {
        Restrict "Restrict" [0 0];
        RestrictDomain "RestrictDomain" [0 1];
        RestrictValues "RestrictValues" [0 1];
        IsRestriction "IsRestriction" [0 0];
        FunctionRange "Range" [0];
        Pointwise "Pointwise" [0 0 2];
        Inverse "Inverse" [0 0 0];
        AntiFunction "AntiFunction" [0];
        IsInjective "IsInjective" [0];
        Injection "Injection" [0 0];
        Surjection "Surjection" [0 0];
        Bijection "Bijection" [0 0];
        ExistsInjection "ExistsInjection" [0 0];
        ExistsSurjection "ExistsSurjection" [0 0];
        ExistsBijection "ExistsBijection" [0 0];
        FoldFunction "FoldFunction" [2 0 0];
        FoldFunctionOnSet "FoldFunctionOnSet" [2 0 0 0];
        SumFunctionOnSet "SumFunctionOnSet" [0 0];
        SumFunction "SumFunction" [0];
    }
    "Folds" (partial) extends [] {
        MapThenFoldSet "MapThenFoldSet" [2 0 1 1 0];
    }
    "FiniteSetsExt" (partial) extends ["Integers" "FiniteSets" "Folds" "Functions"] {
        FoldSet "FoldSet" [2 0 0];
        SumSet "SumSet" [0];
        ProductSet "ProductSet" [0];
        ReduceSet "ReduceSet" [2 0 0];
        MapThenSumSet "MapThenSumSet" [1 0];
        FlattenSet "FlattenSet" [0];
        SymDiff "SymDiff" [0 0];
        Quantify "Quantify" [0 1];
        KSubset "kSubset" [0 0];
        Max "Max" [0];
        Min "Min" [0];
        Choices "Choices" [0];
        ChooseUnique "ChooseUnique" [0 1];
    }
    "SequencesExt" (partial) extends
        ["Sequences" "Naturals" "FiniteSets" "FiniteSetsExt" "Folds" "Functions" "Bags" "TLC"] {
        ToSet "ToSet" [0];
        ToBag "ToBag" [0];
        SetToSeq "SetToSeq" [0];
        SetToSeqs "SetToSeqs" [0];
        SetToSortSeq "SetToSortSeq" [0 2];
        SetToAllKPermutations "SetToAllKPermutations" [0];
        TupleOf "TupleOf" [0 0];
        SeqOf "SeqOf" [0 0];
        BoundedSeq "BoundedSeq" [0 0];
        IsSorted "IsSorted" [0 2];
        Contains "Contains" [0 0];
        SelectInSeq "SelectInSeq" [0 1];
        SelectInSubSeq "SelectInSubSeq" [0 0 0 1];
        SelectLastInSeq "SelectLastInSeq" [0 1];
        SelectLastInSubSeq "SelectLastInSubSeq" [0 0 0 1];
        Reverse "Reverse" [0];
        Remove "Remove" [0 0];
        ReplaceAll "ReplaceAll" [0 0 0];
        InsertAt "InsertAt" [0 0 0];
        ReplaceAt "ReplaceAt" [0 0 0];
        RemoveAt "RemoveAt" [0 0];
        RemoveFirst "RemoveFirst" [0 0];
        RemoveFirstMatch "RemoveFirstMatch" [0 1];
        Cons "Cons" [0 0];
        Snoc "Snoc" [0 0];
        Front "Front" [0];
        Last "Last" [0];
        IsPrefix "IsPrefix" [0 0];
        IsStrictPrefix "IsStrictPrefix" [0 0];
        IsSuffix "IsSuffix" [0 0];
        IsStrictSuffix "IsStrictSuffix" [0 0];
        Prefixes "Prefixes" [0];
        CommonPrefixes "CommonPrefixes" [0];
        LongestCommonPrefix "LongestCommonPrefix" [0];
        Suffixes "Suffixes" [0];
        SeqMod "SeqMod" [0 0];
        FoldSeq "FoldSeq" [2 0 0];
        FoldLeft "FoldLeft" [2 0 0];
        FoldRight "FoldRight" [2 0 0];
        FoldLeftDomain "FoldLeftDomain" [2 0 0];
        FoldRightDomain "FoldRightDomain" [2 0 0];
        FlattenSeq "FlattenSeq" [0];
        Zip "Zip" [0 0];
        Interleave "Interleave" [0 0];
        SubSeqs "SubSeqs" [0];
        AllSubSeqs "AllSubSeqs" [0];
        IndexFirstSubSeq "IndexFirstSubSeq" [0 0];
        ReplaceSubSeqAt "ReplaceSubSeqAt" [0 0 0 0];
        ReplaceFirstSubSeq "ReplaceFirstSubSeq" [0 0 0];
        ReplaceAllSubSeqs "ReplaceAllSubSeqs" [0 0 0];
    }
    "BagsExt" (partial) extends [] {
        BagAdd "BagAdd" [0 0];
        BagRemove "BagRemove" [0 0];
        BagRemoveAll "BagRemoveAll" [0 0];
        MapThenFoldBag "MapThenFoldBag" [2 0 1 1 0];
        FoldBag "FoldBag" [2 0 0];
        SumBag "SumBag" [0];
        ProductBag "ProductBag" [0];
    }
    "Bitwise" (partial) extends [] {
        BitwiseAnd "&" [0 0];
        BitwiseOr "|" [0 0];
        BitwiseXor "^^" [0 0];
        BitwiseNot "Not" [0];
        ShiftRight "shiftR" [0 0];
    }
    "Relation" (partial) extends ["Naturals" "FiniteSets"] {
        IsReflexive "IsReflexive" [0 0];
        IsReflexiveUnder "IsReflexiveUnder" [2 0];
        IsIrreflexive "IsIrreflexive" [0 0];
        IsIrreflexiveUnder "IsIrreflexiveUnder" [2 0];
        IsSymmetric "IsSymmetric" [0 0];
        IsSymmetricUnder "IsSymmetricUnder" [2 0];
        IsAntiSymmetric "IsAntiSymmetric" [0 0];
        IsAntiSymmetricUnder "IsAntiSymmetricUnder" [2 0];
        IsAsymmetric "IsAsymmetric" [0 0];
        IsAsymmetricUnder "IsAsymmetricUnder" [2 0];
        IsTransitive "IsTransitive" [0 0];
        IsTransitiveUnder "IsTransitiveUnder" [2 0];
        IsStrictlyPartiallyOrdered "IsStrictlyPartiallyOrdered" [0 0];
        IsStrictlyPartiallyOrderedUnder "IsStrictlyPartiallyOrderedUnder" [2 0];
        IsPartiallyOrdered "IsPartiallyOrdered" [0 0];
        IsPartiallyOrderedUnder "IsPartiallyOrderedUnder" [2 0];
        IsStrictlyTotallyOrdered "IsStrictlyTotallyOrdered" [0 0];
        IsStrictlyTotallyOrderedUnder "IsStrictlyTotallyOrderedUnder" [2 0];
        IsTotallyOrdered "IsTotallyOrdered" [0 0];
        IsTotallyOrderedUnder "IsTotallyOrderedUnder" [2 0];
        TransitiveClosure "TransitiveClosure" [0 0];
        ReflexiveTransitiveClosure "ReflexiveTransitiveClosure" [0 0];
        IsConnected "IsConnected" [0 0];
    }
    "Graphs" (partial) extends ["Naturals" "Sequences" "FiniteSets" "SequencesExt" "Relation"] {
        AreConnectedInDigraph "AreConnectedIn" [0 0 0];
        IsStronglyConnectedDigraph "IsStronglyConnected" [0];
        ConnectionsIn "ConnectionsIn" [0];
        HasCycle "HasCycle" [0];
        Successors "Successors" [0 0];
        Predecessors "Predecessors" [0 0];
        InDegree "InDegree" [0 0];
        OutDegree "OutDegree" [0 0];
    }
    "UndirectedGraphs" (partial) extends [] {
        AreConnectedIn "AreConnectedIn" [0 0 0];
        ConnectedComponents "ConnectedComponents" [0];
        IsStronglyConnected "IsStronglyConnected" [0];
    }
    "Combinatorics" (partial) extends ["Naturals"] {
        Binomial "choose" [0 0];
    }
    "IOUtils" (partial) extends [] {
        IoSerialize "IOSerialize" [0 0 0];
        IoDeserialize "IODeserialize" [0 0];
        Serialize "Serialize" [0 0 0];
        Deserialize "Deserialize" [0 0];
        IoExec "IOExec" [0];
        IoEnvExec "IOEnvExec" [0 0];
        IoExecTemplate "IOExecTemplate" [0 0];
        IoEnvExecTemplate "IOEnvExecTemplate" [0 0 0];
        IoEnv "IOEnv" [];
        IoAtoi "atoi" [0];
    }
    "Json" (partial) extends [] {
        ToJson "ToJson" [0];
        ToJsonArray "ToJsonArray" [0];
        ToJsonObject "ToJsonObject" [0];
        JsonSerialize "JsonSerialize" [0 0];
        JsonDeserialize "JsonDeserialize" [0];
        NdJsonSerialize "ndJsonSerialize" [0 0];
        NdJsonDeserialize "ndJsonDeserialize" [0];
    }
    "CSV" (partial) extends [] {
        CsvWrite "CSVWrite" [0 0 0];
        CsvWriteRecord "CSVWriteRecord" [0 0 0 0];
        CsvRead "CSVRead" [0 0 0];
        CsvRecords "CSVRecords" [0];
    }
}

impl StandardOperator {
    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Returns the name of the module.
    pub fn module(self) -> &'static str {
        self.row().module
    }

    /// Returns the name: an identifier, or an operator symbol in its ASCII spelling. The symbol of a prefix operator
    /// that is also infix ends with a dot: `-.`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the arities of the parameters: 0 for an expression, more for an operator.
    pub fn arities(self) -> &'static [usize] {
        self.row().arities
    }

    /// Returns the level of a call whose arguments are constants.
    pub fn level(self) -> Level {
        match self {
            StandardOperator::Trace => Level::State,
            _ => Level::Constant,
        }
    }

    /// Returns whether equal arguments always give the same value, so that a call with constants is evaluated once.
    pub fn is_pure(self) -> bool {
        use StandardOperator::*;
        !matches!(
            self,
            Print
                | PrintT
                | JavaTime
                | TlcGet
                | TlcSet
                | RandomElement
                | TlcGetOrDefault
                | TlcGetAndSet
                | Trace
                | CounterExample
                | PickSuccessor
                | TlcDefer
                | RandomSubset
                | RandomSetOfSubsets
                | TestRandomSetOfSubsets
                | IoSerialize
                | Serialize
                | IoExec
                | IoEnvExec
                | IoExecTemplate
                | IoEnvExecTemplate
                | JsonSerialize
                | NdJsonSerialize
                | CsvWrite
                | CsvWriteRecord
        )
    }
}

impl StandardModule {
    /// Returns the module with a name.
    pub fn find(name: &str) -> Option<&'static StandardModule> {
        STANDARD_MODULES.iter().find(|it| it.name == name)
    }

    /// Returns its own operator with a name.
    pub fn operator(&self, name: &str) -> Option<StandardOperator> {
        self.operators.iter().copied().find(|it| it.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operator_is_in_the_row_of_its_module() {
        for module in STANDARD_MODULES {
            for &operator in module.operators {
                assert_eq!(operator.module(), module.name);
                assert_eq!(module.operator(operator.name()), Some(operator));
            }
            for extended in module.extends {
                assert!(StandardModule::find(extended).is_some(), "{extended}");
            }
        }
        assert_eq!(StandardOperator::SelectSeq.arities(), [0, 1]);
        assert_eq!(StandardOperator::Negate.name(), "-.");
    }
}
