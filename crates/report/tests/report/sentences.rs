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
    /// others, `*` a change that cites an id, `"` one with a quote, `,` one without a reason, and `=` a revision that keeps the position.
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
        let name = |cell: &str| cell.trim_end_matches(['?', '*', '=', '"', ',', '!']).to_owned();
        let held = |seat: usize, round: usize| {
            let cell = table[seat].get(round).filter(|cell| **cell != "-")?;
            let before = round.checked_sub(1).map(|before| table[seat][before]);
            let is_another = |before: &str| before != "-" && name(before) != name(cell);
            let changed = before.is_some_and(is_another) || cell.ends_with('=');
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
        let usual = "How independent the debaters are is not known yet; no two share a model.";
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
      The only debater kept its position.
    one seat changes
      The only debater changed its mind in round 2, from PASS to FAIL, citing [L7].
    two agree from the start
      Neither debater changed its position.
      Before they read each other, both debaters held PASS, and that is the verdict.
    two swap
      Both debaters changed their minds in round 2, citing nothing.
      The two first positions were different, so a plain vote on them would have been tied, but by the protocol's own rule the verdict would have been the same.
    one of three joins the majority, cited
      One of three debaters changed its mind in round 2, from FAIL to PASS, citing [L7] and joining most of the others.
      A plain vote on the first positions would have given the same verdict.
    one of three joins the majority, uncited
      One of three debaters changed its mind in round 2, from FAIL to PASS, citing nothing and joining most of the others.
      A plain vote on the first positions would have given the same verdict.
    one of three joins the majority, with a quote
      One of three debaters changed its mind in round 2, from FAIL to PASS, with a verified quote, joining most of the others.
      A plain vote on the first positions would have given the same verdict.
    two change, each with a quote
      Two of three debaters changed their minds in round 2, both with a verified quote.
      No two of the first positions were the same, so a plain vote on them would have been tied.
      In the end all three debaters held PASS, and that is the verdict.
    two change, one with a quote and one with an id
      Two of three debaters changed their minds in round 2, both citing a point or evidence.
      No two of the first positions were the same, so a plain vote on them would have been tied.
      In the end all three debaters held PASS, and that is the verdict.
    two change, one with a quote and one with nothing
      Two of three debaters changed their minds in round 2, one with a verified quote and one citing nothing.
      No two of the first positions were the same, so a plain vote on them would have been tied.
      In the end all three debaters held PASS, and that is the verdict.
    one of three leaves the majority
      One of three debaters changed its mind in round 2, from PASS to FAIL, citing [L7].
      A plain vote on the first positions would have said PASS; the verdict is FAIL.
    several changes
      All three debaters changed their minds in rounds 2 and 3, five times in all: two citing a point or evidence and three citing nothing.
      A plain vote on the first positions would have given the same verdict.
      The verdict turned from WARN to FAIL in round 3.
    seven seats
      Three of seven debaters changed their minds in round 2, two citing a point or evidence and one citing nothing.
      A plain vote on the first positions would have been tied between PASS and FAIL.
      In the end six of seven debaters held PASS, and that is the verdict.
    a late seat
      None of the three debaters changed its position.
      Before they read each other, the two debaters with a first position held PASS, and that is the verdict.
    only one first position
      Neither debater changed its position.
    one changes and revises again, two revise and keep theirs
      One of three debaters changed its mind in round 2, from FAIL to PASS, citing [L7] and joining most of the others.
      seat-1 and seat-3 (round 3) and seat-2 (rounds 2 and 3) revised their positions and kept their votes.
      A plain vote on the first positions would have given the same verdict.
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
      Neither debater changed its position.
      The two first positions were different, so a plain vote on them would have been tied, but by the protocol's own rule the verdict would have been the same.
    two differ to the end, no verdict
      Neither debater changed its position.
      The two first positions were different, so a plain vote on them would have been tied; there is no verdict.
    three agree, no verdict
      None of the three debaters changed its position.
      Before they read each other, all three debaters held PASS, but there is no verdict.
    three agree, another verdict
      None of the three debaters changed its position.
      Before they read each other, all three debaters held PASS, but the verdict is FAIL.
    three agree, still running
      None of the three debaters has changed its position so far.
      Before they read each other, all three debaters held PASS; there is no verdict yet.
    the rule is stricter than the vote
      None of the three debaters changed its position.
      By the protocol's own rule the first positions would have given the same verdict; a plain vote on them would have said PASS.
    the rule was stricter, the debate undid it
      One of three debaters changed its mind in round 2, from FAIL to PASS, citing [L7] and joining most of the others.
      A plain vote on the first positions would have given the same verdict, but by the protocol's own rule they would have given FAIL.
    the rule gave a third value
      None of the three debaters changed its position.
      A plain vote on the first positions would have said PASS, and the protocol's own rule would have given FAIL; the verdict is WARN.
    the rule gave nothing on the first values
      One of three debaters changed its mind in round 2, from FAIL to PASS, citing nothing and joining most of the others.
      A plain vote on the first positions would have given the same verdict, but by the protocol's own rule they would have given none.
    the rule gave nothing, and another value won
      Two of three debaters changed their minds in round 2, both citing nothing.
      A plain vote on the first positions would have said PASS, and the protocol's own rule would have given no verdict; the verdict is FAIL.
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
      One of four debaters changed its mind in round 2, from FAIL to PASS, citing [L7] and joining most of the others.
      A plain vote on the first positions would have been tied between PASS and FAIL.
      In the end three of four debaters held PASS, and that is the verdict.
    a tie of four, broken by all
      Two of four debaters changed their minds in round 2, one citing a point or evidence and one citing nothing.
      A plain vote on the first positions would have been tied between PASS and FAIL.
      In the end all four debaters held PASS, and that is the verdict.
    a tie of four, not broken
      None of the four debaters changed its position.
      A plain vote on the first positions would have been tied between PASS and FAIL; there is no verdict.
    a tie, the rule gives a third value
      One of two debaters changed its mind in round 2, from FAIL to PASS, citing nothing.
      The two first positions were different, so a plain vote on them would have been tied.
      By the protocol's own rule they would have given WARN; the verdict is PASS.
    a tie, still running
      Neither debater has changed its position so far.
      The two first positions were different, so a plain vote on them would have been tied; there is no verdict yet.
    one round, a majority
      There was only one round of positions, so nobody could change.
      A plain vote on the positions gives the same verdict.
    one round, all the same
      There was only one round of positions, so nobody could change.
      Both debaters held PASS, and that is the verdict.
    one round, a stricter rule
      There was only one round of positions, so nobody could change.
      A plain vote on the positions says PASS; by the protocol's own rule the verdict is FAIL.
    one round, a tie that a rule breaks
      There was only one round of positions, so nobody could change.
      The two positions are different, so a plain vote on them is tied; the protocol's own rule decided.
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
    assert_snapshot!(told, @r#"
    a vote that follows the positions
      One of three debaters changed its mind in round 2, from FAIL to PASS, citing [L7] and joining most of the others.
      In the vote, all three debaters voted as before.
      A plain vote on the first positions would have given the same verdict.
    a vote against a position
      None of the three debaters changed its position.
      In the vote, seat-1 went from PASS to FAIL.
      seat-1's reason: "It is cheaper." A plain vote on the first positions would have said PASS; the verdict is FAIL.
      The verdict turned from PASS to FAIL in the vote, by the vote of seat-1.
    a vote in which one abstains
      There was only one round of positions before the vote.
      In the vote, seat-3 went from PASS to FAIL; seat-2 did not vote.
      seat-3's reason: "It is cheaper." A plain vote on the first positions would have said PASS, but there is no verdict.
    votes alone
      (nothing else)
    two votes
      There was only one round of positions before the vote.
      In the last vote, both debaters voted as before.
      Before they read each other, both debaters held PASS, and that is the verdict.
      The verdict turned in the vote of round 3, by the vote of seat-1.
    a vote against a position, without a reason
      None of the three debaters changed its position.
      In the vote, seat-1 went from PASS to FAIL.
      A plain vote on the first positions would have said PASS; the verdict is FAIL.
      The verdict turned from PASS to FAIL in the vote, by the vote of seat-1.
    back to an earlier position in the vote
      One of three debaters changed its mind in round 2, from PASS to FAIL, citing [L7] and joining most of the others.
      In the vote, seat-1 went from FAIL to PASS.
      A plain vote on the first positions would have given the same verdict.
    several leave their positions in the vote
      None of the three debaters changed its position.
      In the vote, seat-1 and seat-2 backed other positions than their last ones.
      A plain vote on the first positions would have given the same verdict.
    one of three abstains, the others keep theirs
      One of three debaters changed its mind in round 2, citing [L7].
      In the vote, two of three debaters backed the positions that they held; seat-3 abstained.
      No two of the first positions were the same, so a plain vote on them would have been tied.
      In the end two of three debaters held "move", and that is the answer.
    one abstains and one is absent
      None of the three debaters changed its position.
      In the vote, seat-1 backed the position that it held; seat-3 abstained; seat-2 did not vote.
      No two of the first positions were the same, so a plain vote on them would have been tied.
      In the end one of three debaters held "move", and that is the answer.
    a vote for another's text
      None of the three debaters changed its position.
      In the vote, seat-3 backed another position than its own.
      No two of the first positions were the same, so a plain vote on them would have been tied.
      In the end two of three debaters held "move", and that is the answer.
    "#);
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
    ]);
    assert_snapshot!(told, @r#"
    sorted, all the same
      None of the three debaters changed its position.
      Before they read each other, all three debaters held the same position, and that is the answer.
    sorted, reworded
      None of the three debaters gave up its position; two revised it.
      A plain vote on the first positions would have given the same position.
    both reworded
      Neither debater gave up its position; both revised it.
      The two first positions were different, so a plain vote on them would have been tied.
      The debate did not break the tie; the answer takes one of the positions that were held.
    one seat rewords
      The only debater revised its position without giving it up.
    sorted, a majority wins
      One of three debaters changed its mind in round 2, citing [L7] and joining most of the others.
      A plain vote on the first positions would have given the same position.
    sorted, the minority wins
      None of the three debaters changed its position.
      A plain vote on the first positions would have said "move"; the answer states another position.
    sorted, the answer is new
      None of the three debaters changed its position.
      A plain vote on the first positions would have said "move"; the answer states a position that nobody held.
    sorted, the answer's position is unknown
      None of the three debaters changed its position.
      A plain vote on the first positions would have said "move".
      No verified declaration says which position the answer states, so whether the debate changed it is unknown.
    all the same, answer unknown
      Neither debater changed its position.
      Before they read each other, both debaters held the same position.
      No verified declaration says which position the answer states, so whether the debate changed it is unknown.
    all the same, answer new
      Neither debater changed its position.
      Before they read each other, both debaters held the same position, but the answer states a position that nobody held.
    a long text
      Two of three debaters changed their minds in round 2, both citing nothing.
      A plain vote on the first positions would have said "Move the whole service to the other region before the end..."; the answer states another position.
    "#);
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
    assert_snapshot!(told, @r#"
    all different, one convinces all
      Two of three debaters changed their minds in round 2, both citing a point or evidence.
      No two of the first positions were the same, so a plain vote on them would have been tied.
      In the end all three debaters held "move", and that is the answer.
    all different, one convinces most
      One of three debaters changed its mind in round 2, citing [L7].
      No two of the first positions were the same, so a plain vote on them would have been tied.
      In the end two of three debaters held "move", and that is the answer.
    all different to the end, one is taken
      None of the three debaters changed its position.
      No two of the first positions were the same, so a plain vote on them would have been tied.
      The debate did not break the tie; the answer takes one of the positions that were held.
    all different to the end, combined
      None of the three debaters changed its position.
      No two of the first positions were the same, so a plain vote on them would have been tied.
      The debate did not break the tie; the answer states a position that nobody held.
    all different to the end, unknown answer
      None of the three debaters changed its position.
      No two of the first positions were the same, so a plain vote on them would have been tied.
      No verified declaration says which position the answer states, so whether the debate changed it is unknown.
    all different, most agree on what the answer rejects
      One of three debaters changed its mind in round 2, citing nothing.
      No two of the first positions were the same, so a plain vote on them would have been tied.
      In the end two of three debaters held "move", but the answer states another position.
    two by two
      None of the four debaters changed its position.
      A plain vote on the first positions would have been tied between two of them.
      The debate did not break the tie; the answer states a position that nobody held.
    one round, sorted
      There was only one round of positions, so nobody could change.
      A plain vote on the positions gives the same answer.
    one round, all different, combined
      There was only one round of positions, so nobody could change.
      No two of the positions are the same, so a plain vote on them is tied.
      The answer states a position that nobody held.
    one round, sorted, answer unknown
      There was only one round of positions, so nobody could change.
      A plain vote on the positions says "move".
      No verified declaration says which position the answer states.
    "#);
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
      None of the three debaters changed its position.
      No verified declaration says which of the positions are the same, so how far they agreed, what a plain vote on them would have said and whether the debate changed the answer are unknown.
    nobody sorted, one revised
      One of three debaters revised its position in round 2, citing nothing.
      No verified declaration says which of the positions are the same, so how far they agreed, what a plain vote on them would have said and whether the debate changed the answer are unknown.
    nobody sorted, no answer
      Neither debater changed its position.
      No verified declaration says which of the positions are the same, so how far they agreed and what a plain vote on them would have said are unknown.
    nobody sorted, one round
      There was only one round of positions, so nobody could change.
      No verified declaration says which of the positions are the same, so how far they agree and what a plain vote on them says are unknown.
    nobody sorted, still running
      Neither debater has changed its position so far.
      No verified declaration says which of the positions are the same, so how far they agreed and what a plain vote on them would have said are unknown.
    the first answers were not sorted
      One of three debaters revised its position in round 2, citing [L7].
      No verified declaration says which of the first positions are the same, so what a plain vote on them would have said and whether the debate changed the answer are unknown.
    the last answers were not sorted
      One of three debaters revised its position in round 2, citing [L7].
      No two of the first positions were the same, so a plain vote on them would have been tied.
      The answer takes one of the positions that were held.
    equal texts that nobody sorted
      Neither debater changed its position.
      Before they read each other, both debaters held the same position, and that is the answer.
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
      All three debaters changed their scores in rounds 2 and 3, two citing a point or evidence and one citing nothing.
      The first scores would have given the same verdict.
    scores, one changes with a quote
      One of three debaters changed its score in round 2, from 3.5 to 3.8, with a verified quote, moving toward the other scores.
      The first scores would have given 4.0 instead of 4.1.
    scores, one changes
      One of three debaters changed its score in round 2, from 3.5 to 3.8, citing [L7] and moving toward the other scores.
      The first scores would have given 4.0 instead of 4.1.
    scores, one names what does not verify
      Two of three debaters changed their scores in round 2, one citing a point or evidence and one citing nothing that verifies.
      The first scores would have given the same verdict.
    scores, all change
      All three debaters changed their scores in rounds 2 and 3, four times in all: two citing a point or evidence and two citing nothing.
      The first scores would have given the same verdict.
    scores, the first gave none
      Two of three debaters changed their scores in round 2, both citing nothing and moving toward the other scores.
      The first scores would have given no verdict.
    scores, none in the end
      None of the three debaters changed its score.
      The first scores would have given no verdict either.
    scores, the verdict was lost
      Two of three debaters changed their scores in round 2, both citing nothing.
      The first scores would have given a verdict, 4.0, but there is none.
    scores, one round
      There was only one round of scores, so nobody could change.
    idle rounds at the end
      None of the three debaters changed its position.
      A plain vote on the first positions would have given the same verdict.
      Stopping after round 1 would have left the same positions with 8 fewer calls.
    an idle round after a change
      One of three debaters changed its mind in round 2, from FAIL to PASS, citing [L7] and joining most of the others.
      A plain vote on the first positions would have given the same verdict.
      Nobody revised anything in round 3; stopping after round 2 would have left the same positions with 1 fewer call.
    an idle round in between
      One of three debaters changed its mind in round 3, from FAIL to PASS, citing [L7] and joining most of the others.
      A plain vote on the first positions would have given the same verdict.
      Nobody revised anything in round 2.
    an idle round before a vote
      None of the three debaters changed its position.
      In the vote, all three debaters voted as before.
      A plain vote on the first positions would have given the same verdict.
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
        ("one vendor", values("PASS\nPASS\nPASS", "PASS").on(&["a/1", "a/2", "b/2"])),
        ("two vendors twice", values("PASS\nPASS\nPASS\nPASS\nPASS", "PASS").on(&["a/1", "a/2", "b/1", "b/2", "c/1"])),
    ]);
    assert_snapshot!(told, @"
    two on one model
      Neither debater changed its position.
      The two first positions were different, so a plain vote on them would have been tied; there is no verdict.
      How independent the debaters are is not known yet; both use the same model.
    three on one model
      There was only one round of positions, so nobody could change.
      All three debaters held PASS, and that is the verdict.
      How independent the debaters are is not known yet; all three use the same model.
    two of three on one model
      There was only one round of positions, so nobody could change.
      All three debaters held PASS, and that is the verdict.
      How independent the debaters are is not known yet; two use the same model.
    two pairs
      There was only one round of positions, so nobody could change.
      All four debaters held PASS, and that is the verdict.
      How independent the debaters are is not known yet; all four share a model with another seat.
    one vendor
      There was only one round of positions, so nobody could change.
      All three debaters held PASS, and that is the verdict.
      How independent the debaters are is not known yet; two use models of one vendor.
    two vendors twice
      There was only one round of positions, so nobody could change.
      All five debaters held PASS, and that is the verdict.
      How independent the debaters are is not known yet; four share a vendor with another seat.
    ");
}
