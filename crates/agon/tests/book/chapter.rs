//! A chapter: its fenced blocks, the commands in them, and what they should print.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// The tags of blocks that are run.
const CONSOLE: &str = "console";
const TERMINAL: &str = "console,terminal";

/// A Markdown file by lines.
pub(crate) struct Chapter {
    pub(crate) path: PathBuf,
    pub(crate) lines: Vec<String>,
}

/// A fenced block.
pub(crate) struct FencedBlock {
    /// What stands behind the opening fence, such as `console`.
    pub(crate) tag: String,
    /// The lines between the fences.
    pub(crate) lines: Range<usize>,
    /// The file that the block is written into.
    pub(crate) file: Option<String>,
}

/// What is done with a chapter, in order.
pub(crate) enum ChapterStep {
    Write { name: String, text: String },
    Run(ConsoleCommand),
}

/// A command and where the chapter shows what it prints.
#[derive(Clone)]
pub(crate) struct ConsoleCommand {
    pub(crate) text: String,
    /// The line of the chapter, counted from 0.
    pub(crate) line: usize,
    pub(crate) output: Range<usize>,
    /// Whether it is run in a terminal, and somebody types.
    pub(crate) in_terminal: bool,
}

impl Chapter {
    pub(crate) fn read(path: &Path) -> Self {
        let text =
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path: path.to_owned(), lines: text.lines().map(str::to_owned).collect() }
    }

    pub(crate) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// `docs/deep.md:12`, for a line that is counted from 0.
    pub(crate) fn place(&self, line: usize) -> String {
        let path = self.path.strip_prefix(crate::repository()).unwrap_or(&self.path);
        format!("{}:{}", path.display(), line + 1)
    }

    pub(crate) fn blocks(&self) -> Vec<FencedBlock> {
        let mut blocks = Vec::new();
        let mut open: Option<(usize, &str, &str)> = None;
        for (at, line) in self.lines.iter().enumerate() {
            let text = line.trim_start();
            let ticks = text.len() - text.trim_start_matches('`').len();
            match open {
                None if ticks >= 3 => open = Some((at, &text[..ticks], text[ticks..].trim())),
                Some((start, fence, tag)) if text.trim_end() == fence => {
                    let file = start.checked_sub(1).and_then(|before| file_comment(&self.lines[before]));
                    blocks.push(FencedBlock { tag: tag.to_owned(), lines: start + 1..at, file });
                    open = None;
                }
                _ => {}
            }
        }
        assert!(open.is_none(), "{}: this fence is not closed", self.place(open.unwrap_or_default().0));
        blocks
    }

    pub(crate) fn steps(&self) -> Vec<ChapterStep> {
        let mut steps = Vec::new();
        for block in self.blocks() {
            if let Some(name) = block.file.clone() {
                let text = self.lines[block.lines.clone()].iter().map(|line| format!("{line}\n")).collect();
                steps.push(ChapterStep::Write { name, text });
            }
            steps.extend(self.commands(&block).into_iter().map(ChapterStep::Run));
        }
        steps
    }

    /// The commands that are run, in order.
    pub(crate) fn all_commands(&self) -> Vec<ConsoleCommand> {
        self.blocks().iter().flat_map(|block| self.commands(block)).collect()
    }

    fn commands(&self, block: &FencedBlock) -> Vec<ConsoleCommand> {
        let mut commands: Vec<ConsoleCommand> = Vec::new();
        for at in block.lines.clone().filter(|_| block.is_run()) {
            let line = &self.lines[at];
            if let Some(text) = line.strip_prefix("$ ") {
                let (text, output) = (text.to_owned(), at + 1..at + 1);
                commands.push(ConsoleCommand { text, line: at, output, in_terminal: block.tag == TERMINAL });
                continue;
            }
            let Some(command) = commands.last_mut() else {
                panic!("{}: a console block begins with `$ `", self.place(at));
            };
            match line.strip_prefix('>') {
                Some(more) if command.output.is_empty() && (more.is_empty() || more.starts_with(' ')) => {
                    command.text.push('\n');
                    command.text.push_str(more.strip_prefix(' ').unwrap_or(more));
                    command.output = at + 1..at + 1;
                }
                _ => command.output.end = at + 1,
            }
        }
        commands
    }
}

impl FencedBlock {
    pub(crate) fn is_run(&self) -> bool {
        self.tag == CONSOLE || self.tag == TERMINAL
    }
}

/// `NAME` of `<!-- file: NAME -->`.
fn file_comment(line: &str) -> Option<String> {
    let name = line.trim().strip_prefix("<!-- file:")?.strip_suffix("-->")?;
    Some(name.trim().to_owned())
}
