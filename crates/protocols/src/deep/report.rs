//! What readers see of a `deep` debate: the headline, the outline and a table for each round.

use agon_core::view::{ending_sentence, holder_name, label_name};
use agon_core::wording::{capitalized, counted, joined, score, sentence, spoken};
use agon_core::{
    Ballot, CitableText, Corrupt, DebateView, Headline, Outline, ReportBlock, ReportItem, ReportSection,
    RoundSummary, SeatVote, Termination,
};

use super::evaluation::{self, RankedAnswer};
use super::log::{DebatePoint, Debater, DeepLog, DeepRound};
use super::positions::{self, DebatePositions};
use super::replies::{AnswerAssent, Argument, RulingFate, wire_name};
use super::verdict::{self, DeepDissent, assent_words};
use super::{DeepMode, DeepPhase};
use crate::report_sections::{
    answer_section, answer_tone, list_section, table_rows, table_section, why_section,
};

/// Everything that the reports, the page and the other interfaces show of the debate.
pub(super) fn view(log: &DeepLog<'_>) -> Result<DebateView, Corrupt> {
    let positions = DebatePositions::read(log);
    let answer = log.synthesis.as_ref().map(|synthesis| synthesis.answer.clone());
    let ballots = log.debaters.iter().map(|debater| Ballot {
        seat: debater.seat.id.clone(),
        answer: debater.answer.trim().to_owned(),
        stands_alone: false,
    });
    let dissent = verdict::dissent(log, &positions);
    Ok(DebateView {
        headline: Headline {
            why: log.synthesis.as_ref().map(|synthesis| synthesis.why.clone()),
            tone: answer_tone(answer.as_ref()),
            answer,
            ending: ending(log, &positions),
            ..Headline::default()
        },
        outline: outline(log, &positions)?,
        ballots: ballots.collect(),
        votes: (0..log.debaters.len()).filter_map(|place| vote(log, place)).collect(),
        dissent: dissent.into_iter().map(|dissent| dissent_item(log, dissent)).collect(),
        round_summaries: log.rounds.iter().filter_map(|round| round_summary(log, round)).collect(),
        citable: log.points.iter().filter_map(|point| citable(log, point)).collect(),
        positions: positions::history(log, positions)?,
        ..DebateView::default()
    })
}

fn citable(log: &DeepLog<'_>, point: &DebatePoint) -> Option<CitableText> {
    let verified = log.round(point.round).and_then(|round| round.verified.get(point.author));
    let is_misciting =
        point.is_position && verified.is_some_and(|verified| !verified.cause.unverified.is_empty());
    Some(CitableText {
        id: point.id.clone(),
        seat: log.debaters.get(point.author)?.seat.id.clone(),
        round: point.round,
        text: point.texts.first()?.clone(),
        remark: is_misciting.then_some("cites something that does not verify"),
    })
}

/// Whether the debaters agree, how the debate ended, and what they say to the answer.
fn ending(log: &DeepLog<'_>, positions: &DebatePositions) -> String {
    let Some(outcome) = &log.debate.outcome else { return String::new() };
    let last = log.counted().last().and_then(|round| round.assessment.as_ref());
    let adds_points = last.is_some_and(|last| !log.is_repetition(last.new_points_ratio));
    let held = positions.rounds.last().filter(|held| held.stands.len() > 1);
    let agreement = held.map(|held| match held.distinct().len() {
        _ if !held.is_sorted() => "It is not known whether the debaters agree.".to_owned(),
        1 if adds_points => "The debaters agree and still add points.".to_owned(),
        1 => "The debaters agree.".to_owned(),
        count => format!("The debaters do not agree: they hold {count} positions."),
    });
    let rounds = outcome.rounds_completed;
    let ended = match outcome.termination {
        Termination::Converged => format!("The debate converged after {}.", counted(rounds.into(), "round")),
        Termination::Stable => format!("Nobody revised a position in round {rounds}."),
        Termination::MaxRounds => format!("The limit of {} was reached.", counted(rounds.into(), "round")),
        _ => ending_sentence(outcome, "debaters"),
    };
    let words = || log.ratifications.iter().flatten();
    let count = |assent: AnswerAssent| words().filter(|word| word.assent == assent).count();
    let signed = words().next().map(|_| {
        let (accept, reserved) = (count(AnswerAssent::Accept), count(AnswerAssent::AcceptWithReservations));
        let dissent = count(AnswerAssent::Dissent);
        format!("Signatures: {accept} accept, {reserved} accept with reservations, {dissent} dissent.")
    });
    agreement.into_iter().chain([ended]).chain(signed).collect::<Vec<_>>().join(" ")
}

