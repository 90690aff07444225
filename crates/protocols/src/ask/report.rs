//! What readers see of an `ask`: the headline, the outline and a table for each round.

use agon_core::view::{ending_sentence, holder_name};
use agon_core::wording::{capitalized, count, dollars, score, spoken};
use agon_core::{
    Ballot, Corrupt, Debate, DebateView, DecidedPosition, Headline, Outline, PositionHistory, Protocol,
    ReportBlock, ReportItem, ReportLength, ReportSection, RoundSummary, SectionKind, Status, Step,
    VerdictTone,
};
use serde::Deserialize;

use super::decision::{AnswerBasis, AskDecision, decide};
use super::first_answers::{FirstAnswers, PairAgreement};
use super::ladder::{AskLadder, EndedPart, LadderStep};
use super::positions::position_history;
use super::verdict::{AskDissent, AskVerdict, FirstAnswerReport, StepReport};
use super::{AskPhase, parts};
use crate::clerk::SortedBy;
use crate::deep::Deep;
use crate::panel::Panel;
use crate::panel::figure;
use crate::panel::verdict::{PanelVerdict, VerdictDecision};

/// Everything that the reports, the page and the other interfaces show of the debate.
pub(super) fn view(debate: &Debate) -> Result<DebateView, Corrupt> {
    let Some(outcome) = &debate.outcome else { return unfinished_view(debate) };
    let verdict = AskVerdict::deserialize(&outcome.verdict)?;
    let ladder = ended_ladder(debate)?;
    let decision = decide(&ladder);
    let mut view = DebateView {
        headline: headline(debate, &verdict),
        positions: PositionHistory { decided: decision.decided.clone(), ..ladder.history.clone() },
        ballots: ballots(&ladder.firsts),
        dissent: if decision.is_of_debate() { Vec::new() } else { dissent_items(debate)? },
        round_summaries: first_summary(debate, &ladder.firsts).into_iter().collect(),
        ..DebateView::default()
    };
    let said = debate_and_judges(&ladder, &decision);
    let mut details = Vec::new();
    if let Some(deep) = ladder.deep {
        view.round_summaries.extend(in_whole_log(debate, parts::DEEP_PREFIX, deep.view.round_summaries));
        details.extend(deep.view.outline.details);
        view.citable.extend(deep.view.citable);
        if decision.is_of_debate() {
            view.dissent = deep.view.dissent;
        }
    }
    if let Some(panel) = ladder.panel {
        view.round_summaries.extend(in_whole_log(debate, parts::PANEL_PREFIX, panel.view.round_summaries));
        details.extend(panel_sections(panel.view.outline));
        view.votes = panel.view.votes;
        view.citable.extend(panel.view.citable);
    }
    view.outline = outline(debate, &ladder.firsts, &verdict, details);
    view.outline.body.extend(said);
    Ok(view)
}

/// The dissent of an answer that is not the debate's.
fn dissent_items(debate: &Debate) -> Result<Vec<ReportItem>, Corrupt> {
    let entries = debate.outcome.iter().flat_map(|outcome| &outcome.dissent);
    let item = |dissent: AskDissent| ReportItem {
        who: Some(holder_name(debate, dissent.debater.as_deref(), &dissent.seat)),
        text: dissent.position,
        note: Some(dissent.reason),
    };
    entries.map(|entry| Ok(item(AskDissent::deserialize(entry)?))).collect()
}

