//! Options for experts: `-X NAME=VALUE`.

use super::Folder;

#[test]
fn expert_options_are_listed_and_validated() {
    let folder = Folder::with("a.pml", "active proctype P() { skip }");
    let output = folder.run(&["check", "-X", "help"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.contains("  -X slots=N\n"), "{}", output.out);
    let output = folder.run(&["check", "a.pml", "-X", "slots=0"]);
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    assert!(output.err.contains("expected a number from 1 to 255"), "{}", output.err);
    let fish = folder.run(&["completions", "fish"]).out;
    assert!(fish.contains("Set an option for experts; `-X help` prints them"), "{fish}");
    assert!(fish.contains("Print the options with their values"), "{fish}");
    assert!(fish.contains("The same as without a value"), "{fish}");
}
