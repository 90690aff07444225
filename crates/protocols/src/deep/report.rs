//! What readers see of a `deep` debate: the headline, the outline and a table for each round.

use agon_core::view::{ending_sentence, holder_name, label_name};
use agon_core::wording::{capitalized, counted, joined, number_word, score, sentence, spoken};
use agon_core::{
    Ballot, CitableText, Corrupt, DebateView, DecidedPosition, Headline, Outline, ReportBlock, ReportItem,
    ReportSection, RoundPositions, RoundSummary, SeatVote, SectionKind, Termination, VerdictTone,
};

use super::log::{DebatePoint, DeepLog, DeepRound};
use super::replies::{AnswerAssent, Argument, Revision, RulingFate, Stance, wire_name};
use super::verdict::{self, DeepDissent, DeepVerdict, FinalRulings, PositionRecord, assent_words};
use super::{DeepMode, DeepPhase, positions};
use crate::quotes::is_same_text;

/// Everything that the reports, the page and the other interfaces show of the debate.
pub(super) fn view(log: &DeepLog<'_>) -> Result<DebateView, Corrupt> {
    let rulings = FinalRulings::read(log);
    let verdict = verdict::verdict(log, &rulings)?;
    let ballots = log.debaters.iter().map(|debater| Ballot {
        seat: debater.seat.to_owned(),
        answer: debater.answer.trim().to_owned(),
        stands_alone: false,
    });
    Ok(DebateView {
        headline: Headline {
            answer: verdict.answer.clone(),
            why: verdict.why.clone(),
            tone: if verdict.answer.is_some() { VerdictTone::Good } else { VerdictTone::Bad },
            ending: ending(log, &rulings),
            ..Headline::default()
        },
        outline: outline(log, &verdict),
        positions: positions::history(log, &rulings)?,
        ballots: ballots.collect(),
        votes: (0..log.debaters.len()).filter_map(|place| vote(log, place)).collect(),
        dissent: rulings.dissent(log).iter().map(|dissent| dissent_item(log, dissent)).collect(),
        round_summaries: log.rounds.iter().filter_map(|round| round_summary(log, round)).collect(),
        citable: log.points.iter().filter_map(|point| citable(log, point)).collect(),
        ..DebateView::default()
    })
}

fn citable(log: &DeepLog<'_>, point: &DebatePoint) -> Option<CitableText> {
    let seat = log.debaters.get(point.author)?.seat.to_owned();
    let verified = log.round(point.round).and_then(|round| round.verified.get(point.author));
    let is_misciting = point.is_position && verified.is_some_and(|verified| !verified.unverified.is_empty());
    Some(CitableText {
        id: point.id.clone(),
        seat,
        round: point.round,
        text: point.texts.first()?.clone(),
        remark: is_misciting.then_some("cites something that does not verify"),
    })
}

/// Whether the debaters agree, and how the debate ended.
fn ending(log: &DeepLog<'_>, rulings: &FinalRulings) -> String {
    let Some(outcome) = &log.debate.outcome else { return String::new() };
    let last = log.counted().last();
    let new_points =
        last.and_then(|round| round.assessment.as_ref()).map(|assessment| assessment.new_points_ratio);
    let adds_points = new_points.is_some_and(|ratio| !log.is_repetition(ratio));
    let held = rulings.positions.rounds.last().filter(|held| held.stands.len() > 1);
    let agreement = held.map(|held| match held.distinct().len() {
        _ if !held.is_sorted() => "It is not known whether the debaters agree. ".to_owned(),
        1 if adds_points => "The debaters agree and still add points. ".to_owned(),
        1 => "The debaters agree. ".to_owned(),
        count => {
            format!("The debaters do not agree: they hold {count} positions{}. ", split(log, rulings, held))
        }
    });
    let rounds = outcome.rounds_completed;
    let ended = match outcome.termination {
        Termination::Converged => format!("The debate converged after {}.", counted(rounds.into(), "round")),
        Termination::Stable => format!("Nobody revised a position in round {rounds}."),
        Termination::MaxRounds => format!("The limit of {} was reached.", counted(rounds.into(), "round")),
        _ => ending_sentence(outcome, "debaters"),
    };
    let signed = signatures(log).map_or(String::new(), |signed| format!(" {signed}"));
    agreement.unwrap_or_default() + &ended + &signed
}

