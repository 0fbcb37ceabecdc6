----------------------------- MODULE ring_buffer -----------------------------
\* A ring buffer with two counters that run modulo twice the size, so that a full buffer and an empty one differ. The
\* writer and the reader share no lock: each changes its own counter in a step after it has used the slot. The buffer
\* implements fifo_channel.
EXTENDS Integers

CONSTANTS Value, Size

VARIABLES slots,    \* the slots, numbered from 0
          head,     \* the reader's counter
          tail,     \* the writer's counter
          written,  \* whether the writer has filled the slot at its counter
          copied    \* a sequence of the value that the reader has copied, empty if there is none

vars == <<slots, head, tail, written, copied>>

Slot(counter) == counter % Size
Advance(counter) == (counter + 1) % (2 * Size)
Count == (tail - head) % (2 * Size)

TypeOK == /\ slots \in [0 .. Size - 1 -> Value]
          /\ head \in 0 .. 2 * Size - 1
          /\ tail \in 0 .. 2 * Size - 1
          /\ written \in BOOLEAN
          /\ copied \in {<<>>} \cup {<<v>> : v \in Value}

Init == /\ slots \in [0 .. Size - 1 -> Value]
        /\ head = 0
        /\ tail = 0
        /\ written = FALSE
        /\ copied = <<>>

Fill(v) == /\ ~written
           /\ Count < Size
           /\ slots' = [slots EXCEPT ![Slot(tail)] = v]
           /\ written' = TRUE
           /\ UNCHANGED <<head, tail, copied>>

Publish == /\ written
           /\ tail' = Advance(tail)
           /\ written' = FALSE
           /\ UNCHANGED <<slots, head, copied>>

Copy == /\ copied = <<>>
        /\ Count > 0
        /\ copied' = <<slots[Slot(head)]>>
        /\ UNCHANGED <<slots, head, tail, written>>

Free == /\ copied # <<>>
        /\ head' = Advance(head)
        /\ copied' = <<>>
        /\ UNCHANGED <<slots, tail, written>>

Next == (\E v \in Value : Fill(v)) \/ Publish \/ Copy \/ Free

Spec == Init /\ [][Next]_vars

\* The values between the counters, oldest first. A value leaves the abstract channel when its slot is freed.
Contents == [i \in 1 .. Count |-> slots[Slot(head + i - 1)]]

Abstract == INSTANCE fifo_channel WITH channel <- Contents

Implements == Abstract!Spec

Bounded == Count <= Size

\* What the reader has copied is the oldest value until the slot is freed.
CopyIsHead == copied # <<>> => copied[1] = Contents[1]
==============================================================================
