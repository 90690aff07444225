//! The sentences about what a debate did, for generated situations. A person has read each of them.

use agon_core::{
    DebateView, DecidedPosition, Event, Headline, PositionChange, PositionHistory, RoundPositions,
    SeatPosition, SeatVote, Status,
};
use agon_measure::evidence::PhaseCost;
use insta::assert_snapshot;
use serde_json::json;

use crate::samples::{DebateLog, PLAIN, ReadDebate, brief, deep};
use crate::terminal::outcome;

pub(crate) const TITLE: &str = "What the debate did";

/// What is held, decided and measured in a debate.
#[derive(Clone)]
pub(crate) struct EvidenceSituation {
    /// A line per seat, the rounds separated by spaces. `-` is no position. After a name, `?` means that nobody compared it with the
    /// others, `*` a change that names an id, `"` one with a quote, `,` one without a reason, `=` a revision that keeps the position, and
    /// `:` no change although the position has another name.
    held: &'static str,
    are_texts: bool,
    /// How many of the last rounds are votes.
    votes: usize,
    /// By round. `None` means the plain vote.
    rulings: Option<&'static [&'static str]>,
    decided: DecidedPosition,
    status: Option<Status>,
    models: &'static [&'static str],
    /// The calls of each round.
    calls: u32,
    /// The seats that abstained in the last vote.
    abstained: &'static [&'static str],
}

pub(crate) fn values(held: &'static str, decided: &str) -> EvidenceSituation {
    EvidenceSituation {
        held,
        are_texts: false,
        votes: 0,
        rulings: None,
        decided: if decided.is_empty() {
            DecidedPosition::Nothing
        } else {
            DecidedPosition::Held(decided.into())
        },
        status: Some(Status::Complete),
        models: &["a/1", "b/2", "c/3", "d/4", "e/5", "f/6", "g/7"],
        calls: 0,
        abstained: &[],
    }
}

pub(crate) fn texts(held: &'static str, decided: &str) -> EvidenceSituation {
    EvidenceSituation { are_texts: true, ..values(held, decided) }
}

const NEW: &str = "new";
const LONG: &str = "Move_the_whole_service_to_the_other_region_before_the_end_of_the_quarter,_and_keep_a_copy_of_it. b\nMove_the_whole_service_to_the_other_region_before_the_end_of_the_quarter,_and_keep_a_copy_of_it. b\nb b";

impl EvidenceSituation {
    pub(crate) fn ruled(self, rulings: &'static [&'static str]) -> Self {
        Self { rulings: Some(rulings), ..self }
    }

    pub(crate) fn unclear(self) -> Self {
        Self { decided: DecidedPosition::Unknown, ..self }
    }

    pub(crate) fn combined(self) -> Self {
        Self { decided: DecidedPosition::New(NEW.into()), ..self }
    }

    pub(crate) fn voted(self, votes: usize) -> Self {
        Self { votes, ..self }
    }

    pub(crate) fn calls(self, calls: u32) -> Self {
        Self { calls, ..self }
    }

    pub(crate) fn abstained(self, abstained: &'static [&'static str]) -> Self {
        Self { abstained, ..self }
    }

    pub(crate) fn on(self, models: &'static [&'static str]) -> Self {
        Self { models, ..self }
    }

    pub(crate) fn running(self) -> Self {
        Self { status: None, ..self }
    }

    pub(crate) fn history(&self) -> PositionHistory {
        let table: Vec<Vec<&str>> = self.held.lines().map(|line| line.split(' ').collect()).collect();
        let rounds = table.iter().map(Vec::len).max().unwrap_or_default();
        let name = |cell: &str| cell.trim_end_matches(['?', '*', '=', '"', ',', '!', ':']).to_owned();
        let held = |seat: usize, round: usize| {
            let cell = table[seat].get(round).filter(|cell| **cell != "-")?;
            let before = round.checked_sub(1).map(|before| table[seat][before]);
            let is_another = |before: &str| before != "-" && name(before) != name(cell);
            let changed = before.is_some_and(is_another) && !cell.ends_with(':') || cell.ends_with('=');
            let cited = match cell.chars().last() {
                Some('*') => vec!["[L7]".to_owned()],
                Some('"') => vec!["[Q1]: \"words\"".to_owned(), "[Q2]".to_owned()],
                _ => Vec::new(),
            };
            Some(SeatPosition {
                seat: format!("seat-{}", seat + 1),
                position: name(cell).replace('_', " "),
                is_unsorted: cell.contains('?'),
                value: name(cell).parse().ok(),
                change: changed.then_some(PositionChange {
                    cited,
                    unverified: if cell.ends_with('!') {
                        vec!["[B3] with other words".into()]
                    } else {
                        Vec::new()
                    },
                    reason: (!cell.ends_with(',')).then(|| "It is cheaper.".into()),
                    ..PositionChange::default()
                }),
                ..SeatPosition::default()
            })
        };
        let round = |place: usize| {
            let stands = (0..table.len()).filter_map(|seat| held(seat, place)).collect();
            let mut round = RoundPositions { round: place as u32 + 1, stands, ..RoundPositions::default() };
            round.ballots = place + self.votes >= rounds;
            round.ruling = match self.rulings {
                Some(rulings) => {
                    rulings.get(place).filter(|ruling| !ruling.is_empty()).map(|r| (*r).to_owned())
                }
                None => round.plurality().map(str::to_owned),
            };
            round
        };
        PositionHistory {
            are_texts: self.are_texts,
            rounds: (0..rounds).map(round).collect(),
            decided: self.decided.clone(),
            ..PositionHistory::default()
        }
    }

    pub(crate) fn read(&self) -> ReadDebate {
        let seats = self.held.lines().count();
        let history = self.history();
        let rounds: Vec<u32> = history.rounds.iter().map(|round| round.round).collect();
        let mut read = read(history, &self.models[..seats.min(self.models.len())], self.status);
        read.view.headline = match self.are_texts && self.decided != DecidedPosition::Nothing {
            true => Headline { answer: Some("Move.".into()), ..Headline::default() },
            false => Headline { verdict: Some("PASS".into()), ..Headline::default() },
        };
        read.view.votes = self.abstained.iter().map(|seat| abstention(seat)).collect();
        let phase = |(phase, round): (&str, u32)| PhaseCost {
            phase: phase.into(),
            round,
            calls: self.calls,
            input_tokens: 0,
            cached_input_tokens: 0,
            output_tokens: 0,
            usd: None,
        };
        // The synthesis is needed after any round, so its calls are never saved.
        let phases =
            rounds.iter().map(|round| ("debate", *round)).chain([("synthesis", rounds.len() as u32)]);
        read.evidence.cost.rounds = phases.map(phase).collect();
        read
    }
}

