//! Which models are seated: all that are named, or the best of them by rating and calibration and some to learn more about.

use agon_core::lesson::{AgentStanding, BRIER_UNKNOWN, RATING_INITIAL, STANDINGS};
use agon_core::{Brief, BriefFile, Invalid, Request, Seat, SeededDraw, brief};
use serde::{Deserialize, Serialize};

use super::{ArenaOptions, context};
use crate::clerk::{CLERK, clerk_model};

/// How many agents sit when one model is named.
const AGENTS_OF_ONE_MODEL: usize = 3;
const AGENTS_MIN: usize = 2;
const AGENTS_MAX: usize = 8;
/// The uncertainty of a rating that does not exist yet.
const DEVIATION_UNKNOWN: f64 = 350.0;
/// How many points of rating the whole scale of calibration is worth.
const CALIBRATION_POINTS: f64 = 400.0;

/// Why an agent sits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SeatingReason {
    /// The user named it.
    Named,
    /// It was picked by rating and calibration.
    Rated,
    /// It was drawn, to learn how good it is.
    Explored,
}

/// The seats of a request: the agents in the order in which they are named, the judge and the clerk.
pub(super) fn seats(request: &Request) -> Result<Vec<Seat>, Invalid> {
    if request.question.trim().is_empty() {
        return Err(Invalid::new("the task is empty: agon arena \"TASK\""));
    }
    let options = ArenaOptions::read(&request.options);
    if let Some(name) = context::pulse_names(&options).find(|name| name.contains(['/', '|'])) {
        return Err(Invalid(format!(
            "{name:?} is no name of a source of topics: name sections [pulse.NAME] of the configuration"
        )));
    }
    if options.weights().iter().sum::<f64>() <= 0.0 {
        return Err(Invalid::new(
            "the weights of the judge's criteria are all 0: set one of weights.* above 0",
        ));
    }
    let first = request.models.first().ok_or_else(|| Invalid::new("arena needs at least one model"))?;
    let standings = read_standings(&request.files)?;
    let models = seated_models(request, &standings)?;
    let unseated = request.models.iter().find(|model| !models.contains(model));
    let judge = request.roles.get("judge").or(unseated).unwrap_or(first);
    let seat = |id: String, role: &str, model: &str| Seat { id, role: role.into(), model: model.into() };
    let agents = models.iter().zip(1..).map(|(model, n)| seat(format!("agent-{n}"), "agent", model));
    let mut seats: Vec<Seat> = agents.collect();
    let clerk = clerk_model(request, Some(judge), &seats);
    seats.push(seat("judge".into(), "judge", judge));
    seats.push(seat(CLERK.into(), CLERK, &clerk));
    Ok(seats)
}

/// Whether the judge's model also makes a proposal. Then no rating changes, and the judge is asked in two orders.
pub(super) fn is_judge_a_proposer(brief: &Brief) -> bool {
    let names = |role: &'static str| brief.seats_of(role).map(|seat| agent_name(&seat.model));
    names("judge").any(|judge| names("agent").any(|agent| agent == judge))
}

/// In how many orders the judge reads the proposals.
pub(super) fn judge_orders(brief: &Brief, options: &ArenaOptions) -> usize {
    if is_judge_a_proposer(brief) { 2 } else { options.judge_orders }
}

fn seated_models<'a>(request: &'a Request, standings: &[AgentStanding]) -> Result<Vec<&'a String>, Invalid> {
    let options = ArenaOptions::read(&request.options);
    let named = request.models.len();
    let Some(team) = options.team else {
        return match named {
            1 => Ok(request.models.iter().cycle().take(AGENTS_OF_ONE_MODEL).collect()),
            AGENTS_MIN..=AGENTS_MAX => Ok(request.models.iter().collect()),
            _ => Err(Invalid(format!(
                "arena seats {AGENTS_MIN} to {AGENTS_MAX} agents, but {named} models are named: --team N seats the best N of them"
            ))),
        };
    };
    // With more names than seats, a name that is listed twice counts once.
    let mut models: Vec<&String> = Vec::new();
    for model in &request.models {
        if named <= team || !models.contains(&model) {
            models.push(model);
        }
    }
    if models.len() <= team {
        return Ok(models.iter().copied().cycle().take(team).collect());
    }
    let names: Vec<String> = models.iter().map(|model| agent_name(model)).collect();
    let picked = pick(&names, standings, team, options.explore, request.seed);
    Ok(picked.into_iter().filter_map(|(place, _)| models.get(place).copied()).collect())
}

