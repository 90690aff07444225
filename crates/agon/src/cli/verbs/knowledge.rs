//! `agon knowledge`: what debates decided, on what evidence and how it turned out, and what users add to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agon_core::DebateProvenance;
use agon_core::wording::counted;
use agon_host::{clean_line, clean_text};
use agon_store::{DebateStore, KnowledgeEntry, KnowledgeHit, KnowledgeKind, NewKnowledge};
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};

use super::{CliVerb, VerbGroup};
use crate::cli::app::App;
use crate::cli::arguments::{count_limit, joined_words, limit_value};
use crate::cli::document_sections::split_document;
use crate::cli::errors::CliError;
use crate::cli::progress::TaskProgress;
use crate::cli::runtime::block_on;
use crate::cli::{arguments, clock, input, knowledge_index, output};

pub(super) const VERB: CliVerb = CliVerb { name: "knowledge", group: VerbGroup::StoredDebates, command, run };

const DEFAULT_LIMIT: &str = "20";
const ENTRY_BYTES_MAX: u64 = 64 * 1024;
/// A title that is taken from the text has at most this many characters.
const TITLE_CHARS_MAX: usize = 100;
/// A title or source that is given has at most this many bytes.
const FIELD_BYTES_MAX: usize = 1_000;
const EXCERPT_CHARS: usize = 240;

fn command(command: Command) -> Command {
    let entry = |help: &'static str| Arg::new("entry").value_name("ENTRY").required(true).help(help);
    let text = Arg::new("text")
        .value_name("TEXT")
        .num_args(0..)
        .help("The text; without it, or with `-`, it is read from stdin");
    let option =
        |name: &'static str, help: &'static str| Arg::new(name).long(name).value_name("TEXT").help(help);
    let files = Arg::new("files")
        .value_name("FILE")
        .num_args(1..)
        .required(true)
        .value_parser(value_parser!(PathBuf));
    let subcommand = |name: &'static str, about: &'static str| {
        Command::new(name).about(about).arg(arguments::json()).args(arguments::config_and_store())
    };
    command
        .about("Show and edit what debates decided and users added; later debates can read what is relevant")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            subcommand("add", "Add an entry")
                .arg(text)
                .arg(option("title", "What it is about [default: its first line]"))
                .arg(option("source", "Where it is from")),
        )
        .subcommand(
            subcommand("import", "Add files: Markdown is split at its headings, text between paragraphs")
                .arg(files),
        )
        .subcommand(
            subcommand("list", "List entries, the newest first")
                .arg(count_limit(DEFAULT_LIMIT, "The most entries to list")),
        )
        .subcommand(
            subcommand("search", "Find entries by words and by meaning")
                .arg(Arg::new("words").value_name("WORDS").num_args(1..).required(true))
                .arg(count_limit(DEFAULT_LIMIT, "The most entries to find")),
        )
        .subcommand(
            subcommand("show", "Show an entry").arg(entry("The id of an entry, or a unique prefix of it")),
        )
        .subcommand(
            subcommand("forget", "Delete entries for good")
                .arg(entry("The ids of the entries").num_args(1..)),
        )
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let Some((subcommand, args)) = args.subcommand() else { return Ok(0) };
    let app = App::new(args);
    match subcommand {
        "add" => add(&app),
        "import" => import(&app),
        "list" => list(&app),
        "search" => search(&app),
        "show" => show(&app),
        "forget" => forget(&app),
        _ => Err(CliError::input("name a subcommand: agon knowledge --help lists them")),
    }
}

fn add(app: &App<'_>) -> Result<u8, CliError> {
    let text = match joined_words(app.args, "text") {
        words if words.is_empty() || words == "-" => input::read_stdin("text", ENTRY_BYTES_MAX)?,
        words => words,
    };
    let text = text.trim();
    if text.is_empty() {
        return Err(CliError::input("the text is empty: write it in quotes, or pipe it in"));
    }
    if text.len() as u64 > ENTRY_BYTES_MAX {
        let limit_kb = ENTRY_BYTES_MAX / 1024;
        return Err(CliError::input(format!("the text is longer than {limit_kb} KB, the limit of an entry"))
            .with_help("agon knowledge import FILE splits a file into entries"));
    }
    let given = |name: &str| app.args.get_one::<String>(name).map(|text| text.trim().to_owned());
    for name in ["title", "source"] {
        if given(name).is_some_and(|text| text.len() > FIELD_BYTES_MAX) {
            return Err(CliError::input(format!(
                "the {name} is longer than {FIELD_BYTES_MAX} bytes: shorten it"
            )));
        }
    }
    let first_line = || text.lines().next().unwrap_or_default().chars().take(TITLE_CHARS_MAX).collect();
    let entry = NewKnowledge {
        kind: KnowledgeKind::Note,
        title: given("title").filter(|title| !title.is_empty()).unwrap_or_else(first_line),
        text: text.to_owned(),
        source: given("source").filter(|source| !source.is_empty()),
        confidence: None,
        at: clock::timestamp(),
    };
    store_entries(app, vec![entry])
}

