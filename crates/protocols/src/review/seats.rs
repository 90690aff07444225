//! Who sits in a review: how many judges, with which perspectives, of which vendors, with how many explorers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use agon_core::brief::part;
use agon_core::wording::counted;
use agon_core::{BriefFile, Invalid, Request, Seat};
use serde::Deserialize;
use serde_json::Value;

use super::{ReviewOptions, packet};
use crate::named_lists::{name_key, read_named_list};

/// The most judges and explorers that may run at once.
const AGENTS_MAX: usize = 12;
const JUDGES_DEFAULT: usize = 2;
const JUDGES_DEEP: usize = 3;
const NAME_CHARS_MAX: usize = 40;
const PERSPECTIVES_DEFAULT: [&str; 2] = ["correctness", "risk"];

/// The exact sentence of the seed.
const ONLY_VALIDATE: &str =
    "Error: --debate is only supported with validate mode. Debate requires PASS/WARN/FAIL verdicts.";

/// The names of the presets, as the values of the option.
pub(super) const PRESETS: &[&str] = &[
    "security-audit",
    "architecture",
    "code-review",
    "plan-review",
    "doc-review",
    "ops",
    "product",
    "developer-experience",
    "retrospective",
    "research",
];

/// The seats, or what is wrong with the request.
pub(super) fn seats(request: &Request) -> Result<Vec<Seat>, Invalid> {
    let options = ReviewOptions::read(&request.options);
    let perspectives = perspectives(&options, &request.files)?;
    check_options(&options, &perspectives)?;
    packet::check(request)?;
    let count = match options.quick {
        true => 1,
        false => usual_count(&options).max(perspectives.len()).max(request.models.len()),
    };
    let mut models = request.models.iter().cycle();
    let mut seats = Vec::new();
    for place in 0..count {
        let model = models.next().ok_or_else(|| Invalid::new("review needs at least one model"))?;
        let name = perspectives.get(place).map(|perspective| perspective.name.clone());
        let id = name.unwrap_or_else(|| format!("judge-{}", place + 1));
        seats.push(Seat { id, role: "judge".into(), model: model.clone() });
    }
    seats.extend(second_vendor(&options, &seats, &perspectives)?);
    if options.debate && seats.len() < 2 {
        return Err(Invalid::new("--debate needs at least two judges, who read each other: omit --count"));
    }
    let (judges, explorers) = (seats.len(), options.explorers);
    if let Some(quorum) = options.quorum.filter(|quorum| *quorum > judges) {
        let judges = counted(judges as u64, "judge");
        return Err(Invalid(format!("--quorum {quorum} can never be reached by {judges}: ask for fewer")));
    }
    let agents = judges * (1 + explorers);
    if agents > AGENTS_MAX {
        let explorers = counted(explorers as u64, "explorer");
        return Err(Invalid(format!(
            "{judges} judges with {explorers} each are {agents} agents, and at most {AGENTS_MAX} may sit: ask for fewer judges or explorers"
        )));
    }
    let own_explorers = |Seat { id, model, .. }: &Seat| -> Vec<Seat> {
        let explorer =
            |number| Seat { id: explorer_id(id, number), role: "explorer".into(), model: model.clone() };
        (1..=explorers).map(explorer).collect()
    };
    let explorers: Vec<Seat> = seats.iter().flat_map(own_explorers).collect();
    seats.extend(explorers);
    check_names(&seats)?;
    Ok(seats)
}

/// How many judges sit unless there are more perspectives or models.
fn usual_count(options: &ReviewOptions) -> usize {
    options.count.unwrap_or(if options.deep { JUDGES_DEEP } else { JUDGES_DEFAULT })
}

/// Why more judges sit than the user asked for, if they do.
pub(super) fn count_note(options: &ReviewOptions, judges: usize) -> Option<String> {
    let usual = usual_count(options);
    let is_raised = judges > usual && !options.quick;
    is_raised.then(|| format!("{judges} judges instead of {usual}: one for each perspective or model"))
}

