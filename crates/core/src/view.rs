//! One reading of a log for every face: the terminal, the page, chat messages, pipelines, receipts and evals.

use serde::Serialize;
use serde_json::Value;

use crate::outline::{Outline, ReportItem, VerdictTone};
use crate::wording::{capitalized, counted, heading};
use crate::{Debate, Fate, GateReport, ItemRecord, Outcome, PositionHistory, Status, Termination};

/// All that a reader may want to know of a debate, in the protocol's own terms.
#[derive(Debug, Clone, Default)]
pub struct DebateView {
    /// What the debate came to, in a line or two.
    pub headline: Headline,
    /// The protocol's part of the report.
    pub outline: Outline,
    /// Who held what after each round.
    pub positions: PositionHistory,
    /// What each seat answered before it read anybody, for grading.
    pub ballots: Vec<Ballot>,
    /// What each seat voted or ruled in the end, for receipts. Empty where seats do not vote.
    pub votes: Vec<SeatVote>,
    /// What the minority holds, as the report lists it.
    pub dissent: Vec<ReportItem>,
    /// A table for each round that is over, to be printed as it ends.
    pub round_summaries: Vec<RoundSummary>,
    /// The files that the protocol writes, beside the common report.
    pub records: Vec<SavedRecord>,
    /// What makes a good debate of this kind, checked over the log.
    pub checks: Vec<QualityCheck>,
    /// The verdict as a gate, where the debate is one.
    pub gate: Option<GateReport>,
    /// What was looked up.
    pub items: Vec<ItemRecord>,
    /// The texts of the replies that others may cite by an id.
    pub citable: Vec<CitableText>,
}

/// A text of a reply with the id by which others cite it. A transcript shows the id beside the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitableText {
    /// The id, such as `F1` or `M6`. Empty for a text without one that needs a remark.
    pub id: String,
    /// The seat whose reply has it.
    pub seat: String,
    /// The round of that reply.
    pub round: u32,
    /// The text, as a whole field or entry of the reply.
    pub text: String,
    /// What a reader should know about it, such as "evidence unverified".
    pub remark: Option<&'static str>,
}

/// What a debate came to. The outcome document has it, so that a chat message or an agent needs to know no protocol.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Headline {
    /// The verdict in a word or two, where the protocol has such words: `PASS`, `PROCEED`, `GREEN`.
    pub verdict: Option<String>,
    /// The answer in sentences, where the protocol gives one.
    pub answer: Option<String>,
    /// Why.
    pub why: Option<String>,
    /// The score, where the verdict is one.
    pub score: Option<f64>,
    /// Whether it is good news.
    #[serde(skip)]
    pub tone: VerdictTone,
    /// How the debate ended, in a sentence.
    pub ending: String,
}

impl Headline {
    /// The verdict's word, else the answer: what is graded and what a chat message shows first.
    pub fn decision(&self) -> Option<&str> {
        self.verdict.as_deref().or(self.answer.as_deref())
    }
}

/// What a seat answered before it read anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ballot {
    /// The seat.
    pub seat: String,
    /// The answer.
    pub answer: String,
    /// Whether the answer stands alone, or must be found in a longer text.
    pub stands_alone: bool,
}

/// A seat's last vote, verdict or score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeatVote {
    /// The seat.
    pub seat: String,
    /// Its label, where it has one.
    pub label: Option<String>,
    /// The vote in the protocol's own words: `PASS`, `PROCEED`, `4.2`, a label.
    pub vote: String,
    /// The seat's confidence, in the protocol's own words.
    pub confidence: Option<String>,
}

/// What to print as a round ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoundSummary {
    /// How many phases the debate had when the round was over.
    pub after_phases: usize,
    /// The table's title.
    pub title: String,
    /// Its rows. The first is the head.
    pub rows: Vec<Vec<String>>,
    /// Lists with headings under the table.
    pub notes: Vec<(String, Vec<String>)>,
}

/// A file that a protocol writes.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedRecord {
    /// Its name, without the part that tells runs of the same day apart.
    pub stem: String,
    /// The end of its name, with the extension: `.md`, `-r2.md`.
    pub ending: &'static str,
    /// What is in it.
    pub body: RecordBody,
    /// Whether it is written anew after every phase while the debate runs, and not only at its end.
    pub grows: bool,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordBody {
    /// A document to be written as YAML.
    Yaml(Value),
    /// Text as it is.
    Text(String),
    /// The full report, which the caller renders.
    Report,
}