fn import(app: &App<'_>) -> Result<u8, CliError> {
    let paths = app.args.get_many::<PathBuf>("files").into_iter().flatten();
    let at = clock::timestamp();
    let mut entries = Vec::new();
    // All files are read before an entry is stored, so that a bad file leaves nothing behind.
    for path in paths {
        let file = input::debate_file(path, None)?;
        let sections = split_document(&file.path, &file.text);
        if sections.is_empty() {
            return Err(CliError::file(Path::new(&file.path), "it has nothing but headings"));
        }
        entries.extend(sections.into_iter().map(|section| NewKnowledge {
            kind: KnowledgeKind::Import,
            title: section.title,
            text: section.text,
            source: Some(file.path.clone()),
            confidence: None,
            at: at.clone(),
        }));
    }
    store_entries(app, entries)
}

/// Stores entries and prints their ids.
fn store_entries(app: &App<'_>, entries: Vec<NewKnowledge>) -> Result<u8, CliError> {
    // The configuration is read first, so that a mistake in it is reported before anything is stored.
    let catalogue = app.catalogue()?;
    let store = app.store()?;
    let sources: BTreeSet<String> = entries.iter().filter_map(|entry| entry.source.clone()).collect();
    let is_import = entries.iter().any(|entry| entry.kind == KnowledgeKind::Import);
    let mut ids = block_on(store.knowledge_add(entries))??;
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    let outdated = if is_import { outdated_entries(&store, &sources, &ids)? } else { Vec::new() };
    for id in &outdated {
        block_on(store.knowledge_forget(id))??;
    }
    // Entries can be found by words at once. If they cannot be indexed now, the next search does it.
    let progress = TaskProgress::start("indexing entries", false);
    let note = block_on(knowledge_index::index_entries(catalogue, &store))?;
    drop(progress);
    if app.flag("json") {
        output::print_json(&json!({"ids": ids, "forgotten": outdated}))?;
    } else {
        let shown: Vec<&str> = ids.iter().take(3).map(String::as_str).collect();
        let more = if ids.len() > shown.len() { ", ..." } else { "" };
        output::print(&format!("{} stored: {}{more}\n", entries_words(ids.len()), shown.join(", ")))?;
        if !outdated.is_empty() {
            let count = entries_words(outdated.len());
            output::print(&format!("{count} deleted that the files no longer contain\n"))?;
        }
    }
    print_notes(note);
    Ok(0)
}

/// Entries from earlier imports of these files that are no longer in them. Two versions of one section would contradict
/// each other.
fn outdated_entries(
    store: &DebateStore,
    sources: &BTreeSet<String>,
    ids: &[String],
) -> Result<Vec<String>, CliError> {
    let is_outdated = |entry: &KnowledgeEntry| {
        entry.kind == KnowledgeKind::Import
            && entry.source.as_ref().is_some_and(|source| sources.contains(source))
            && !ids.contains(&entry.id)
    };
    let all = store.knowledge_list(usize::MAX)?;
    Ok(all.into_iter().filter(is_outdated).map(|entry| entry.id).collect())
}

fn list(app: &App<'_>) -> Result<u8, CliError> {
    let entries = match app.store_to_read()? {
        Some(store) => store.knowledge_list(limit_value(app.args))?,
        None => Vec::new(),
    };
    if app.flag("json") {
        output::print_json(&entries)?;
    } else if entries.is_empty() {
        output::note(
            "there are no entries yet: debates add what they decide, and `agon knowledge add TEXT` adds a note",
        );
    } else {
        let row = |entry: &KnowledgeEntry| {
            vec![
                entry.id.clone(),
                day(&entry.at),
                origin(entry.source.as_deref(), entry.debate.as_deref()),
                entry.provenance.as_ref().map_or("-".to_owned(), held_in),
                json_word(&json!(entry.turned_out)),
                entry.title.lines().next().unwrap_or_default().to_owned(),
            ]
        };
        output::print_table(
            &["entry", "added", "from", "held in", "turned out", "about"],
            entries.iter().map(row),
        )?;
    }
    Ok(0)
}

fn search(app: &App<'_>) -> Result<u8, CliError> {
    let words = joined_words(app.args, "words");
    if !words.chars().any(char::is_alphanumeric) {
        return Err(CliError::input("there is no word to search for: name one or more"));
    }
    let (hits, note) = match app.store_to_read()? {
        Some(store) => find_entries(app, &store, &words)?,
        None => (Vec::new(), None),
    };
    if app.flag("json") {
        output::print_json(&hits)?;
    } else if hits.is_empty() {
        output::note("no entry matches");
    } else {
        output::print(&hits.iter().map(hit_lines).collect::<String>())?;
    }
    print_notes(note);
    Ok(0)
}

fn find_entries(
    app: &App<'_>,
    store: &DebateStore,
    words: &str,
) -> Result<(Vec<KnowledgeHit>, Option<String>), CliError> {
    let _progress = TaskProgress::start("searching", false);
    block_on(knowledge_index::search(app.catalogue()?, store, words, limit_value(app.args)))?
}

