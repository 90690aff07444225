//! From what a person asked for to the brief that opens a debate. The command line beats the configuration.

use std::collections::BTreeMap;
use std::path::Path;

use agon_core::history::HISTORY;
use agon_core::lesson::STANDINGS;
use agon_core::options::resolve;
use agon_core::protocol::template_hashes;
use agon_core::{Artifact, Brief, Kind, LOG_VERSION, Limits, Opt, Protocol, Request, Seat};
use agon_engine::{Models, Price};
use agon_evidence::ratings::Rating;
use agon_models::Catalogue;
use agon_store::Sqlite;
use serde_json::{Map, Value};

use super::args::{Said, TIMEOUT_KEY};
use super::config::Config;
use super::failure::Failure;
use super::limits::{Wanted, seconds};
use super::{clock, house, id, input, past};

/// The option by which a protocol is told which embeddings are in use.
pub const EMBEDDINGS: &str = "embeddings";
/// And which sources there are.
const PULSE: &str = "pulse";

/// How debates of one protocol are to be opened.
pub struct Opening {
    /// The protocol.
    pub protocol: &'static dyn Protocol,
    models: Vec<String>,
    roles: BTreeMap<String, String>,
    options: Vec<(String, String)>,
    limits: Limits,
    seed: Option<u64>,
    /// What is kept of those who could sit.
    store: Option<Sqlite>,
    /// The same for every debate, and hashing is not free.
    templates: BTreeMap<String, String>,
}

/// What one debate is about, and what it has of its own.
#[derive(Debug, Clone, Default)]
pub struct Subject {
    /// The question, topic or task.
    pub question: String,
    /// The files that it is about.
    pub files: Vec<Artifact>,
    /// Models of its own; none for the ones of the opening.
    pub models: Vec<String>,
    /// Options of its own, over those of the opening.
    pub options: Vec<(String, String)>,
    /// A seed of its own.
    pub seed: Option<u64>,
}

impl Opening {
    /// What was said on the command line over what the configuration says.
    pub fn new(protocol: &'static dyn Protocol, said: Said, config: &Config) -> Result<Self, Failure> {
        let configured = config.options.get(protocol.name()).cloned().unwrap_or_default();
        let (timeout_ms, configured) = split_timeout(configured)?;
        let (set_ms, mut set) = split_timeout(said.options)?;
        // Models that are asked for without a name are those of the configuration.
        let is_configured = |key: &String| configured.iter().any(|(configured, _)| configured == key);
        let unnamed = |(key, raw): &(String, String)| {
            let models = |opt: &Opt| opt.key == key && opt.kind == Kind::Models;
            raw.is_empty() && is_configured(key) && protocol.options().iter().any(models)
        };
        set.retain(|pair| !unnamed(pair));
        let limits = config.limits.over(&Limits::default());
        let limits = Wanted { timeout_ms: set_ms.or(timeout_ms), ..Wanted::default() }.over(&limits);
        let mut roles = config.roles.clone();
        // The configuration speaks to all protocols; a role that this one does not have is not meant for it.
        roles.retain(|role, _| protocol.roles().contains(&role.as_str()));
        roles.extend(said.roles);
        Ok(Self {
            protocol,
            models: if said.models.is_empty() { config.models.clone() } else { said.models },
            roles,
            options: configured.into_iter().chain(set).collect(),
            limits: said.limits.over(&limits),
            seed: said.seed,
            store: None,
            templates: template_hashes(protocol),
        })
    }

    /// Seats these where nobody was named.
    pub fn or_else(mut self, models: impl FnOnce() -> Result<Vec<String>, Failure>) -> Result<Self, Failure> {
        if self.models.is_empty() {
            self.models = models()?;
        }
        Ok(self)
    }

