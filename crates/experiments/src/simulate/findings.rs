//! A whole simulation: a plan in, findings out.

use agon_core::Invalid;
use serde::{Deserialize, Serialize};

use super::debates::{
    DebateCounter, SimulatedDebates, SimulationError, simulated_protocol, simulated_protocols,
};
use super::estimates::{PlantedEstimate, ShareEstimate, estimates};
use super::neutral::{NeutralUpdating, neutral_updating};
use super::observation::{DebateObservation, FlipCounts};
use super::seat_behaviour::SimulatedPopulation;

/// Rounds and tables of the figures without a debate.
const NEUTRAL_ROUNDS: u32 = 5;
const NEUTRAL_TRIALS: usize = 20_000;

/// What to simulate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimulationPlan {
    /// The protocol.
    pub protocol: String,
    /// How often seats may change their minds; `None` for the protocol's own number.
    pub rounds: Option<u32>,
    /// How many debates are held.
    pub trials: usize,
    /// The seed of everything random.
    pub seed: u64,
    /// Whether to compare every protocol with and without one adversary.
    pub curve: bool,
    /// Who sits.
    pub population: SimulatedPopulation,
}

impl Default for SimulationPlan {
    fn default() -> Self {
        let first = simulated_protocols().next();
        Self {
            protocol: first.map_or("", |(protocol, _)| protocol.info().name).into(),
            rounds: None,
            trials: 300,
            seed: 1,
            curve: false,
            population: SimulatedPopulation::default(),
        }
    }
}

/// What a simulation shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimulationFindings {
    /// What was simulated.
    pub plan: SimulationPlan,
    /// How often a plain vote on the first positions is right; a tie counts half.
    pub first_round_vote: ShareEstimate,
    /// How often the verdict is right; no verdict counts as wrong.
    pub verdict: ShareEstimate,
    /// Debates whose verdict is right though the vote was wrong.
    pub wrong_to_right: usize,
    /// Debates whose verdict is wrong though the vote was right.
    pub right_to_wrong: usize,
    /// What was planted, and what the logs show of it.
    pub recovered: Vec<RecoveredFigure>,
    /// What was held, round by round.
    pub rounds: Vec<RoundFigures>,
    /// All changes of mind.
    pub flips: FlipCounts,
    /// The effect of the rule that a change of mind needs evidence, for a protocol that has one.
    pub evidence_bar: Option<EvidenceBar>,
    /// The same seats if they only counted what they hear.
    pub neutral: NeutralUpdating,
    /// The same with the drift, if there is one.
    pub drifting: Option<NeutralUpdating>,
    /// One adversary in N, for every protocol.
    pub curves: Vec<AdversaryCurve>,
}

/// A planted figure and what the logs show of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecoveredFigure {
    /// The name of its option on the command line.
    pub name: String,
    /// What was planted; `None` where it does not hold for all seats.
    pub planted: Option<f64>,
    /// What the logs show.
    #[serde(flatten)]
    pub found: PlantedEstimate,
    /// Whether the planted figure is in the interval; `None` where one of them is missing.
    pub within: Option<bool>,
}

/// What was held after a round, over all debates. A debate that had already ended counts with its last round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoundFigures {
    /// The round, as the protocol counts it.
    pub round: u32,
    /// The mean over all debates of the share of seats that are right.
    pub mean_belief: ShareEstimate,
    /// How often most seats are right; a tie counts half.
    pub majority_accuracy: ShareEstimate,
}

/// The effect of the rule that a change of mind needs evidence. It is measured on two populations: one whose seats change their minds
/// for no reason or under pressure, and one whose seats do so for evidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EvidenceBar {
    /// The share of the changes without evidence that were taken back.
    pub bare_blocked: ShareEstimate,
    /// The share of the changes with evidence that were taken back.
    pub evidenced_blocked: ShareEstimate,
}

/// How much worse the verdicts of a protocol get with one adversary among the seats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdversaryCurve {
    /// The protocol.
    pub protocol: String,
    /// From the smallest number of seats to the largest, up to 7.
    pub points: Vec<CurvePoint>,
}

/// The verdicts of a protocol with one number of seats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Seats that hold positions, the adversary's included.
    pub seats: usize,
    /// How often the verdict is right when everybody is honest.
    pub honest: ShareEstimate,
    /// How often it is right with one adversary.
    pub with_adversary: ShareEstimate,
    /// How often a plain vote on the first positions is right with the adversary; a tie counts half.
    pub vote_with_adversary: ShareEstimate,
}

