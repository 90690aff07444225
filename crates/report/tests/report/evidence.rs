//! What the debate did, as a paragraph, a small table and every measure.

use agon_core::{
    DebateView, Event, PositionChange, PositionGrouping, PositionHistory, RoundPositions, SeatPosition,
};
use agon_measure::evidence::PhaseCost;
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::samples::{self, DebateLog, PLAIN, ReadDebate, brief, deep};
use crate::terminal::outcome;
use agon_report::Style;

const TITLE: &str = "What the debate did";

/// Who held what after rounds 1, 2, 3...; a `*` at the end marks a change that cites something.
#[derive(Clone)]
struct Situation<'a> {
    grouping: PositionGrouping,
    held: &'a [&'a [&'a str]],
    rulings: &'a [Option<&'a str>],
    decided: Option<&'a str>,
    models: &'a [&'a str],
}

const SITUATION: Situation<'static> = Situation {
    grouping: PositionGrouping::Discrete,
    held: &[],
    rulings: &[Some("PASS"), Some("PASS"), Some("PASS")],
    decided: Some("PASS"),
    models: &["a/1", "b/2", "c/3", "d/4"],
};

impl Situation<'_> {
    fn history(&self) -> PositionHistory {
        let rounds = self.held.first().map_or(0, |held| held.len());
        let held = |seat: usize, round: usize| {
            let (name, before) =
                (self.held[seat][round], round.checked_sub(1).map(|before| self.held[seat][before]));
            let position = name.trim_end_matches('*');
            let changed = before.is_some_and(|before| before.trim_end_matches('*') != position);
            let cited = if name.ends_with('*') { vec!["a point".to_owned()] } else { Vec::new() };
            SeatPosition {
                seat: format!("seat-{}", seat + 1),
                position: position.to_owned(),
                value: position.parse().ok(),
                change: changed.then_some(PositionChange { cited }),
                ..SeatPosition::default()
            }
        };
        let round = |round: usize| RoundPositions {
            round: round as u32 + 1,
            stands: (0..self.held.len()).map(|seat| held(seat, round)).collect(),
            ruling: self.rulings.get(round).copied().flatten().map(str::to_owned),
            ballots: false,
        };
        PositionHistory {
            grouping: self.grouping,
            rounds: (0..rounds).map(round).collect(),
            decided: self.decided.map(str::to_owned),
            ..PositionHistory::default()
        }
    }

    fn read(&self) -> ReadDebate {
        read(self.history(), self.models)
    }

    fn paragraph(&self) -> String {
        paragraph(&self.read())
    }
}

/// A debate with these positions that is over. Every seat has its own model, in order.
fn read(positions: PositionHistory, models: &[&str]) -> ReadDebate {
    let mut brief = brief(&[]);
    let seat = |(place, model): (usize, &&str)| agon_core::Seat {
        id: format!("seat-{}", place + 1),
        role: "debater".into(),
        model: (*model).into(),
    };
    brief.seats = models.iter().enumerate().map(seat).collect();
    let mut log = DebateLog::open(brief);
    log.push(Event::Closed { outcome: Box::new(outcome(json!({"answer": "x"}))) }, 5);
    ReadDebate::with_view(deep(), log.debate, DebateView { positions, ..DebateView::default() })
}