fn abstention(seat: &str) -> SeatVote {
    SeatVote { seat: seat.into(), label: None, vote: "abstain".into(), confidence: None }
}

/// A debate with these positions. Every seat has its own model, in order.
pub(crate) fn read(positions: PositionHistory, models: &[&str], status: Option<Status>) -> ReadDebate {
    let mut brief = brief(&[]);
    let seat = |(place, model): (usize, &&str)| agon_core::Seat {
        id: format!("seat-{}", place + 1),
        role: "debater".into(),
        model: (*model).into(),
    };
    brief.seats = models.iter().enumerate().map(seat).collect();
    let mut log = DebateLog::open(brief);
    if let Some(status) = status {
        let outcome = agon_core::Outcome { status, ..outcome(json!({"answer": "x"})) };
        log.push(Event::Closed { outcome: Box::new(outcome) }, 5);
    }
    ReadDebate::with_view(deep(), log.debate, DebateView { positions, ..DebateView::default() })
}

/// The paragraph alone, as one line.
pub(crate) fn paragraph(read: &ReadDebate) -> String {
    let shown = read.section(TITLE, &PLAIN);
    let lines = shown.lines().skip(1).take_while(|line| !line.trim().is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Each situation with its sentences, without the usual last one.
fn told(cases: &[(&str, EvidenceSituation)]) -> String {
    let told = |(what, situation): &(&str, EvidenceSituation)| {
        let paragraph = paragraph(&situation.read());
        let usual = "How independent the debaters are is not known; no two share a model.";
        let paragraph = match paragraph.trim_end_matches(usual).trim() {
            "" => "(nothing else)",
            sentences => sentences,
        };
        format!("{what}\n  {}\n", paragraph.replace(". ", ".\n  "))
    };
    cases.iter().map(told).collect()
}

#[test]
#[rustfmt::skip]
#[allow(clippy::too_many_lines)]
fn seats_that_changed_or_did_not() {
    let told = told(&[
        ("one seat keeps its value", values("PASS PASS", "PASS")),
        ("one seat changes", values("PASS FAIL*", "FAIL")),
        ("two agree from the start", values("PASS PASS\nPASS PASS", "PASS")),
        ("two swap", values("PASS FAIL\nFAIL PASS", "FAIL").ruled(&["FAIL", "FAIL"])),
        ("one of three joins the majority, cited", values("FAIL PASS*\nPASS PASS\nPASS PASS", "PASS")),
        ("one of three joins the majority, uncited", values("FAIL PASS\nPASS PASS\nPASS PASS", "PASS")),
        ("one of three joins the majority, with a quote", values("FAIL PASS\"\nPASS PASS\nPASS PASS", "PASS")),
        ("two change, each with a quote", values("FAIL PASS\"\nWARN PASS\"\nPASS PASS", "PASS")),
        ("two change, one with a quote and one with an id", values("FAIL PASS\"\nWARN PASS*\nPASS PASS", "PASS")),
        ("two change, one with a quote and one with nothing", values("FAIL PASS\"\nWARN PASS\nPASS PASS", "PASS")),
        ("one of three leaves the majority", values("PASS FAIL*\nPASS PASS\nFAIL FAIL", "FAIL")),
        ("several changes", values("FAIL PASS* FAIL\nWARN FAIL FAIL\nFAIL WARN PASS*", "FAIL").ruled(&["FAIL", "WARN", "FAIL"])),
        ("seven seats", values("PASS PASS\nPASS PASS\nPASS PASS\nFAIL PASS\nFAIL PASS*\nFAIL FAIL\nWARN PASS*", "PASS")),
        ("a late seat", values("- PASS\nPASS PASS\nPASS PASS", "PASS")),
        ("only one first position", values("- PASS\nPASS PASS", "PASS")),
        ("one changes and revises again, two revise and keep theirs", values("FAIL PASS* PASS=\nPASS PASS= PASS=\nPASS PASS PASS=", "PASS")),
    ]);
    assert_snapshot!(told, @"
    one seat keeps its value
      No debater changed its position.
    one seat changes
      seat-1 changed from PASS to FAIL in round 2, naming [L7].
    two agree from the start
      No debater changed its position.
      A plain vote on the first positions gives PASS; the verdict is PASS.
    two swap
      seat-1 changed from PASS to FAIL in round 2, naming nothing; seat-2 changed from FAIL to PASS in round 2, naming nothing.
      A plain vote on the first positions is tied between PASS and FAIL; the verdict is FAIL.
      By the protocol's own rule the first positions give FAIL.
    one of three joins the majority, cited
      seat-1 changed from FAIL to PASS in round 2, naming [L7].
      A plain vote on the first positions gives PASS; the verdict is PASS.
    one of three joins the majority, uncited
      seat-1 changed from FAIL to PASS in round 2, naming nothing.
      A plain vote on the first positions gives PASS; the verdict is PASS.
    one of three joins the majority, with a quote
      seat-1 changed from FAIL to PASS in round 2, naming [Q1] and [Q2].
      A plain vote on the first positions gives PASS; the verdict is PASS.
    two change, each with a quote
      seat-1 changed from FAIL to PASS in round 2, naming [Q1] and [Q2]; seat-2 changed from WARN to PASS in round 2, naming [Q1] and [Q2].
      A plain vote on the first positions is tied between FAIL, WARN and PASS; the verdict is PASS.
    two change, one with a quote and one with an id
      seat-1 changed from FAIL to PASS in round 2, naming [Q1] and [Q2]; seat-2 changed from WARN to PASS in round 2, naming [L7].
      A plain vote on the first positions is tied between FAIL, WARN and PASS; the verdict is PASS.
    two change, one with a quote and one with nothing
      seat-1 changed from FAIL to PASS in round 2, naming [Q1] and [Q2]; seat-2 changed from WARN to PASS in round 2, naming nothing.
      A plain vote on the first positions is tied between FAIL, WARN and PASS; the verdict is PASS.
    one of three leaves the majority
      seat-1 changed from PASS to FAIL in round 2, naming [L7].
      A plain vote on the first positions gives PASS; the verdict is FAIL.
    several changes
      seat-1 and seat-3 changed position in rounds 2 and 3; seat-2 changed position in round 2.
      A plain vote on the first positions gives FAIL; the verdict is FAIL.
    seven seats
      seat-4 changed from FAIL to PASS in round 2, naming nothing; seat-5 changed from FAIL to PASS in round 2, naming [L7]; seat-7 changed from WARN to PASS in round 2, naming [L7].
      A plain vote on the first positions is tied between PASS and FAIL; the verdict is PASS.
    a late seat
      No debater changed its position.
      A plain vote on the first positions gives PASS; the verdict is PASS.
    only one first position
      No debater changed its position.
    one changes and revises again, two revise and keep theirs
      seat-1 changed from FAIL to PASS in round 2, naming [L7].
      seat-1 and seat-3 revised the position and kept the vote in round 3; seat-2 revised the position and kept the vote in rounds 2 and 3.
      A plain vote on the first positions gives PASS; the verdict is PASS.
    ");
}

#[test]
#[rustfmt::skip]
fn the_verdict_and_the_first_values() {
    let told = told(&[
        ("two differ to the end, a rule decides", values("PASS PASS\nFAIL FAIL", "FAIL").ruled(&["FAIL", "FAIL"])),
        ("two differ to the end, no verdict", values("PASS PASS\nFAIL FAIL", "")),
        ("three agree, no verdict", values("PASS PASS\nPASS PASS\nPASS PASS", "")),
        ("three agree, another verdict", values("PASS PASS\nPASS PASS\nPASS PASS", "FAIL").ruled(&["PASS", "FAIL"])),
        ("three agree, still running", values("PASS PASS\nPASS PASS\nPASS PASS", "").running()),
        ("the rule is stricter than the vote", values("PASS PASS\nPASS PASS\nFAIL FAIL", "FAIL").ruled(&["FAIL", "FAIL"])),
        ("the rule was stricter, the debate undid it", values("PASS PASS\nPASS PASS\nFAIL PASS*", "PASS").ruled(&["FAIL", "PASS"])),
        ("the rule gave a third value", values("PASS PASS\nPASS PASS\nFAIL FAIL", "WARN").ruled(&["FAIL", "WARN"])),
        ("the rule gave nothing on the first values", values("PASS PASS\nPASS PASS\nFAIL PASS", "PASS").ruled(&["", "PASS"])),
        ("the rule gave nothing, and another value won", values("PASS FAIL\nPASS FAIL\nFAIL FAIL", "FAIL").ruled(&["", "FAIL"])),
    ]);
    assert_snapshot!(told, @"
    two differ to the end, a rule decides
      No debater changed its position.
      A plain vote on the first positions is tied between PASS and FAIL; the verdict is FAIL.
      By the protocol's own rule the first positions give FAIL.
    two differ to the end, no verdict
      No debater changed its position.
      A plain vote on the first positions is tied between PASS and FAIL; there is no verdict.
    three agree, no verdict
      No debater changed its position.
      A plain vote on the first positions gives PASS; there is no verdict.
    three agree, another verdict
      No debater changed its position.
      A plain vote on the first positions gives PASS; the verdict is FAIL.
    three agree, still running
      No debater has changed its position so far.
      A plain vote on the first positions gives PASS; there is no verdict yet.
    the rule is stricter than the vote
      No debater changed its position.
      A plain vote on the first positions gives PASS; the verdict is FAIL.
      By the protocol's own rule the first positions give FAIL.
    the rule was stricter, the debate undid it
      seat-3 changed from FAIL to PASS in round 2, naming [L7].
      A plain vote on the first positions gives PASS; the verdict is PASS.
      By the protocol's own rule the first positions give FAIL.
    the rule gave a third value
      No debater changed its position.
      A plain vote on the first positions gives PASS; the verdict is WARN.
      By the protocol's own rule the first positions give FAIL.
    the rule gave nothing on the first values
      seat-3 changed from FAIL to PASS in round 2, naming nothing.
      A plain vote on the first positions gives PASS; the verdict is PASS.
      By the protocol's own rule the first positions give no verdict.
    the rule gave nothing, and another value won
      seat-1 changed from PASS to FAIL in round 2, naming nothing; seat-2 changed from PASS to FAIL in round 2, naming nothing.
      A plain vote on the first positions gives PASS; the verdict is FAIL.
      By the protocol's own rule the first positions give no verdict.
    ");
}

#[test]
#[rustfmt::skip]
fn ties_and_single_rounds_of_values() {
    let told = told(&[
        ("a tie of four, broken", values("PASS PASS\nPASS PASS\nFAIL PASS*\nFAIL FAIL", "PASS")),
        ("a tie of four, broken by all", values("PASS PASS\nPASS PASS\nFAIL PASS*\nFAIL PASS", "PASS")),
        ("a tie of four, not broken", values("PASS PASS\nPASS PASS\nFAIL FAIL\nFAIL FAIL", "")),
        ("a tie, the rule gives a third value", values("PASS PASS\nFAIL PASS", "PASS").ruled(&["WARN", "PASS"])),
        ("a tie, still running", values("PASS PASS\nFAIL FAIL", "").running()),
        ("one round, a majority", values("PASS\nFAIL\nPASS", "PASS")),
        ("one round, all the same", values("PASS\nPASS", "PASS")),
        ("one round, a stricter rule", values("PASS\nFAIL\nPASS", "FAIL").ruled(&["FAIL"])),
        ("one round, a tie that a rule breaks", values("PASS\nFAIL", "FAIL").ruled(&["FAIL"])),
    ]);
    assert_snapshot!(told, @"
    a tie of four, broken
      seat-3 changed from FAIL to PASS in round 2, naming [L7].
      A plain vote on the first positions is tied between PASS and FAIL; the verdict is PASS.
    a tie of four, broken by all
      seat-3 changed from FAIL to PASS in round 2, naming [L7]; seat-4 changed from FAIL to PASS in round 2, naming nothing.
      A plain vote on the first positions is tied between PASS and FAIL; the verdict is PASS.
    a tie of four, not broken
      No debater changed its position.
      A plain vote on the first positions is tied between PASS and FAIL; there is no verdict.
    a tie, the rule gives a third value
      seat-2 changed from FAIL to PASS in round 2, naming nothing.
      A plain vote on the first positions is tied between PASS and FAIL; the verdict is PASS.
      By the protocol's own rule the first positions give WARN.
    a tie, still running
      No debater has changed its position so far.
      A plain vote on the first positions is tied between PASS and FAIL; there is no verdict yet.
    one round, a majority
      There was one round of positions.
      A plain vote on the first positions gives PASS; the verdict is PASS.
    one round, all the same
      There was one round of positions.
      A plain vote on the first positions gives PASS; the verdict is PASS.
    one round, a stricter rule
      There was one round of positions.
      A plain vote on the first positions gives PASS; the verdict is FAIL.
      By the protocol's own rule the first positions give FAIL.
    one round, a tie that a rule breaks
      There was one round of positions.
      A plain vote on the first positions is tied between PASS and FAIL; the verdict is FAIL.
      By the protocol's own rule the first positions give FAIL.
    ");
}

#[test]
#[rustfmt::skip]
fn votes_are_told_apart_from_positions() {
    let told = told(&[
        ("a vote that follows the positions", values("PASS PASS PASS\nFAIL PASS* PASS\nPASS PASS PASS", "PASS").voted(1)),
        ("a vote against a position", values("PASS PASS FAIL\nFAIL FAIL FAIL\nPASS PASS PASS", "FAIL").voted(1)),
        ("a vote in which one abstains", values("PASS PASS\nFAIL -\nPASS FAIL", "").voted(1)),
        ("votes alone", values("PASS\nFAIL\nPASS", "PASS").voted(1)),
        ("two votes", values("PASS FAIL PASS\nPASS PASS PASS", "PASS").voted(2)),
        ("a vote against a position, without a reason", values("PASS PASS FAIL,\nFAIL FAIL FAIL\nPASS PASS PASS", "FAIL").voted(1)),
        ("back to an earlier position in the vote", values("PASS FAIL* PASS,\nFAIL FAIL FAIL\nFAIL FAIL FAIL", "FAIL").voted(1)),
        ("several leave their positions in the vote", values("PASS PASS FAIL\nFAIL FAIL PASS\nPASS PASS PASS", "PASS").voted(1)),
        ("one of three abstains, the others keep theirs", texts("move move move\nstay move* move\nwait wait -", "move").voted(1).abstained(&["seat-3"])),
        ("one abstains and one is absent", texts("move move move\nstay stay -\nwait wait -", "move").voted(1).abstained(&["seat-3"])),
        ("a vote for another's text", texts("move move move\nstay stay stay\nwait wait move,", "move").voted(1)),
    ]);
    assert_snapshot!(told, @"
    a vote that follows the positions
      seat-2 changed from FAIL to PASS in round 2, naming [L7].
      A plain vote on the first positions gives PASS; the verdict is PASS.
    a vote against a position
      seat-1 changed from PASS to FAIL in the vote, naming nothing.
      A plain vote on the first positions gives PASS; the verdict is FAIL.
    a vote in which one abstains
      seat-3 changed from PASS to FAIL in the vote, naming nothing.
      A plain vote on the first positions gives PASS; there is no verdict.
    votes alone
      (nothing else)
    two votes
      seat-1 changed from PASS to FAIL in the vote of round 2, naming nothing; seat-1 changed from FAIL to PASS in the vote of round 3, naming nothing.
      A plain vote on the first positions gives PASS; the verdict is PASS.
    a vote against a position, without a reason
      seat-1 changed from PASS to FAIL in the vote, naming nothing.
      A plain vote on the first positions gives PASS; the verdict is FAIL.
    back to an earlier position in the vote
      seat-1 changed from PASS to FAIL in round 2, naming [L7]; seat-1 changed from FAIL to PASS in the vote, naming nothing.
      A plain vote on the first positions gives FAIL; the verdict is FAIL.
    several leave their positions in the vote
      seat-1 changed from PASS to FAIL in the vote, naming nothing; seat-2 changed from FAIL to PASS in the vote, naming nothing.
      A plain vote on the first positions gives PASS; the verdict is PASS.
    one of three abstains, the others keep theirs
      seat-2 changed position in round 2.
      A plain vote on the first positions is tied; the answer states one of the tied positions.
    one abstains and one is absent
      No debater changed its position.
      A plain vote on the first positions is tied; the answer states one of the tied positions.
    a vote for another's text
      seat-3 chose another position in the vote.
      A plain vote on the first positions is tied; the answer states one of the tied positions.
    ");
}

#[test]
#[rustfmt::skip]
fn the_answer_and_the_first_texts() {
    let told = told(&[
        ("sorted, all the same", texts("move move\nmove move\nmove move", "move")),
        ("sorted, reworded", texts("move move=\nmove move\nstay stay=", "move")),
        ("both reworded", texts("move move=\nstay stay=", "move").ruled(&[])),
        ("one seat rewords", texts("move move=", "move")),
        ("sorted, a majority wins", texts("move move\nmove move\nstay move*", "move")),
        ("sorted, the minority wins", texts("move move\nmove move\nstay stay", "stay")),
        ("sorted, the answer is new", texts("move move\nmove move\nstay stay", "").combined()),
        ("sorted, the answer's position is unknown", texts("move move\nmove move\nstay stay", "").unclear()),
        ("all the same, answer unknown", texts("move move\nmove move", "").unclear()),
        ("all the same, answer new", texts("move move\nmove move", "").combined()),
        ("a long text", texts(LONG, "b")),
        ("counted with another position", texts("move move stay:\nstay stay stay\nwait wait wait", "stay")),
    ]);
    assert_snapshot!(told, @"
    sorted, all the same
      No debater changed its position.
      A plain vote on the first positions gives that of seat-1, seat-2 and seat-3; the answer states the same position.
    sorted, reworded
      No debater changed its position.
      seat-1 and seat-3 revised the text in round 2.
      A plain vote on the first positions gives that of seat-1 and seat-2; the answer states the same position.
    both reworded
      No debater changed its position.
      seat-1 and seat-2 revised the text in round 2.
      A plain vote on the first positions is tied; the answer states one of the tied positions.
    one seat rewords
      No debater changed its position.
      seat-1 revised the text in round 2.
    sorted, a majority wins
      seat-3 changed position in round 2.
      A plain vote on the first positions gives that of seat-1 and seat-2; the answer states the same position.
    sorted, the minority wins
      No debater changed its position.
      A plain vote on the first positions gives that of seat-1 and seat-2; the answer states another position.
    sorted, the answer is new
      No debater changed its position.
      A plain vote on the first positions gives that of seat-1 and seat-2; the answer states a position that nobody held.
    sorted, the answer's position is unknown
      No debater changed its position.
      A plain vote on the first positions gives that of seat-1 and seat-2.
      No verified declaration says which position the answer states, so whether the debate changed the answer is unknown.
    all the same, answer unknown
      No debater changed its position.
      A plain vote on the first positions gives that of seat-1 and seat-2.
      No verified declaration says which position the answer states, so whether the debate changed the answer is unknown.
    all the same, answer new
      No debater changed its position.
      A plain vote on the first positions gives that of seat-1 and seat-2; the answer states a position that nobody held.
    a long text
      seat-1 and seat-2 changed position in round 2.
      A plain vote on the first positions gives that of seat-1 and seat-2; the answer states another position.
    counted with another position
      No debater changed its position.
      seat-1 was counted with another position in round 3.
      A plain vote on the first positions is tied; the answer states one of the tied positions.
      Nobody changed position in round 2.
    ");
}

#[test]
#[rustfmt::skip]
fn ties_and_single_rounds_of_texts() {
    let told = told(&[
        ("all different, one convinces all", texts("move move\nstay move*\nwait move*", "move")),
        ("all different, one convinces most", texts("move move\nstay move*\nwait wait", "move")),
        ("all different to the end, one is taken", texts("move move\nstay stay\nwait wait", "stay")),
        ("all different to the end, combined", texts("move move\nstay stay\nwait wait", "").combined()),
        ("all different to the end, unknown answer", texts("move move\nstay stay\nwait wait", "").unclear()),
        ("all different, most agree on what the answer rejects", texts("move move\nstay move\nwait wait", "wait")),
        ("two by two", texts("move move\nmove move\nstay stay\nstay stay", "").combined()),
        ("one round, sorted", texts("move\nmove\nstay", "move")),
        ("one round, all different, combined", texts("move\nstay\nwait", "").combined()),
        ("one round, sorted, answer unknown", texts("move\nmove\nstay", "").unclear()),
    ]);
    assert_snapshot!(told, @"
    all different, one convinces all
      seat-2 and seat-3 changed position in round 2.
      A plain vote on the first positions is tied; the answer states one of the tied positions.
    all different, one convinces most
      seat-2 changed position in round 2.
      A plain vote on the first positions is tied; the answer states one of the tied positions.
    all different to the end, one is taken
      No debater changed its position.
      A plain vote on the first positions is tied; the answer states one of the tied positions.
    all different to the end, combined
      No debater changed its position.
      A plain vote on the first positions is tied; the answer states a position that nobody held.
    all different to the end, unknown answer
      No debater changed its position.
      A plain vote on the first positions is tied.
      No verified declaration says which position the answer states, so whether the debate changed the answer is unknown.
    all different, most agree on what the answer rejects
      seat-2 changed position in round 2.
      A plain vote on the first positions is tied; the answer states one of the tied positions.
    two by two
      No debater changed its position.
      A plain vote on the first positions is tied; the answer states a position that nobody held.
    one round, sorted
      There was one round of positions.
      A plain vote on the first positions gives that of seat-1 and seat-2; the answer states the same position.
    one round, all different, combined
      There was one round of positions.
      A plain vote on the first positions is tied; the answer states a position that nobody held.
    one round, sorted, answer unknown
      There was one round of positions.
      A plain vote on the first positions gives that of seat-1 and seat-2.
      No verified declaration says which position the answer states.
    ");
}

#[test]
#[rustfmt::skip]
fn texts_that_nobody_compared() {
    let told = told(&[
        ("nobody sorted", texts("move? move?\nstay? stay?\nwait? wait?", "").unclear()),
        ("nobody sorted, one revised", texts("move? move?\nstay? other?\nwait? wait?", "").unclear()),
        ("nobody sorted, no answer", texts("move? move?\nstay? stay?", "")),
        ("nobody sorted, one round", texts("move?\nstay?", "").unclear()),
        ("nobody sorted, still running", texts("move? move?\nstay? stay?", "").running()),
        ("the first answers were not sorted", texts("move? move\nstay? move*\nwait? wait", "move")),
        ("the last answers were not sorted", texts("move move?\nstay other?*\nwait wait?", "move")),
        ("equal texts that nobody sorted", texts("move? move?\nmove? move?", "move")),
    ]);
    assert_snapshot!(told, @"
    nobody sorted
      No debater changed its position.
      No verified declaration says which positions are the same or which position the answer states, so agreement, a plain vote on the first positions and whether the debate changed the answer are unknown.
    nobody sorted, one revised
      seat-2 revised the position in round 2.
      No verified declaration says which positions are the same or which position the answer states, so agreement, a plain vote on the first positions and whether the debate changed the answer are unknown.
    nobody sorted, no answer
      No debater changed its position.
      No verified declaration says which positions are the same, so agreement and a plain vote on the first positions are unknown.
    nobody sorted, one round
      There was one round of positions.
      No verified declaration says which positions are the same or which position the answer states, so agreement, a plain vote on the first positions and whether the debate changed the answer are unknown.
    nobody sorted, still running
      No debater has changed its position so far.
      No verified declaration says which positions are the same, so agreement and a plain vote on the first positions are unknown.
    the first answers were not sorted
      seat-2 revised the position in round 2.
      No verified declaration says which positions are the same in round 1, so agreement there, a plain vote on the first positions and whether the debate changed the answer are unknown.
    the last answers were not sorted
      seat-2 revised the position in round 2.
      A plain vote on the first positions is tied; the answer states one of the tied positions.
      No verified declaration says which positions are the same in round 2, so agreement there is unknown.
    equal texts that nobody sorted
      No debater changed its position.
      A plain vote on the first positions gives that of seat-1 and seat-2; the answer states the same position.
    ");
}

#[test]
#[rustfmt::skip]
fn scores_and_idle_rounds() {
    let told = told(&[
        ("scores, the minority comes nearer and stays the minority", values("3.2 3.0* 3.0\n4.1 4.1 3.7*\n2.2 2.2 3.2", "NO GO").ruled(&["NO GO", "NO GO", "NO GO"])),
        ("scores, one changes with a quote", values("3.5 3.8\"\n4.5 4.5\n4 4", "4.1").ruled(&["4.0", "4.1"])),
        ("scores, one changes", values("3.5 3.8*\n4.5 4.5\n4 4", "4.1").ruled(&["4.0", "4.1"])),
        ("scores, one names what does not verify", values("3.5 3.8!\n4.5 4.4*\n4 4", "4.1").ruled(&["4.1", "4.1"])),
        ("scores, all change", values("3.5 3.8* 4\n4.5 4.5 4.3\n2 2.2* 2.2", "4.0").ruled(&["4.0", "4.0", "4.0"])),
        ("scores, the first gave none", values("3 4\n4 4\n5 4", "4.0").ruled(&["", "4.0"])),
        ("scores, none in the end", values("3 3\n4 4\n5 5", "").ruled(&["", ""])),
        ("scores, the verdict was lost", values("4 3\n4 4\n4 5", "").ruled(&["4.0", ""])),
        ("scores, one round", values("3\n4\n5", "4.0").ruled(&["4.0"])),
        ("idle rounds at the end", values("PASS PASS PASS\nPASS PASS PASS\nFAIL FAIL FAIL", "PASS").calls(4)),
        ("an idle round after a change", values("PASS PASS PASS\nPASS PASS PASS\nFAIL PASS* PASS", "PASS").calls(1)),
        ("an idle round in between", values("PASS PASS PASS\nPASS PASS PASS\nFAIL FAIL PASS*", "PASS").calls(4)),
        ("an idle round before a vote", values("PASS PASS PASS\nPASS PASS PASS\nFAIL FAIL FAIL", "PASS").voted(1).calls(4)),
    ]);
    assert_snapshot!(told, @"
    scores, the minority comes nearer and stays the minority
      seat-1 changed from 3.2 to 3.0 in round 2, naming [L7]; seat-2 changed from 4.1 to 3.7 in round 3, naming [L7]; seat-3 changed from 2.2 to 3.2 in round 3, naming nothing.
      By the protocol's own rule the first scores give NO GO; the verdict is NO GO.
    scores, one changes with a quote
      seat-1 changed from 3.5 to 3.8 in round 2, naming [Q1] and [Q2].
      By the protocol's own rule the first scores give 4.0; the verdict is 4.1.
    scores, one changes
      seat-1 changed from 3.5 to 3.8 in round 2, naming [L7].
      By the protocol's own rule the first scores give 4.0; the verdict is 4.1.
    scores, one names what does not verify
      seat-1 changed from 3.5 to 3.8 in round 2, naming nothing that verifies; seat-2 changed from 4.5 to 4.4 in round 2, naming [L7].
      By the protocol's own rule the first scores give 4.1; the verdict is 4.1.
    scores, all change
      seat-1 gave another score in rounds 2 and 3; seat-2 gave another score in round 3; seat-3 gave another score in round 2.
      By the protocol's own rule the first scores give 4.0; the verdict is 4.0.
    scores, the first gave none
      seat-1 changed from 3 to 4 in round 2, naming nothing; seat-3 changed from 5 to 4 in round 2, naming nothing.
      By the protocol's own rule the first scores give no verdict; the verdict is 4.0.
    scores, none in the end
      No debater changed its score.
      By the protocol's own rule the first scores give no verdict; there is no verdict.
    scores, the verdict was lost
      seat-1 changed from 4 to 3 in round 2, naming nothing; seat-3 changed from 4 to 5 in round 2, naming nothing.
      By the protocol's own rule the first scores give 4.0; there is no verdict.
    scores, one round
      There was one round of scores.
    idle rounds at the end
      No debater changed its position.
      A plain vote on the first positions gives PASS; the verdict is PASS.
    an idle round after a change
      seat-3 changed from FAIL to PASS in round 2, naming [L7].
      A plain vote on the first positions gives PASS; the verdict is PASS.
      Nobody changed position in round 3.
    an idle round in between
      seat-3 changed from FAIL to PASS in round 3, naming [L7].
      A plain vote on the first positions gives PASS; the verdict is PASS.
      Nobody changed position in round 2.
    an idle round before a vote
      No debater changed its position.
      A plain vote on the first positions gives PASS; the verdict is PASS.
    ");
}

#[test]
#[rustfmt::skip]
fn seats_that_share_models() {
    let told = told(&[
        ("two on one model", values("PASS PASS\nFAIL FAIL", "").on(&["a/1", "a/1"])),
        ("three on one model", values("PASS\nPASS\nPASS", "PASS").on(&["a/1", "a/1", "a/1"])),
        ("two of three on one model", values("PASS\nPASS\nPASS", "PASS").on(&["a/1", "a/1", "b/2"])),
        ("two pairs", values("PASS\nPASS\nPASS\nPASS", "PASS").on(&["a/1", "a/1", "b/2", "b/2"])),
        ("one provider", values("PASS\nPASS\nPASS", "PASS").on(&["a/1", "a/2", "b/2"])),
        ("two providers twice", values("PASS\nPASS\nPASS\nPASS\nPASS", "PASS").on(&["a/1", "a/2", "b/1", "b/2", "c/1"])),
    ]);
    assert_snapshot!(told, @"
    two on one model
      No debater changed its position.
      A plain vote on the first positions is tied between PASS and FAIL; there is no verdict.
      How independent the debaters are is not known; seat-1 and seat-2 share the model a/1.
    three on one model
      There was one round of positions.
      A plain vote on the first positions gives PASS; the verdict is PASS.
      How independent the debaters are is not known; seat-1, seat-2 and seat-3 share the model a/1.
    two of three on one model
      There was one round of positions.
      A plain vote on the first positions gives PASS; the verdict is PASS.
      How independent the debaters are is not known; seat-1 and seat-2 share the model a/1.
    two pairs
      There was one round of positions.
      A plain vote on the first positions gives PASS; the verdict is PASS.
      How independent the debaters are is not known; seat-1 and seat-2 share the model a/1; seat-3 and seat-4 share the model b/2.
    one provider
      There was one round of positions.
      A plain vote on the first positions gives PASS; the verdict is PASS.
      How independent the debaters are is not known; seat-1 and seat-2 share the provider a.
    two providers twice
      There was one round of positions.
      A plain vote on the first positions gives PASS; the verdict is PASS.
      How independent the debaters are is not known; seat-1 and seat-2 share the provider a; seat-3 and seat-4 share the provider b.
    ");
}