impl CurvePoint {
    /// How much less often the verdict is right with the adversary.
    pub fn loss(&self) -> f64 {
        self.honest.share.unwrap_or_default() - self.with_adversary.share.unwrap_or_default()
    }
}

impl SimulationPlan {
    /// How many debates it takes.
    pub fn debates(&self) -> usize {
        let evidence = if self.has_evidence_bar() { 2 } else { 0 };
        let curves =
            simulated_protocols().filter(|_| self.curve).map(|(_, play)| 2 * play.seat_counts().len());
        self.trials * (1 + evidence + curves.sum::<usize>())
    }

    /// Whether the protocol has a rule that a change of mind needs evidence, and the population has changes of both kinds.
    fn has_evidence_bar(&self) -> bool {
        let SimulatedPopulation { flips, conformity, persuadable, .. } = self.population;
        let has_rule =
            simulated_protocol(&self.protocol).is_ok_and(|(_, play)| play.evidence_rule().is_some());
        has_rule && flips + conformity > 0.0 && persuadable > 0.0
    }
}

/// Carries out a plan. `on_debate` is called after each debate.
pub async fn simulate(
    plan: &SimulationPlan,
    on_debate: DebateCounter<'_>,
) -> Result<SimulationFindings, SimulationError> {
    if plan.trials == 0 {
        return Err(Invalid::new("trials is 0: hold at least one debate").into());
    }
    let population = &plan.population;
    let debates = SimulatedDebates::new(&plan.protocol, population, plan.rounds)?;
    let held = debates.hold_counted(plan.trials, plan.seed, on_debate).await?;
    let votes: f64 = held.iter().map(DebateObservation::first_vote).sum();
    let count = |vote: f64, verdict: bool| {
        held.iter().filter(|seen| seen.first_vote() == vote && seen.is_right() == verdict).count()
    };
    let counting = |drift: f64| {
        let honest = SimulatedPopulation { adversary: None, drift, ..population.clone() };
        neutral_updating(&honest, NEUTRAL_ROUNDS, NEUTRAL_TRIALS, plan.seed)
    };
    let mut curves = Vec::new();
    for (protocol, _) in simulated_protocols().filter(|_| plan.curve) {
        let name = protocol.info().name;
        curves.push(adversary_curve(name, population, plan.trials, plan.seed, on_debate).await?);
    }
    Ok(SimulationFindings {
        first_round_vote: ShareEstimate::of_count(votes, held.len()),
        verdict: right_verdicts(&held),
        wrong_to_right: count(0.0, true),
        right_to_wrong: count(1.0, false),
        recovered: recovered(population, &held, plan.seed),
        rounds: rounds(&held, plan.seed),
        flips: held.iter().fold(FlipCounts::default(), |sum, seen| sum + seen.flips),
        evidence_bar: evidence_bar(plan, on_debate).await?,
        neutral: counting(0.0),
        drifting: (population.drift > 0.0).then(|| counting(population.drift)),
        curves,
        plan: plan.clone(),
    })
}

fn right_verdicts(held: &[DebateObservation]) -> ShareEstimate {
    ShareEstimate::of_count(held.iter().filter(|seen| seen.is_right()).count() as f64, held.len())
}

fn recovered(
    population: &SimulatedPopulation,
    held: &[DebateObservation],
    seed: u64,
) -> Vec<RecoveredFigure> {
    let found = estimates(held, seed);
    // An adversary never moves and persuades more than others; seats that count move for another reason.
    let is_plain = population.adversary.is_none() && !population.neutral;
    let figure = |name: &str, planted: Option<f64>, found: PlantedEstimate| {
        let within =
            planted.zip(found.interval).map(|(planted, [low, high])| (low..=high).contains(&planted));
        RecoveredFigure { name: name.to_owned(), planted, found, within }
    };
    vec![
        figure("flips", is_plain.then_some(population.flips), found.flips),
        figure("conformity", is_plain.then_some(population.conformity), found.conformity),
        figure("persuadable", is_plain.then_some(population.persuadable), found.persuadable),
        figure("position-bias", Some(population.position_bias), found.position_bias),
    ]
}

