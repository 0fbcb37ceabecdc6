----------------------------- MODULE observed_set ----------------------------
\* A replicated set in which an element that is added and removed at once stays. Each addition has a tag of its own: its
\* replica and a number. A removal removes the tags that the replica has observed. Replicas exchange their whole states
\* in any order, and replicas that know the same updates are equal.
EXTENDS Naturals, FiniteSets

CONSTANTS Replica, Element, Updates

VARIABLES tags,     \* the tags that each replica knows for each element
          removed,  \* the removed tags that each replica knows
          count,    \* how many updates each replica has made
          known     \* the updates that each replica knows: pairs of a replica and a number

vars == <<tags, removed, count, known>>

Tag == Replica \X (1 .. Updates)

TypeOK == /\ tags \in [Replica -> [Element -> SUBSET Tag]]
          /\ removed \in [Replica -> SUBSET Tag]
          /\ count \in [Replica -> 0 .. Updates]
          /\ known \in [Replica -> SUBSET Tag]

Init == /\ tags = [r \in Replica |-> [e \in Element |-> {}]]
        /\ removed = [r \in Replica |-> {}]
        /\ count = [r \in Replica |-> 0]
        /\ known = [r \in Replica |-> {}]

\* An element is in the set of a replica while one of its tags is not removed.
Visible(r, e) == tags[r][e] \ removed[r]
Content(r) == {e \in Element : Visible(r, e) # {}}

\* A replica makes an update, and a step says what it changes.
Update(r, Change(_)) == LET tag == <<r, count[r] + 1>>
                        IN  /\ count[r] < Updates
                            /\ count' = [count EXCEPT ![r] = @ + 1]
                            /\ known' = [known EXCEPT ![r] = @ \cup {tag}]
                            /\ Change(tag)

Add(r, e) == Update(r, LAMBDA tag : /\ tags' = [tags EXCEPT ![r][e] = @ \cup {tag}]
                                    /\ UNCHANGED removed)

Remove(r, e) == LET RemoveObserved(tag) == /\ removed' = [removed EXCEPT ![r] = @ \cup Visible(r, e)]
                                           /\ UNCHANGED tags
                IN  /\ Visible(r, e) # {}
                    /\ Update(r, RemoveObserved)

Merge(r, s) == /\ known[s] \ known[r] # {}
               /\ tags' = [tags EXCEPT ![r] = [e \in Element |-> @[e] \cup tags[s][e]]]
               /\ removed' = [removed EXCEPT ![r] = removed[r] \cup removed[s]]
               /\ known' = [known EXCEPT ![r] = known[r] \cup known[s]]
               /\ UNCHANGED count

Next == \E r \in Replica :
          \/ \E e \in Element : Add(r, e) \/ Remove(r, e)
          \/ \E s \in Replica \ {r} : Merge(r, s)

Spec == Init /\ [][Next]_vars

Converges == \A r, s \in Replica : known[r] = known[s] => tags[r] = tags[s] /\ removed[r] = removed[s]

\* A tag belongs to one element.
TagsAreUnique == \A r, s \in Replica : \A d, e \in Element : d # e => tags[r][d] \cap tags[s][e] = {}

\* A replica removes only what somebody has added.
RemovedWasAdded == \A r \in Replica : removed[r] \subseteq UNION {tags[r][e] : e \in Element}

\* A replica that is the first to remove a tag has observed it.
RemovesObserved == [][\A r \in Replica : \A tag \in removed'[r] :
                        \/ \E s \in Replica : tag \in removed[s]
                        \/ \E e \in Element : tag \in tags[r][e]]_vars
==============================================================================
