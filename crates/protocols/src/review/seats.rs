//! Who sits in a review: how many judges, with which perspectives, of which vendors, with how many explorers.

use agon_core::{Artifact, Brief, Invalid, Request, Seat, brief};
use serde_json::{Map, Value};

use super::perspectives::{self, Perspective};
use super::{diff, packet};

/// The most that may run at once: judges and their explorers.
pub(super) const AGENTS_MAX: usize = 12;
const JUDGES: usize = 2;
const JUDGES_DEEP: usize = 3;

/// The sentence of the seed, to the letter.
pub(super) const ONLY_VALIDATE: &str =
    "Error: --debate is only supported with validate mode. Debate requires PASS/WARN/FAIL verdicts.";

/// What was set, whether a debate has been opened with it or not.
pub(super) struct Settings<'a> {
    pub(super) options: &'a Map<String, Value>,
    pub(super) files: &'a [Artifact],
}

impl<'a> Settings<'a> {
    pub(super) fn of(brief: &'a Brief) -> Self {
        Self { options: &brief.options, files: &brief.files }
    }

    fn text(&self, key: &str) -> &'a str {
        self.options.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn flag(&self, key: &str) -> bool {
        self.options.get(key).and_then(Value::as_bool).unwrap_or_default()
    }

    fn count(&self, key: &str) -> Option<usize> {
        self.options.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok())
    }

    fn explorers(&self) -> usize {
        self.count("explorers").unwrap_or_default()
    }

    pub(super) fn perspectives(&self) -> Result<Vec<Perspective>, Invalid> {
        let file = brief::part(self.files, "perspectives_file");
        perspectives::asked_for(self.text("preset"), self.text("perspectives"), file)
    }

    /// The models of the second vendor; `None` where none was asked for.
    fn mixed(&self) -> Option<Vec<String>> {
        let names = self.options.get("mixed")?.as_str()?;
        Some(names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect())
    }
}

/// The seats, or what is wrong with the request.
pub(super) fn seats(request: &Request) -> Result<Vec<Seat>, Invalid> {
    let settings = Settings { options: &request.options, files: &request.files };
    let perspectives = settings.perspectives()?;
    contradictions(&settings, &perspectives)?;
    check_packet(request)?;
    let count = judges(&settings, perspectives.len(), request.models.len());
    let mut models = request.models.iter().cycle();
    let mut seats = Vec::new();
    for place in 0..count {
        let model = models.next().ok_or_else(|| Invalid::new("review needs at least one model"))?;
        let name = perspectives.get(place).map(|perspective| perspective.name.clone());
        let id = name.unwrap_or_else(|| format!("judge-{}", place + 1));
        seats.push(Seat { id, role: "judge".into(), model: model.clone() });
    }
    seats.extend(mixed(&settings, &seats, &perspectives)?);
    if settings.flag("debate") && seats.len() < 2 {
        return Err(Invalid::new(
            "--debate needs two judges at least, who read each other: leave --count away",
        ));
    }
    let agents = seats.len() * (1 + settings.explorers());
    if agents > AGENTS_MAX {
        return Err(too_many(seats.len(), settings.explorers(), agents));
    }
    let explorers: Vec<Seat> =
        seats.iter().flat_map(|judge| explorers(judge, settings.explorers())).collect();
    seats.extend(explorers);
    distinct(&seats)?;
    Ok(seats)
}

/// A perspective of a person's own may be called like another seat.
fn distinct(seats: &[Seat]) -> Result<(), Invalid> {
    for (place, seat) in seats.iter().enumerate() {
        if seats.iter().take(place).any(|other| other.id == seat.id) {
            return Err(Invalid(format!(
                "two seats would be called {}: give the perspective of that name another one",
                seat.id
            )));
        }
    }
    Ok(())
}

fn judges(settings: &Settings<'_>, perspectives: usize, models: usize) -> usize {
    if settings.flag("quick") {
        return 1;
    }
    let usual = if settings.flag("deep") { JUDGES_DEEP } else { JUDGES };
    settings.count("count").unwrap_or(usual).max(perspectives).max(models)
}

