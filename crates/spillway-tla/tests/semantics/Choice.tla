---- MODULE Choice ----
EXTENDS Naturals
CONSTANTS A, B, None
VARIABLE x
Init == x = <<"zeta">>
Next == \/ x' = <<CHOOSE e \in {"beta", "alpha", "zeta"} : TRUE>>
        \/ x' = <<CHOOSE e \in {B, A, 3} : TRUE, CHOOSE e \in {B, A} : TRUE>>
        \/ x' = <<CHOOSE e \in {{2}, {1, 3}, {1, 2}, {}} : e # {} /\ e # {2}>>
        \/ x' = <<CHOOSE e \in SUBSET {1, 2} : e # {}, CHOOSE e \in [{1, 2} -> {0, 1}] : TRUE>>
        \/ x' = <<CHOOSE <<p, q>> \in {2, 1} \X {3} : p > 1>>
        \/ x' = <<{None, 1, 2}, None \in {1, 2}, None = 1, "alpha">>
ASSUME (CHOOSE e \in {"beta", "alpha", "zeta"} : TRUE) = "zeta"
ASSUME (CHOOSE e \in {B, A, 3} : TRUE) = B
ASSUME (CHOOSE e \in {{2}, {1, 3}, {1, 2}, {}} : e # {} /\ e # {2}) = {1, 2}
ASSUME (CHOOSE e \in [{1, 2} -> {0, 1}] : e[1] = 1) = <<1, 0>>
====
