//! Binary files in a diff: what changes in them cannot be shown, so a line takes the place of their hunks, and the report warns.

use agon_core::Brief;

/// The part of a debate that is a diff.
const DIFF_PART: &str = "diff";
const BEFORE: &str = "Binary file ";
const AFTER: &str = ": not shown";

/// The line of a diff that takes the place of a file's hunks.
pub fn unshown_file_line(name: &str) -> String {
    format!("{BEFORE}{name}{AFTER}")
}

/// What a report warns of, if a diff has such lines.
pub(crate) fn unshown_files_warning(brief: &Brief) -> Option<String> {
    let diffs = brief.files.iter().filter(|file| file.part.as_deref() == Some(DIFF_PART));
    // The lines of a file's text have a sign before them.
    let lines = diffs.flat_map(|diff| diff.text.lines());
    let names = lines.filter_map(|line| line.strip_prefix(BEFORE)?.strip_suffix(AFTER));
    let names = names.collect::<Vec<_>>().join(", ");
    let sentence = format!("binary, so nobody has judged what changes in it: {names}");
    (!names.is_empty()).then_some(sentence)
}
