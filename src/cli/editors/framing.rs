//! Messages with a header `Content-Length`, as both protocols have them.
//!
//! The reader of the crate `lsp-server` ends at the first message that is not JSON, and reads no messages of the debug
//! adapter protocol. This one continues after the message, so that the server can answer with an error.

use std::io::{self, BufRead, ErrorKind, Write};

/// The greatest length of a message in bytes.
const LENGTH_MAX: usize = 256 << 20;

/// Reads the content of the next message. `None` at the end of the input.
///
/// # Errors
///
/// The header is malformed, so that the next message cannot be found, or the input fails.
pub(super) fn read_message(input: &mut dyn BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { return Err(malformed(line)) };
        if name.eq_ignore_ascii_case("Content-Length") {
            length = Some(value.trim().parse().map_err(|_| malformed(line))?);
        }
    }
    let length: usize = length.ok_or_else(|| malformed("there is no Content-Length"))?;
    if length > LENGTH_MAX {
        return Err(malformed("the message is longer than 256 MiB"));
    }
    let mut content = vec![0; length];
    input.read_exact(&mut content)?;
    Ok(Some(content))
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("malformed header of a message: {what}"))
}

/// Writes a message.
pub(super) fn write_message(output: &mut dyn Write, content: &str) -> io::Result<()> {
    write!(output, "Content-Length: {}\r\n\r\n{content}", content.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_written() {
        let mut text = Vec::new();
        for content in ["{}", "", "\u{e9}\r\n\r\n"] {
            write_message(&mut text, content).unwrap();
        }
        let mut input = &text[..];
        for content in ["{}", "", "\u{e9}\r\n\r\n"] {
            assert_eq!(read_message(&mut input).unwrap().unwrap(), content.as_bytes());
        }
        assert!(read_message(&mut input).unwrap().is_none());
    }

    #[test]
    fn headers_are_checked() {
        for text in ["Content-Length\r\n\r\n", "Content-Length: x\r\n\r\n", "A: 1\r\n\r\n"] {
            let error = read_message(&mut text.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{text}");
        }
        let long = format!("Content-Length: {}\r\n\r\n", LENGTH_MAX + 1);
        assert!(read_message(&mut long.as_bytes()).is_err());
        // A message may be cut off.
        assert!(read_message(&mut "Content-Length: 5\r\n\r\n{}".as_bytes()).is_err());
    }
}
