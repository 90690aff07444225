//! `agon help`: verbs and chapters.

use crate::support::Home;

/// The chapters, by the names of their files.
fn chapters() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let files =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = files.filter(|file| file != "SUMMARY.md");
    names.filter_map(|file| file.strip_suffix(".md").map(str::to_owned)).collect()
}

#[test]
fn every_chapter_is_listed_with_the_command_that_shows_it() {
    let home = Home::new();
    let list = home.agon(&["help", "topics"]).ok().out;
    for name in chapters() {
        let line = list.lines().find(|line| line.starts_with(&format!("agon help {name} ")));
        let line = line.unwrap_or_else(|| panic!("{name} is not in\n{list}"));
        let is_verb = home.agon(&[&name, "--help"]).status == Some(0);
        assert_eq!(line.contains("--chapter"), is_verb, "{line}");
        let mut words: Vec<&str> = vec!["help", &name];
        words.extend(is_verb.then_some("--chapter"));
        let chapter = home.agon(&words).ok();
        assert!(chapter.err.is_empty() && chapter.out.lines().count() > 10, "{chapter:?}");
        assert!(!chapter.out.starts_with('#'), "{chapter:?}");
    }
}

#[test]
fn a_verb_that_has_a_chapter_names_it() {
    let home = Home::new();
    for name in chapters() {
        let help = home.agon(&[&name, "--help"]);
        if help.status == Some(0) {
            assert!(
                help.out.ends_with(&format!("The book has a chapter: agon help {name} --chapter\n")),
                "{help:?}"
            );
            assert_eq!(home.agon(&["help", &name]), help);
        }
    }
}

#[test]
fn a_chapter_is_wrapped_and_its_links_are_commands() {
    let home = Home::new();
    for name in chapters() {
        let shown = home.agon(&["help", &name, "--chapter"]).ok().out;
        assert!(
            !shown.contains("](") && !shown.contains("<!--"),
            "{name}: a link or comment is left in\n{shown}"
        );
        // Code and words without spaces are not broken.
        let is_prose = |line: &&str| !line.starts_with("      ") && line.split_whitespace().count() > 1;
        let long = shown.lines().filter(is_prose).find(|line| line.chars().count() > 80);
        assert_eq!(long, None, "{name}");
    }
}

#[test]
fn a_subcommand_has_help_and_an_unknown_topic_is_refused() {
    let home = Home::new();
    assert_eq!(home.agon(&["help", "models", "pull"]).ok(), home.agon(&["models", "pull", "--help"]));
    assert_eq!(home.agon(&["help", "help"]).ok(), home.agon(&["help", "--help"]));
    let said = home.agon(&["help", "loopback"]);
    assert_eq!((said.status, said.out.as_str()), (Some(2), ""));
    assert!(
        said.err.starts_with("error: there is no verb and no chapter \"loopback\"\nhelp: `agon help topics`"),
        "{said:?}"
    );
    assert!(
        said.err.contains("these chapters speak of it: ") && said.err.contains("agon help security"),
        "{said:?}"
    );
    assert_eq!(home.agon(&["help", "doctor", "--chapter"]).status, Some(2), "doctor has no chapter");
}

/// On a terminal a long chapter goes through the user's pager.
#[test]
#[cfg(unix)]
fn a_long_chapter_goes_through_the_pager_on_a_terminal() {
    let home = Home::new();
    let (screen, status) =
        crate::support::in_terminal(&home, &[("PAGER", "sed s/^/PAGED:/")], "help security", &[]);
    assert_eq!(status, Some(0), "{screen}");
    assert!(screen.starts_with("PAGED:"), "{screen}");
    let (screen, _) = crate::support::in_terminal(&home, &[("PAGER", "no-such-pager")], "help security", &[]);
    assert!(screen.lines().count() > 20, "without one it is printed: {screen}");
}