/// The judges of the second vendor. A single model seats as many as the first vendor has, several models sit once each.
fn second_vendor(
    options: &ReviewOptions,
    first: &[Seat],
    perspectives: &[JudgePerspective],
) -> Result<Vec<Seat>, Invalid> {
    let Some(names) = &options.mixed else { return Ok(Vec::new()) };
    let models: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if models.is_empty() {
        return Err(Invalid::new(
            "--mixed names no model: add one of a second vendor (--mixed command/NAME), or set `mixed` under [protocols.review] in agon.toml",
        ));
    }
    let is_first_vendor = |model: &&&str| first.iter().any(|seat| vendor(&seat.model) == vendor(model));
    if let Some(same) = models.iter().find(is_first_vendor) {
        return Err(Invalid(format!(
            "--mixed needs a second vendor, but {same} is of {}, as the other judges are: name a model of another one",
            vendor(same)
        )));
    }
    let count = if models.len() == 1 { first.len() } else { models.len() };
    let seat = |(place, model): (usize, &&str)| {
        let perspective = perspectives.get(place).map(|perspective| format!("{}-2", perspective.name));
        let id = perspective.unwrap_or_else(|| format!("judge-{}", first.len() + place + 1));
        Seat { id, role: "mixed_judge".into(), model: (*model).to_owned() }
    };
    Ok(models.iter().cycle().take(count).enumerate().map(seat).collect())
}

pub(super) fn explorer_id(judge: &str, number: usize) -> String {
    format!("{judge}-explorer-{number}")
}

/// The vendor of a model: the name of the provider before the slash. A chain of models has the vendor of its first link.
pub(super) fn vendor(model: &str) -> &str {
    let first = model.split('|').next().unwrap_or_default().trim();
    first.split_once('/').map_or(first, |(vendor, _)| vendor)
}

/// A perspective from the user's own file may have the name of another seat.
fn check_names(seats: &[Seat]) -> Result<(), Invalid> {
    let mut names = BTreeSet::new();
    match seats.iter().map(|seat| &seat.id).find(|id| !names.insert(*id)) {
        None => Ok(()),
        Some(id) => {
            Err(Invalid(format!("two seats would be called {id}: rename the perspective of that name")))
        }
    }
}

/// Rejects options that contradict each other.
fn check_options(options: &ReviewOptions, perspectives: &[JudgePerspective]) -> Result<(), Invalid> {
    if options.debate && !options.is_validation() {
        return Err(Invalid::new(ONLY_VALIDATE));
    }
    if !options.quick {
        return Ok(());
    }
    let others = [
        (options.debate, "--debate, which needs judges that read each other"),
        (options.deep, "--deep"),
        (options.count.is_some_and(|count| count > 1), "--count over 1"),
        (perspectives.len() > 1, "more than one perspective"),
        (options.mixed.is_some(), "--mixed"),
    ];
    match others.iter().find(|(is_set, _)| *is_set) {
        Some((_, what)) => Err(Invalid(format!("--quick is one judge and no second round: omit {what}"))),
        None => Ok(()),
    }
}

/// What one judge looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JudgePerspective {
    /// Lower case, words joined by dashes.
    pub(super) name: String,
    /// What it asks; empty where the user gave only a name.
    pub(super) about: String,
}

/// The built-in presets and perspectives.
#[derive(Deserialize, Default)]
struct PerspectiveCatalog {
    /// The names of the perspectives of each preset.
    presets: BTreeMap<String, Vec<String>>,
    /// What each perspective asks.
    perspectives: BTreeMap<String, String>,
    /// The option without which a perspective has nothing to look at.
    needs: BTreeMap<String, String>,
}