/// What the short report would not say otherwise: the debate's answer where it was overruled, and what the judges say of it.
fn debate_and_judges(ladder: &AskLadder<'_>, decision: &AskDecision) -> Option<ReportSection> {
    let item = |who: String, text: &str, note: Option<String>| ReportItem {
        who: Some(who),
        text: text.to_owned(),
        note,
    };
    let mut items = Vec::new();
    let deep = ladder.deep.as_ref().filter(|_| !decision.is_of_debate());
    if let Some((answer, deep)) = deep.and_then(|deep| Some((deep.verdict.answer.as_ref()?, deep))) {
        items.push(item("The debate".to_owned(), answer, deep.verdict.why.clone()));
    }
    if let Some(panel) = &ladder.panel {
        items.extend(opinions(&panel.verdict).into_iter().map(|(who, opinion)| item(who, opinion, None)));
        for finding in panel.verdict.held_findings() {
            let who = format!("Critical, held by {}", finding.held_by.join(", "));
            items.push(item(who, &finding.finding, None));
        }
    }
    let title = "What the debate and the judges said";
    let section = |items| ReportSection::new(SectionKind::Part, title, vec![ReportBlock::Items(items)]);
    // The full report has the debate and the panel.
    (!items.is_empty()).then(|| section(items).only(ReportLength::Short))
}

/// The opinions of a panel, each with whose it is and their score.
fn opinions(verdict: &PanelVerdict) -> Vec<(String, &str)> {
    let side = |name: &str, judges: &[String], score: f64| {
        format!("The {name} of the judges ({}), {} of 5", judges.join(", "), figure(score))
    };
    match &verdict.decision {
        VerdictDecision::Consensus(decided) => {
            vec![(
                format!("The judges, {} of 5", figure(decided.consensus_score)),
                &decided.balanced_assessment,
            )]
        }
        VerdictDecision::Majority(decided) => {
            let majority = side("majority", &decided.majority_judges, decided.majority_score);
            let minority = decided.minority_score.zip(decided.minority_opinion.as_deref());
            let minority =
                minority.map(|(score, opinion)| (side("minority", &decided.minority_judges, score), opinion));
            std::iter::once((majority, decided.majority_opinion.as_str())).chain(minority).collect()
        }
        VerdictDecision::NoMajority(decided) => {
            vec![("The judges, without a majority".to_owned(), &decided.balanced_assessment)]
        }
        VerdictDecision::None(_) => Vec::new(),
    }
}

/// The steps of a debate that is over.
fn ended_ladder(debate: &Debate) -> Result<AskLadder<'_>, Corrupt> {
    let firsts = FirstAnswers::read(debate)?;
    let has = |step: LadderStep| debate.turns.iter().any(|turn| step.has(&turn.phase));
    if !has(LadderStep::Deep) {
        return Ok(AskLadder::of_pair(debate, firsts));
    }
    let ladder = AskLadder::with_panel(debate, firsts)?;
    let part = ladder.panel_part();
    match Panel.next(&part)? {
        Step::Close(outcome) if has(LadderStep::Panel) => {
            Ok(AskLadder { panel: Some(EndedPart::new(&Panel, part, *outcome)?), ..ladder })
        }
        _ => Ok(ladder),
    }
}

/// What can be seen of a debate that goes on.
fn unfinished_view(debate: &Debate) -> Result<DebateView, Corrupt> {
    let firsts = FirstAnswers::read(debate)?;
    let has = |step: LadderStep| debate.turns.iter().any(|turn| step.has(&turn.phase));
    let mut round_summaries: Vec<RoundSummary> = first_summary(debate, &firsts).into_iter().collect();
    let mut deep_positions = None;
    if has(LadderStep::Deep) {
        let deep = Deep.view(&parts::deep_part(debate, &firsts))?;
        round_summaries.extend(in_whole_log(debate, parts::DEEP_PREFIX, deep.round_summaries));
        deep_positions = Some(deep.positions);
    }
    if has(LadderStep::Panel) {
        let panel = Panel.view(&parts::panel_part(debate, Vec::new()))?;
        round_summaries.extend(in_whole_log(debate, parts::PANEL_PREFIX, panel.round_summaries));
    }
    let decided = DecidedPosition::Nothing;
    let positions = PositionHistory { decided, ..position_history(&firsts, deep_positions) };
    Ok(DebateView { positions, ballots: ballots(&firsts), round_summaries, ..DebateView::default() })
}

