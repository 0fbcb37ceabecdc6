#!/usr/bin/env python3
"""Writes the nets of this folder, each with what its header promises.

The promises are counted here, by playing the token game on the nets as they are described below, not by Spillway.

    python3 models/pnml/make.py          write the nets
    python3 models/pnml/make.py --check  say whether they are what is written
"""

import itertools
import sys
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

HERE = Path(__file__).parent


class Net:
    """A net. An inscription is a list of (times, parts); a part is a variable `x`, `x+1`, `x-1`, a value or `all`."""

    def __init__(self, name, about, classes=None):
        self.name, self.about, self.classes = name, about, classes or {}
        self.places, self.transitions, self.extra = {}, {}, ""

    def place(self, name, tokens=0, sort=()):
        """A place. The tokens of one with colours are an inscription without variables."""
        self.places[name] = (tuple(sort), bag(tokens))

    def transition(self, name, take=None, put=None, variables=None, unless=(), **special):
        """A transition; `unless` is a list of pairs of values that must not be equal; special: test, inhibit, reset."""
        arcs = [("take", take or {}), ("put", put or {})] + list(special.items())
        arcs = [(does, place, bag(tokens)) for does, all in arcs for place, tokens in all.items()]
        self.transitions[name] = (arcs, variables or {}, list(unless))

    # The token game.

    def colours(self, parts, sort, binding):
        """The colours that parts stand for."""
        def values(part, of):
            domain = self.classes[of]
            if part == "all":
                return domain
            name, shift = (part[:-2], int(part[-2:])) if part[-2:] in ("+1", "-1") else (part, 0)
            return [domain[(domain.index(binding.get(name, name)) + shift) % len(domain)]]
        return itertools.product(*(values(part, of) for part, of in zip(parts, sort)))

    def tokens(self, place, inscription, binding):
        found = Counter()
        for times, parts in inscription:
            for colour in self.colours(parts, self.places[place][0], binding):
                found[(place, colour)] += times
        return found

    def bindings(self):
        for name, (arcs, variables, unless) in self.transitions.items():
            for values in itertools.product(*(self.classes[it] for it in variables.values())):
                binding = dict(zip(variables, values))
                if all(binding.get(a, a) != binding.get(b, b) for a, b in unless):
                    yield [(does, place, self.tokens(place, them, binding)) for does, place, them in arcs]

    def count(self):
        """States, transitions, levels, deadlocks; the depth of the first, if there is one."""
        start = Counter()
        for place, (_, tokens) in self.places.items():
            start += self.tokens(place, tokens, {})
        bindings = list(self.bindings())
        level, known = [frozenset(start.items())], {frozenset(start.items())}
        edges, levels, deadlocks, depth = 0, 0, 0, None
        while level:
            found = []
            for marking in map(dict, level):
                after = [it for it in (fire(marking, arcs) for arcs in bindings) if it is not None]
                edges += len(after)
                if not after:
                    deadlocks += 1
                    depth = levels if depth is None else depth
                for it in after:
                    if it not in known:
                        known.add(it)
                        found.append(it)
            level, levels = found, levels + 1
        return len(known), edges, levels, deadlocks, depth

    def promise(self):
        states, transitions, levels, deadlocks, depth = self.count()
        verdict = "verified" if not deadlocks else f"violated kind=deadlock depth={depth}"
        return (f"expect: verdict={verdict} states={states} transitions={transitions} "
                f"levels={levels} deadlocks={deadlocks}")

    # As XML.

    def text(self):
        kind = "symmetricnet" if self.classes else "ptnet"
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<!--"]
        lines += [("// " + line).rstrip() for line in self.about.strip().split("\n")]
        lines += ["//", "// " + self.promise(), "-->"]
        lines += ['<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">']
        lines += [f"<net id={quoteattr(self.name)} type=\"http://www.pnml.org/version-2009/grammar/{kind}\">"]
        if self.classes:
            lines += ["<declaration><structure><declarations>"]
            for name, values in self.classes.items():
                each = "".join(f'<feconstant id="{name}.{it}" name="{it}"/>' for it in values)
                lines += [f'<namedsort id="{name}" name="{name}"><cyclicenumeration>{each}</cyclicenumeration></namedsort>']
            sorts = {sort for sort, _ in self.places.values() if len(sort) > 1}
            for sort in sorted(sorts):
                each = "".join(f'<usersort declaration="{it}"/>' for it in sort)
                lines += [f'<namedsort id="{"x".join(sort)}" name="{"x".join(sort)}"><productsort>{each}</productsort></namedsort>']
            for name, of in sorted({it for _, all, _ in self.transitions.values() for it in all.items()}):
                lines += [f'<variabledecl id="{name}" name="{name}"><usersort declaration="{of}"/></variabledecl>']
            lines += ["</declarations></structure></declaration>"]
        lines += ['<page id="page">']
        for name, (sort, tokens) in self.places.items():
            lines += [f"<place id={quoteattr(name)}>{self.typed(sort)}{self.marking(sort, tokens)}</place>"]
        number = 0
        for name, (arcs, _, unless) in self.transitions.items():
            lines += [f"<transition id={quoteattr(name)}>{condition(self, unless)}</transition>"]
            for does, place, tokens in arcs:
                ends = (name, place) if does == "put" else (place, name)
                kind = {"test": "test", "inhibit": "inhibitor", "reset": "reset"}.get(does)
                kind = f'<type value="{kind}"/>' if kind else ""
                sort = self.places[place][0]
                lines += [f'<arc id="a{number}" source={quoteattr(ends[0])} target={quoteattr(ends[1])}>'
                          f"{kind}{self.inscription(sort, tokens)}</arc>"]
                number += 1
        return "\n".join(lines + [self.extra] * bool(self.extra) + ["</page>", "</net>", "</pnml>", ""])

    def typed(self, sort):
        return f'<type><structure><usersort declaration="{"x".join(sort)}"/></structure></type>' if sort else ""

    def marking(self, sort, tokens):
        if not sort:
            return f"<initialMarking><text>{tokens[0][0]}</text></initialMarking>" if tokens else ""
        return f"<hlinitialMarking>{self.term(sort, tokens)}</hlinitialMarking>" if tokens else ""

    def inscription(self, sort, tokens):
        if not sort and not self.classes:
            return f"<inscription><text>{tokens[0][0]}</text></inscription>" if tokens not in ([], [(1, ())]) else ""
        return f"<hlinscription>{self.term(sort, tokens)}</hlinscription>" if tokens else ""

    def term(self, sort, tokens):
        def part(it, of):
            if it == "all":
                return f'<all><usersort declaration="{of}"/></all>'
            if it[-2:] in ("+1", "-1"):
                name = "successor" if it.endswith("+1") else "predecessor"
                return f"<{name}><subterm>{part(it[:-2], of)}</subterm></{name}>"
            if it in self.classes[of]:
                return f'<useroperator declaration="{of}.{it}"/>'
            return f'<variable refvariable="{it}"/>'

        def colour(parts):
            each = [part(it, of) for it, of in zip(parts, sort)]
            if len(each) > 1:
                return "<tuple>" + "".join(f"<subterm>{it}</subterm>" for it in each) + "</tuple>"
            return each[0] if each else "<dotconstant/>"

        def times(count, parts):
            number = f'<numberconstant value="{abs(count)}"><positive/></numberconstant>'
            return f"<numberof><subterm>{number}</subterm><subterm>{colour(parts)}</subterm></numberof>"

        def added(them):
            each = [times(*it) for it in them]
            return each[0] if len(each) == 1 else "<add>" + "".join(f"<subterm>{it}</subterm>" for it in each) + "</add>"

        more, less = [it for it in tokens if it[0] > 0], [it for it in tokens if it[0] < 0]
        whole = added(more)
        if less:
            whole = f"<subtract><subterm>{whole}</subterm><subterm>{added(less)}</subterm></subtract>"
        return f"<structure>{whole}</structure>"