/// Who signs the answer, if the debaters were asked.
fn signatures(log: &DeepLog<'_>) -> Option<String> {
    let words = || (0..log.debaters.len()).filter_map(|place| Some((place, log.ratification(place)?.assent)));
    let (asked, count) = (words().count(), |wanted| words().filter(|(_, assent)| *assent == wanted).count());
    let (reserved, dissenting) = (count(AnswerAssent::AcceptWithReservations), count(AnswerAssent::Dissent));
    let signing = asked - dissenting;
    let who = match signing {
        0 => "No debater signs".to_owned(),
        all if all == log.debaters.len() => "All debaters sign".to_owned(),
        1 => "One debater signs".to_owned(),
        some => format!(
            "{} of {} debaters sign",
            capitalized(&number_word(some)),
            number_word(log.debaters.len())
        ),
    };
    let reserved = match (reserved, signing) {
        (0, _) => String::new(),
        (1, 1) => ", with reservations".to_owned(),
        (some, all) if some == all => ", all with reservations".to_owned(),
        (some, _) => format!(", {} with reservations", number_word(some)),
    };
    (asked > 0).then(|| format!("{who} the answer{reserved}."))
}

/// How many debaters hold each of several positions, if that is not one each, and whose position the chair adopts.
fn split(log: &DeepLog<'_>, rulings: &FinalRulings, held: &RoundPositions) -> String {
    let distinct = held.distinct();
    let sizes: Vec<String> = distinct.iter().map(|(_, holders)| holders.len().to_string()).collect();
    let is_even = distinct.len() == held.stands.len();
    let sizes = if is_even { String::new() } else { format!(", {}", sizes.join(" to ")) };
    let decided = positions::decided(log, rulings);
    // A new position may have the name of one that is held.
    let adopted =
        distinct.iter().find(|(name, _)| matches!(&decided, DecidedPosition::Held(held) if held == name));
    let adopted = adopted.map(|(_, holders)| {
        let labels = holders.iter().filter_map(|held| held.label.as_deref());
        let mut names: Vec<String> = labels.map(|label| label_name(log.debate, label)).collect();
        names.sort();
        format!("; the chair adopts that of {}", joined(&names))
    });
    sizes + &adopted.unwrap_or_default()
}

/// A debater's last word: whether it signs the answer or, if it was not asked, its last stance.
fn vote(log: &DeepLog<'_>, place: usize) -> Option<SeatVote> {
    let (debater, last) = (log.debaters.get(place)?, log.last_argument(place));
    let assent = log.ratification(place).map(|word| wire_name(word.assent));
    Some(SeatVote {
        seat: debater.seat.to_owned(),
        label: Some(debater.label.clone()),
        vote: assent.or(last.map(|argument| wire_name(argument.stance)))?,
        confidence: last.map(|argument| score(argument.confidence)),
    })
}

fn dissent_item(log: &DeepLog<'_>, dissent: &DeepDissent) -> ReportItem {
    let fate = match dissent.fate {
        Some(RulingFate::Rejected) => "Rejected by the chair",
        Some(RulingFate::Partly) => "Adopted in part",
        Some(RulingFate::Adopted) => "Adopted by the chair, but the debater dissents",
        None => "The debater dissents",
    };
    let ruling = dissent.ruling.as_ref().map_or(String::new(), |ruling| format!(": {ruling}"));
    let place = log.place_of(&dissent.debater).unwrap_or(usize::MAX);
    let is_first =
        log.debaters.get(place).is_some_and(|debater| is_same_text(&debater.answer, &dissent.position));
    let whole = if is_first && log.counted().next().is_some() {
        "This is its first answer, never revised. "
    } else {
        ""
    };
    let mut note = whole.to_owned() + &sentence(&format!("{fate}{ruling}"));
    if let Some(reason) = &dissent.reason {
        let is_statement = log.ratification(place).is_some_and(|word| word.statement.trim() == reason);
        // A debater puts the strongest reason of an argument first. It does not know the answer yet.
        let whose = match is_statement {
            true => format!("{} says of the answer", log.name(place)),
            false => "The first point of its last argument".to_owned(),
        };
        note.push_str(&format!(" {whose}: {reason}"));
    }
    ReportItem {
        who: Some(holder_name(log.debate, Some(&dissent.debater), &dissent.seat)),
        text: dissent.position.clone(),
        note: Some(note),
    }
}

