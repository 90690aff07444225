//! What readers see of an `ask`: the headline, the outline and a table for each round.

use agon_core::view::{ending_sentence, holder_name};
use agon_core::wording::{capitalized, count, dollars, score, spoken};
use agon_core::{
    Corrupt, Debate, DebateView, DecidedPosition, Headline, Outcome, Outline, PositionHistory, Protocol,
    ReportBlock, ReportItem, ReportLength, ReportSection, RoundSummary, SectionKind, Status,
};
use serde::Deserialize;
use serde_json::Value;

use super::decision::AnswerBasis;
use super::first_answers::{FirstAnswers, PairAgreement};
use super::ladder::LadderStep;
use super::positions::position_history;
use super::verdict::{AskVerdict, StepReport};
use super::{AskPhase, open_points, parts};
use crate::clerk::clerk_of;
use crate::deep::Deep;
use crate::deep::replies::wire_name;
use crate::deep::verdict::DeepVerdict;
use crate::panel::Panel;
use crate::poll::answers::{SeatAnswer, ballots};
use crate::report_sections::{
    answer_section, answer_tone, list_section, table_rows, table_section, why_section,
};

/// Everything that the reports, the page and the other interfaces show of the debate.
pub(super) fn view(debate: &Debate) -> Result<DebateView, Corrupt> {
    let firsts = FirstAnswers::read(debate)?;
    let over = debate.outcome.as_ref();
    let verdict = over.map(|outcome| AskVerdict::deserialize(&outcome.verdict)).transpose()?;
    let [deep, panel] = part_views(debate, &firsts, verdict.as_ref())?;
    let mut view = DebateView {
        positions: position_history(&firsts, deep.as_ref().map(|deep| deep.positions.clone())),
        ballots: ballots(&firsts.all),
        round_summaries: first_summary(debate, &firsts).into_iter().collect(),
        ..DebateView::default()
    };
    for (part, prefix) in [(&deep, parts::DEEP_PREFIX), (&panel, parts::PANEL_PREFIX)] {
        let summaries = part.iter().flat_map(|part| &part.round_summaries);
        view.round_summaries.extend(in_whole_log(debate, prefix, summaries));
    }
    let Some((outcome, verdict)) = over.zip(verdict) else {
        view.positions.decided = DecidedPosition::Nothing;
        return Ok(view);
    };
    view.positions.decided = decided(&verdict, &view.positions);
    view.headline = headline(outcome, &verdict);
    view.outline = outline(debate, &firsts, &verdict)?;
    view.dissent = match &deep {
        Some(deep) if verdict.decided_by.is_some_and(AnswerBasis::is_of_debate) => deep.dissent.clone(),
        _ => outcome.dissent.iter().map(|entry| dissent_item(debate, entry)).collect(),
    };
    view.citable = deep.iter().chain(&panel).flat_map(|part| part.citable.clone()).collect();
    let deep = deep.map(|deep| deep.outline.details).unwrap_or_default();
    let (votes, panel) = panel.map(|panel| (panel.votes, panel_sections(panel.outline))).unwrap_or_default();
    let of_parts = deep.into_iter().chain(panel).map(|section| section.only(ReportLength::Full));
    view.outline.details.extend(of_parts);
    view.votes = votes;
    Ok(view)
}

/// What `deep` and `panel` show of their parts, as far as they have begun. What they came to is in the reports of the steps, so it
/// is not computed again.
fn part_views(
    debate: &Debate,
    firsts: &FirstAnswers<'_>,
    verdict: Option<&AskVerdict>,
) -> Result<[Option<DebateView>; 2], Corrupt> {
    let has = |step: LadderStep| debate.turns.iter().any(|turn| step.has(&turn.phase));
    let taken = |step: LadderStep| verdict.and_then(|verdict| verdict.step(step));
    let ended = |part: Debate, step: LadderStep| {
        let outcome = debate.outcome.as_ref().zip(taken(step)).map(|(whole, step)| part_outcome(whole, step));
        Debate { outcome, ..part }
    };
    let deep_view =
        has(LadderStep::Deep).then(|| Deep.view(&ended(parts::deep_part(debate, firsts), LadderStep::Deep)));
    let panel_view = has(LadderStep::Panel).then(|| {
        // Before the end only the rounds' tables are shown, which need no files.
        let judged =
            taken(LadderStep::Deep).map(|deep| DeepVerdict::deserialize(&deep.verdict)).transpose()?;
        let files = judged.map(|judged| open_points::panel_files(&debate.brief, &judged));
        Panel.view(&ended(parts::panel_part(debate, files.unwrap_or_default()), LadderStep::Panel))
    });
    Ok([deep_view.transpose()?, panel_view.transpose()?])
}