/// A debater's last word: whether it signs the answer or, if it was not asked, its last stance.
fn vote(log: &DeepLog<'_>, place: usize) -> Option<SeatVote> {
    let (debater, last) = (log.debaters.get(place)?, log.last_argument(place));
    let assent = log.ratification(place).map(|word| wire_name(word.assent));
    Some(SeatVote {
        seat: debater.seat.id.clone(),
        label: Some(debater.label.clone()),
        vote: assent.or(last.map(|argument| wire_name(argument.stance)))?,
        confidence: last.map(|argument| score(argument.confidence)),
    })
}

fn dissent_item(log: &DeepLog<'_>, dissent: DeepDissent) -> ReportItem {
    let fate = match dissent.fate {
        Some(RulingFate::Rejected) => "Rejected by the chair",
        Some(RulingFate::Partly) => "Adopted in part by the chair",
        Some(RulingFate::Adopted) => "Adopted by the chair",
        None => "Not settled by the chair",
    };
    let ruling = dissent.ruling.map_or_else(|| fate.to_owned(), |ruling| format!("{fate}: {ruling}"));
    let reason = dissent.reason.map_or(String::new(), |reason| format!(" Its holder's reason: {reason}"));
    ReportItem {
        who: Some(holder_name(log.debate, Some(&dissent.debater), &dissent.seat)),
        text: dissent.position,
        note: Some(sentence(&ruling) + &reason),
    }
}

fn outline(log: &DeepLog<'_>, positions: &DebatePositions) -> Result<Outline, Corrupt> {
    let synthesis = log.synthesis.as_ref();
    let contested = synthesis.into_iter().flat_map(|synthesis| &synthesis.contested);
    let signed = log.debaters.iter().zip(&log.ratifications).filter_map(|(debater, word)| {
        let word = word.as_ref()?;
        Some(item(log, debater, assent_words(word.assent, &word.statement)))
    });
    let not_settled = positions.not_settled().filter(|_| synthesis.is_some()).map(|held| {
        let names: Vec<String> = held.debaters.iter().map(|label| label_name(log.debate, label)).collect();
        ReportItem { who: Some(joined(&names)), ..ReportItem::text(&held.statement) }
    });
    let body = [
        list_section("Strongest points of each last argument", strongest_points(log)),
        list_section("What was contested", contested.map(ReportItem::text)),
        list_section("Who signed the answer", signed),
        list_section("Not settled by the chair", not_settled),
    ];
    let stand_in = verdict::chair(log).filter(|chair| chair.stand_in);
    let absent_chair = stand_in
        .map(|chair| format!("The chair was absent: {} stood in and wrote the verdict.", chair.model));
    let mode = (log.options.mode != DeepMode::Deep).then(|| log.options.mode.as_str().to_owned());
    let details = [rounds(log, positions), ranking(log)?];
    let why = why_section(synthesis.map(|synthesis| synthesis.why.as_str()));
    Ok(Outline {
        answer: std::iter::once(answer(log)).chain(why).collect(),
        body: body.into_iter().flatten().collect(),
        details: details.into_iter().flatten().collect(),
        facts: mode.into_iter().collect(),
        missing: absent_chair.into_iter().collect(),
        ..Outline::default()
    })
}

fn item(log: &DeepLog<'_>, debater: &Debater<'_>, text: String) -> ReportItem {
    ReportItem { who: Some(label_name(log.debate, &debater.label)), ..ReportItem::text(text) }
}

/// The answer, or the positions at the end if there is none.
fn answer(log: &DeepLog<'_>) -> ReportSection {
    let stances = log.debaters.iter().enumerate().map(|(place, debater)| ReportItem {
        who: Some(holder_name(log.debate, Some(&debater.label), &debater.seat.id)),
        ..ReportItem::text(log.position(place, u32::MAX))
    });
    let answer = log.synthesis.as_ref().map(|synthesis| synthesis.answer.as_str());
    answer_section(answer, "This is where the debaters stood:", stances.collect())
}

