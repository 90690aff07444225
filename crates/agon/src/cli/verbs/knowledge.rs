//! `agon knowledge`: what was decided, on what evidence and how it turned out, and what people add to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agon_report::{clean, figures};
use agon_store::{Kind, Knowledge, KnowledgeHit, NewKnowledge, Sqlite};
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};

use super::{Group, Verb};
use crate::cli::chapters::chapters;
use crate::cli::failure::Failure;
use crate::cli::limits::whole;
use crate::cli::run::runtime;
use crate::cli::{after, args, clock, desk, input, output};

pub(super) const VERB: Verb = Verb { name: "knowledge", group: Group::Kept, command, run };

const LIMIT: &str = "20";
/// The most that one entry may have.
const ENTRY_BYTES_MAX: u64 = 64 * 1024;
const TITLE_CHARS: usize = 100;
/// The most that a title or a source may have.
const WORDS_BYTES_MAX: usize = 1_000;

fn command(command: Command) -> Command {
    let limit = || {
        Arg::new("limit").long("limit").value_name("N").default_value(LIMIT).value_parser(whole(1_u64, None))
    };
    let ids = |help: &'static str| Arg::new("entry").value_name("ENTRY").required(true).help(help);
    let text = Arg::new("text")
        .value_name("TEXT")
        .num_args(0..)
        .help("What is known; `-` or nothing reads it from stdin");
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let verb = |name: &'static str, about: &'static str| {
        Command::new(name).about(about).arg(args::json()).args(args::files())
    };
    command
        .about("What debates have decided and people have added; later arenas are told what fits")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            verb("add", "Add an entry")
                .arg(text)
                .arg(option("title", "TEXT", "What it is about [default: its first line]"))
                .arg(option("source", "TEXT", "Where it is from")),
        )
        .subcommand(
            verb("import", "Add files: Markdown by its headings, text by its paragraphs").arg(
                Arg::new("files")
                    .value_name("FILE")
                    .num_args(1..)
                    .required(true)
                    .value_parser(value_parser!(PathBuf)),
            ),
        )
        .subcommand(verb("list", "List entries, the newest first").arg(limit().help("The most to list")))
        .subcommand(
            verb("search", "Find entries by words and by meaning")
                .arg(Arg::new("words").value_name("WORDS").num_args(1..).required(true))
                .arg(limit().help("The most to find")),
        )
        .subcommand(verb("show", "Show an entry").arg(ids("An entry's id, or a unique beginning of it")))
        .subcommand(verb("forget", "Forget entries, for good").arg(ids("The entries' ids").num_args(1..)))
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    match args.subcommand() {
        Some(("add", args)) => add(args),
        Some(("import", args)) => import(args),
        Some(("list", args)) => list(args),
        Some(("search", args)) => search(args),
        Some(("show", args)) => show(args),
        Some(("forget", args)) => forget(args),
        _ => Err(Failure::input("say what to do: agon knowledge --help")),
    }
}

fn add(args: &ArgMatches) -> Result<u8, Failure> {
    let words: Vec<&str> =
        args.get_many::<String>("text").into_iter().flatten().map(String::as_str).collect();
    let text = match words.as_slice() {
        [] | ["-"] => input::stdin("text", ENTRY_BYTES_MAX)?,
        words => words.join(" "),
    };
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::input("the text is empty: say what is known, or pipe it in"));
    }
    if text.len() as u64 > ENTRY_BYTES_MAX {
        let limit = ENTRY_BYTES_MAX / 1024;
        return Err(Failure::input(format!("the text is longer than {limit} KB, the limit of an entry"))
            .help("agon knowledge import FILE takes a file apart"));
    }
    let given = |name: &str| args.get_one::<String>(name).map(|text| text.trim().to_owned());
    for name in ["title", "source"] {
        if given(name).is_some_and(|text| text.len() > WORDS_BYTES_MAX) {
            return Err(Failure::input(format!(
                "the {name} is longer than {WORDS_BYTES_MAX} bytes: shorten it"
            )));
        }
    }
    let first = || text.lines().next().unwrap_or_default().chars().take(TITLE_CHARS).collect();
    let entry = NewKnowledge {
        kind: Kind::Note,
        title: given("title").filter(|title| !title.is_empty()).unwrap_or_else(first),
        text: text.to_owned(),
        source: given("source").filter(|source| !source.is_empty()),
        confidence: None,
        at: clock::rfc3339(clock::now_s()),
    };
    keep(args, vec![entry])
}