def bag(tokens):
    """A number of tokens without colour, or an inscription."""
    if isinstance(tokens, int):
        return [(tokens, ())] if tokens else []
    return [it if isinstance(it[0], int) else (1, tuple(it)) for it in tokens]


def condition(net, unless):
    if not unless:
        return ""
    names = {name for _, all, _ in net.transitions.values() for name in all}
    of = {value: name for name, values in net.classes.items() for value in values}
    def value(it):
        return f'<variable refvariable="{it}"/>' if it in names else f'<useroperator declaration="{of[it]}.{it}"/>'
    each = [f"<inequality><subterm>{value(a)}</subterm><subterm>{value(b)}</subterm></inequality>" for a, b in unless]
    whole = each[0] if len(each) == 1 else "<and>" + "".join(f"<subterm>{it}</subterm>" for it in each) + "</and>"
    says = " and ".join(f"{a} != {b}" for a, b in unless)
    return f"<condition><text>{escape(says)}</text><structure>{whole}</structure></condition>"


def fire(marking, arcs):
    """The marking after a step, or nothing where it cannot be taken."""
    for does, place, tokens in arcs:
        for at, times in tokens.items():
            there = marking.get(at, 0)
            if (does in ("take", "test") and there < times) or (does == "inhibit" and there >= times):
                return None
    after = dict(marking)
    for does, place, tokens in arcs:
        if does == "take":
            for at, times in tokens.items():
                after[at] = after.get(at, 0) - times
    for does, place, tokens in arcs:
        if does == "reset":
            after = {at: times for at, times in after.items() if at[0] != place}
    for does, place, tokens in arcs:
        if does == "put":
            for at, times in tokens.items():
                after[at] = after.get(at, 0) + times
    return frozenset(it for it in after.items() if it[1])


