//! The chapters of the book, compiled into the program: the files of `docs` at the top of the repository.

/// The files, in the order of their names.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/chapter_files.rs"));

/// The table of contents. It is no chapter.
const CONTENTS: &str = "SUMMARY.md";

/// A chapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookChapter {
    /// The name of its file without the ending.
    pub name: &'static str,
    /// Its first heading.
    pub title: &'static str,
    /// Markdown.
    pub text: &'static str,
}

/// The chapters in the order of the table of contents; those that it lacks follow by name.
pub fn chapters() -> Vec<BookChapter> {
    chapters_of(FILES)
}

/// The chapter of this name.
pub fn find_chapter(name: &str) -> Option<BookChapter> {
    chapters().into_iter().find(|chapter| chapter.name == name)
}

fn chapters_of(files: &[(&'static str, &'static str)]) -> Vec<BookChapter> {
    let contents = files.iter().find(|(file, _)| *file == CONTENTS).map_or("", |(_, text)| text);
    let place = |file: &str| {
        let links = [format!("]({file})"), format!("](./{file})")];
        links.iter().find_map(|link| contents.find(link.as_str())).unwrap_or(usize::MAX)
    };
    let mut chapters: Vec<(usize, BookChapter)> = files
        .iter()
        .filter(|(file, _)| *file != CONTENTS)
        .filter_map(|(file, text)| {
            let name = file.strip_suffix(".md")?;
            let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(name).trim();
            Some((place(file), BookChapter { name, title, text }))
        })
        .collect();
    // The sort is stable, so equal places stay ordered by name.
    chapters.sort_by_key(|(place, _)| *place);
    chapters.into_iter().map(|(_, chapter)| chapter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chapters_follow_the_table_of_contents_and_have_a_title() {
        let files = [
            ("SUMMARY.md", "# Book\n\n- [Start](./start.md)\n- [Arms](arms.md)\n"),
            ("arms.md", "# The arms\n\ntext\n"),
            ("late.md", "no heading\n"),
            ("other.md", "\n# Other things \n"),
            ("start.md", "# Start here\n"),
        ];
        let found = chapters_of(&files);
        let names: Vec<(&str, &str)> = found.iter().map(|chapter| (chapter.name, chapter.title)).collect();
        let expected =
            [("start", "Start here"), ("arms", "The arms"), ("late", "late"), ("other", "Other things")];
        assert_eq!(names, expected);
    }

    #[test]
    fn every_chapter_of_the_repository_is_in_the_program() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let names =
            files.filter(|path| path.extension().is_some_and(|end| end == "md") && !path.ends_with(CONTENTS));
        let mut names: Vec<String> =
            names.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        names.sort();
        let mut found: Vec<&str> = chapters().iter().map(|chapter| chapter.name).collect();
        found.sort_unstable();
        assert_eq!(found, names);
        assert!(found.contains(&"security") && find_chapter("security").is_some());
    }
}