fn import(args: &ArgMatches) -> Result<u8, Failure> {
    let paths: Vec<&Path> =
        args.get_many::<PathBuf>("files").into_iter().flatten().map(PathBuf::as_path).collect();
    let at = clock::rfc3339(clock::now_s());
    let mut entries = Vec::new();
    // All are read before the first is kept, so that a bad one leaves nothing behind.
    for file in paths.iter().map(|path| input::artifact(path, None)) {
        let file = file?;
        let found = chapters(&file.path, &file.text);
        if found.is_empty() {
            return Err(Failure::file(Path::new(&file.path), "there is nothing in it but headings"));
        }
        entries.extend(found.into_iter().map(|chapter| NewKnowledge {
            kind: Kind::Import,
            title: chapter.title,
            text: chapter.text,
            source: Some(file.path.clone()),
            confidence: None,
            at: at.clone(),
        }));
    }
    keep(args, entries)
}

/// Keeps entries and says which they are.
fn keep(args: &ArgMatches, entries: Vec<NewKnowledge>) -> Result<u8, Failure> {
    // What is wrong with the configuration is said before anything is kept.
    let models = desk::models(&desk::config(args)?);
    let store = desk::store(args)?;
    let runtime = runtime()?;
    let sources: BTreeSet<String> = entries.iter().filter_map(|entry| entry.source.clone()).collect();
    let imported = entries.iter().any(|entry| entry.kind == Kind::Import);
    let mut ids = runtime.block_on(store.knowledge_add(entries))?;
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    let gone = if imported { outdated(&store, &sources, &ids)? } else { Vec::new() };
    for id in &gone {
        runtime.block_on(store.knowledge_forget(id))?;
    }
    // By words it can be found at once; what cannot be had now is made up for by the next search.
    let note = runtime.block_on(after::index(&models, &store));
    if args.get_flag("json") {
        output::print_json(&json!({"ids": ids, "forgotten": gone}))?;
    } else {
        let shown: Vec<&str> = ids.iter().take(3).map(String::as_str).collect();
        let more = if ids.len() > shown.len() { ", ..." } else { "" };
        let count = figures::counted(ids.len() as u64, "entry").replace("entrys", "entries");
        output::print(&format!("{count} kept: {}{more}\n", shown.join(", ")))?;
        if !gone.is_empty() {
            let count = figures::counted(gone.len() as u64, "entry").replace("entrys", "entries");
            output::print(&format!("{count} forgotten that the files no longer have\n"))?;
        }
    }
    note.into_iter().for_each(|note| output::note(&format!("note: {note}")));
    Ok(0)
}

/// What was imported from these files before and is no longer in them: two versions of one section would contradict each other.
fn outdated(store: &Sqlite, sources: &BTreeSet<String>, ids: &[String]) -> Result<Vec<String>, Failure> {
    let all = store.knowledge_list(usize::MAX)?;
    let of_files = all.into_iter().filter(|entry| entry.kind == Kind::Import);
    let old = of_files.filter(|entry| entry.source.as_ref().is_some_and(|source| sources.contains(source)));
    Ok(old.filter(|entry| !ids.contains(&entry.id)).map(|entry| entry.id).collect())
}

fn limit(args: &ArgMatches) -> usize {
    args.get_one::<u64>("limit").map_or(usize::MAX, |n| usize::try_from(*n).unwrap_or(usize::MAX))
}

fn list(args: &ArgMatches) -> Result<u8, Failure> {
    let entries = match desk::kept(args)? {
        Some(store) => store.knowledge_list(limit(args))?,
        None => Vec::new(),
    };
    if args.get_flag("json") {
        output::print_json(&json!(entries))?;
    } else if entries.is_empty() {
        output::note(
            "nothing is known yet: arenas add what they decide, and `agon knowledge add TEXT` a note",
        );
    } else {
        let head = ["entry", "added", "from", "turned out", "about"].map(str::to_owned).to_vec();
        let row = |entry: &Knowledge| {
            let turned_out = word(&json!(entry.turned_out));
            let about = entry.title.lines().next().unwrap_or_default().to_owned();
            vec![
                entry.id.clone(),
                day(&entry.at),
                from(entry.source.as_deref(), entry.debate.as_deref()),
                turned_out,
                about,
            ]
        };
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(entries.iter().map(row)).collect();
        output::print(&agon_report::table("", &rows, &output::stdout_style()))?;
    }
    Ok(0)
}

fn search(args: &ArgMatches) -> Result<u8, Failure> {
    let words: Vec<&str> =
        args.get_many::<String>("words").into_iter().flatten().map(String::as_str).collect();
    let words = words.join(" ");
    if !words.chars().any(char::is_alphanumeric) {
        return Err(Failure::input("there is no word to search for: name one or more"));
    }
    let (hits, note) = match desk::kept(args)? {
        Some(store) => found(args, &store, &words)?,
        None => (Vec::new(), None),
    };
    if args.get_flag("json") {
        output::print_json(&json!(hits))?;
    } else if hits.is_empty() {
        output::note("nothing that is known fits");
    } else {
        output::print(&hits.iter().map(lines).collect::<String>())?;
    }
    note.into_iter().for_each(|note| output::note(&format!("note: {note}")));
    Ok(0)
}