def philosophers(count, is_coloured):
    name = "philosophers_coloured" if is_coloured else "philosophers"
    about = "Philosophers who take the fork to the left and then the one to the right: all may wait for ever."
    if is_coloured:
        net = Net(name, about, {"P": [f"p{it}" for it in range(count)]})
        for place in ["thinking", "fork"]:
            net.place(place, [("all",)], ["P"])
        for place in ["hungry", "eating"]:
            net.place(place, 0, ["P"])
        x = {"x": "P"}
        net.transition("left", {"thinking": [("x",)], "fork": [("x",)]}, {"hungry": [("x",)]}, x)
        net.transition("right", {"hungry": [("x",)], "fork": [("x+1",)]}, {"eating": [("x",)]}, x)
        forks = [("x",), ("x+1",)]
        net.transition("down", {"eating": [("x",)]}, {"thinking": [("x",)], "fork": forks}, x)
        return net
    net = Net(name, about)
    for it in range(count):
        net.place(f"thinking{it}", 1)
        net.place(f"fork{it}", 1)
        net.place(f"hungry{it}")
        net.place(f"eating{it}")
    for it in range(count):
        next = (it + 1) % count
        net.transition(f"left{it}", {f"thinking{it}": 1, f"fork{it}": 1}, {f"hungry{it}": 1})
        net.transition(f"right{it}", {f"hungry{it}": 1, f"fork{next}": 1}, {f"eating{it}": 1})
        net.transition(f"down{it}", {f"eating{it}": 1}, {f"thinking{it}": 1, f"fork{it}": 1, f"fork{next}": 1})
    return net


def chain(name, about, places, steps):
    net = Net(name, about)
    for place, tokens in places.items():
        net.place(place, tokens)
    for number, (take, put) in enumerate(steps):
        net.transition(f"t{number}", {it: take.count(it) for it in take}, {it: put.count(it) for it in put})
    return net