/// The outcome of a part, as far as its report needs it.
fn part_outcome(whole: &Outcome, step: &StepReport) -> Outcome {
    Outcome {
        termination: step.termination.unwrap_or(whole.termination),
        verdict: step.verdict.clone(),
        positions: Vec::new(),
        ..whole.clone()
    }
}

/// The position that the answer states.
fn decided(verdict: &AskVerdict, history: &PositionHistory) -> DecidedPosition {
    match (verdict.decided_by, &verdict.position) {
        (None, _) => DecidedPosition::Nothing,
        (Some(AnswerBasis::Debate | AnswerBasis::Panel), _) => history.decided.clone(),
        (Some(_), Some(name)) => DecidedPosition::Held(name.clone()),
        (Some(_), None) => DecidedPosition::Unknown,
    }
}

/// The dissent from an answer that is not the debate's.
fn dissent_item(debate: &Debate, dissent: &Value) -> ReportItem {
    let words = |key: &str| dissent.get(key).and_then(Value::as_str);
    ReportItem {
        who: Some(holder_name(debate, words("debater"), words("seat").unwrap_or_default())),
        note: words("reason").map(str::to_owned),
        ..ReportItem::text(words("position").unwrap_or_default())
    }
}

fn headline(outcome: &Outcome, verdict: &AskVerdict) -> Headline {
    let decided_by = verdict.decided_by.filter(|_| outcome.status == Status::Complete);
    Headline {
        answer: verdict.answer.clone(),
        why: verdict.why.clone(),
        tone: answer_tone(verdict.answer.as_ref()),
        ending: match decided_by {
            Some(AnswerBasis::Agreement) => "The first two answers agree.".into(),
            Some(AnswerBasis::Panel) => "The judges let the debate's answer stand.".into(),
            Some(AnswerBasis::FirstRoundVote) => "The plain vote on the first answers decides.".into(),
            Some(AnswerBasis::Debate) | None => ending_sentence(outcome, "debaters"),
        },
        ..Headline::default()
    }
}

fn outline(debate: &Debate, firsts: &FirstAnswers<'_>, verdict: &AskVerdict) -> Result<Outline, Corrupt> {
    let labels = debate.outcome.iter().flat_map(|outcome| &outcome.labels);
    let label =
        |seat: &str| labels.clone().find(|(_, labelled)| *labelled == seat).map(|(label, _)| label.as_str());
    let item = |first: &SeatAnswer<'_>| ReportItem {
        who: Some(holder_name(debate, label(first.seat), first.seat)),
        ..ReportItem::text(first.answer())
    };
    let answers: Vec<ReportItem> = firsts.all.iter().map(item).collect();
    let answer = answer_section(verdict.answer.as_deref(), "These were the first answers:", answers.clone());
    let answers = answers.into_iter().zip(&firsts.all).map(|(item, SeatAnswer { reply, .. })| {
        let note = format!("Confidence {}. {}", score(reply.confidence), reply.why.trim());
        ReportItem { note: Some(note.trim_end().to_owned()), ..item }
    });
    let body = [
        Some(how_decided(debate, verdict)?),
        list_section("What was contested", verdict.contested.iter().map(ReportItem::text)),
    ];
    let details = [steps(firsts, verdict), list_section("First answers", answers)];
    Ok(Outline {
        answer: std::iter::once(answer).chain(why_section(verdict.why.as_deref())).collect(),
        body: body.into_iter().flatten().collect(),
        details: details.into_iter().flatten().collect(),
        voices: Some((firsts.all.len() as u64, "first answer")),
        ..Outline::default()
    })
}

