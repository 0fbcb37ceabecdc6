//! Escaping of foreign text: one function for each output format, used by every writer of that format.
//!
//! Names, statements, file names and property ids come from models, from files of properties and from the command line.
//! None of them may become a control sequence of a terminal, a directive of a diagram, a formula of a spreadsheet, or
//! markup. Formats that a crate writes are escaped by that crate: JSON by `serde_json`, HTML by `maud`, XML by
//! `quick-junit`. This module escapes the characters that these crates keep and terminals interpret.

use std::borrow::Cow;
use std::path::Path;

/// Returns whether a character is not printable text: control characters, and those that end a line or change the
/// direction of the following text.
pub fn is_control(it: char) -> bool {
    let is_format = matches!(
        it,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
    );
    it.is_control() || is_format
}

/// Replaces the characters that satisfy a predicate.
fn replaced(
    text: &str,
    is_replaced: impl Fn(char) -> bool,
    mut by: impl FnMut(char, &mut String),
) -> Cow<'_, str> {
    if !text.contains(&is_replaced) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for it in text.chars() {
        match is_replaced(it) {
            true => by(it, &mut out),
            false => out.push(it),
        }
    }
    Cow::Owned(out)
}

/// Escapes lines of text for a terminal: control characters except line ends and tabs are written as `\u{1b}`.
pub fn terminal(text: &str) -> Cow<'_, str> {
    let is_replaced = |it| is_control(it) && it != '\n' && it != '\t';
    replaced(text, is_replaced, |it, out| out.extend(it.escape_unicode()))
}

/// Escapes text for one line of a terminal: a line end or a tab becomes a blank.
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, is_control, |it, out| match it {
        '\n' | '\t' => out.push(' '),
        it => out.extend(it.escape_unicode()),
    })
}

/// Escapes JSON as `serde_json` writes it: the remaining control characters are in its strings.
pub fn json(text: &str) -> Cow<'_, str> {
    let is_replaced = |it| is_control(it) && !matches!(it, '\n' | '\r' | '\t');
    replaced(text, is_replaced, |it, out| *out += &format!("\\u{:04x}", u32::from(it)))
}

/// Escapes JSON for a `script` element of HTML, which `</script` would end.
pub fn json_in_html(text: &str) -> String {
    json(text).replace('<', "\\u003c")
}

/// Escapes a cell of a table of comma-separated values; the writer of the table adds quotes. A spreadsheet interprets
/// text that begins like a formula as one, unless it is a number. A quote in front marks it as text.
pub fn csv(text: &str) -> Cow<'_, str> {
    let text = line(text);
    let is_formula = text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    match is_formula && text.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{text}")),
        false => text,
    }
}

/// Escapes text between the quotes of a string of DOT (Graphviz). The writer separates lines by `\l` or `\n`.
pub fn dot(text: &str) -> String {
    quoted(text)
}

/// Escapes text between the quotes of a string of the Hanoi omega-automata format.
pub fn hoa(text: &str) -> String {
    quoted(text)
}

/// Escapes text between quotes, where a backslash makes the next character an ordinary one.
fn quoted(text: &str) -> String {
    line(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// Escapes text of a sequence diagram of PlantUML: a title, a name in quotes or a message.
///
/// `%` calls a function of its preprocessor, which reads files and the environment; `<` begins a tag, `&` an entity,
/// `[[` a link, and two of some other characters begin a style. Written as `<U+0025>`, each is only displayed.
pub fn plant_uml(text: &str) -> String {
    let (text, mut out, mut last) = (line(text), String::new(), None);
    for it in text.chars() {
        let is_doubled = last == Some(it) && matches!(it, '[' | '*' | '-' | '_' | '/');
        last = Some(it);
        match it {
            '%' | '<' | '&' | '"' | '\\' | '~' => out += &format!("<U+{:04X}>", u32::from(it)),
            _ if is_doubled => out += &format!("<U+{:04X}>", u32::from(it)),
            _ => out.push(it),
        }
    }
    out
}

/// Escapes text of a sequence diagram of Mermaid: a name or a message.
///
/// A semicolon ends a statement, `#` begins an entity, `%%` a comment or a directive, `<` a tag, and `$$` a formula.
pub fn mermaid(text: &str) -> String {
    let is_special = |it| "#;<>%{}\"\\&`$".contains(it);
    let text = line(text);
    let escaped = replaced(&text, is_special, |it, out| match it {
        '<' => out.push_str("#lt;"),
        '>' => out.push_str("#gt;"),
        it => *out += &format!("#{};", u32::from(it)),
    });
    escaped.into_owned()
}

/// Escapes a page of HTML as `maud` writes it: control characters in its text are written as on a terminal.
pub fn html(page: &str) -> Cow<'_, str> {
    terminal(page)
}

/// Escapes text of XML before `quick-junit` does, which would drop characters that XML cannot contain.
pub fn xml(text: &str) -> Cow<'_, str> {
    terminal(text)
}

