//! Options for experts: `-X NAME=VALUE`.

use super::Folder;

#[test]
fn expert_options_are_listed_and_validated() {
    let folder = Folder::with("a.pml", "active proctype P() { skip }");
    let ran = folder.run(&["check", "-X", "help"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("  -X slots=N\n"), "{}", ran.out);
    let ran = folder.run(&["check", "a.pml", "-X", "slots=0"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("expected a number from 1 to 255"), "{}", ran.err);
    let fish = folder.run(&["completions", "fish"]).out;
    assert!(fish.contains("Set an option for experts; `-X help` prints them"), "{fish}");
    assert!(fish.contains("Print the options with their values"), "{fish}");
    assert!(fish.contains("The same as without a value"), "{fish}");
}
