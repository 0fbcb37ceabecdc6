//! Small incorrect models.

/// A cache line, in Murphi, that two nodes can own, or that one node owns while others share it.
pub const LOCK: &str = "const N: 3;
type Node: scalarset(N); State: enum { I, S, E };
var st: array [Node] of State; owner: Node; sharers: 0..N;
startstate for n: Node do st[n] := I; end; undefine owner; sharers := 0; end;
ruleset n: Node do
  rule \"ask to share\" st[n] = I ==> st[n] := S; sharers := sharers + 1; end;
  rule \"ask to own\" st[n] = I & isundefined(owner) ==> st[n] := E; owner := n; end;
end;
invariant \"one writer\" forall n: Node do st[n] = E -> sharers = 0 end;
";

/// A process, in DVE, that waits for a resource that it gave away.
pub const STUCK: &str = "byte free = 1;
process P { byte turns; state idle, waits, works; init idle;
trans idle -> waits { guard turns < 2; effect turns = turns + 1; },
      waits -> works { guard free == 1; effect free = 0; },
      works -> idle { guard turns == 1; effect free = 1; }; }
process Q { state idle, works; init idle;
trans idle -> works { guard free == 1; effect free = 0; }; }
system async;
";