fn outline(log: &DeepLog<'_>, verdict: &DeepVerdict) -> Outline {
    let name = |label: &String| label_name(log.debate, label);
    let names = |labels: &[String]| joined(&labels.iter().map(name).collect::<Vec<_>>());
    let why = verdict
        .why
        .iter()
        .map(|why| ReportSection::new(SectionKind::Why, "Why", vec![ReportBlock::Prose(why.clone())]));
    let is_answered = verdict.answer.is_some();
    let not_settled = verdict.not_settled.iter().filter(|_| is_answered);
    let signed = verdict.signed.iter().flatten().map(|word| {
        let text = assent_words(word.assent, &word.statement);
        let is_holder = |record: &&PositionRecord| record.debaters.contains(&word.debater);
        let record = verdict.positions.iter().find(is_holder);
        let left_out = record.filter(|record| record.fate == Some(RulingFate::Partly));
        let note = left_out.and_then(|record| record.reason.as_ref());
        let note = note.map(|reason| format!("The chair adopts its position in part: {reason}"));
        ReportItem { who: Some(name(&word.debater)), text, note }
    });
    let body = [
        items("Strongest points of each last argument", strongest_points(log)),
        items("What was contested", verdict.contested.iter().map(ReportItem::text)),
        shared_answer(log, verdict),
        items("Who signed the answer", signed),
        items(
            "Not settled by the chair",
            not_settled.map(|record| item(names(&record.debaters), record.statement.clone())),
        ),
    ];
    let stand_in = verdict.chair.as_ref().filter(|chair| chair.stand_in);
    let absent_chair = stand_in
        .map(|chair| format!("The chair was absent: {} stood in and wrote the verdict.", chair.model));
    let mode = (log.options.mode != DeepMode::Deep).then(|| log.options.mode.as_str().to_owned());
    Outline {
        answer: std::iter::once(answer(log, verdict)).chain(why).collect(),
        body: body.into_iter().flatten().collect(),
        details: [rounds(log, verdict), unanswered(log), ranking(log, verdict)]
            .into_iter()
            .flatten()
            .collect(),
        facts: mode.into_iter().collect(),
        missing: absent_chair.into_iter().collect(),
        ..Outline::default()
    }
}

fn item(who: String, text: String) -> ReportItem {
    ReportItem { who: Some(who), text, note: None }
}

/// A section with a list, unless the list is empty.
fn items(title: &str, items: impl IntoIterator<Item = ReportItem>) -> Option<ReportSection> {
    let items: Vec<ReportItem> = items.into_iter().collect();
    let is_empty = items.is_empty();
    (!is_empty).then(|| ReportSection::new(SectionKind::Part, title, vec![ReportBlock::Items(items)]))
}

/// What the debaters agree on, by the moderator, if they hold more than one position.
fn shared_answer(log: &DeepLog<'_>, verdict: &DeepVerdict) -> Option<ReportSection> {
    let status = verdict.synthesis_input.convergence_status.as_ref()?;
    let shared = status.consensus_answer.as_deref().map(str::trim).filter(|shared| !shared.is_empty())?;
    let is_divided = verdict.positions.len() > 1 && log.debate.outcome.is_some();
    let blocks = vec![ReportBlock::Prose(shared.to_owned())];
    is_divided.then(|| ReportSection::new(SectionKind::Part, "What they share, by the moderator", blocks))
}

/// The counterpoints without an answer, each with the reason.
fn unanswered(log: &DeepLog<'_>) -> Option<ReportSection> {
    let points = log.points.iter().filter_map(|point| {
        let (why, target) = (log.why_unanswered(point)?, log.name(point.target?));
        Some(ReportItem {
            who: Some(format!("[{}] {} to {target}", point.id, log.name(point.author))),
            text: point.texts.first()?.trim().to_owned(),
            note: Some(why),
        })
    });
    items("Left unanswered", points)
}

/// The first two key points of each debater's last argument. Debaters give the strongest first.
fn strongest_points(log: &DeepLog<'_>) -> impl Iterator<Item = ReportItem> {
    const POINTS_MAX: usize = 2;
    log.debaters.iter().enumerate().filter_map(|(place, debater)| {
        let all = &log.last_argument(place)?.key_points;
        let points: Vec<&str> = all.iter().take(POINTS_MAX).map(|point| point.trim()).collect();
        let text = match points.as_slice() {
            [] => return None,
            [only] => (*only).to_owned(),
            several => format!("- {}", several.join("\n- ")),
        };
        let more = all.len() - points.len();
        let note = (more > 0).then(|| format!("And {} more.", number_word(more)));
        Some(ReportItem { note, ..item(label_name(log.debate, &debater.label), text) })
    })
}

