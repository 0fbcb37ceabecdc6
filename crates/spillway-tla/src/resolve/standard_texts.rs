//! The identifiers of TLC's standard modules.
//!
//! TLC numbers identifiers and strings together, and strings are ordered by their numbers. A string such as "b" has the
//! number of the first identifier `b`, which may be one of a standard module. These modules have no text here, so this
//! table has their identifiers in the order of their first appearance.

/// A standard module.
pub(super) struct StandardText {
    pub(super) name: &'static str,
    /// The modules that it extends.
    pub(super) extends: &'static [&'static str],
    /// The modules that it instantiates.
    pub(super) instances: &'static [&'static str],
    /// The identifiers, separated by blanks.
    pub(super) identifiers: &'static str,
}

/// The module that TLC adds to every root module, after those that the root extends.
pub(super) const ADDED_MODULE: &str = "_TLCTrace";

/// The strings of this module that are no identifiers.
pub(super) const ADDED_STRINGS: [&str; 3] = ["console", "CounterExample written: ", "action"];

/// The standard modules of TLC.
pub(super) const STANDARD_TEXTS: &[StandardText] = &[
    StandardText { name: "Naturals", extends: &[], instances: &[], identifiers: "Nat a b n TRUE" },
    StandardText { name: "Integers", extends: &["Naturals"], instances: &[], identifiers: "Int a" },
    StandardText {
        name: "Reals",
        extends: &["Integers"],
        instances: &[],
        identifiers: "Real a b m Infinity i r",
    },
    StandardText {
        name: "Sequences",
        extends: &[],
        instances: &["Naturals"],
        identifiers: "Seq S n Nat Len s t i Append e Head Tail SubSeq m SelectSeq Test F",
    },
    StandardText {
        name: "FiniteSets",
        extends: &[],
        instances: &["Naturals", "Sequences"],
        identifiers: "IsFiniteSet S seq Seq s n Len Cardinality CS T x",
    },
    StandardText {
        name: "Bags",
        extends: &["TLC"],
        instances: &["Naturals"],
        identifiers: "IsABag B n Nat BagToSet SetToBag S e BagIn EmptyBag B1 B2 d Sum f DSum elt TRUE \
                      BagUnion SubBag RemoveFromDom x y Combine BagSet i Biggest Range r s RSB BB BagOfAll \
                      F BagCardinality CopiesIn",
    },
    StandardText {
        name: "TLC",
        extends: &[],
        instances: &["Naturals", "Sequences", "FiniteSets"],
        identifiers: "Print out val PrintT TRUE Assert v JavaTime n Nat TLCGet i TLCSet d e x f g \
                      Permutations S w SortSeq s Op Perm p Len j RandomElement Any ToString a b STRING \
                      TLCEval",
    },
    StandardText {
        name: "TLCExt",
        extends: &[],
        instances: &["TLC", "Integers"],
        identifiers: "AssertEq a b PrintT AssertError err exp FailsEval e BOOLEAN TRUE TLCError s STRING \
                      Assert TLCGetOrDefault key defaultVal n TLCGetAndSet Op val oldVal v TLCSet Trace \
                      CounterExample ToTrace CE TLCModelValue str ToString TLCDefer expression TLCNoOp \
                      PickSuccessor bool TLCCache closure TLCFP var i Int TLCEvalDefinition definitionName",
    },
    StandardText {
        name: ADDED_MODULE,
        extends: &[],
        instances: &["TLC", "TLCExt", "Sequences", "Naturals"],
        identifiers: "_TLCTraceDeserialize absoluteFilename TRUE _TLCTraceSerialize val _TLCTraceFile _TLCTrace0 \
                      verbose CounterExample state FALSE trace ToTrace vars i counterexample PrintT \
                      _TLCTraceSilent _TLCTraceInputFile _TLCTraceFileDeserialized _TLCState level Trace \
                      _TLCTraceLassoTarget actions e _TLCTraceConstraint TLCGet dump pair v _TLCTraceView \
                      lassoTarget",
    },
    StandardText {
        name: "Randomization",
        extends: &[],
        instances: &["Naturals", "FiniteSets"],
        identifiers: "RandomSubset k S T Cardinality RandomSetOfSubsets n TestRandomSetOfSubsets i",
    },
    StandardText {
        name: "Toolbox",
        extends: &[],
        instances: &["Naturals", "FiniteSets", "TLC"],
        identifiers: "_TETrace f Nat STRING TRUE _TETraceLength Cardinality _TEPosition TLCGet",
    },
    StandardText {
        name: "Json",
        extends: &[],
        instances: &["Sequences", "FiniteSets", "TLC"],
        identifiers: "IsSequence F D TRUE FALSE ToJsonKeyValue d ToString ToJsonObjectString \
                      ToJsonArrayString ToJsonString IsFiniteSet ToJson value ToJsonArray ToJsonObject \
                      JsonSerialize absoluteFilename JsonDeserialize val ndJsonSerialize ndJsonDeserialize",
    },
];
