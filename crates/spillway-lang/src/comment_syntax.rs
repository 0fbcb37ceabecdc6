//! The comments of a language, for tools that look at texts and not at models.

/// How a language writes comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommentSyntax {
    /// The beginning of a comment up to the end of the line, if there are such.
    pub line: Option<&'static str>,
    /// The beginning and the end of a comment of several lines.
    pub block: (&'static str, &'static str),
    /// Whether comments of several lines contain others.
    pub nests: bool,
    /// The words of which one marks a comment as code.
    pub code_marks: &'static [&'static str],
}

impl CommentSyntax {
    /// The comments of C.
    pub const OF_C: CommentSyntax =
        CommentSyntax { line: Some("//"), block: ("/*", "*/"), nests: false, code_marks: &[] };

    /// Returns whether a byte of a text is in a comment.
    pub fn contains(&self, text: &str, offset: usize) -> bool {
        let mut at = 0;
        while at <= offset {
            let Some(rest) = text.get(at..).filter(|it| !it.is_empty()) else { return false };
            let next = rest.chars().next().map_or(1, char::len_utf8);
            at += match rest {
                _ if rest.starts_with('"') => string_length(rest),
                _ if self.line.is_some_and(|it| rest.starts_with(it)) => {
                    let length = rest.find('\n').unwrap_or(rest.len());
                    if offset < at + length {
                        return true;
                    }
                    length
                }
                _ if rest.starts_with(self.block.0) => {
                    let length = self.block_length(rest);
                    let is_code = self.code_marks.iter().any(|it| rest[..length].contains(it));
                    if offset < at + length && !is_code {
                        return true;
                    }
                    if is_code { next } else { length }
                }
                _ => next,
            };
        }
        false
    }

    /// Returns the length of the comment of several lines at the beginning of a text.
    fn block_length(&self, text: &str) -> usize {
        let (begin, end) = self.block;
        let (mut at, mut depth) = (begin.len(), 1);
        while depth > 0 {
            let rest = &text[at..];
            let Some(closes) = rest.find(end) else { return text.len() };
            let opens = rest.find(begin).filter(|it| self.nests && *it < closes);
            (at, depth) = match opens {
                Some(opens) => (at + opens + begin.len(), depth + 1),
                None => (at + closes + end.len(), depth - 1),
            };
        }
        at
    }
}

/// Returns the length of the string literal at the beginning of a text. It ends with its line.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, it) in text.char_indices().skip(1) {
        match it {
            '\n' => return at,
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = it == '\\' && !is_escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that exactly the letters `c` of a text are in comments.
    fn assert_comments(syntax: CommentSyntax, text: &str) {
        for (at, it) in text.char_indices().filter(|it| it.1.is_alphabetic()) {
            assert_eq!(syntax.contains(text, at), it == 'c', "{text}: {at}");
        }
    }

    #[test]
    fn comments_are_told_from_code_and_strings() {
        for text in [
            "x // c\ny /* c\nc */ z",
            "x \"// x\" y /* \" c */ z // c",
            "\"x\\\" // x\" // c",
            "é /* c */ é",
            "/* c /* c */ x */ y",
        ] {
            assert_comments(CommentSyntax::OF_C, text);
        }
    }

    #[test]
    fn nested_comments_and_code_in_comments() {
        let block = ("(*", "*)");
        let syntax =
            CommentSyntax { line: Some("\\*"), block, nests: true, code_marks: &["--algorithm"] };
        for text in ["x (* c (* c *) c *) y \\* c\nz", "(* c *) x"] {
            assert_comments(syntax, text);
        }
        let algorithm = "(* --algorithm x (* c *) y *)";
        assert!(!syntax.contains(algorithm, algorithm.find('x').unwrap()));
        assert!(syntax.contains(algorithm, algorithm.find('c').unwrap()));
    }
}
