---- MODULE Unicode ----
EXTENDS Naturals
VARIABLES x, y
Init ≜ ∧ x ∈ {1, 2} ∪ {3}
       ∧ y = 0
Next ≜ ∨ ∧ x' = x
       ∨ x' ≠ x ∧ ∃ n ∈ Nat : n ≤ x ⇒ n ≥ 0
       ∨ ⟨x, y⟩' = ⟨y, x⟩
Spec ≜ Init ∧ □[Next]_⟨x, y⟩
Live ≜ ◇(x ∉ {1}) ∧ (x = 1 ↝ y = 1)
Fun ≜ [n ∈ {1} × {2} ↦ n]
Sub ≜ {1} ⊆ {2} ∩ {n ∈ {3} : ∀ m ∈ {1} : ¬(m = n)}
====