fn rounds(held: &[DebateObservation], seed: u64) -> Vec<RoundFigures> {
    let longest = held.iter().max_by_key(|seen| seen.rounds.len());
    let numbers = longest.into_iter().flat_map(|seen| &seen.rounds).map(|round| round.number);
    let figures = numbers.enumerate().map(|(place, number)| {
        let after =
            held.iter().filter_map(|seen| Some((seen, seen.rounds.get(place).or(seen.rounds.last())?)));
        let (beliefs, votes): (Vec<f64>, Vec<f64>) = after
            .map(|(seen, round)| {
                (seen.right_seats(round) as f64 / round.seats.len().max(1) as f64, seen.vote(round))
            })
            .unzip();
        RoundFigures {
            round: number,
            mean_belief: ShareEstimate::mean_of(&beliefs, seed),
            majority_accuracy: ShareEstimate::of_count(votes.iter().sum(), votes.len()),
        }
    });
    figures.collect()
}

/// The evidence bar of a plan; `None` if the protocol has no such rule, or if the population has no changes of both kinds.
async fn evidence_bar(
    plan: &SimulationPlan,
    on_debate: DebateCounter<'_>,
) -> Result<Option<EvidenceBar>, SimulationError> {
    if !plan.has_evidence_bar() {
        return Ok(None);
    }
    let SimulationPlan { protocol, population, trials, seed, .. } = plan;
    measure_evidence_bar(protocol, population, *trials, *seed, on_debate).await.map(Some)
}

/// Holds debates under the rule that a change of mind needs evidence: once among seats that change their minds for anything but
/// evidence, and once among seats that change for evidence alone.
pub async fn measure_evidence_bar(
    protocol: &str,
    population: &SimulatedPopulation,
    trials: usize,
    seed: u64,
    on_debate: DebateCounter<'_>,
) -> Result<EvidenceBar, SimulationError> {
    let without = SimulatedPopulation { persuadable: 0.0, adversary: None, ..population.clone() };
    let with = SimulatedPopulation {
        flips: 0.0,
        conformity: 0.0,
        neutral: false,
        adversary: None,
        ..population.clone()
    };
    if without.flips + without.conformity <= 0.0 || with.persuadable <= 0.0 {
        return Err(Invalid::new(
            "the evidence bar compares changes of mind with and without evidence: plant some of both (--flips or --conformity, and --persuadable)",
        )
        .into());
    }
    let mut blocked = Vec::new();
    for population in [&without, &with] {
        let debates = SimulatedDebates::with_evidence_rule(protocol, population)?
            .ok_or_else(|| Invalid(format!("{protocol} has no rule that a change of mind needs evidence")))?;
        let held = debates.hold_counted(trials, seed, on_debate).await?;
        let sum = |of: fn(&DebateObservation) -> usize| held.iter().map(of).sum::<usize>();
        blocked.push(ShareEstimate::of_count(sum(|seen| seen.reverted) as f64, sum(|seen| seen.flips.flips)));
    }
    let [bare_blocked, evidenced_blocked] =
        <[ShareEstimate; 2]>::try_from(blocked).map_err(|_| Invalid::new("two populations are compared"))?;
    Ok(EvidenceBar { bare_blocked, evidenced_blocked })
}

/// The verdicts of a protocol with and without an adversary. The first views are the same in both.
pub async fn adversary_curve(
    protocol: &str,
    population: &SimulatedPopulation,
    trials: usize,
    seed: u64,
    on_debate: DebateCounter<'_>,
) -> Result<AdversaryCurve, SimulationError> {
    let (_, play) = simulated_protocol(protocol)?;
    let mut points = Vec::new();
    for seats in play.seat_counts().iter().copied() {
        let adversary = Some(population.adversary.unwrap_or_default());
        let attacked = SimulatedPopulation { seats, adversary, ..population.clone() };
        let honest = SimulatedPopulation { adversary: None, ..attacked.clone() };
        let honest = SimulatedDebates::new(protocol, &honest, None)?;
        let honest = honest.hold_counted(trials, seed, on_debate).await?;
        let attacked = SimulatedDebates::new(protocol, &attacked, None)?;
        let attacked = attacked.hold_counted(trials, seed, on_debate).await?;
        let votes: f64 = attacked.iter().map(DebateObservation::first_vote).sum();
        points.push(CurvePoint {
            seats,
            honest: right_verdicts(&honest),
            with_adversary: right_verdicts(&attacked),
            vote_with_adversary: ShareEstimate::of_count(votes, attacked.len()),
        });
    }
    Ok(AdversaryCurve { protocol: protocol.to_owned(), points })
}
