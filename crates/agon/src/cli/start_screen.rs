//! What `agon` alone shows on a terminal: what is set up, and three commands to try.
//!
//! It must be there at once: a local Ollama gets a moment to answer, and nothing else is asked over a network.

use std::time::Duration;

use agon_core::wording::counted;
use agon_host::clean_line;
use agon_models::{ProviderInfo, ProviderProbe};
use agon_report::TerminalStyle;
use agon_store::{DebateStore, ListedDebate, StoreAddress};

use super::app::model_catalogue;
use super::arguments::shell_quoted;
use super::book;
use super::configuration::{Configuration, ConfigurationSource};
use super::demo_debates::demo_debates;
use super::errors::CliError;
use super::model_files::all_model_files;
use super::output;
use super::paths::{self, process_env};
use super::runtime::block_on;
use super::seat_models;
use super::verbs::help::reading_command;

/// How long Ollama may take to answer.
const OLLAMA_TIMEOUT: Duration = Duration::from_millis(250);
const COMMANDS_SHOWN: usize = 3;
const MODELS_NAMED: usize = 3;
const INDENT: &str = "  ";
const QUESTION_CHARS_MAX: usize = 50;
/// The chapter for people who are new.
const FIRST_CHAPTER: &str = "tutorial";

/// Prints the start.
pub fn print() -> Result<u8, CliError> {
    output::print(&StartState::look().text(&output::stdout_style()))?;
    Ok(0)
}

/// What is set up.
struct StartState {
    /// The file and its models, or what is wrong with it.
    configuration: Result<ConfiguredModels, String>,
    /// The providers that can be used and are not Ollama: names, each with the variable of its key.
    providers: Vec<(String, Option<String>)>,
    ollama: OllamaState,
    /// The model that runs in this process, and what is to be said of its files.
    embedded: Option<EmbeddedState>,
    store: StoreState,
}

#[derive(Default)]
struct ConfiguredModels {
    file: Option<String>,
    models: Vec<String>,
}

enum OllamaState {
    /// Its models that can debate, and how many it has.
    Running(Vec<String>),
    NotRunning,
    /// Why it is not known.
    NotChecked(String),
}

struct EmbeddedState {
    model: String,
    is_ready: bool,
    words: String,
}

enum StoreState {
    /// Nothing was ever stored; it will be here.
    None(String),
    File {
        file: String,
        debates: u64,
        newest: Option<ListedDebate>,
    },
    /// It is on a server, or cannot be read.
    NotChecked(String),
}

impl StartState {
    fn look() -> Self {
        let loaded = Configuration::load(ConfigurationSource::Usual, &process_env);
        let fallback = Configuration::default();
        let used = loaded.as_ref().unwrap_or(&fallback);
        let catalogue = model_catalogue(used);
        let usable = catalogue.providers().into_iter().filter(|provider| provider.problem.is_none());
        let is_other = |provider: &ProviderInfo| !["ollama", "script"].contains(&provider.name.as_str());
        let probe = block_on(catalogue.probe_one("ollama", OLLAMA_TIMEOUT)).ok().flatten();
        Self {
            providers: usable.filter(is_other).map(|provider| (provider.name, provider.key_env)).collect(),
            ollama: ollama_state(probe),
            embedded: embedded_state(),
            store: store_state(),
            configuration: match &loaded {
                Ok(found) => Ok(ConfiguredModels {
                    file: found.file.as_ref().map(|file| file.display().to_string()),
                    models: found.models.clone(),
                }),
                Err(error) => Err(error.to_string()),
            },
        }
    }

    fn text(&self, style: &TerminalStyle) -> String {
        let title = concat!("agon ", env!("CARGO_PKG_VERSION"));
        let mut text = format!("{}: structured debate between language models\n\n", style.bold(title));
        let rows = [
            ("Configuration", self.configuration_words()),
            ("By key", self.provider_words()),
            ("Ollama", self.ollama_words()),
            ("Built in", self.embedded_words()),
            ("Store", self.store_words()),
        ];
        let rows = rows.map(|(name, words)| vec![name.to_owned(), words]);
        let room = TerminalStyle { width: style.width.saturating_sub(INDENT.len()), ..*style };
        for line in agon_report::plain_columns(&rows, &room).lines() {
            text.push_str(&format!("{INDENT}{line}\n"));
        }
        text.push_str("\nTry\n");
        for (command, about) in self.commands().into_iter().take(COMMANDS_SHOWN) {
            text.push_str(&format!("  {}\n      {about}\n", style.code(&command)));
        }
        text.push('\n');
        text.push_str(&style.dim("agon --help lists all verbs, agon help topics the chapters of the book."));
        text.push('\n');
        text
    }

    fn configuration_words(&self) -> String {
        match &self.configuration {
            Err(problem) => format!("wrong: {problem}"),
            Ok(ConfiguredModels { file: None, .. }) => {
                "none, and none is needed; `agon init` writes one".to_owned()
            }
            Ok(ConfiguredModels { file: Some(file), models }) if models.is_empty() => {
                format!("{file}; it names no models")
            }
            Ok(ConfiguredModels { file: Some(file), models }) => {
                format!("{file}; models: {}", models.join(", "))
            }
        }
    }