fn found(
    args: &ArgMatches,
    store: &Sqlite,
    words: &str,
) -> Result<(Vec<KnowledgeHit>, Option<String>), Failure> {
    let catalogue = desk::models(&desk::config(args)?);
    runtime()?.block_on(async {
        let indexed = after::index(&catalogue, store).await;
        let (vector, note) = after::vector(&catalogue, words).await;
        let vector = vector.as_ref().map(|(model, vector)| (model.as_str(), vector.as_slice()));
        Ok((store.knowledge_search(words, vector, limit(args))?, note.or(indexed)))
    })
}

fn show(args: &ArgMatches) -> Result<u8, Failure> {
    let id = args.get_one::<String>("entry").map(String::as_str).unwrap_or_default();
    let entry = match desk::kept(args)? {
        Some(store) => store.knowledge_show(id)?,
        None => return Err(unknown(id)),
    };
    if args.get_flag("json") {
        output::print_json(&json!(entry))?;
    } else {
        let mut head = vec![format!("{} of {}", entry.id, day(&entry.at))];
        head.push(format!("from {}", from(entry.source.as_deref(), entry.debate.as_deref())));
        head.extend(entry.confidence.map(|share| format!("share {:.0}%", share * 100.0)));
        head.extend(entry.turned_out.map(|truth| format!("turned out {}", word(&json!(truth)))));
        let style = output::stdout_style();
        let receipt = receipt(&entry).map(|receipt| format!("{}\n", style.dim(&receipt)));
        output::print(&format!(
            "{}\n{}\n{}\n{}\n",
            clean(&entry.title),
            style.dim(&head.join(", ")),
            receipt.unwrap_or_default(),
            clean(&entry.text)
        ))?;
    }
    Ok(0)
}

/// How the log ends that the entry came from, and what compares the two.
fn receipt(entry: &Knowledge) -> Option<String> {
    let (receipt, debate) = (entry.receipt.as_ref()?, entry.debate.as_ref()?);
    let events = figures::counted(receipt.events, "event");
    Some(format!("receipt: {events}, head {}; `agon verify {debate}` checks it", receipt.head))
}

fn forget(args: &ArgMatches) -> Result<u8, Failure> {
    let ids: Vec<&String> = args.get_many::<String>("entry").into_iter().flatten().collect();
    let first = ids.first().map(|id| id.as_str()).unwrap_or_default();
    let store = desk::kept(args)?.ok_or_else(|| unknown(first))?;
    // A name that is wrong is found before anything is gone, and an entry that is named twice is one.
    let mut named: Vec<String> = Vec::new();
    for id in ids {
        let id = store.knowledge_show(id)?.id;
        if !named.contains(&id) {
            named.push(id);
        }
    }
    let runtime = runtime()?;
    let mut forgotten = Vec::new();
    for id in &named {
        forgotten.push(runtime.block_on(store.knowledge_forget(id))?);
    }
    if args.get_flag("json") {
        let ids: Vec<&str> = forgotten.iter().map(|entry| entry.id.as_str()).collect();
        output::print_json(&json!({"ids": ids}))?;
    } else {
        for entry in forgotten {
            output::print(&format!("{} is forgotten: {}\n", entry.id, clean(&entry.title)))?;
        }
    }
    Ok(0)
}

fn unknown(id: &str) -> Failure {
    Failure::input(format!("there is no entry {id:?}: `agon knowledge list` shows the ones there are"))
}

fn lines(hit: &KnowledgeHit) -> String {
    let place = from(hit.source.as_deref(), hit.debate.as_deref());
    let turned_out =
        hit.turned_out.map(|truth| format!(", turned out {}", word(&json!(truth)))).unwrap_or_default();
    let by = match word(&json!(hit.by)).as_str() {
        "both" => "words and meaning".to_owned(),
        by => by.to_owned(),
    };
    let text: String =
        clean(&hit.text).split_whitespace().collect::<Vec<_>>().join(" ").chars().take(240).collect();
    format!(
        "{}  {}\n    {}\n    {text}\n",
        hit.id,
        clean(hit.title.lines().next().unwrap_or_default()),
        output::stdout_style().dim(&format!("{}, {place}{turned_out}; by {by}", day(&hit.at)))
    )
}

fn from(source: Option<&str>, debate: Option<&str>) -> String {
    match (source, debate) {
        (Some(source), _) => clean(source).replace(['\n', '\t'], " "),
        (None, Some(debate)) => format!("debate {debate}"),
        (None, None) => "you".to_owned(),
    }
}

fn day(at: &str) -> String {
    at.get(..10).unwrap_or(at).to_owned()
}

/// A word of JSON as a person reads it.
fn word(value: &Value) -> String {
    value.as_str().unwrap_or("-").to_owned()
}