fn answer(log: &DeepLog<'_>, verdict: &DeepVerdict) -> ReportSection {
    if let Some(answer) = verdict.answer.as_deref().map(str::trim).filter(|answer| !answer.is_empty()) {
        return ReportSection::new(SectionKind::Answer, "Answer", vec![ReportBlock::Prose(answer.into())]);
    }
    let stances = verdict.synthesis_input.final_stances.iter().zip(&log.debaters);
    let stances = stances.map(|(stance, debater)| {
        item(holder_name(log.debate, Some(&stance.debater), debater.seat), stance.revised_position.clone())
    });
    let stances: Vec<ReportItem> = stances.collect();
    let line = if stances.is_empty() { "There is no answer." } else { "This is where the debaters stood:" };
    let blocks = vec![ReportBlock::Line(line.into()), ReportBlock::Items(stances)];
    ReportSection::new(SectionKind::NoAnswer, "No answer", blocks)
}

/// The measures of each round, and what each debater did in it.
fn rounds(log: &DeepLog<'_>, verdict: &DeepVerdict) -> Option<ReportSection> {
    let cell = |value: Option<f64>| value.map_or("not known".into(), score);
    let mut measures = vec![
        ["Round", "Pairs that agree", "Moderator's score", "New points, by the moderator"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut stances =
        vec![["Round", "Debater", "Stance", "Revision", "Confidence"].map(str::to_owned).to_vec()];
    for (round, report) in log.counted().zip(&verdict.rounds) {
        let number = round.number.to_string();
        measures.push(vec![
            number.clone(),
            cell(report.agreement),
            cell(report.agreement_score),
            cell(report.new_points_ratio),
        ]);
        stances.extend(stance_rows(log, round).into_iter().map(|row| [vec![number.clone()], row].concat()));
    }
    let blocks = vec![
        ReportBlock::Table(measures),
        ReportBlock::Line("What each debater did:".into()),
        ReportBlock::Table(stances),
    ];
    (!verdict.rounds.is_empty()).then(|| ReportSection::new(SectionKind::Part, "Round by round", blocks))
}

/// One row for each debater: label, stance, revision and confidence.
fn stance_rows(log: &DeepLog<'_>, round: &DeepRound) -> Vec<Vec<String>> {
    let rows = log.debaters.iter().zip(&round.arguments).map(|(debater, argument)| {
        let cells = match argument {
            Some(Argument { stance, revision, confidence, .. }) => {
                // PROTOCOLS.md: `concede` with `no_change` is flagged, not rejected.
                let is_empty = *stance == Stance::Concede && *revision == Revision::NoChange;
                let flag = if is_empty { ", although it concedes" } else { "" };
                [spoken(&wire_name(stance)), spoken(&wire_name(revision)) + flag, score(*confidence)]
            }
            None => ["absent".into(), "position carried".into(), "-".into()],
        };
        std::iter::once(debater.label.clone()).chain(cells).collect()
    });
    rows.collect()
}

fn ranking(log: &DeepLog<'_>, verdict: &DeepVerdict) -> Option<ReportSection> {
    let ranked = verdict.ranking.as_ref().filter(|ranked| !ranked.is_empty())?;
    let mut rows = vec![["Rank", "Debater", "Score", "z", ""].map(str::to_owned).to_vec()];
    for (rank, answer) in (1..).zip(ranked) {
        let note = match answer.score {
            None => "not scored",
            Some(_) if answer.disqualified => "disqualified",
            Some(_) => "",
        };
        rows.push(vec![
            rank.to_string(),
            label_name(log.debate, &answer.debater),
            answer.score.map(score).unwrap_or_default(),
            answer.z.map(score).unwrap_or_default(),
            note.to_owned(),
        ]);
    }
    Some(ReportSection::new(SectionKind::Part, "Ranking", vec![ReportBlock::Table(rows)]))
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
    let head = ["Debater", "Stance", "Revision", "Confidence"].map(String::from).to_vec();
    Some(RoundSummary {
        after_phases: place + 1,
        title: capitalized(&format!("round {number} of {max_rounds}, {assessment}{end}")),
        rows: std::iter::once(head).chain(stance_rows(log, round)).collect(),
        notes: Vec::new(),
    })
}