fn ballots(firsts: &FirstAnswers<'_>) -> Vec<Ballot> {
    let ballot = |seat: &str, answer: &str| Ballot {
        seat: seat.to_owned(),
        answer: answer.trim().to_owned(),
        stands_alone: true,
    };
    firsts.all.iter().map(|first| ballot(first.seat, &first.reply.answer)).collect()
}

fn headline(debate: &Debate, verdict: &AskVerdict) -> Headline {
    let Some(outcome) = &debate.outcome else { return Headline::default() };
    let decided_by = verdict.decided_by.filter(|_| outcome.status == Status::Complete);
    Headline {
        answer: verdict.answer.clone(),
        why: verdict.why.clone(),
        tone: if verdict.answer.is_some() { VerdictTone::Good } else { VerdictTone::Bad },
        ending: match decided_by {
            Some(AnswerBasis::Agreement) => "The first two answers agree.".into(),
            Some(AnswerBasis::Panel) => "The judges let the debate's answer stand.".into(),
            Some(AnswerBasis::FirstRoundVote) => "The plain vote on the first answers decides.".into(),
            Some(AnswerBasis::Debate) | None => ending_sentence(outcome, "debaters"),
        },
        ..Headline::default()
    }
}

fn outline(
    debate: &Debate,
    firsts: &FirstAnswers<'_>,
    verdict: &AskVerdict,
    details: Vec<ReportSection>,
) -> Outline {
    let mut answer = vec![answer(debate, verdict)];
    answer.extend(
        verdict
            .why
            .as_deref()
            .filter(|why| !why.trim().is_empty())
            .map(|why| ReportSection::new(SectionKind::Why, "Why", vec![ReportBlock::Prose(why.to_owned())])),
    );
    let mut body = vec![how_decided(firsts, verdict)];
    let contested: Vec<ReportItem> = verdict.contested.iter().map(ReportItem::text).collect();
    if !contested.is_empty() {
        let blocks = vec![ReportBlock::Items(contested)];
        body.push(ReportSection::new(SectionKind::Part, "What was contested", blocks));
    }
    let mut all = vec![steps(firsts, verdict)];
    all.extend(first_answers(debate, firsts, verdict));
    all.extend(details.into_iter().map(|section| section.only(ReportLength::Full)));
    Outline {
        answer,
        body,
        details: all,
        voices: Some((verdict.answers.len() as u64, "first answer")),
        ..Outline::default()
    }
}

fn answer(debate: &Debate, verdict: &AskVerdict) -> ReportSection {
    if let Some(answer) = verdict.answer.as_deref().filter(|answer| !answer.trim().is_empty()) {
        return ReportSection::new(SectionKind::Answer, "Answer", vec![ReportBlock::Prose(answer.into())]);
    }
    let items: Vec<ReportItem> = verdict
        .answers
        .iter()
        .map(|first| ReportItem {
            who: Some(holder_name(debate, first.label.as_deref(), &first.seat)),
            text: first.answer.clone(),
            note: None,
        })
        .collect();
    let blocks = match items.is_empty() {
        true => vec![ReportBlock::Line("There is no answer.".into())],
        false => vec![ReportBlock::Line("These were the first answers:".into()), ReportBlock::Items(items)],
    };
    ReportSection::new(SectionKind::NoAnswer, "No answer", blocks)
}

/// What decided, the risk of an agreement, and the check of `--never-worse`.
fn how_decided(firsts: &FirstAnswers<'_>, verdict: &AskVerdict) -> ReportSection {
    let mut lines = vec![decided_sentence(firsts, verdict)];
    lines.extend(verdict.risk.as_ref().map(|risk| risk.sentence.clone()));
    if verdict.decided_by == Some(AnswerBasis::Agreement) && verdict.risk.is_none() {
        lines.push(
            "How often these two are wrong when they agree is not known: none of their earlier debates is resolved."
                .into(),
        );
    }
    if let Some(check) = &verdict.never_worse {
        let vote = if check.kept { "the vote was kept" } else { "the vote was not kept" };
        lines.push(format!("Never worse: {vote}, because {}.", check.why));
    }
    let blocks = lines.into_iter().map(ReportBlock::Line).collect();
    ReportSection::new(SectionKind::Part, "How it was decided", blocks)
}