/// A sentence that a good debate makes true, and whether this one does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QualityCheck {
    /// The sentence.
    pub sentence: String,
    /// Whether it is true; `None` where it does not apply.
    pub met: Option<bool>,
    /// What shows it.
    pub note: String,
    /// The asks that show it.
    pub shown_by: Vec<u32>,
}

/// How a debate ended, in a sentence that fits most protocols. `voices` are those who debate: "debaters".
pub fn ending_sentence(outcome: &Outcome, voices: &str) -> String {
    let rounds = outcome.rounds_completed;
    let after = match rounds {
        0 => String::new(),
        n => format!(" after {}", counted(u64::from(n), "round")),
    };
    match outcome.termination {
        Termination::Converged => format!("The {voices} converged{after}."),
        Termination::Stable => format!("No position changed any more{after}."),
        Termination::Consensus => format!("Consensus{after}."),
        Termination::Majority => format!("A majority{after}, not a consensus."),
        Termination::NoMajority => format!("No majority{after}."),
        Termination::MaxRounds => {
            format!("Not converged when the limit of {} was reached.", counted(u64::from(rounds), "round"))
        }
        Termination::AllRoundsComplete => match rounds {
            0 => "Answered without debate rounds.".into(),
            1 => "The one round is complete.".into(),
            2 => "Both rounds are complete.".into(),
            n => format!("All {n} rounds are complete."),
        },
        Termination::QuorumLost => format!("Cut short{after}: too few voices were left."),
        Termination::Budget => format!("Cut short{after}: a limit was reached."),
        Termination::Cancelled => format!("Concluded{after}, because a person asked for the verdict."),
        Termination::Failed => format!("Failed{after}: there is no verdict."),
    }
}

/// Whether an ending calls for a second look.
pub fn is_troubled(outcome: &Outcome) -> bool {
    outcome.status != Status::Complete || outcome.fidelity == crate::Fidelity::Degraded
}

/// A label as it is shown: `A` becomes "Debater A". Longer labels are names already.
pub fn label_name(debate: &Debate, label: &str) -> String {
    if label.chars().count() > 2 {
        return label.to_owned();
    }
    let seat = debate.outcome.as_ref().and_then(|outcome| outcome.labels.get(label));
    let role = seat.and_then(|seat| debate.brief.seat(seat)).map_or("debater", |seat| seat.role.as_str());
    format!("{} {label}", heading(role))
}

/// Who holds a position: the label and, after the verdict, the seat behind it.
pub fn holder_name(debate: &Debate, label: Option<&str>, seat: &str) -> String {
    match label {
        Some(label) => format!("{} ({seat})", label_name(debate, label)),
        None => seat.to_owned(),
    }
}

/// The minority positions of an outcome, as a report lists them.
pub fn minority_items(debate: &Debate) -> Vec<ReportItem> {
    let positions = debate.outcome.iter().flat_map(|outcome| &outcome.positions);
    let minority = positions.filter(|position| position.fate == Fate::Minority);
    minority
        .map(|held| ReportItem {
            who: Some(holder_name(debate, held.label.as_deref(), &held.seat)),
            text: held.position.clone(),
            note: Some(held.reason.clone()),
        })
        .collect()
}

/// What a reason for an absence means, in words that follow a seat's name.
pub fn absence_words(why: crate::AbsenceReason) -> String {
    use crate::AbsenceReason;
    match why {
        AbsenceReason::TimedOut => "timed out".into(),
        AbsenceReason::Refused => "would not answer".into(),
        AbsenceReason::Malformed => "gave no usable answer".into(),
        AbsenceReason::Unreachable => "could not be reached".into(),
        AbsenceReason::OverBudget => "was not asked: the call did not fit the budget".into(),
        AbsenceReason::Cancelled => "was not waited for any more".into(),
    }
}

/// A warning as a sentence. Fixed lines such as `deep -> synthesis (degraded)` stay as they are.
pub fn warning_sentence(warning: &str) -> String {
    if warning.contains("->") || warning.contains('/') { warning.to_owned() } else { capitalized(warning) }
}