/// The first two key points of each debater's last argument. Debaters give the strongest first.
fn strongest_points(log: &DeepLog<'_>) -> impl Iterator<Item = ReportItem> {
    const POINTS_MAX: usize = 2;
    log.debaters.iter().enumerate().filter_map(|(place, debater)| {
        let points = log.last_argument(place)?.key_points.iter().take(POINTS_MAX);
        let points: Vec<&str> = points.map(|point| point.trim()).collect();
        let text = match points.as_slice() {
            [] => return None,
            [only] => (*only).to_owned(),
            several => format!("- {}", several.join("\n- ")),
        };
        Some(item(log, debater, text))
    })
}

/// The measures of each round, and what each debater did in it.
fn rounds(log: &DeepLog<'_>, positions: &DebatePositions) -> Option<ReportSection> {
    let cell = |value: Option<f64>| value.map_or_else(|| "not known".to_owned(), score);
    let measures = log.counted().map(|round| {
        let assessment = round.assessment.as_ref();
        [
            round.number.to_string(),
            cell(positions.agreement(round.number)),
            cell(assessment.map(|assessment| assessment.agreement_score)),
            cell(assessment.map(|assessment| assessment.new_points_ratio)),
        ]
    });
    let stances = log.counted().flat_map(|round| {
        let rows = stance_rows(log, round);
        rows.map(|[debater, stance, revision, confidence]| {
            [round.number.to_string(), debater, stance, revision, confidence]
        })
    });
    let head = ["Round", "Pairs that agree", "Moderator's score", "New points, by the moderator"];
    let mut section = table_section("Round by round", head, measures)?;
    let stances = table_rows(["Round", "Debater", "Stance", "Revision", "Confidence"], stances);
    section.blocks.extend([ReportBlock::Line("What each debater did:".into()), ReportBlock::Table(stances)]);
    Some(section)
}

/// One row for each debater: label, stance, revision and confidence.
fn stance_rows<'l>(log: &'l DeepLog<'_>, round: &'l DeepRound) -> impl Iterator<Item = [String; 4]> {
    log.debaters.iter().zip(&round.arguments).map(|(debater, argument)| {
        let label = debater.label.clone();
        match argument {
            Some(Argument { stance, revision, confidence, .. }) => {
                [label, spoken(&wire_name(stance)), spoken(&wire_name(revision)), score(*confidence)]
            }
            None => [label, "absent".into(), "position carried".into(), "-".into()],
        }
    })
}

fn ranking(log: &DeepLog<'_>) -> Result<Option<ReportSection>, Corrupt> {
    let row = |(rank, answer): (u32, RankedAnswer)| {
        let note = match answer.score {
            None => "not scored",
            Some(_) if answer.disqualified => "disqualified",
            Some(_) => "",
        };
        let figure = |value: Option<f64>| value.map(score).unwrap_or_default();
        let name = label_name(log.debate, &answer.debater);
        [rank.to_string(), name, figure(answer.score), figure(answer.z), note.to_owned()]
    };
    let ranked = (1..).zip(evaluation::ranking(log)?);
    Ok(table_section("Ranking", ["Rank", "Debater", "Score", "z", ""], ranked.map(row)))
}

/// The table that is printed after the moderator has assessed a round.
fn round_summary(log: &DeepLog<'_>, round: &DeepRound) -> Option<RoundSummary> {
    let is_assessment = |phase: &agon_core::Phase| *phase == DeepPhase::Moderate.at(round.number);
    let place = log.debate.turns.iter().position(|turn| is_assessment(&turn.phase))?;
    if log.debate.turns.get(place)?.outstanding().next().is_some() {
        return None;
    }
    let end = match log.exit(round.number) {
        Some(Termination::MaxRounds) => ": last round".to_owned(),
        Some(termination) => format!(": {}", wire_name(termination)),
        None => String::new(),
    };
    let (number, max_rounds, assessment) = (round.number, log.options.max_rounds, round.assessment_words());
    Some(RoundSummary {
        after_phases: place + 1,
        title: capitalized(&format!("round {number} of {max_rounds}, {assessment}{end}")),
        rows: table_rows(["Debater", "Stance", "Revision", "Confidence"], stance_rows(log, round)),
        notes: Vec::new(),
    })
}
