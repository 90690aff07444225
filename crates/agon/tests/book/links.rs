//! Links, images, and the list of chapters.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::{CHAPTERS, repository};

#[test]
fn every_link_and_image_resolves() {
    let mut found = 0;
    let summary = "docs/SUMMARY.md";
    for path in CHAPTERS.iter().chain([&summary]) {
        let file = repository().join(path);
        for target in targets(&read(&file)) {
            let is_elsewhere =
                ["http://", "https://", "mailto:"].iter().any(|start| target.starts_with(start));
            if is_elsewhere {
                continue;
            }
            found += 1;
            let (name, heading) = target.split_once('#').unwrap_or((&target, ""));
            let to = match name {
                "" => file.clone(),
                _ => file.parent().unwrap().join(name),
            };
            assert!(to.exists(), "{path}: there is no {target}");
            assert!(
                heading.is_empty() || headings(&read(&to)).contains(heading),
                "{path}: {name} has no heading #{heading}"
            );
        }
    }
    assert!(found > 20, "only {found} links were found");
}

#[test]
fn the_summary_lists_every_chapter_and_every_chapter_is_run() {
    let docs = repository().join("docs");
    let files: BTreeSet<String> = fs::read_dir(&docs)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md")
        .collect();
    let listed: BTreeSet<String> = targets(&read(&docs.join("SUMMARY.md"))).into_iter().collect();
    assert_eq!(listed, files, "left: listed in docs/SUMMARY.md, right: the files");
    let run: BTreeSet<String> =
        CHAPTERS.iter().filter_map(|path| path.strip_prefix("docs/")).map(str::to_owned).collect();
    assert_eq!(run, files, "left: run by this test, right: the files");
}

fn read(path: &PathBuf) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", Path::new(path).display()))
}

fn targets(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event {
            targets.push(dest_url.to_string());
        }
    }
    targets
}

/// The ids of a page's headings.
fn headings(text: &str) -> BTreeSet<String> {
    let (mut ids, mut open) = (BTreeSet::new(), None::<String>);
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => open = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut open {
                    heading.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => ids.extend(open.take().map(|heading| heading_id(&heading))),
            _ => {}
        }
    }
    ids
}

/// `What it costs?` is `what-it-costs`.
fn heading_id(heading: &str) -> String {
    heading
        .chars()
        .filter_map(|char| match char {
            ' ' => Some('-'),
            '-' | '_' => Some(char),
            _ => char.is_alphanumeric().then(|| char.to_ascii_lowercase()),
        })
        .collect()
}
