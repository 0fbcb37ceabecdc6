// Evaluates modules with TLC, one after the other in one virtual machine.
//
// Reads lines from the standard input. Each names a folder with `Model.tla` and `Model.cfg`, and the number of
// expressions in it. The answer is a line for each definition E1, E2, ..., one for the search, and `end`:
//
//     value 1 {1, 2}
//     failed 2 the message
//     search verified DISTINCT GENERATED LEVELS
//     search invariant LEVEL
//     search deadlock LEVEL
//     search failed the message
//     search large
//
// A module that TLC does not read gives `refused` with the message. The search is breadth first over TLC's own initial
// and next states, as its worker does it: a state that breaks the constraint is generated but not stored.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tla2sany.semantic.OpDefNode;
import tlc2.tool.Action;
import tlc2.tool.StateVec;
import tlc2.tool.TLCState;
import tlc2.tool.impl.FastTool;
import tlc2.util.FP64;
import tlc2.value.IBoolValue;
import tlc2.value.impl.Enumerable;
import tlc2.value.impl.FcnRcdValue;
import tlc2.value.impl.IntValue;
import tlc2.value.impl.ModelValue;
import tlc2.value.impl.RecordValue;
import tlc2.value.impl.SetEnumValue;
import tlc2.value.impl.StringValue;
import tlc2.value.impl.TupleValue;
import tlc2.value.impl.Value;
import tlc2.value.impl.ValueVec;
import util.InternTable;
import util.SimpleFilenameToStream;
import util.ToolIO;
import util.UniqueString;

public class Evaluate {
    /** Searches with more states are abandoned. */
    private static final int STATES_MAX = 3000;

    private static final int TRANSITIONS_MAX = 20000;

    /** Ends a search early. */
    private static class Ending extends Exception {
        Ending(String message) {
            super(message);
        }
    }

    private final FastTool tool;
    private final Set<Long> seen = new HashSet<>();
    private List<TLCState> level = new ArrayList<>();
    private long generated = 0;
    private int depth = 0;
    private int deadlock = -1;

    private Evaluate(FastTool tool) {
        this.tool = tool;
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        System.setOut(nowhere);
        System.setErr(nowhere);
        ToolIO.out = nowhere;
        ToolIO.err = nowhere;
        FP64.Init(0);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            int space = line.lastIndexOf(' ');
            answer(line.substring(0, space), Integer.parseInt(line.substring(space + 1)), answers);
            answers.println("end");
            answers.flush();
        }
    }

    private static void answer(String folder, int expressions, PrintStream answers) {
        FastTool tool;
        try {
            forgetPlaces();
            tool = new FastTool(folder, "Model", "Model", new SimpleFilenameToStream(folder));
        } catch (Throwable failure) {
            answers.println("refused " + text(failure));
            return;
        }
        for (int number = 1; number <= expressions; number++) {
            try {
                OpDefNode definition = (OpDefNode) tool.getSpecProcessor().getRootModule().getOpDef("E" + number);
                Value value = (Value) tool.eval(definition.getBody());
                value.deepNormalize();
                answers.println("value " + number + " " + text(value));
            } catch (Throwable failure) {
                answers.println("failed " + number + " " + text(failure));
            }
        }
        answers.println("search " + new Evaluate(tool).search());
    }

    /**
     * Each name keeps its place in the table of variables or definitions, although each module has a new table. Resets
     * the places of all names.
     */
    private static void forgetPlaces() throws ReflectiveOperationException {
        Field names = UniqueString.class.getDeclaredField("internTbl");
        names.setAccessible(true);
        Field table = InternTable.class.getDeclaredField("table");
        table.setAccessible(true);
        for (UniqueString name : (UniqueString[]) table.get(names.get(null))) {
            if (name != null) {
                name.setLoc(-1);
            }
        }
    }

    private String search() {
        try {
            StateVec initial = tool.getInitStates();
            for (int at = 0; at < initial.size(); at++) {
                add(initial.elementAt(at));
            }
            while (!level.isEmpty()) {
                List<TLCState> states = level;
                level = new ArrayList<>();
                depth++;
                for (TLCState state : states) {
                    expand(state);
                }
            }
            String stuck = deadlock < 0 ? "" : " " + deadlock;
            return "verified " + seen.size() + " " + generated + " " + depth + stuck;
        } catch (Ending ending) {
            return ending.getMessage();
        } catch (Throwable failure) {
            return "failed " + text(failure);
        }
    }

    private void expand(TLCState state) throws Ending {
        boolean hasSuccessor = false;
        for (Action action : tool.getActions()) {
            StateVec next = tool.getNextStates(action, state);
            for (int at = 0; at < next.size(); at++) {
                hasSuccessor = true;
                add(next.elementAt(at));
            }
        }
        if (!hasSuccessor && deadlock < 0) {
            deadlock = depth - 1;
        }
    }

    private void add(TLCState state) throws Ending {
        generated++;
        if (!tool.isGoodState(state)) {
            throw new Ending("failed a variable has no value");
        }
        boolean isInModel = tool.isInModel(state);
        boolean isNew = !isInModel || !seen.contains(state.fingerPrint());
        if (isNew) {
            for (Action invariant : tool.getInvariants()) {
                if (!tool.isValid(invariant, state)) {
                    throw new Ending("invariant " + depth);
                }
            }
        }
        if (isInModel && isNew) {
            seen.add(state.fingerPrint());
            level.add(state);
        }
        if (seen.size() > STATES_MAX || generated > TRANSITIONS_MAX) {
            throw new Ending("large");
        }
    }

    /** Returns a value as TLA+ text that does not depend on how TLC represents it. */
    private static String text(Value value) {
        if (value instanceof IBoolValue || value instanceof IntValue || value instanceof StringValue
                || value instanceof ModelValue) {
            return value.toString();
        }
        if (value instanceof Enumerable && value.toSetEnum() != null) {
            SetEnumValue set = (SetEnumValue) value.toSetEnum();
            set.normalize();
            ValueVec elements = set.elems;
            List<String> texts = new ArrayList<>();
            for (int at = 0; at < elements.size(); at++) {
                texts.add(text(elements.elementAt(at)));
            }
            return "{" + String.join(", ", texts) + "}";
        }
        return functionText(value);
    }

    private static String functionText(Value value) {
        List<String> texts = new ArrayList<>();
        TupleValue tuple = (TupleValue) value.toTuple();
        if (tuple != null) {
            for (Value element : tuple.elems) {
                texts.add(text(element));
            }
            return "<<" + String.join(", ", texts) + ">>";
        }
        RecordValue fields = (RecordValue) value.toRcd();
        if (fields != null) {
            fields.normalize();
            for (int at = 0; at < fields.names.length; at++) {
                texts.add(fields.names[at] + " |-> " + text(fields.values[at]));
            }
            return "[" + String.join(", ", texts) + "]";
        }
        FcnRcdValue function = (FcnRcdValue) value.toFcnRcd();
        function.normalize();
        Value[] domain = function.getDomainAsValues();
        for (int at = 0; at < domain.length; at++) {
            texts.add(text(domain[at]) + " :> " + text(function.values[at]));
        }
        return "(" + String.join(" @@ ", texts) + ")";
    }

    private static String text(Throwable failure) {
        String message = failure.getClass().getSimpleName() + ": " + failure.getMessage();
        return message.replace('\n', ' ').replace('\r', ' ');
    }
}