    /// With what the protocol is told of this machine where nobody says otherwise: which embeddings are in use, and which sources
    /// there are.
    pub fn here(mut self, config: &Config, models: &Catalogue) -> Result<Self, Failure> {
        let has = |key: &str| self.protocol.options().iter().any(|opt| opt.key == key);
        let mut found = Vec::new();
        if has(EMBEDDINGS) {
            let in_use = models.embeddings_in_use();
            if let Some(problem) =
                in_use.problem.filter(|_| !self.options.iter().any(|(key, _)| key == EMBEDDINGS))
            {
                return Err(Failure::input(problem)
                    .help("[embeddings] in agon.toml names them; --embeddings beats it"));
            }
            found.push((EMBEDDINGS.to_owned(), in_use.model));
        }
        if has(PULSE) && !config.pulse.is_empty() {
            let names: Vec<&str> = config.pulse.keys().map(String::as_str).collect();
            found.push((PULSE.to_owned(), names.join(",")));
        }
        for (_, names) in self.options.iter().filter(|(key, _)| has(PULSE) && key == PULSE) {
            let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
            if let Some(unknown) = names.into_iter().find(|name| !config.pulse.contains_key(*name)) {
                return Err(house::no_source(unknown, config.pulse.keys()).into());
            }
        }
        let has_embeddings = has(EMBEDDINGS);
        for (_, name) in self.options.iter_mut().filter(|(key, _)| has_embeddings && key == EMBEDDINGS) {
            // As in agon.toml, the word before may be left out; a model that chats is never meant.
            if !name.starts_with("embeddings/") {
                *name = format!("embeddings/{name}");
            }
            models.model(name)?;
        }
        self.options.splice(0..0, found);
        Ok(self)
    }

    /// With the store that knows those who could sit, if there is one: how they stand, and how they did before.
    pub fn known_by(mut self, store: Option<Sqlite>) -> Self {
        self.store = store;
        self
    }

    /// How those who sit did in earlier debates whose outcome is known, as a file of the brief.
    fn history(&self, seats: &[Seat]) -> Result<Option<Artifact>, Failure> {
        let Some(store) = &self.store else { return Ok(None) };
        let links = seats.iter().flat_map(|seat| seat.model.split('|')).map(str::trim);
        let models: Vec<&str> = links.map(|link| link.strip_prefix("agent/").unwrap_or(link)).collect();
        let past = past::of(store, &models)?;
        if past.is_empty() {
            return Ok(None);
        }
        let text = serde_json::to_string(&past)
            .map_err(|why| Failure::System(format!("the history cannot be written: {why}")))?;
        Ok(Some(Artifact { path: HISTORY.into(), text, part: Some(HISTORY.to_owned()) }))
    }

    /// How everybody stands who could sit, as a file of the request. Where nothing was ever stored, all stand as everybody begins.
    fn standings(&self, models: &[String]) -> Result<Option<Artifact>, Failure> {
        if !self.protocol.rates() {
            return Ok(None);
        }
        let mut agents: Vec<String> = Vec::new();
        for link in models.iter().flat_map(|name| name.split('|')).map(str::trim) {
            let agent = link.strip_prefix("agent/").unwrap_or(link);
            if !agents.iter().any(|known| known == agent) {
                agents.push(agent.to_owned());
            }
        }
        let standings = match &self.store {
            Some(store) => store.standings(&agents)?,
            None => agents.iter().map(|agent| Rating::default().standing(agent, None)).collect(),
        };
        let text = serde_json::to_string(&standings)
            .map_err(|why| Failure::System(format!("the ratings cannot be written: {why}")))?;
        Ok(Some(Artifact { path: "ratings".into(), text, part: Some(STANDINGS.to_owned()) }))
    }

