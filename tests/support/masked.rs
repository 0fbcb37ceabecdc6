//! What commands print, but for what differs each time.

/// With a star for the time and the memory that a search took, and the row that has them in one line.
pub fn masked(out: &str) -> String {
    let (mut lines, mut is_found): (Vec<String>, _) = (Vec::new(), false);
    for line in out.lines() {
        match line.strip_prefix("           ").filter(|_| is_found) {
            Some(rest) => *lines.last_mut().unwrap() += &format!(" {rest}"),
            None => lines.push(line.to_owned()),
        }
        is_found = lines.last().unwrap().starts_with("  found    ");
    }
    let ends_in_time =
        |it: &&mut String| it.starts_with("  found    ") || it.starts_with("test result: ");
    for line in lines.iter_mut().filter(ends_in_time) {
        if let Some((counts, _)) = line.rsplit_once("; ") {
            *line = format!("{counts}; *");
        }
    }
    lines.join("\n")
}
