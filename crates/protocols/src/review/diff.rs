//! A unified diff: which files it changes, and whether it is one.

/// A file that a diff changes, with the lines that it shows of the new version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Changed {
    /// The new path, or the old one of a file that goes.
    pub(super) path: String,
    /// First and last line of each hunk in the new version.
    pub(super) hunks: Vec<(u64, u64)>,
}

/// The files that a diff changes, or what is wrong with it and where.
pub(super) fn read(text: &str) -> Result<Vec<Changed>, String> {
    let mut files: Vec<Changed> = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let wrong = |why: &str| format!("line {}: {why}", number + 1);
        if let Some(paths) = line.strip_prefix("diff --git ") {
            files.push(Changed { path: git_path(paths), hunks: Vec::new() });
        } else if let Some(old) = line.strip_prefix("--- ") {
            let Some(new) = lines.peek().and_then(|(_, next)| next.strip_prefix("+++ ")) else {
                // Without its partner it is a line of prose before the first file, as in a mailed patch.
                continue;
            };
            let path = changed_path(old, new).ok_or_else(|| wrong("it names no file"))?;
            lines.next();
            match files.last_mut() {
                Some(file) if file.hunks.is_empty() && line_is_of(&file.path, &path) => file.path = path,
                _ => files.push(Changed { path, hunks: Vec::new() }),
            }
        } else if line.starts_with("@@") {
            let hunk = Hunk::read(line).ok_or_else(|| {
                wrong("it is not the head of a hunk, which looks like this: @@ -1,3 +1,4 @@")
            })?;
            let file = files.last_mut().ok_or_else(|| wrong("a hunk stands before the first file"))?;
            let mut left = hunk;
            while left.old > 0 || left.new > 0 {
                let (at, line) = lines
                    .next()
                    .ok_or_else(|| format!("it ends in the middle of the hunk of line {}", number + 1))?;
                left.take(line).ok_or_else(|| {
                    format!(
                        "line {}: it does not belong to the hunk of line {}, whose head counts more lines",
                        at + 1,
                        number + 1
                    )
                })?;
            }
            file.hunks.push((hunk.start, hunk.start.saturating_add(hunk.new.saturating_sub(1))));
        }
    }
    match files.is_empty() {
        true => Err("it is not a unified diff: there is no file in it (make one with `git diff`)".into()),
        false => Ok(files),
    }
}

/// The counts in the head of a hunk.
#[derive(Debug, Clone, Copy)]
struct Hunk {
    start: u64,
    old: u64,
    new: u64,
}

impl Hunk {
    fn read(line: &str) -> Option<Self> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let range = |text: &str| match text.split_once(',') {
            Some((start, count)) => Some((start.parse::<u64>().ok()?, count.parse::<u64>().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        };
        let ((_, old), (start, new)) = (range(old)?, range(new)?);
        Some(Self { start, old, new })
    }

    /// Counts a line off; `None` if it cannot be one of the hunk.
    fn take(&mut self, line: &str) -> Option<()> {
        let (old, new) = match line.as_bytes().first() {
            // Some tools take the blank off a line that is empty.
            None | Some(b' ' | b'\t') => (1, 1),
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            // "No newline at end of file"
            Some(b'\\') => (0, 0),
            _ => return None,
        };
        self.old = self.old.checked_sub(old)?;
        self.new = self.new.checked_sub(new)?;
        Some(())
    }
}

/// Whether the head of a file's hunks is of the file that `diff --git` named before it, where quoted paths and prefixes other
/// than `a/` and `b/` leave both of its paths in the name.
fn line_is_of(named: &str, path: &str) -> bool {
    named.contains(path) || named.is_empty()
}

fn git_path(paths: &str) -> String {
    let quoted = paths.rsplit_once(" \"b/").map(|(_, new)| unquoted(&format!("\"{new}")));
    quoted.unwrap_or_else(|| {
        paths.rsplit_once(" b/").map_or(paths, |(_, new)| new).trim_matches('"').to_owned()
    })
}

fn changed_path(old: &str, new: &str) -> Option<String> {
    let path = |text: &str| {
        let text = unquoted(text.split('\t').next().unwrap_or_default().trim());
        let text = text.strip_prefix("a/").or_else(|| text.strip_prefix("b/")).unwrap_or(&text);
        (!text.is_empty() && text != "/dev/null").then(|| text.to_owned())
    };
    path(new).or_else(|| path(old))
}

/// A path as it is: git writes one with other letters than plain ones in quotes, with its bytes in octal.
fn unquoted(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return text.to_owned();
    };
    let (mut bytes, mut rest) = (Vec::new(), inner.bytes().peekable());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let mut octal = None;
        for _ in 0..3 {
            let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) else { break };
            octal = Some(octal.unwrap_or(0_u32) * 8 + u32::from(digit - b'0'));
        }
        match octal {
            Some(value) => bytes.push(u8::try_from(value).unwrap_or(b'?')),
            None => bytes.push(match rest.next() {
                Some(b't') => b'\t',
                Some(b'n') => b'\n',
                Some(other) => other,
                None => b'\\',
            }),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "From somebody\n---\n a.rs | 2 +-\n\ndiff --git a/a.rs b/a.rs\nindex 1..2 100644\n--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,4 @@ fn a\n one\n-two\n+TWO\n+more\n three\n@@ -9 +10 @@\n-x\n+y\n\\ No newline at end of file\ndiff --git a/new b.txt b/new b.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new b.txt\n@@ -0,0 +1,2 @@\n+1\n+2\n";

    #[test]
    fn the_files_of_a_diff_and_the_lines_it_shows() {
        let changed = |path: &str, hunks: &[(u64, u64)]| Changed { path: path.into(), hunks: hunks.to_vec() };
        assert_eq!(
            read(TWO).unwrap(),
            [changed("a.rs", &[(1, 4), (10, 10)]), changed("new b.txt", &[(1, 2)])]
        );
        let plain = "--- old/x.c\t2026-01-01\n+++ x.c\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(read(plain).unwrap(), [changed("x.c", &[(1, 1)])]);
        let renamed = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n";
        assert_eq!(read(renamed).unwrap(), [changed("y", &[])]);
        let odd = "diff --git \"a/dir/\\303\\274 b.py\" \"b/dir/\\303\\274 b.py\"\n--- \"a/dir/\\303\\274 b.py\"\n+++ \"b/dir/\\303\\274 b.py\"\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(
            read(odd).unwrap(),
            [changed("dir/\u{fc} b.py", &[(1, 1)])],
            "git quotes what is not plain"
        );
        let gone = "--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n";
        assert_eq!(read(gone).unwrap(), [changed("x", &[(0, 0)])]);
        let blank = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n\n-a\n+b\n";
        assert_eq!(read(blank).unwrap(), [changed("x", &[(1, 2)])], "a blank line without its blank");
    }

    /// "a diff that does not parse: exit 2, a sentence that names it"
    #[test]
    fn what_is_no_diff_is_refused_with_the_line() {
        for (text, want) in [
            ("", "not a unified diff"),
            ("just some words\n", "not a unified diff"),
            ("@@ -1 +1 @@\n-a\n+b\n", "line 1: a hunk stands before the first file"),
            ("--- a/x\n+++ b/x\n@@ what @@\n", "line 3: it is not the head of a hunk"),
            ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n", "ends in the middle of the hunk of line 3"),
            (
                "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\nprose\n",
                "line 5: it does not belong to the hunk of line 3",
            ),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n+a\n+b\n", "line 5"),
            ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n", "line 1: it names no file"),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.contains(want), "{text:?}: {why}");
        }
    }
}