    /// The names of all models that are seated.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        self.models.iter().chain(self.roles.values()).map(String::as_str)
    }

    /// The brief of a new debate. Each has an id of its own.
    pub fn brief(&self, subject: Subject) -> Result<Brief, Failure> {
        let (timeout_ms, own) = split_timeout(subject.options)?;
        let options = resolve(self.protocol.options(), self.options.iter().cloned().chain(own))?;
        let models = if subject.models.is_empty() { self.models.clone() } else { subject.models };
        if models.is_empty() {
            return Err(Failure::input("no model is named: nobody can sit at the table")
                .help("add --models provider/model; `agon models` lists what can be named"));
        }
        let Subject { question, mut files, .. } = subject;
        files.extend(parts(self.protocol.options(), &options)?);
        files.extend(self.standings(&models)?);
        let files = input::within_limit(files)?;
        let seed = subject.seed.or(self.seed).map_or_else(id::seed, Ok)?;
        let roles = self.roles.clone();
        let mut request = Request { question, files, models, roles, options, seed };
        let seats = self.protocol.seats(&request)?;
        request.files.extend(self.history(&seats)?);
        if request.question.is_empty() {
            request.question = self.protocol.title(&request);
        }
        let now_s = clock::now_s();
        Ok(Brief {
            version: LOG_VERSION,
            id: id::fresh(now_s)?,
            protocol: self.protocol.name().to_owned(),
            question: request.question,
            files: request.files,
            options: request.options,
            seats,
            seed,
            limits: Wanted { timeout_ms, ..Wanted::default() }.over(&self.limits),
            templates: self.templates.clone(),
            written_by: env!("CARGO_PKG_VERSION").to_owned(),
            created_at: clock::rfc3339(now_s),
            parent: None,
        })
    }
}

/// The files that these options name, each with the option's key.
pub fn parts(table: &[Opt], options: &Map<String, Value>) -> Result<Vec<Artifact>, Failure> {
    let named = table.iter().filter(|opt| opt.kind == Kind::File).filter_map(|opt| {
        let path = options.get(opt.key)?.as_str()?;
        Some(input::artifact(Path::new(path), Some(opt.key)))
    });
    named.collect()
}

/// Options as `--set` has them.
type Pairs = Vec<(String, String)>;

/// A limit that the protocols' settings know as an option: its value, and the options without it.
pub fn split_timeout(options: Pairs) -> Result<(Option<u64>, Pairs), Failure> {
    let (timeouts, options): (Vec<_>, Vec<_>) = options.into_iter().partition(|(key, _)| key == TIMEOUT_KEY);
    let Some((_, raw)) = timeouts.last() else { return Ok((None, options)) };
    let ms = seconds(raw).map_err(|why| Failure::input(format!("{TIMEOUT_KEY} is {raw:?}, but {why}")))?;
    Ok((Some(ms), options))
}

/// Refuses a brief whose models are not there or, under a dollar budget, have no known price: before anything is
/// stored, so that a mistyped name leaves nothing behind.
pub fn check_models(brief: &Brief, models: &dyn Models) -> Result<(), Failure> {
    for name in brief.seats.iter().flat_map(|seat| seat.model.split('|')) {
        let model = models.model(name.trim())?;
        if let Some(sentence) = model.missing().filter(|_| !seat_has_others(brief, name)) {
            return Err(Failure::input(sentence));
        }
        if brief.limits.usd.is_some() && model.price() == Price::Unknown {
            return Err(no_price(name.trim()));
        }
    }
    Ok(())
}

/// Whether another link of a chain can take the seat of a model that is not there.
fn seat_has_others(brief: &Brief, name: &str) -> bool {
    let of = brief.seats.iter().filter(|seat| seat.model.split('|').any(|link| link == name));
    of.into_iter().all(|seat| seat.model.contains('|'))
}

/// Nobody counts a program's tokens, so that only "nothing" can be said of what it costs.
fn no_price(name: &str) -> Failure {
    let failure = Failure::input(format!("--budget-usd needs a price, and that of {name} is not known"));
    match name.strip_prefix("command/") {
        Some(program) => failure
            .help(format!("if it costs nothing, say `free = true` under [commands.{program}] in agon.toml"))
            .help("or leave --budget-usd away and use --max-calls"),
        None => failure
            .help(format!("add it to agon.toml: [prices] \"{name}\" = {{ input = 1.0, output = 4.0 }}"))
            .help("US dollars per million tokens; or leave --budget-usd away and use --max-tokens"),
    }
}

