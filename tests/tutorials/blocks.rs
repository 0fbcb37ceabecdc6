//! The fenced blocks of a page, and the use of each.

/// A fenced block of a page.
pub struct Block<'p> {
    /// The info string of the fence.
    pub info: &'p str,
    /// The lines between the fences, each with its end.
    pub text: String,
    /// The line of the opening fence, from 1.
    pub line: usize,
}

/// Returns the blocks of a page, in order.
pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut all = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        let text = inside.flat_map(|line| [line, "\n"]).collect();
        all.push(Block { info, text, line: at + 1 });
    }
    all
}

/// A reason for a block that is not run.
pub struct SkipReason {
    /// The word after `skip=` in the info string.
    pub name: &'static str,
    /// The reason.
    pub meaning: &'static str,
}

/// All reasons. `docs/internals/testing.md` lists the same.
pub const SKIP_REASONS: &[SkipReason] = &[
    SkipReason { name: "build", meaning: "builds, tests or installs software" },
    SkipReason { name: "machines", meaning: "needs other machines, a cluster or a service" },
    SkipReason { name: "corpus", meaning: "needs files that are not part of the repository" },
    SkipReason { name: "placeholder", meaning: "has words in capitals that a reader replaces" },
    SkipReason { name: "long", meaning: "runs for minutes" },
    SkipReason { name: "live", meaning: "shows a moment of a running search" },
];

/// The use of a block.
#[derive(Debug, PartialEq, Eq)]
pub enum BlockUse<'p> {
    /// Each command is run, and its output is compared.
    Commands,
    /// The commands of another checker. They are run in ignored tests.
    CommandsOfOther,
    /// The lines are run as one script. The page shows no output.
    Script,
    /// The block is skipped, for a reason of the table.
    Skipped,
    /// The text becomes a file.
    File(&'p str),
    /// The text is appended to a file.
    Append(&'p str),
    /// The text changes a file.
    Edit(&'p str),
    /// The text has no command.
    Illustration,
}

impl Block<'_> {
    /// The use of the block. `None` if the info string is unknown.
    pub fn usage(&self) -> Option<BlockUse<'_>> {
        let (language, target) = match self.info.split_once(' ') {
            Some((language, target)) => (language, target),
            None => (self.info, ""),
        };
        let runs = matches!(language, "console" | "sh");
        let has_commands = self.text.lines().any(|line| line.starts_with("$ "));
        Some(match (language, target, target.split_once('=')) {
            ("console", "", _) => BlockUse::Commands,
            ("sh", "", _) => BlockUse::Script,
            ("console", _, Some(("of", _))) => BlockUse::CommandsOfOther,
            (_, _, Some(("skip", reason)))
                if runs && SKIP_REASONS.iter().any(|it| it.name == reason) =>
            {
                BlockUse::Skipped
            }
            ("diff", _, Some(("file", file))) => BlockUse::Edit(file),
            (_, _, Some(("file", file))) if !runs => BlockUse::File(file),
            (_, _, Some(("append", file))) if !runs => BlockUse::Append(file),
            (_, _, None) if !runs && !has_commands => BlockUse::Illustration,
            _ => return None,
        })
    }
}
