//! Who sits: all who are named, or the best of them by rating and calibration, and some to learn more about.

use agon_core::lesson::{BRIER_UNKNOWN, RATING_INITIAL, STANDINGS, Standing};
use agon_core::seed::Draw;
use agon_core::{Artifact, Brief, Invalid, Request, Seat, brief};
use serde_json::Value;

/// Agents when one model is named.
const AGENTS: usize = 3;
const AGENTS_MIN: usize = 2;
const AGENTS_MAX: usize = 8;
/// How uncertain the rating of somebody is who has none.
const DEVIATION_UNKNOWN: f64 = 350.0;
/// How many points of rating the whole scale of calibration is worth.
const CALIBRATION_POINTS: f64 = 400.0;

/// Why somebody sits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Because the person said so.
    Named,
    /// By rating and calibration.
    Rated,
    /// To learn how good it is.
    Explored,
}

impl Why {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Rated => "rated",
            Self::Explored => "explored",
        }
    }
}

/// The seats of a request: the agents in the order in which they are named, and the judge.
pub(super) fn seats(request: &Request) -> Result<Vec<Seat>, Invalid> {
    if request.question.trim().is_empty() {
        return Err(Invalid::new("the task is empty: agon arena \"TASK\""));
    }
    let first = request.models.first().ok_or_else(|| Invalid::new("arena needs at least one model"))?;
    let standings = read(&request.files)?;
    let models = seated(request, &standings)?;
    let unseated = request.models.iter().find(|model| !models.contains(model));
    let judge = request.roles.get("judge").or(unseated).unwrap_or(first);
    let seat = |id: String, role: &str, model: &String| Seat { id, role: role.into(), model: model.clone() };
    let agents = models.iter().zip(1..).map(|(model, n)| seat(format!("agent-{n}"), "agent", model));
    Ok(agents.chain([seat("judge".into(), "judge", judge)]).collect())
}

fn seated<'a>(request: &'a Request, standings: &[Standing]) -> Result<Vec<&'a String>, Invalid> {
    let named = request.models.len();
    let team = request.options.get("team").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let Some(team) = team else {
        return match named {
            1 => Ok(request.models.iter().cycle().take(AGENTS).collect()),
            AGENTS_MIN..=AGENTS_MAX => Ok(request.models.iter().collect()),
            _ => Err(Invalid(format!(
                "arena seats {AGENTS_MIN} to {AGENTS_MAX} agents, but {named} models are named: --team N seats the best N of them"
            ))),
        };
    };
    let mut distinct: Vec<&String> = Vec::new();
    for model in &request.models {
        if !distinct.contains(&model) {
            distinct.push(model);
        }
    }
    if named <= team {
        return Ok(request.models.iter().cycle().take(team).collect());
    }
    if distinct.len() <= team {
        return Ok(distinct.iter().copied().cycle().take(team).collect());
    }
    let explore = request.options.get("explore").and_then(Value::as_f64).unwrap_or_default();
    let names: Vec<String> = distinct.iter().map(|model| agent(model)).collect();
    let picked = pick(&names, standings, team, explore, request.seed);
    Ok(picked.into_iter().filter_map(|(place, _)| distinct.get(place).copied()).collect())
}

/// Picks `team` of more names than that, in the order of the names: the best by rating and calibration, of equals the first named,
/// and a share of them by a draw among the rest in which the least known are the likeliest.
pub(super) fn pick(
    names: &[String],
    standings: &[Standing],
    team: usize,
    explore: f64,
    seed: u64,
) -> Vec<(usize, Why)> {
    let mut rest: Vec<usize> = (0..names.len()).collect();
    let score = |place: &usize| names.get(*place).map_or(0.0, |name| score(standing(standings, name)));
    rest.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.cmp(b)));
    let explored = explored(team, explore, seed);
    let by_rating = rest.drain(..team.saturating_sub(explored).min(rest.len()));
    let mut picked: Vec<(usize, Why)> = by_rating.map(|place| (place, Why::Rated)).collect();
    let mut draw = Draw::new(seed, "team");
    let unknown = |place: &usize| {
        let known = names.get(*place).and_then(|name| standing(standings, name));
        known.map_or(DEVIATION_UNKNOWN, |standing| standing.deviation.max(f64::MIN_POSITIVE))
    };
    for _ in 0..explored.min(rest.len()) {
        let total: f64 = rest.iter().map(&unknown).sum();
        let mut point = draw.unit() * total;
        let drawn = rest.iter().position(|place| {
            point -= unknown(place);
            point < 0.0
        });
        picked.push((rest.remove(drawn.unwrap_or(rest.len() - 1)), Why::Explored));
    }
    picked.sort_by_key(|(place, _)| *place);
    picked
}