/// The judges of the second vendor: as many as the first has, or those that are named one by one.
fn mixed(
    settings: &Settings<'_>,
    first: &[Seat],
    perspectives: &[Perspective],
) -> Result<Vec<Seat>, Invalid> {
    let Some(models) = settings.mixed() else { return Ok(Vec::new()) };
    let vendors: Vec<&str> = first.iter().map(|seat| vendor(&seat.model)).collect();
    if models.is_empty() {
        return Err(Invalid::new(
            "--mixed names no model: add one of a second vendor (--mixed command/NAME), or set `mixed` under [protocols.review] in agon.toml",
        ));
    }
    if let Some(same) = models.iter().find(|model| vendors.contains(&vendor(model))) {
        return Err(Invalid(format!(
            "--mixed needs a second vendor, but {same} is of {}, as the other judges are: name a model of another provider",
            vendor(same)
        )));
    }
    let count = if models.len() == 1 { first.len() } else { models.len() };
    let named = models.iter().cycle().take(count).enumerate();
    let seat = |(place, model): (usize, &String)| {
        let perspective = perspectives.get(place).map(|perspective| format!("{}-2", perspective.name));
        let id = perspective.unwrap_or_else(|| format!("judge-{}", first.len() + place + 1));
        Seat { id, role: "mixed_judge".into(), model: model.clone() }
    };
    Ok(named.map(seat).collect())
}

fn explorers(judge: &Seat, count: usize) -> impl Iterator<Item = Seat> {
    (1..=count).map(|n| Seat {
        id: format!("{}-explorer-{n}", judge.id),
        role: "explorer".into(),
        model: judge.model.clone(),
    })
}

fn too_many(judges: usize, explorers: usize, agents: usize) -> Invalid {
    let s = if explorers == 1 { "" } else { "s" };
    Invalid(format!(
        "{judges} judges with {explorers} explorer{s} each are {agents} agents, and at most {AGENTS_MAX} may sit: ask for fewer judges or explorers"
    ))
}

/// Options that contradict each other.
fn contradictions(settings: &Settings<'_>, perspectives: &[Perspective]) -> Result<(), Invalid> {
    if settings.flag("debate") && settings.text("mode") != "validate" {
        return Err(Invalid::new(ONLY_VALIDATE));
    }
    if matches!(settings.options.get("perspectives").and_then(Value::as_str), Some(names) if names.trim().is_empty())
    {
        return Err(Invalid::new("--perspectives names none: write them as a,b,c, or leave it away"));
    }
    if !settings.flag("quick") {
        return Ok(());
    }
    let other = [
        (settings.flag("debate"), "--debate, which needs judges that read each other"),
        (settings.flag("deep"), "--deep"),
        (settings.count("count").is_some_and(|count| count > 1), "--count over 1"),
        (perspectives.len() > 1, "more than one perspective"),
        (settings.mixed().is_some(), "--mixed"),
    ];
    match other.iter().find(|(set, _)| *set) {
        Some((_, what)) => {
            Err(Invalid(format!("--quick is one judge and no second round: leave away {what}")))
        }
        None => Ok(()),
    }
}

/// Something to judge, and a diff that is one.
fn check_packet(request: &Request) -> Result<(), Invalid> {
    let diff = brief::part(&request.files, "diff");
    if let Some(file) = diff {
        diff::read(&file.text).map_err(|why| Invalid(format!("the diff {}: {why}", file.path)))?;
    }
    let targets = packet::targets(&request.files).count();
    if targets == 0 && diff.is_none() && request.question.trim().is_empty() {
        return Err(Invalid::new(
            "there is nothing to review: agon review FILE..., agon review \"TEXT\", or agon review --diff FILE",
        ));
    }
    Ok(())
}

/// The vendor of a model: the provider's name before the slash, that of the first link of a chain.
pub(super) fn vendor(model: &str) -> &str {
    let first = model.split('|').next().unwrap_or_default().trim();
    first.split_once('/').map_or(first, |(vendor, _)| vendor)
}
