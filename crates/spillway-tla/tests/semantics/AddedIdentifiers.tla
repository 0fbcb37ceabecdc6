---- MODULE AddedIdentifiers ----
\* TLC adds the module _TLCTrace, whose identifiers order these strings.
EXTENDS Naturals
VARIABLE x
Chosen(S) == CHOOSE c \in S : TRUE
Init == x = 0
Next == x' \in {0} \cup (IF Chosen({"u", "v"}) = "v" THEN {1} ELSE {2, 3})
                  \cup (IF Chosen({"zz", "console"}) = "console" THEN {4} ELSE {5, 6})
                  \cup (IF Chosen({"yy", "pair"}) = "pair" THEN {7} ELSE {8, 9})
                  \cup (IF Chosen({"pair", "err"}) = "pair" THEN {10} ELSE {11, 12})
====