/// Returns the name of a file as a URI.
pub fn uri(file: &str) -> String {
    let is_plain = |it: &u8| it.is_ascii_alphanumeric() || b"-_.~/".contains(it);
    let escaped: String = file
        .bytes()
        .map(|it| if is_plain(&it) { char::from(it).to_string() } else { format!("%{it:02X}") })
        .collect();
    if file.starts_with('/') { format!("file://{escaped}") } else { escaped }
}

/// Returns a word of a shell command.
pub fn shell(word: &str) -> Cow<'_, str> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./=:,+@%".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    if !word.contains(is_control) {
        return Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")));
    }
    let mut out = String::from("$'");
    for it in word.chars() {
        match it {
            '\'' | '\\' => out.extend(['\\', it]),
            it if is_control(it) => {
                let mut bytes = [0; 4];
                for byte in it.encode_utf8(&mut bytes).bytes() {
                    out += &format!("\\x{byte:02x}");
                }
            }
            it => out.push(it),
        }
    }
    out.push('\'');
    Cow::Owned(out)
}

/// Returns the name of a file as a word of a shell command.
pub fn shell_path(path: &Path) -> String {
    shell(&path.display().to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sequence that sets the clipboard of a terminal.
    const CLIPBOARD: &str = "\u{1b}]52;c;ZXZpbA==\u{7}";

    #[test]
    fn control_sequences_do_not_reach_a_terminal() {
        assert_eq!(terminal("a\tb\nc"), "a\tb\nc");
        assert_eq!(line("a\tb\nc"), "a b c");
        let shown = "\\u{1b}]52;c;ZXZpbA==\\u{7}";
        assert_eq!((&*terminal(CLIPBOARD), &*line(CLIPBOARD)), (shown, shown));
        for it in ['\0', '\r', '\u{7f}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{2028}'] {
            assert_eq!(terminal(&it.to_string()), format!("\\u{{{:x}}}", u32::from(it)));
        }
        assert!(matches!(terminal("ünter — 模型"), Cow::Borrowed(_)));
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        for text in [CLIPBOARD, "\u{7f}\u{9b}\u{202e} \"\\ </script>", "plain"] {
            let written = serde_json::to_string(text).unwrap();
            for escaped in [json(&written).into_owned(), json_in_html(&written)] {
                assert!(!escaped.contains(is_control), "{escaped}");
                assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
            }
            assert!(!json_in_html(&written).contains('<'));
        }
    }

    #[test]
    fn cells_are_no_formulas_and_numbers_are_unchanged() {
        for (text, cell) in [
            ("-3", "-3"),
            ("+1.5", "+1.5"),
            ("x = 3", "x = 3"),
            ("", ""),
            ("=1+1", "'=1+1"),
            ("-3+cmd|' /C calc'!A0", "'-3+cmd|' /C calc'!A0"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+a", "'+a"),
            (" =a", "' =a"),
            ("\n=a", "' =a"),
            ("\r=a", "\\u{d}=a"),
            ("a\n=b", "a =b"),
        ] {
            assert_eq!(csv(text), cell);
        }
    }

    #[test]
    fn texts_of_graphs_and_diagrams_do_not_leave_their_line() {
        assert_eq!(dot("a\"]; b [\n\\N"), "a\\\"]; b [ \\\\N");
        assert_eq!(hoa("a\" b\\"), "a\\\" b\\\\");
        assert_eq!(plant_uml("a\n!include /etc/passwd"), "a !include /etc/passwd");
        assert_eq!(plant_uml("%getenv(\"A\")"), "<U+0025>getenv(<U+0022>A<U+0022>)");
        assert_eq!(
            plant_uml("<img:x> [[y]] n-- P[1]"),
            "<U+003C>img:x> [<U+005B>y]] n-<U+002D> P[1]"
        );
        assert_eq!(
            mermaid("a\n%%{init}%% b;c#lt;"),
            "a #37;#37;#123;init#125;#37;#37; b#59;c#35;lt#59;"
        );
    }

    #[test]
    fn file_names_become_uris() {
        assert_eq!(uri("models/a b.pml"), "models/a%20b.pml");
        assert_eq!(uri("/tmp/ü.m"), "file:///tmp/%C3%BC.m");
    }

    #[test]
    fn quoted_words_survive_a_shell() {
        for word in ["plain", "", "a b", "it's", "$(x)", "\u{1b}]0;\u{7}'\\", "a\nb", "\u{9b}ü"] {
            let quoted = shell(word);
            let output = std::process::Command::new("bash")
                .args(["-c", &format!("printf %s {quoted}")])
                .output();
            assert!(!quoted.contains(is_control), "{quoted}");
            // Not every system has this shell.
            if let Ok(output) = output {
                assert_eq!(String::from_utf8_lossy(&output.stdout), word, "{quoted}");
            }
        }
    }
}