    fn provider_words(&self) -> String {
        if self.providers.is_empty() {
            return "no key is set; `agon doctor` shows which variables count".to_owned();
        }
        let shown = |(name, key): &(String, Option<String>)| match key {
            Some(key) => format!("{name}/ ({key})"),
            None => format!("{name}/"),
        };
        let names: Vec<String> = self.providers.iter().map(shown).collect();
        format!("{}; not checked, `agon doctor` does that", names.join(", "))
    }

    fn ollama_words(&self) -> String {
        match &self.ollama {
            OllamaState::Running(models) if models.is_empty() => {
                "running, but it has no model that can debate: `ollama pull NAME`".to_owned()
            }
            OllamaState::Running(models) => {
                let named: Vec<&str> = models.iter().take(MODELS_NAMED).map(String::as_str).collect();
                let more = if models.len() > named.len() { ", ..." } else { "" };
                format!("{}: {}{more}", counted(models.len() as u64, "model"), named.join(", "))
            }
            OllamaState::NotRunning => "not running".to_owned(),
            OllamaState::NotChecked(why) => format!("not checked: {why}"),
        }
    }

    fn embedded_words(&self) -> String {
        self.embedded.as_ref().map_or_else(
            || "no models; this agon was built without them".to_owned(),
            |embedded| format!("{}: {}", embedded.model, embedded.words),
        )
    }

    fn store_words(&self) -> String {
        match &self.store {
            StoreState::None(file) => format!("no debates yet; they will be in {file}"),
            StoreState::File { file, debates, .. } => format!("{} in {file}", counted(*debates, "debate")),
            StoreState::NotChecked(why) => format!("not checked: {why}"),
        }
    }

    /// Commands that work with what is set up, the most useful first.
    fn commands(&self) -> Vec<(String, String)> {
        let mut commands = Vec::new();
        let newest = match &self.store {
            StoreState::File { newest, .. } => newest.as_ref(),
            StoreState::None(_) | StoreState::NotChecked(_) => None,
        };
        if self.configuration.is_err() {
            commands.push(("agon doctor".to_owned(), "what is wrong, and what can be fixed".to_owned()));
        }
        if let Some(debate) = newest.filter(|debate| debate.status == "interrupted") {
            commands.push((
                format!("agon resume {}", debate.id),
                format!("go on with \"{}\"", short_question(debate)),
            ));
        }
        if newest.is_none() {
            commands.push(("agon demo".to_owned(), "watch scripted debates; no model is needed".to_owned()));
        }
        commands.extend(self.debate_command());
        if let Some(debate) = newest.filter(|debate| debate.status != "interrupted") {
            let about = format!("the report of \"{}\" again", short_question(debate));
            commands.push(("agon show last".to_owned(), about));
        }
        if newest.is_none()
            && let Some(chapter) = book::find_chapter(FIRST_CHAPTER)
        {
            commands.push((reading_command(&chapter), "a walk through everything".to_owned()));
        }
        commands.push(("agon serve".to_owned(), "the same in your browser".to_owned()));
        commands.push(("agon doctor".to_owned(), "check keys, models and the store".to_owned()));
        commands
    }

    /// A debate with the best models that are there.
    fn debate_command(&self) -> Option<(String, String)> {
        let demo = demo_debates().find(|demo| demo.question.is_some())?;
        let debate = format!("agon {} {}", demo.name(), shell_quoted(demo.question?));
        if self.configuration.as_ref().is_ok_and(|found| !found.models.is_empty()) {
            return Some((debate, "a debate between your configured models".to_owned()));
        }
        if let OllamaState::Running(models) = &self.ollama
            && !models.is_empty()
            && self.providers.is_empty()
        {
            let models: Vec<String> =
                models.iter().take(MODELS_NAMED).map(|name| format!("ollama/{name}")).collect();
            return Some((
                format!("{debate} --models {}", models.join(",")),
                "a debate between your local models".to_owned(),
            ));
        }
        if let Some((name, _)) = self.providers.first() {
            let about = format!("a debate; `agon models` lists names and prices for {name}/MODEL");
            return Some((format!("{debate} --models {name}/MODEL"), about));
        }
        let embedded = self.embedded.as_ref()?;
        let about = match embedded.is_ready {
            true => "a debate between tiny built-in models".to_owned(),
            false => format!("a debate between tiny built-in models; {}", embedded.words),
        };
        Some((debate, about))
    }
}

fn short_question(debate: &ListedDebate) -> String {
    let question = clean_line(&debate.question);
    match question.char_indices().nth(QUESTION_CHARS_MAX) {
        Some((end, _)) => format!("{}...", question.get(..end).unwrap_or_default().trim_end()),
        None => question,
    }
}

fn ollama_state(probe: Option<ProviderProbe>) -> OllamaState {
    let Some(probe) = probe else { return OllamaState::NotChecked("its address is wrong".to_owned()) };
    let problem = probe.problem.unwrap_or_default();
    match probe.models {
        Some(models) => {
            OllamaState::Running(models.into_iter().filter(|name| seat_models::can_chat(name)).collect())
        }
        None if problem.contains("connection refused") => OllamaState::NotRunning,
        None if !probe.reachable => {
            OllamaState::NotChecked(format!("no answer within {} ms", OLLAMA_TIMEOUT.as_millis()))
        }
        None => OllamaState::NotChecked(problem),
    }
}