def kanban(tokens):
    net = Net("kanban", f"""Four cells of a factory with {tokens} kanban cards each, of which a part needs one for each cell it is in.

G. Ciardo and M. Tilgner, On the use of Kronecker operators for the solution of generalized stochastic Petri nets, 1996.""")
    for it in range(1, 5):
        for place in ["working", "broken", "done"]:
            net.place(f"{place}{it}")
        net.place(f"card{it}", tokens)
    for it in range(1, 5):
        net.transition(f"ok{it}", {f"working{it}": 1}, {f"done{it}": 1})
        net.transition(f"redo{it}", {f"working{it}": 1}, {f"broken{it}": 1})
        net.transition(f"back{it}", {f"broken{it}": 1}, {f"working{it}": 1})
    net.transition("in", {"card1": 1}, {"working1": 1})
    net.transition("split", {"done1": 1, "card2": 1, "card3": 1}, {"card1": 1, "working2": 1, "working3": 1})
    net.transition("join", {"done2": 1, "done3": 1, "card4": 1}, {"card2": 1, "card3": 1, "working4": 1})
    net.transition("out", {"done4": 1}, {"card4": 1})
    return net


def readers_writers(count):
    net = Net("readers_writers", f"{count} processes read together or write alone: a writer takes all permits at once.")
    net.place("idle", count)
    net.place("permits", count)
    net.place("reading")
    net.place("writing")
    net.transition("read", {"idle": 1, "permits": 1}, {"reading": 1})
    net.transition("stop reading", {"reading": 1}, {"idle": 1, "permits": 1})
    net.transition("write", {"idle": 1, "permits": count}, {"writing": 1})
    net.transition("stop writing", {"writing": 1}, {"idle": 1, "permits": count})
    return net


def counter(bits):
    net = Net("counter", f"A counter of {bits} bits, each a place for 0 and one for 1, that begins anew after its last value.")
    for it in range(bits):
        net.place(f"zero{it}", 1)
        net.place(f"one{it}")
    for it in range(bits + 1):
        carry = range(it)
        take = {**{f"one{low}": 1 for low in carry}, **({f"zero{it}": 1} if it < bits else {})}
        put = {**{f"zero{low}": 1 for low in carry}, **({f"one{it}": 1} if it < bits else {})}
        net.transition(f"carry{it}", take, put)
    return net


def ring(stations):
    net = Net("ring", f"A ring of {stations} stations with two tokens; who has one may work, or hands it on to a station that has none.")
    for it in range(stations):
        net.place(f"token{it}", 1 if it < 2 else 0)
        net.place(f"free{it}", 0 if it < 2 else 1)
        net.place(f"working{it}")
    for it in range(stations):
        next = (it + 1) % stations
        net.transition(f"pass{it}", {f"token{it}": 1, f"free{next}": 1}, {f"free{it}": 1, f"token{next}": 1})
        net.transition(f"work{it}", {f"token{it}": 1}, {f"working{it}": 1})
        net.transition(f"rest{it}", {f"working{it}": 1}, {f"token{it}": 1})
    return net


def crossing(trains):
    net = Net("crossing", f"""A crossing that {trains} trains come to: the gate is down while any is near, and goes up where none is.

The gate asks by an inhibitor arc whether there is a train.""")
    net.place("far", trains)
    net.place("near")
    net.place("inside")
    net.place("up", 1)
    net.place("down")
    net.transition("come", {"far": 1}, {"near": 1})
    net.transition("enter", {"near": 1}, {"inside": 1}, test={"down": 1})
    net.transition("leave", {"inside": 1}, {"far": 1})
    net.transition("lower", {"up": 1}, {"down": 1}, test={"near": 1})
    net.transition("raise", {"down": 1}, {"up": 1}, inhibit={"near": 1, "inside": 1})
    return net