fn decided_sentence(firsts: &FirstAnswers<'_>, verdict: &AskVerdict) -> String {
    let panel = verdict.steps.iter().find(|step| step.step == LadderStep::Panel);
    let ruling = panel.and_then(|panel| panel.ruling.as_ref()?.as_ref()).map(|ruling| ruling.why.as_str());
    let begun = match &firsts.agreement {
        PairAgreement::Different(..) => "The first two answers differ",
        PairAgreement::Missing(_) => "One of the first two gave no answer",
        PairAgreement::Same(_) | PairAgreement::Open | PairAgreement::Unknown => {
            "It is not known whether the first two answers are the same"
        }
    };
    match verdict.decided_by {
        Some(AnswerBasis::Agreement) => match (&firsts.agreement, clerk_model(verdict)) {
            (PairAgreement::Same(SortedBy::Clerk), Some(clerk)) => {
                format!(
                    "Two models answered alone, and the clerk, {clerk}, finds that their answers are the same."
                )
            }
            _ => "Two models answered alone and gave the same answer.".into(),
        },
        Some(AnswerBasis::Panel) => {
            let ruling = ruling.map_or(String::new(), |ruling| format!(": {ruling}"));
            format!("{begun}, so they debated. The judges let the debate's answer stand{ruling}.")
        }
        Some(AnswerBasis::Debate) if panel.is_some() => {
            format!("{begun}, so they debated. The debate decided; the judges did not change that.")
        }
        Some(AnswerBasis::Debate) => format!("{begun}, so they debated. The debate decided."),
        Some(AnswerBasis::FirstRoundVote) => {
            let ruling = ruling.map_or(String::new(), |ruling| format!(" ({ruling})"));
            let answers = verdict.answers.len();
            format!("The plain vote on the {answers} first answers decided, not the debate{ruling}.")
        }
        None => format!("{begun}. Nothing was decided."),
    }
}

/// The model that compared the first two answers.
fn clerk_model(verdict: &AskVerdict) -> Option<&str> {
    verdict.steps.first()?.verdict.get("clerk")?.as_str()
}