fn show(app: &App<'_>) -> Result<u8, CliError> {
    let id = app.args.get_one::<String>("entry").map(String::as_str).unwrap_or_default();
    let entry = match app.store_to_read()? {
        Some(store) => store.knowledge_show(id)?,
        None => return Err(unknown_entry(id)),
    };
    if app.flag("json") {
        output::print_json(&entry)?;
        return Ok(0);
    }
    let mut facts = vec![format!("{} of {}", entry.id, day(&entry.at))];
    facts.push(format!("from {}", origin(entry.source.as_deref(), entry.debate.as_deref())));
    facts.extend(entry.provenance.as_ref().map(|provenance| format!("held in {}", held_in(provenance))));
    facts.extend(entry.confidence.map(|share| format!("share {:.0}%", share * 100.0)));
    facts.extend(entry.turned_out.map(|truth| format!("turned out {}", json_word(&json!(truth)))));
    let style = output::stdout_style();
    let receipt = receipt_words(&entry).map(|receipt| format!("{}\n", style.dim(&receipt)));
    output::print(&format!(
        "{}\n{}\n{}\n{}\n",
        clean_text(&entry.title),
        style.dim(&facts.join(", ")),
        receipt.unwrap_or_default(),
        clean_text(&entry.text)
    ))?;
    Ok(0)
}

/// The end of the log that the entry came from, and the command that checks it.
fn receipt_words(entry: &KnowledgeEntry) -> Option<String> {
    let (receipt, debate) = (entry.receipt.as_ref()?, entry.debate.as_ref()?);
    let events = counted(receipt.events, "event");
    Some(format!("receipt: {events}, head {}; `agon verify {debate}` checks it", receipt.head))
}

fn forget(app: &App<'_>) -> Result<u8, CliError> {
    let ids: Vec<&String> = app.args.get_many::<String>("entry").into_iter().flatten().collect();
    let first = ids.first().map(|id| id.as_str()).unwrap_or_default();
    let store = app.store_to_read()?.ok_or_else(|| unknown_entry(first))?;
    // All ids are looked up before anything is deleted.
    let mut named: Vec<String> = Vec::new();
    for id in ids {
        let id = store.knowledge_show(id)?.id;
        if !named.contains(&id) {
            named.push(id);
        }
    }
    let mut forgotten = Vec::new();
    for id in &named {
        forgotten.push(block_on(store.knowledge_forget(id))??);
    }
    if app.flag("json") {
        let ids: Vec<&str> = forgotten.iter().map(|entry| entry.id.as_str()).collect();
        output::print_json(&json!({"ids": ids}))?;
    } else {
        for entry in forgotten {
            output::print(&format!("{} is deleted: {}\n", entry.id, clean_text(&entry.title)))?;
        }
    }
    Ok(0)
}

fn unknown_entry(id: &str) -> CliError {
    CliError::input(format!("there is no entry {id:?}: `agon knowledge list` lists them"))
}

fn hit_lines(hit: &KnowledgeHit) -> String {
    let origin = origin(hit.source.as_deref(), hit.debate.as_deref());
    let turned_out =
        hit.turned_out.map(|truth| format!(", turned out {}", json_word(&json!(truth)))).unwrap_or_default();
    let held_in = hit.provenance.as_ref().map(|provenance| format!(", held in {}", held_in(provenance)));
    let matched_by = match json_word(&json!(hit.by)).as_str() {
        "both" => "words and meaning".to_owned(),
        by => by.to_owned(),
    };
    let text: String = clean_line(&hit.text).chars().take(EXCERPT_CHARS).collect();
    format!(
        "{}  {}\n    {}\n    {text}\n",
        hit.id,
        clean_text(hit.title.lines().next().unwrap_or_default()),
        output::stdout_style().dim(&format!(
            "{}, {origin}{}{turned_out}; by {matched_by}",
            day(&hit.at),
            held_in.unwrap_or_default()
        ))
    )
}

fn print_notes(notes: impl IntoIterator<Item = String>) {
    notes.into_iter().for_each(|note| output::note(&format!("note: {note}")));
}

fn entries_words(count: usize) -> String {
    counted(count as u64, "entry").replace("entrys", "entries")
}

fn origin(source: Option<&str>, debate: Option<&str>) -> String {
    match (source, debate) {
        (Some(source), _) => clean_text(source).replace(['\n', '\t'], " "),
        (None, Some(debate)) => format!("debate {debate}"),
        (None, None) => "you".to_owned(),
    }
}

/// Where a debate was held, and what kind of models spoke in it.
pub(super) fn held_in(provenance: &DebateProvenance) -> String {
    clean_line(&provenance.words())
}

pub(super) fn day(at: &str) -> String {
    at.get(..10).unwrap_or(at).to_owned()
}

/// A JSON string as a reader sees it; `-` for null.
pub(super) fn json_word(value: &Value) -> String {
    value.as_str().unwrap_or("-").to_owned()
}