fn embedded_state() -> Option<EmbeddedState> {
    let files = all_model_files().into_iter().find(|files| files.name() == agon_models::SMOLLM2)?;
    let words = match files.is_missing() {
        true => format!("{} are fetched at its first use", files.size_words()),
        false => files.state_word().to_owned(),
    };
    Some(EmbeddedState { model: files.model_name(), is_ready: files.is_ready(), words })
}

fn store_state() -> StoreState {
    let address = match paths::store_address(None, &process_env) {
        Ok(address) => address,
        Err(error) => return StoreState::NotChecked(error.to_string()),
    };
    let StoreAddress::File(file) = &address else {
        return StoreState::NotChecked(format!("{address} is on a server"));
    };
    let shown = file.display().to_string();
    if !file.exists() {
        return StoreState::None(shown);
    }
    let read = DebateStore::open_to_read(file)
        .and_then(|store| Ok((store.debate_count()?, store.list_debates(Some(1))?.into_iter().next())));
    match read {
        Ok((debates, newest)) => StoreState::File { file: shown, debates, newest },
        Err(error) => StoreState::NotChecked(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: TerminalStyle = TerminalStyle { color: false, width: 80, unicode: true };

    fn new_machine() -> StartState {
        StartState {
            configuration: Ok(ConfiguredModels::default()),
            providers: Vec::new(),
            ollama: OllamaState::NotRunning,
            embedded: Some(EmbeddedState {
                model: "embedded/smollm2".into(),
                is_ready: false,
                words: "98.4 MB are fetched at its first use".into(),
            }),
            store: StoreState::None("/home/me/.local/share/agon/agon.db".into()),
        }
    }

    fn debate(status: &str) -> ListedDebate {
        ListedDebate {
            id: "1abcdefghjkm".into(),
            protocol: "deep".into(),
            question: "Should we move the whole company to a four-day week, and when?".into(),
            status: status.into(),
            created_at: "2026-01-02T03:04:05Z".into(),
            parent: None,
        }
    }

    fn stored(status: &str) -> StoreState {
        StoreState::File { file: "agon.db".into(), debates: 12, newest: Some(debate(status)) }
    }

    fn first_words(state: &StartState) -> Vec<String> {
        let commands = state.commands().into_iter().take(COMMANDS_SHOWN);
        commands
            .map(|(command, _)| command.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn a_new_machine_starts_with_the_demos_and_the_built_in_model() {
        let text = new_machine().text(&STYLE);
        insta::assert_snapshot!(text, @"
        agon 0.1.0: structured debate between language models

          Configuration  none, and none is needed; `agon init` writes one
          By key         no key is set; `agon doctor` shows which variables count
          Ollama         not running
          Built in       embedded/smollm2: 98.4 MB are fetched at its first use
          Store          no debates yet; they will be in
                         /home/me/.local/share/agon/agon.db

        Try
          agon demo
              watch scripted debates; no model is needed
          agon deep 'Should a small team write its new service in Rust or in Go?'
              a debate between tiny built-in models; 98.4 MB are fetched at its first use
          agon help tutorial
              a walk through everything

        agon --help lists all verbs, agon help topics the chapters of the book.
        ");
    }

    #[test]
    fn the_commands_fit_what_is_there() {
        let mut state = new_machine();
        state.store = stored("complete");
        assert_eq!(first_words(&state), ["agon deep", "agon show", "agon serve"]);
        state.store = stored("interrupted");
        assert_eq!(first_words(&state)[0], "agon resume");
        state.ollama = OllamaState::Running(vec!["a".into(), "b:7b".into()]);
        assert!(state.debate_command().unwrap().0.ends_with(" --models ollama/a,ollama/b:7b"));
        state.providers.push(("openai".into(), Some("OPENAI_API_KEY".into())));
        assert!(state.debate_command().unwrap().0.ends_with(" --models openai/MODEL"));
        state.configuration =
            Ok(ConfiguredModels { file: Some("agon.toml".into()), models: vec!["own/x".into()] });
        assert!(!state.debate_command().unwrap().0.contains("--models"), "the configured ones are used");
        state.configuration = Err("agon.toml: line 1".into());
        assert_eq!(first_words(&state)[..2], ["agon doctor", "agon resume"]);
    }

    #[test]
    fn a_machine_in_use_shows_what_it_has() {
        let mut state = new_machine();
        state.store = stored("interrupted");
        state.providers.push(("anthropic".into(), Some("ANTHROPIC_API_KEY".into())));
        state.ollama = OllamaState::NotChecked("no answer within 250 ms".into());
        let text = state.text(&STYLE);
        for part in [
            "anthropic/ (ANTHROPIC_API_KEY); not checked",
            "not checked: no answer within 250 ms",
            "12 debates in agon.db",
            "go on with \"Should we move the whole company to a four-day wee...\"",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
    }
}