def session(clients):
    net = Net("session", f"{clients} clients send requests to a server that may crash, which loses all that wait: a reset arc.")
    net.place("idle", clients)
    net.place("asked")
    net.place("lost", 0)
    net.place("up", 1)
    net.place("down")
    net.transition("ask", {"idle": 1}, {"asked": 1}, test={"up": 1})
    net.transition("answer", {"asked": 1}, {"idle": 1}, test={"up": 1})
    net.transition("crash", {"up": 1}, {"down": 1}, reset={"asked": 0})
    net.transition("restart", {"down": 1}, {"up": 1})
    return net


def change(cents):
    net = Net("change", f"A machine gives {cents} cents in coins of 50, 20, 10 and 5: arcs with weights. It ends when nothing is left.")
    net.place("rest", cents // 5)
    for value in [10, 4, 2, 1]:
        net.place(f"coins{5 * value}")
        net.transition(f"give{5 * value}", {"rest": value}, {f"coins{5 * value}": 1})
    return net


def database(sites):
    net = Net("database", f"""{sites} sites keep copies: one that has changed its own tells all others, and waits until they have changed theirs.

H. J. Genrich and K. Lautenbach, 1979; K. Jensen's distributed database. No site is unlike another.""", {"S": [f"s{it}" for it in range(sites)]})
    for place, tokens in {"inactive": [("all",)], "waiting": 0, "performing": 0}.items():
        net.place(place, tokens, ["S"])
    for place in ["sent", "received", "acknowledged"]:
        net.place(place, 0, ["S", "S"])
    net.place("passive", [(1, ())])
    net.place("active")
    s, both = {"s": "S"}, {"s": "S", "r": "S"}
    others = [(1, ("s", "all")), (-1, ("s", "s"))]
    net.transition("update", {"inactive": [("s",)], "passive": 1}, {"waiting": [("s",)], "active": 1, "sent": others}, s)
    net.transition("receive", {"inactive": [("r",)], "sent": [("s", "r")]}, {"performing": [("r",)], "received": [("s", "r")]}, both)
    net.transition("reply", {"performing": [("r",)], "received": [("s", "r")]}, {"inactive": [("r",)], "acknowledged": [("s", "r")]}, both)
    net.transition("done", {"waiting": [("s",)], "active": 1, "acknowledged": others}, {"inactive": [("s",)], "passive": 1}, s)
    return net


def election(count):
    net = Net("election", f"""{count} nodes in a ring send their numbers round; a node hands on what is greater than its own, here any other's.

Two messages that meet in a node are one: the net asks by an inhibitor arc whether there is one already.""", {"N": [f"n{it}" for it in range(count)]})
    net.place("asleep", [("all",)], ["N"])
    net.place("awake", 0, ["N"])
    net.place("message", 0, ["N", "N"])
    net.place("leader", 0, ["N"])
    one, two = {"x": "N"}, {"x": "N", "y": "N"}
    net.transition("wake", {"asleep": [("x",)]}, {"awake": [("x",)], "message": [("x+1", "x")]}, one)
    net.transition("pass", {"message": [("x", "y")]}, {"message": [("x+1", "y")]}, two, [("x", "y")], test={"awake": [("x",)]}, inhibit={"message": [("x+1", "y")]})
    net.transition("win", {"message": [("x", "x")], "awake": [("x",)]}, {"leader": [("x",)]}, one)
    return net


def pairs(count):
    net = Net("pairs", f"{count} dancers: any two that stand may dance together, each with a colour of its own, and some two may be one and the same, who then has to be there twice.",
              {"D": [f"d{it}" for it in range(count)]})
    net.place("standing", [(1, ("all",)), (1, ("d0",))], ["D"])
    net.place("dancing", 0, ["D", "D"])
    both = {"x": "D", "y": "D"}
    net.transition("meet", {"standing": [("x",), ("y",)]}, {"dancing": [("x", "y")]}, both)
    net.transition("part", {"dancing": [("x", "y")]}, {"standing": [("x",), ("y",)]}, both)
    return net


def lights(count):
    net = Net("lights", f"{count} traffic lights around a crossing, of which the next may turn green once the one before is red.",
              {"L": [f"l{it}" for it in range(count)], "C": ["red", "green", "amber"]})
    net.place("light", [("all", "red")], ["L", "C"])
    net.place("turn", [("l0",)], ["L"])
    x = {"x": "L"}
    net.transition("go", {"light": [("x", "red")], "turn": [("x",)]}, {"light": [("x", "green")]}, x)
    net.transition("slow", {"light": [("x", "green")]}, {"light": [("x", "amber")]}, x)
    net.transition("stop", {"light": [("x", "amber")]}, {"light": [("x", "red")], "turn": [("x+1",)]}, x)
    return net


def nets():
    yield philosophers(5, False)
    yield philosophers(5, True)
    yield kanban(2)
    yield readers_writers(6)
    yield counter(8)
    yield ring(8)
    yield crossing(4)
    yield session(3)
    yield change(100)
    yield database(4)
    yield election(4)
    yield pairs(4)
    yield lights(5)
    yield chain("buffer", "A producer and a consumer with room for five between them.",
                {"idle": 1, "made": 0, "waiting": 1, "busy": 0, "room": 5, "full": 0},
                [(["idle"], ["made"]), (["made", "room"], ["idle", "full"]), (["waiting", "full"], ["busy", "room"]), (["busy"], ["waiting"])])
    yield chain("deadlock", "Two processes take two locks in different orders.",
                {"a": 1, "b": 1, "p0": 1, "p1": 0, "p2": 0, "q0": 1, "q1": 0, "q2": 0},
                [(["p0", "a"], ["p1"]), (["p1", "b"], ["p2"]), (["p2"], ["p0", "a", "b"]),
                 (["q0", "b"], ["q1"]), (["q1", "a"], ["q2"]), (["q2"], ["q0", "a", "b"])])
    yield chain("semaphore", "Four processes, of which two may be inside at a time.",
                {"out": 4, "asking": 0, "inside": 0, "permits": 2},
                [(["out"], ["asking"]), (["asking", "permits"], ["inside"]), (["inside"], ["out", "permits"])])
    yield chain("assembly", "A table is made of four legs and a top, three at a time; what is made is taken away.",
                {"wood": 12, "leg": 0, "top": 0, "table": 0},
                [(["wood"], ["leg"]), (["wood", "wood"], ["top"]), (["leg"] * 4 + ["top"], ["table"]), (["table"], ["wood"] * 6)])
    yield chain("barrier", "Three workers in rounds: none begins the next before all have ended theirs.",
                {"w0": 1, "w1": 1, "w2": 1, "d0": 0, "d1": 0, "d2": 0},
                [(["w0"], ["d0"]), (["w1"], ["d1"]), (["w2"], ["d2"]), (["d0", "d1", "d2"], ["w0", "w1", "w2"])])
    yield chain("siphon", "Two places that feed each other run dry, since a third takes more than it gives back.",
                {"a": 3, "b": 0, "c": 0},
                [(["a"], ["b"]), (["b", "b"], ["a", "c"]), (["c", "a"], ["b"])])
    yield chain("molecules", "2 H2 + O2 becomes 2 H2O, and back: six molecules of the one, four of the other.",
                {"H2": 6, "O2": 4, "H2O": 0},
                [(["H2", "H2", "O2"], ["H2O", "H2O"]), (["H2O", "H2O"], ["H2", "H2", "O2"])])


def main():
    wrong = []
    for net in nets():
        path = HERE / f"{net.name}.pnml"
        text = net.text()
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            wrong.append(path.name)
    if wrong:
        sys.exit("not what is written here: " + ", ".join(wrong))


main()