/// The steps as a table.
fn steps(firsts: &FirstAnswers<'_>, verdict: &AskVerdict) -> ReportSection {
    let head = ["Step", "Why", "Calls", "Tokens", "US dollars", "Ended"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for step in &verdict.steps {
        let name = match step.step {
            LadderStep::Pair => "Two answers",
            LadderStep::Deep => "Debate",
            LadderStep::Panel => "Judges",
        };
        rows.push(vec![
            name.to_owned(),
            step.reason.clone(),
            count(step.calls as u64),
            count(step.input_tokens.saturating_add(step.output_tokens)),
            step.usd.map_or("unknown".into(), dollars),
            ended(firsts, step),
        ]);
    }
    ReportSection::new(SectionKind::Part, "Step by step", vec![ReportBlock::Table(rows)])
}

fn ended(firsts: &FirstAnswers<'_>, step: &StepReport) -> String {
    match (step.step, &firsts.agreement) {
        (LadderStep::Pair, PairAgreement::Same(_)) => "agreed".to_owned(),
        (LadderStep::Pair, PairAgreement::Different(..)) => "differ".to_owned(),
        (LadderStep::Pair, PairAgreement::Unknown | PairAgreement::Open) => "not known".to_owned(),
        (LadderStep::Pair, PairAgreement::Missing(_)) => "one is missing".to_owned(),
        (LadderStep::Deep | LadderStep::Panel, _) => {
            let name = step.termination.and_then(|termination| serde_json::to_value(termination).ok());
            name.as_ref().and_then(|name| name.as_str()).map(spoken).unwrap_or_default()
        }
    }
}

fn first_answers(debate: &Debate, firsts: &FirstAnswers<'_>, verdict: &AskVerdict) -> Option<ReportSection> {
    let is_compared = debate.turn(AskPhase::Clerk.as_str(), 0).is_some();
    // The clerk's words name the answers by its own labels, which are not those of the debate.
    let clerks_label = |seat: &str| {
        let place = firsts.pair().iter().position(|first| first.seat == seat).filter(|_| is_compared)?;
        Some(format!("{} to the clerk", firsts.pair_sheet().clerk_label(place)?))
    };
    let items = |with_why: bool| -> Vec<ReportItem> {
        let item = |first: &FirstAnswerReport| {
            let why = Some(first.why.clone()).filter(|why| with_why && !why.is_empty());
            let label = clerks_label(&first.seat).filter(|_| with_why);
            let confidence = Some(format!("confidence {}", score(first.confidence)));
            let notes: Vec<String> = label.into_iter().chain(confidence).chain(why).collect();
            ReportItem {
                who: Some(holder_name(debate, first.label.as_deref(), &first.seat)),
                text: first.answer.clone(),
                note: Some(notes.join("; ")),
            }
        };
        verdict.answers.iter().map(item).collect()
    };
    let blocks = vec![
        ReportBlock::In(ReportLength::Short, vec![ReportBlock::Items(items(false))]),
        ReportBlock::In(ReportLength::Full, vec![ReportBlock::Items(items(true))]),
    ];
    (!verdict.answers.is_empty()).then(|| ReportSection::new(SectionKind::Part, "First answers", blocks))
}

/// The panel's sections, under headings that tell them from the sections of the answer.
fn panel_sections(outline: Outline) -> Vec<ReportSection> {
    let sections = outline.answer.into_iter().chain(outline.body).chain(outline.details);
    let renamed = sections.map(|section| {
        let is_answer =
            matches!(section.kind, SectionKind::Answer | SectionKind::NoAnswer | SectionKind::Why);
        let kind = if is_answer { SectionKind::Part } else { section.kind };
        let mut title = section.title.chars();
        let first = title.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
        ReportSection { kind, title: format!("The judges: {first}{}", title.as_str()), ..section }
    });
    renamed.collect()
}

/// The summaries of a part, with their places in the whole log.
fn in_whole_log(debate: &Debate, prefix: &str, summaries: Vec<RoundSummary>) -> Vec<RoundSummary> {
    let places = debate.turns.iter().enumerate().filter(|(_, turn)| turn.phase.name.starts_with(prefix));
    let places: Vec<usize> = places.map(|(place, _)| place + 1).collect();
    let placed = summaries.into_iter().filter_map(|summary| {
        let after_phases = *places.get(summary.after_phases.checked_sub(1)?)?;
        Some(RoundSummary { after_phases, ..summary })
    });
    placed.collect()
}

/// The table of the first two answers, once both are there and compared.
fn first_summary(debate: &Debate, firsts: &FirstAnswers<'_>) -> Option<RoundSummary> {
    let title = match &firsts.agreement {
        PairAgreement::Missing(_) => return None,
        PairAgreement::Same(_) => "the two answers agree",
        PairAgreement::Open => "the clerk compares the two answers",
        PairAgreement::Different(..) => "the two answers differ",
        PairAgreement::Unknown => "it is not known whether the two answers are the same",
    };
    let is_first = |name: &str| matches!(AskPhase::parse(name), Some(AskPhase::Answer | AskPhase::Clerk));
    let last = debate.turns.iter().rposition(|turn| is_first(&turn.phase.name))?;
    if debate.turns.get(last)?.outstanding().next().is_some() {
        return None;
    }
    let mut rows = vec![["Seat", "Answer", "Confidence"].map(String::from).to_vec()];
    for first in firsts.pair() {
        let answer = first.reply.answer.split_whitespace().collect::<Vec<_>>().join(" ");
        rows.push(vec![first.seat.to_owned(), answer, score(first.reply.confidence)]);
    }
    Some(RoundSummary { after_phases: last + 1, title: capitalized(title), rows, notes: Vec::new() })
}
