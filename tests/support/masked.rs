//! The output of commands without the parts that vary.

/// Returns the output with stars for the time and the memory of a search, and for the row that has both.
pub fn masked(out: &str) -> String {
    let (mut lines, mut is_found): (Vec<String>, _) = (Vec::new(), false);
    for line in out.lines() {
        match line.strip_prefix("           ").filter(|_| is_found) {
            Some(rest) => *lines.last_mut().unwrap() += &format!(" {rest}"),
            None => lines.push(line.to_owned()),
        }
        is_found = lines.last().unwrap().starts_with("  found    ");
    }
    let has_time =
        |it: &&mut String| it.starts_with("  found    ") || it.starts_with("test result: ");
    for line in lines.iter_mut().filter(has_time) {
        if let Some((counts, _)) = line.rsplit_once("; ") {
            *line = format!("{counts}; *");
        }
    }
    lines.join("\n")
}