/// The paragraph alone, as one line.
fn paragraph(read: &ReadDebate) -> String {
    let shown = read.section(TITLE, &PLAIN);
    let lines = shown.lines().skip(1).take_while(|line| !line.trim().is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

#[test]
fn values_and_scores_stand_for_themselves() {
    let values = Situation { held: &[&["WARN", "FAIL*"], &["PASS", "WARN"], &["WARN", "WARN"]], ..SITUATION };
    assert_snapshot!(values.read().section(TITLE, &PLAIN), @"
    What the debate did
      Two of three changed their minds in round 2, one after a cited point, one with
      nothing cited. By its own rule the first positions would have given the same
      verdict; a plain vote would have said WARN. How independent these voices are
      is not known yet; no two seats share a model.

              R1     R2
      seat-1  WARN   FAIL*
      seat-2  PASS   WARN~
      seat-3  WARN   WARN
      * changed after a cited point; ~ changed with nothing cited
    ");
    let scores = Situation {
        held: &[&["3.5", "3.8*", "4"], &["4.5", "4.5", "4.3"], &["2", "2.2*", "2.2"]],
        ..SITUATION
    };
    assert_snapshot!(scores.read().section(TITLE, &PLAIN), @"
    What the debate did
      All three changed their scores in rounds 2 and 3, four times in all: two after
      a cited point, two with nothing cited. By its own rule the first positions
      would have given the same verdict. How independent these voices are is not
      known yet; no two seats share a model.

              R1    R2    R3
      seat-1  3.5   3.8*  4~
      seat-2  4.5   4.5   4.3~
      seat-3  2     2.2*  2.2
      * changed after a cited point; ~ changed with nothing cited
    ");
}

/// Each situation with its sentences.
#[test]
fn the_paragraph_fits_the_situation() {
    let (pass, fail): (&[&str], &[&str]) = (&["PASS", "PASS"], &["FAIL", "FAIL"]);
    let none = Situation { rulings: &[], decided: None, ..SITUATION };
    let words: (&[&str], &[&str]) = (&["Yes, move it", "Yes, move it"], &["No", "No"]);
    let cases = [
        ("one voice", Situation { held: &[pass], ..SITUATION }),
        (
            "two keep theirs, one model",
            Situation { held: &[pass, fail], models: &["a/1", "a/1"], ..SITUATION },
        ),
        ("all agreed, one model", Situation { held: &[pass, pass, pass], models: &["a/1"; 3], ..SITUATION }),
        ("all agreed, no verdict", Situation { held: &[pass, pass, pass], ..none }),
        (
            "all agreed, another verdict",
            Situation { held: &[pass, pass], decided: Some("FAIL"), ..SITUATION },
        ),
        (
            "both change, nothing cited",
            Situation { held: &[&["PASS", "FAIL"], &["FAIL", "PASS"]], ..SITUATION },
        ),
        ("one changes, with a citation", Situation { held: &[&["FAIL", "PASS*"], pass, pass], ..SITUATION }),
        ("one changes, no verdict", Situation { held: &[&["FAIL", "PASS"], pass, pass], ..none }),
        (
            "all change more than once, another verdict",
            Situation {
                held: &[&["FAIL", "PASS*", "FAIL"], &["WARN", "FAIL", "FAIL"], &["FAIL", "WARN", "PASS*"]],
                rulings: &[Some("FAIL"), Some("WARN"), Some("PASS")],
                models: &["a/1", "a/1", "b/2"],
                ..SITUATION
            },
        ),
        ("one round", Situation { held: &[&["PASS"], &["FAIL"]], ..SITUATION }),
        (
            "a tie of words",
            Situation {
                grouping: PositionGrouping::Similarity,
                held: &[words.0, words.1, words.1, words.0],
                ..none
            },
        ),
        (
            "a family of models",
            Situation { held: &[pass, pass, fail], models: &["a/1", "a/2", "b/3"], ..SITUATION },
        ),
        (
            "the rule and the vote differ",
            Situation {
                held: &[pass, pass, fail],
                rulings: &[Some("FAIL"); 2],
                decided: Some("FAIL"),
                ..SITUATION
            },
        ),
    ];
    let told = cases.map(|(what, situation)| format!("{what}\n  {}\n", situation.paragraph())).concat();
    assert_snapshot!(told, @"
    one voice
      The only voice kept its position. Round 2 changed nothing.
    two keep theirs, one model
      Neither of the two changed its position. By its own rule the first positions would have given the same verdict. Round 2 changed nothing. How independent these voices are is not known yet; both share one model.
    all agreed, one model
      None of the three changed its position. They agreed before the debate began, and that is the verdict. Round 2 changed nothing. How independent these voices are is not known yet; all three share one model.
    all agreed, no verdict
      None of the three changed its position. They agreed before the debate began, but there is no verdict. Round 2 changed nothing. How independent these voices are is not known yet; no two seats share a model.
    all agreed, another verdict
      Neither of the two changed its position. They agreed before the debate began, but the verdict is another. Round 2 changed nothing. How independent these voices are is not known yet; no two seats share a model.
    both change, nothing cited
      Both changed their minds in round 2, both with nothing cited. By its own rule the first positions would have given the same verdict. How independent these voices are is not known yet; no two seats share a model.
    one changes, with a citation
      One of three changed its mind in round 2, after a cited point. A plain vote before the debate would have said the same. How independent these voices are is not known yet; no two seats share a model.
    one changes, no verdict
      One of three changed its mind in round 2, with nothing cited. A plain vote before the debate would have said PASS, but there is no verdict. How independent these voices are is not known yet; no two seats share a model.
    all change more than once, another verdict
      All three changed their minds in rounds 2 and 3, five times in all: two after a cited point, three with nothing cited. A plain vote before the debate would have said something else: FAIL. How independent these voices are is not known yet; two seats share a model.
    one round
      Positions were taken only once, so nobody could change. By its own rule the first positions would have given the same verdict. How independent these voices are is not known yet; no two seats share a model.
    a tie of words
      None of the four changed its position. A plain vote before the debate would have been tied between two positions. Nothing settled it. Round 2 changed nothing. How independent these voices are is not known yet; no two seats share a model.
    a family of models
      None of the three changed its position. A plain vote before the debate would have said the same. Round 2 changed nothing. How independent these voices are is not known yet; two seats are models of one family.
    the rule and the vote differ
      None of the three changed its position. By its own rule the first positions would have given the same verdict; a plain vote would have said PASS. Round 2 changed nothing. How independent these voices are is not known yet; no two seats share a model.
    ");
}

#[test]
fn idle_rounds_at_the_end_say_how_many_calls_they_took() {
    let mut read = Situation { held: &[&["PASS"; 3], &["PASS"; 3], &["FAIL"; 3]], ..SITUATION }.read();
    let phase = |phase: &str, round, calls| PhaseCost {
        phase: phase.into(),
        round,
        calls,
        input_tokens: 0,
        cached_input_tokens: 0,
        output_tokens: 0,
        usd: None,
    };
    // The synthesis would have been needed after round 1, too.
    read.evidence.cost.rounds = vec![
        phase("debate", 1, 3),
        phase("debate", 2, 3),
        phase("moderate", 2, 1),
        phase("debate", 3, 3),
        phase("synthesis", 3, 1),
    ];
    assert_snapshot!(paragraph(&read), @"None of the three changed its position. A plain vote before the debate would have said the same. Rounds 2 and 3 changed nothing: the same verdict after round 1 for 7 fewer calls. How independent these voices are is not known yet; no two seats share a model.");
}

#[test]
fn known_correlations_are_told_as_independent_voices() {
    let mut read =
        Situation { held: &[&["FAIL", "PASS*"], &["PASS", "FAIL*"], &["PASS", "PASS"]], ..SITUATION }.read();
    read.evidence.independence.known = true;
    read.evidence.independence.n_eff = Some(1.7633);
    assert_snapshot!(paragraph(&read), @"Two of three changed their minds in round 2, both after a cited point. A plain vote before the debate would have said the same. The three voices count for about 1.8 independent ones.");
    read.evidence.independence.n_eff = Some(3.2);
    assert!(paragraph(&read).ends_with("The three voices count in full: they do not err together."));
}

#[test]
fn a_debate_without_positions_has_no_such_section() {
    assert!(!read(PositionHistory::default(), &["a/1"]).terminal(&PLAIN).contains(TITLE));
}

#[test]
fn the_long_form_has_every_measure() {
    let long = samples::converged().read().markdown();
    let figures = long.split("## The evidence in figures").nth(1).unwrap().split("\n## ").next().unwrap();
    assert_snapshot!(figures.trim(), @"
    ### Before the debate

    | Position | Held by | Share |
    | --- | --- | --- |
    | Yes, rewrite it. | Debater C | 33% |
    | No. | Debater B | 33% |
    | Only the ledger: it is 4,000 lines and *all* the incidents are there. | Debater A | 33% |

    - **The verdict**: Only the ledger: it is 4,000 lines and *all* the incidents are there.
    - **Changed by the debate**: yes
    - **How positions are told apart**: by the likeness of their words and by declared conflicts

    ### How sure they were

    | Seat | The first answers | Round 1 | Round 2 |
    | --- | --- | --- | --- |
    | Debater C | - | 0.90 | 0.90 |
    | Debater B | - | 0.90 | 0.80 |
    | Debater A | - | 0.90 | 0.90 |

    ### Changes by seat

    | Seat | Changes | With something cited | Toward the majority |
    | --- | --- | --- | --- |
    | Debater C | 0 | 0 | 0 |
    | Debater B | 1 | 0 | 1 |
    | Debater A | 0 | 0 | 0 |

    ### Agreement by round

    | After | Positions | Pairs that agree | Spread, bits | Gain, bits |
    | --- | --- | --- | --- | --- |
    | The first answers | 3 | 0.00 | 1.58 | - |
    | Round 1 | 3 | 0.00 | 1.58 | 0.00 |
    | Round 2 | 2 | 0.33 | 0.92 | 0.67 |

    ### The verdict, had it stopped there

    | After | Verdict | Changed |
    | --- | --- | --- |
    | The first answers | none | no |
    | Round 1 | none | no |
    | Round 2 | Only the ledger: it is 4,000 lines and *all* the incidents are there. | yes |

    ### Independence

    - **Debates measured**: 0

    unknown: no earlier debate of these models is resolved; tell agon how one turned out with `agon resolve`

    ### Calibration

    | Seat | Agent | Forecasts | Brier | Calibration error | Sure before | Sure after |
    | --- | --- | --- | --- | --- | --- | --- |
    | Debater C | openai/alpha | 0 | - | - | - | 0.90 |
    | Debater B | anthropic/beta | 0 | - | - | - | 0.80 |
    | Debater A | gemini/gamma | 0 | - | - | - | 0.90 |
    ");
    let changes = long.split("## Who changed and why").nth(1).unwrap().split("\n## ").next().unwrap();
    assert_snapshot!(changes.trim(), @"
    ### Debater B in round 2

    *nothing cited · toward the majority*

    - **From**: No.
    - **To**: Only the ledger: it is 4,000 lines and *all* the incidents are there.
    - **In its own words**: All nine incidents were in the ledger
    ");
}

/// Positions of up to six seats through up to five rounds.
fn histories() -> impl Strategy<Value = PositionHistory> {
    let position =
        prop_oneof!["PASS|FAIL|WARN", "[0-9]\\.[0-9]", "[a-zA-Z ,*_~|<>\u{e9}\u{4e2d}-]{1,90}", "x{120}"];
    let stand = (position, prop::option::of(0.0..1.0_f64), prop::option::of(any::<bool>()));
    let grouping = prop::sample::select(vec![
        PositionGrouping::Discrete,
        PositionGrouping::Declared,
        PositionGrouping::Similarity,
    ]);
    let rounds =
        prop::collection::vec((prop::collection::vec(stand, 0..6), prop::option::of("PASS|FAIL")), 0..5);
    (grouping, rounds, prop::option::of("PASS|FAIL|WARN")).prop_map(|(grouping, rounds, decided)| {
        PositionHistory {
            grouping,
            rounds: (0..)
                .zip(rounds)
                .map(|(round, (stands, ruling))| RoundPositions {
                    round,
                    stands: (1..)
                        .zip(stands)
                        .map(|(seat, (position, confidence, change))| SeatPosition {
                            seat: format!("seat-{seat}"),
                            value: position.parse().ok(),
                            position,
                            confidence,
                            change: change.map(|cites| PositionChange {
                                cited: if cites { vec!["a point".into()] } else { Vec::new() },
                            }),
                            ..SeatPosition::default()
                        })
                        .collect(),
                    ruling,
                    ballots: false,
                })
                .collect(),
            decided,
            ..PositionHistory::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_was_held_the_account_of_it_fits_the_terminal(positions in histories(), width in 24_usize..110, unicode in any::<bool>()) {
        let read = read(positions, &["a/1", "b/2", "b/2", "c/3", "c/4", "d/5"]);
        let part = read.section(TITLE, &Style { color: false, width, unicode });
        for line in part.lines() {
            prop_assert!(line.width() <= width.min(100), "{} columns of {width}: {line:?}", line.width());
        }
        let sentences = paragraph(&read).replace("...", "");
        prop_assert!(sentences.matches(". ").count() <= 4 || sentences.contains('"'), "too many sentences: {}", sentences);
        prop_assert!(read.markdown().contains("Technical details"));
        prop_assert!(read.page().ends_with("</html>\n"));
    }
}