/// What decided, the clerk, the judges' ruling, the debate's answer where it was overruled, the risk of an agreement, and the check of
/// `--never-worse`.
fn how_decided(debate: &Debate, verdict: &AskVerdict) -> Result<ReportSection, Corrupt> {
    let decided_by = match verdict.decided_by {
        Some(AnswerBasis::Agreement) => "the agreement of the first two answers",
        Some(AnswerBasis::Debate) => "the debate",
        Some(AnswerBasis::Panel) => "the debate, whose answer the judges let stand",
        Some(AnswerBasis::FirstRoundVote) => "the plain vote on the first answers",
        None => "nothing",
    };
    let ruling = verdict.step(LadderStep::Panel).and_then(|panel| panel.ruling.as_ref());
    let is_overruled = verdict.decided_by == Some(AnswerBasis::FirstRoundVote);
    let deep = verdict.step(LadderStep::Deep).filter(|_| is_overruled);
    let overruled = deep.map(|deep| DeepVerdict::deserialize(&deep.verdict)).transpose()?;
    let risk = (verdict.decided_by == Some(AnswerBasis::Agreement)).then(|| {
        match verdict.risk.as_ref().and_then(|risk| risk.get("sentence")?.as_str()) {
            Some(sentence) => sentence.to_owned(),
            None => "Not known: no earlier debate of these two is resolved.".to_owned(),
        }
    });
    let never_worse = verdict.never_worse.as_ref().map(|check| {
        let vote = if check.kept { "the vote is kept" } else { "the vote is not kept" };
        format!("{vote}: {}", check.why)
    });
    let pairs = [
        ("Decided by", Some(decided_by.to_owned())),
        ("Clerk", clerk_of(debate)),
        ("The judges", ruling.map(|ruling| ruling.why.clone())),
        ("The debate's answer", overruled.and_then(|deep| deep.answer)),
        ("Wrong when they agreed", risk),
        ("Never worse", never_worse),
    ];
    let pairs = pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let blocks = vec![ReportBlock::Pairs(pairs.collect())];
    Ok(ReportSection::new(SectionKind::Part, "How it was decided", blocks))
}

/// The steps as a table.
fn steps(firsts: &FirstAnswers<'_>, verdict: &AskVerdict) -> Option<ReportSection> {
    let rows = verdict.steps.iter().map(|step| {
        let name = match step.step {
            LadderStep::Pair => "Two answers",
            LadderStep::Deep => "Debate",
            LadderStep::Panel => "Judges",
        };
        let compared = match &firsts.agreement {
            PairAgreement::Same(_) => "agreed",
            PairAgreement::Different(..) => "differ",
            PairAgreement::Unknown | PairAgreement::Open => "not known",
            PairAgreement::Missing(_) => "one is missing",
        };
        [
            name.to_owned(),
            step.reason.clone(),
            count(step.calls as u64),
            count(step.input_tokens.saturating_add(step.output_tokens)),
            step.usd.map_or("unknown".into(), dollars),
            step.termination.map_or(compared.to_owned(), |ended| spoken(&wire_name(ended))),
        ]
    });
    table_section("Step by step", ["Step", "Why", "Calls", "Tokens", "US dollars", "Ended"], rows)
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
fn in_whole_log<'s>(
    debate: &Debate,
    prefix: &str,
    summaries: impl Iterator<Item = &'s RoundSummary>,
) -> Vec<RoundSummary> {
    let places = debate.turns.iter().enumerate().filter(|(_, turn)| turn.phase.name.starts_with(prefix));
    let places: Vec<usize> = places.map(|(place, _)| place + 1).collect();
    let placed = summaries.filter_map(|summary| {
        let after_phases = *places.get(summary.after_phases.checked_sub(1)?)?;
        Some(RoundSummary { after_phases, ..summary.clone() })
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
    let rows = firsts.pair().iter().map(|first| {
        let answer = first.answer().split_whitespace().collect::<Vec<_>>().join(" ");
        [first.seat.to_owned(), answer, score(first.reply.confidence)]
    });
    Some(RoundSummary {
        after_phases: last + 1,
        title: capitalized(title),
        rows: table_rows(["Seat", "Answer", "Confidence"], rows),
        notes: Vec::new(),
    })
}