impl PerspectiveCatalog {
    fn built_in() -> &'static Self {
        static CATALOG: OnceLock<PerspectiveCatalog> = OnceLock::new();
        CATALOG.get_or_init(|| toml::from_str(include_str!("perspectives.toml")).unwrap_or_default())
    }

    /// The perspectives of a preset, without those that need something that is not there.
    fn preset(&self, name: &str, files: &[BriefFile]) -> impl Iterator<Item = JudgePerspective> {
        let names = self.presets.get(name).into_iter().flatten();
        names.filter(|name| self.missing(name, files).is_none()).filter_map(|name| self.find(name))
    }

    /// The option that a perspective needs and that is not set.
    fn missing(&self, name: &str, files: &[BriefFile]) -> Option<&str> {
        self.needs.get(name).map(String::as_str).filter(|key| part(files, key).is_none())
    }

    fn find(&self, name: &str) -> Option<JudgePerspective> {
        let about = self.perspectives.get(name)?.clone();
        Some(JudgePerspective { name: name.to_owned(), about })
    }
}

/// The perspectives that the user asked for: by preset, by name and by file, each once.
pub(super) fn perspectives(
    options: &ReviewOptions,
    files: &[BriefFile],
) -> Result<Vec<JudgePerspective>, Invalid> {
    let own = part(files, "perspectives_file").map(perspectives_of_file).transpose()?.unwrap_or_default();
    let mut all: Vec<JudgePerspective> =
        PerspectiveCatalog::built_in().preset(&options.preset, files).collect();
    match &options.perspectives {
        None => all.extend(own),
        Some(names) => {
            for name in names.split(',') {
                all.push(perspective_by_name(name, &own, files)?);
            }
        }
    }
    let mut seen = BTreeSet::new();
    all.retain(|perspective| seen.insert(perspective.name.clone()));
    Ok(all)
}

/// The perspective of the judge in this place, of either vendor. Without any that the user asked for, the first two judges of several
/// look at different things.
pub(super) fn perspective_at(
    options: &ReviewOptions,
    named: &[JudgePerspective],
    place: usize,
    judges: usize,
) -> Option<JudgePerspective> {
    if !named.is_empty() || judges < 2 || !options.is_validation() {
        return named.get(place).cloned();
    }
    PERSPECTIVES_DEFAULT.get(place).and_then(|name| PerspectiveCatalog::built_in().find(name))
}

fn perspective_by_name(
    name: &str,
    own: &[JudgePerspective],
    files: &[BriefFile],
) -> Result<JudgePerspective, Invalid> {
    let (key, catalog) = (name_key(name), PerspectiveCatalog::built_in());
    if key.is_empty() {
        return Err(Invalid::new("--perspectives has an empty name: write them as a,b,c, or omit it"));
    }
    if let Some(own) = own.iter().find(|perspective| perspective.name == key) {
        return Ok(own.clone());
    }
    if let Some(option) = catalog.missing(&key, files) {
        return Err(Invalid(format!("the perspective {key} needs --{option}: add it, or omit {key}")));
    }
    catalog.find(&key).ok_or_else(|| {
        let own = own.iter().map(|perspective| perspective.name.as_str());
        let names: Vec<&str> = own.chain(catalog.perspectives.keys().map(String::as_str)).collect();
        Invalid(format!(
            "there is no perspective {:?}; the perspectives are: {}. Define your own with --perspectives-file FILE, one `name: what it looks at` a line",
            name.trim(),
            names.join(", ")
        ))
    })
}

fn perspectives_of_file(file: &BriefFile) -> Result<Vec<JudgePerspective>, Invalid> {
    let wrong = |why: String| Invalid(format!("the perspectives in {}: {why}", file.path));
    let entries = read_named_list(&file.text, &["description", "about"]).map_err(wrong)?;
    if let Some((name, _)) = entries.iter().find(|(name, _)| name.chars().count() > NAME_CHARS_MAX) {
        return Err(wrong(format!(
            "{name:?} is longer than {NAME_CHARS_MAX} characters: it becomes the name of a seat and of a file"
        )));
    }
    let perspective = |(name, value): &(String, Value)| {
        // The only text of a record, whatever its key.
        let field = || value.as_object()?.values().find_map(Value::as_str);
        let about = value.as_str().or_else(field).unwrap_or_default().to_owned();
        JudgePerspective { name: name_key(name), about }
    };
    Ok(entries.iter().map(perspective).collect())
}