/// What a person should know about the models before the debate begins, each thing once.
pub fn notices(brief: &Brief, models: &dyn Models) -> Vec<String> {
    let names = brief.seats.iter().flat_map(|seat| seat.model.split('|'));
    let mut notices = Vec::new();
    for notice in names.filter_map(|name| models.model(name.trim()).ok()?.notice(&brief.question)) {
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }
    notices
}

#[cfg(test)]
mod tests {
    use agon_core::lesson::Standing;

    use super::*;

    fn config() -> Config {
        Config {
            models: vec!["openai/config".into()],
            roles: [("chair", "openai/chair"), ("judge", "openai/judge")]
                .map(|(role, model)| (role.to_owned(), model.to_owned()))
                .into(),
            limits: Wanted { timeout_ms: Some(7_000), retries: Some(1), ..Default::default() },
            options: [("deep".to_owned(), vec![("max_rounds".to_owned(), "5".to_owned())])].into(),
            ..Config::default()
        }
    }

    fn brief(said: Said, config: &Config, subject: Subject) -> Result<Brief, Failure> {
        let protocol = agon_protocols::find("deep").unwrap();
        Opening::new(protocol, said, config)?.brief(subject)
    }

    fn why() -> Subject {
        Subject { question: "Why?".into(), ..Subject::default() }
    }

    #[test]
    fn the_command_line_beats_the_configuration_and_that_the_defaults() {
        let plain = brief(Said::default(), &config(), why()).unwrap();
        assert_eq!((plain.int("max_rounds"), plain.int("min_rounds")), (5, 2));
        assert_eq!((plain.limits.call_timeout_ms, plain.limits.retries), (7_000, 1));
        assert!(plain.seats.iter().any(|seat| seat.model == "openai/chair"));
        assert!(plain.seats.iter().all(|seat| seat.model != "openai/judge"));

        let said = Said {
            models: vec!["a/x".into(), "b/y".into()],
            seed: Some(7),
            limits: Wanted { timeout_ms: Some(1), ..Default::default() },
            options: vec![("max_rounds".into(), "4".into())],
            ..Said::default()
        };
        let said = brief(said, &config(), why()).unwrap();
        assert_eq!((said.int("max_rounds"), said.seed, said.limits.call_timeout_ms), (4, 7, 1));
        assert!(said.seats.iter().all(|seat| seat.model != "openai/config"));

        let options = vec![("max_rounds".into(), "3".into()), (TIMEOUT_KEY.into(), "2.5".into())];
        let own = brief(Said::default(), &config(), Subject { options, seed: Some(9), ..why() }).unwrap();
        assert_eq!((own.int("max_rounds"), own.seed, own.limits.call_timeout_ms), (3, 9, 2_500));
    }

    /// "Standings are given also without a store": the first debate of all knows who could have sat, too.
    #[test]
    fn without_a_store_everybody_stands_as_everybody_begins() {
        let said = || Said { models: vec!["a/x|b/y".into(), "agent/anna".into()], ..Said::default() };
        let arena = agon_protocols::find("arena").unwrap();
        let brief = Opening::new(arena, said(), &Config::default()).unwrap().brief(why()).unwrap();
        let text = &brief.part(STANDINGS).unwrap().text;
        let standings: Vec<Standing> = serde_json::from_str(text).unwrap();
        let begins = |agent: &str| Standing {
            agent: agent.into(),
            rating: 1500.0,
            deviation: 350.0,
            games: 0,
            brier: None,
        };
        assert_eq!(standings, ["a/x", "b/y", "anna"].map(begins));
        let deep = agon_protocols::find("deep").unwrap();
        let brief = Opening::new(deep, said(), &Config::default()).unwrap().brief(why()).unwrap();
        assert!(brief.part(STANDINGS).is_none(), "nobody is rated");
    }
}