/// Picks `team` of a longer list of names and returns them in the order of the list: the best by rating and calibration (of
/// equals the first named), and a share drawn among the rest, the least known the likeliest.
pub(super) fn pick(
    names: &[String],
    standings: &[AgentStanding],
    team: usize,
    explore: f64,
    seed: u64,
) -> Vec<(usize, SeatingReason)> {
    let mut rest: Vec<usize> = (0..names.len()).collect();
    let score = |place: &usize| names.get(*place).map_or(0.0, |name| score(standing(standings, name)));
    rest.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.cmp(b)));
    let drawn = drawn_seats(team, explore, seed);
    let by_rating = rest.drain(..team.saturating_sub(drawn).min(rest.len()));
    let mut picked: Vec<(usize, SeatingReason)> =
        by_rating.map(|place| (place, SeatingReason::Rated)).collect();
    let mut draw = SeededDraw::new(seed, "team");
    let uncertainty = |place: &usize| {
        let known = names.get(*place).and_then(|name| standing(standings, name));
        known.map_or(DEVIATION_UNKNOWN, |standing| standing.deviation.max(f64::MIN_POSITIVE))
    };
    for _ in 0..drawn.min(rest.len()) {
        let total: f64 = rest.iter().map(&uncertainty).sum();
        let mut point = draw.unit() * total;
        let hit = rest.iter().position(|place| {
            point -= uncertainty(place);
            point < 0.0
        });
        picked.push((rest.remove(hit.unwrap_or(rest.len() - 1)), SeatingReason::Explored));
    }
    picked.sort_by_key(|(place, _)| *place);
    picked
}

/// How many seats of a team are drawn: the whole seats of the share, and one more with the probability of the rest, so that the
/// average is the share. A share of 0 draws nobody and a share of 1 everybody.
fn drawn_seats(team: usize, explore: f64, seed: u64) -> usize {
    // A share such as 0.6 of 5 is no exact binary fraction.
    const TOLERANCE: f64 = 1e-9;
    let share = explore.clamp(0.0, 1.0) * team as f64;
    let whole = (share + TOLERANCE).floor();
    let rest = share - whole;
    let one_more = rest > TOLERANCE && SeededDraw::new(seed, "explore").unit() < rest;
    (whole as usize + usize::from(one_more)).min(team)
}

/// The rating plus a bonus for calibration. An agent that is calibrated like a coin keeps its rating.
fn score(standing: Option<&AgentStanding>) -> f64 {
    let rating = standing.map_or(RATING_INITIAL, |standing| standing.rating);
    let brier = standing.and_then(|standing| standing.brier).unwrap_or(BRIER_UNKNOWN);
    rating + CALIBRATION_POINTS * (BRIER_UNKNOWN - brier)
}

/// The name under which a model is rated and remembered: the first link of a fallback chain, or the name of an agent of the
/// configuration.
pub(super) fn agent_name(model: &str) -> String {
    let first = model.split('|').next().unwrap_or(model).trim();
    first.strip_prefix("agent/").unwrap_or(first).to_owned()
}

/// The standing of an agent, if it is known.
pub(super) fn standing<'a>(standings: &'a [AgentStanding], agent: &str) -> Option<&'a AgentStanding> {
    standings.iter().find(|standing| standing.agent == agent)
}

/// The standings that a debate was opened with.
pub(super) fn standings(brief: &Brief) -> Vec<AgentStanding> {
    read_standings(&brief.files).unwrap_or_default()
}

fn read_standings(files: &[BriefFile]) -> Result<Vec<AgentStanding>, Invalid> {
    let Some(file) = brief::part(files, STANDINGS) else { return Ok(Vec::new()) };
    serde_json::from_str(&file.text).map_err(|why| {
        Invalid(format!("the standings in {} cannot be read ({why}): they must be a JSON list", file.path))
    })
}

/// Why each agent sits, in seat order. The brief has the standings of everybody who could have sat, so agents were picked if one
/// of those is missing from the seats. The agents picked by rating have the highest scores.
pub(super) fn seating_reasons(
    brief: &Brief,
    options: &ArenaOptions,
    standings: &[AgentStanding],
) -> Vec<SeatingReason> {
    let agents: Vec<String> = brief.seats_of("agent").map(|seat| agent_name(&seat.model)).collect();
    let links: Vec<String> =
        brief.seats_of("agent").flat_map(|seat| seat.model.split('|')).map(agent_name).collect();
    let left_out = standings.iter().any(|standing| !links.contains(&standing.agent));
    if options.team.is_none() || !left_out {
        return vec![SeatingReason::Named; agents.len()];
    }
    let mut order: Vec<usize> = (0..agents.len()).collect();
    let score = |place: &usize| agents.get(*place).map_or(0.0, |agent| score(standing(standings, agent)));
    order.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.cmp(b)));
    let rated = agents.len().saturating_sub(drawn_seats(agents.len(), options.explore, brief.seed));
    let is_rated = |place: usize| order.iter().take(rated).any(|other| *other == place);
    let reason = |place| if is_rated(place) { SeatingReason::Rated } else { SeatingReason::Explored };
    (0..agents.len()).map(reason).collect()
}