/// How many of a team are drawn: the whole seats of the share, and one more with the probability of the rest, so that on average it is
/// the share. Who wants nobody to be drawn, or all, gets that.
fn explored(team: usize, explore: f64, seed: u64) -> usize {
    // A share such as 0.6 of 5 is no exact binary fraction.
    const TOLERANCE: f64 = 1e-9;
    let share = explore.clamp(0.0, 1.0) * team as f64;
    let whole = (share + TOLERANCE).floor();
    let rest = share - whole;
    let more = rest > TOLERANCE && Draw::new(seed, "explore").unit() < rest;
    (whole as usize + usize::from(more)).min(team)
}

/// A rating to which calibration adds: an agent that is no better calibrated than a coin keeps its rating.
fn score(standing: Option<&Standing>) -> f64 {
    let rating = standing.map_or(RATING_INITIAL, |standing| standing.rating);
    let brier = standing.and_then(|standing| standing.brier).unwrap_or(BRIER_UNKNOWN);
    rating + CALIBRATION_POINTS * (BRIER_UNKNOWN - brier)
}

/// Who speaks for a model as it is named at the table: of a chain its first link, and an agent of the configuration by its own name.
pub(super) fn agent(model: &str) -> String {
    let first = model.split('|').next().unwrap_or(model).trim();
    first.strip_prefix("agent/").unwrap_or(first).to_owned()
}

/// How an agent stands, if it is known.
pub(super) fn standing<'a>(standings: &'a [Standing], agent: &str) -> Option<&'a Standing> {
    standings.iter().find(|standing| standing.agent == agent)
}

/// The standings that a debate was opened with.
pub(super) fn standings(brief: &Brief) -> Vec<Standing> {
    read(&brief.files).unwrap_or_default()
}

fn read(files: &[Artifact]) -> Result<Vec<Standing>, Invalid> {
    let Some(file) = brief::part(files, STANDINGS) else { return Ok(Vec::new()) };
    serde_json::from_str(&file.text).map_err(|why| {
        Invalid(format!("the standings in {} cannot be read ({why}): they are a JSON list", file.path))
    })
}

/// Why each agent sits, in seat order, by what the debate was opened with: the standings are those of everybody who could speak, so
/// that somebody was picked where one of them is no link of those who sit. Those who were picked by rating stand above those who
/// were drawn.
pub(super) fn reasons(brief: &Brief, standings: &[Standing]) -> Vec<Why> {
    let agents: Vec<String> = brief.seats_of("agent").map(|seat| agent(&seat.model)).collect();
    let links: Vec<String> =
        brief.seats_of("agent").flat_map(|seat| seat.model.split('|')).map(agent).collect();
    let left_out = standings.iter().any(|standing| !links.contains(&standing.agent));
    if brief.int("team") == 0 || !left_out {
        return vec![Why::Named; agents.len()];
    }
    let mut order: Vec<usize> = (0..agents.len()).collect();
    let score = |place: &usize| agents.get(*place).map_or(0.0, |agent| score(standing(standings, agent)));
    order.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.cmp(b)));
    let rated = agents.len().saturating_sub(explored(agents.len(), brief.float("explore"), brief.seed));
    let is_rated = |place: usize| order.iter().take(rated).any(|other| *other == place);
    (0..agents.len()).map(|place| if is_rated(place) { Why::Rated } else { Why::Explored }).collect()
}
