//! What the debate did: the paragraph, the small table and all figures.

use agon_core::{DecidedPosition, PositionChange, PositionHistory, RoundPositions, SeatPosition, Status};
use insta::assert_snapshot;
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use crate::samples::{PLAIN, ReadDebate};
use crate::sentences::{TITLE, paragraph, read, texts, values};
use agon_report::TerminalStyle;

#[test]
fn a_tie_is_never_told_of_texts_that_nobody_compared() {
    let unsorted = paragraph(&texts("move? move?\nstay? stay?\nwait? wait?", "").unclear().read());
    for word in ["tied", "same as", "0.00", "different", "changed nothing"] {
        assert!(!unsorted.contains(word), "{unsorted}");
    }
    assert_eq!(unsorted.matches("unknown").count(), 1, "{unsorted}");
}

#[test]
fn values_and_scores_are_shown_in_a_small_table() {
    let situation = values("WARN FAIL*\nPASS WARN\nWARN WARN", "FAIL").ruled(&["WARN", "FAIL"]);
    assert_snapshot!(situation.read().section(TITLE, &PLAIN), @"
    What the debate did
      Two of three debaters changed their minds in round 2, one with a verified
      citation and one without. A plain vote on the first positions would have said
      WARN; the verdict is FAIL. How independent they are is not known yet; no two
      share a model.

              R1     R2
      seat-1  WARN   FAIL*
      seat-2  PASS   WARN~
      seat-3  WARN   WARN
      * changed with a verified citation; ~ without one
    ");
    let unsorted = texts("move? move?\nstay? other?\nwait? other?*", "").unclear();
    assert_snapshot!(unsorted.read().section(TITLE, &PLAIN), @"
    What the debate did
      Two of three debaters revised their positions in round 2, one with a verified
      citation and one without. No verified declaration says which of the positions
      are the same, so how far they agreed, what a plain vote on them would have
      said and whether the debate changed the answer are unknown. How independent
      they are is not known yet; no two share a model.

              R1       R2
      seat-1  move?    move?
      seat-2  stay?    other?~
      seat-3  wait?    other?*
      * changed with a verified citation; ~ without one; ? not compared with others
      • seat-2: changed in round 2, without a verified citation: It is cheaper.
      • seat-3: changed in round 2 because of a point
    ");
}

/// "Seven debaters fit in 80 columns", whatever they hold.
#[test]
fn seven_seats_fit_in_eighty_columns() {
    let long = "A_position_that_takes_a_whole_line_of_the_terminal_and_then_some_more_words_after_it";
    let held: Vec<String> =
        (0..7).map(|seat| format!("{long}{seat} {long}{seat}? {long}{seat} b* b b b b")).collect();
    let read = texts(held.join("\n").leak(), "b").read();
    let shown = read.section(TITLE, &PLAIN);
    assert!(shown.lines().all(|line| line.width() <= 80), "{shown}");
    let rows = (1..=7).filter(|seat| shown.contains(&format!("\n  seat-{seat} "))).count();
    assert_eq!(rows, 7, "{shown}");
}

#[test]
fn known_correlations_are_told_as_independent_voices() {
    let mut read = values("FAIL PASS*\nPASS FAIL*\nPASS PASS", "PASS").read();
    let independence = |read: &ReadDebate| paragraph(read).split(". ").last().unwrap().to_owned();
    read.evidence.independence.known = true;
    for (n_eff, sentence) in [
        (Some(1.7633), "By earlier debates, the three debaters are worth about 1.8 independent voices."),
        (Some(3.2), "By earlier debates, the three debaters do not err together."),
        (None, "By earlier debates, the three debaters do not err together."),
    ] {
        read.evidence.independence.n_eff = n_eff;
        assert_eq!(independence(&read), sentence);
    }
}

#[test]
fn a_debate_without_positions_has_no_such_section() {
    let read = read(PositionHistory::default(), &["a/1"], Some(Status::Complete));
    assert!(!read.terminal(&PLAIN).contains(TITLE));
}

#[test]
fn the_long_form_has_all_figures() {
    let long = texts("move move\nstay? move*\nwait? wait", "move").read().markdown();
    let part =
        |title: &str| long.split(title).nth(1).unwrap().split("\n## ").next().unwrap().trim().to_owned();
    assert_snapshot!(part("## The evidence in figures"), @"
    ### Before the debate

    | Position | Held by | Share |
    | --- | --- | --- |
    | move | seat-1 | unknown |
    | stay | seat-2 | unknown |
    | wait | seat-3 | unknown |

    - **The verdict states**: move
    - **Changed by the debate**: unknown
    - **How it is known which positions are the same**: by declarations with quotes that verify

    ### Changes by seat

    | Seat | Changes | With a verified citation | Joining most others |
    | --- | --- | --- | --- |
    | seat-1 | 0 | 0 | 0 |
    | seat-2 | 1 | 1 | unknown |
    | seat-3 | 0 | 0 | 0 |

    ### Agreement by round

    | After | Positions | Pairs that agree | Spread, bits | Gain, bits |
    | --- | --- | --- | --- | --- |
    | Round 1 | unknown | unknown | unknown | unknown |
    | Round 2 | 2 | 0.33 | 0.92 | - |

    ### The verdict if the debate had stopped there

    | After | Verdict | Changed |
    | --- | --- | --- |
    | Round 1 | unknown | - |
    | Round 2 | move | unknown |

    ### Independence

    - **Resolved debates of these models**: 0

    Unknown: no earlier debate of these models is resolved; tell agon how one turned out with `agon resolve`

    ### Calibration

    | Seat | Model | Forecasts | Brier | Calibration error | Confidence before | After |
    | --- | --- | --- | --- | --- | --- | --- |
    | seat-1 | a/1 | 0 | - | - | - | - |
    | seat-2 | b/2 | 0 | - | - | - | - |
    | seat-3 | c/3 | 0 | - | - | - | - |
    ");
    assert_snapshot!(part("## Who changed and why"), @"
    ### seat-2 in round 2

    *with a verified citation*

    - **From**: stay
    - **To**: move
    - **Cited**: a point
    - **In its own words**: It is cheaper.
    ");
}

/// A round that nobody sorted is a gap with a word, never a zero.
#[test]
fn drawings_leave_a_gap_where_nothing_is_known() {
    let page =
        texts("move move? move move\nstay other? move* move\nwait wait? wait wait", "move").read().page();
    let chart = page.split("class=\"chart\"").nth(1).unwrap().split("</svg>").next().unwrap();
    assert!(chart.contains("round 2: unknown") && chart.contains(">unknown</text>"), "{chart}");
    let agreement = chart.split("class=\"agreement\"").nth(1).unwrap().split("</g>").next().unwrap();
    // A single dot, a line over two rounds, and the line of the key.
    let points = agreement.split("<polyline points=\"").skip(1).map(|line| line.split('"').next().unwrap());
    let lengths: Vec<usize> = points.map(|points| points.split(' ').count()).collect();
    assert_eq!(lengths, [1, 2, 2], "{agreement}");
    let flow = page.split("class=\"flow\"").nth(1).unwrap().split("</svg>").next().unwrap();
    assert_eq!(flow.matches("<circle class=\"hollow\"").count(), 3, "{flow}");
    let nothing = texts("move? move?\nstay? stay?", "").unclear().read().page();
    assert!(!nothing.contains("class=\"chart\""), "there is nothing to draw");
}

/// Positions of up to six seats through up to five rounds.
fn histories() -> impl Strategy<Value = PositionHistory> {
    let position =
        prop_oneof!["PASS|FAIL|WARN", "[0-9]\\.[0-9]", "[a-zA-Z ,*_~|<>\u{e9}\u{4e2d}-]{1,90}", "x{120}"];
    let change = prop::option::of(any::<bool>());
    let stand = (position, prop::option::of(0.0..1.0_f64), change, any::<bool>());
    let stand = stand.prop_map(|(position, confidence, change, is_unsorted)| SeatPosition {
        value: position.parse().ok(),
        position,
        confidence,
        is_unsorted,
        change: change.map(|cites| PositionChange {
            cited: if cites { vec!["a point".into()] } else { Vec::new() },
            ..PositionChange::default()
        }),
        ..SeatPosition::default()
    });
    let round = (prop::collection::vec(stand, 0..6), prop::option::of("PASS|FAIL"), any::<bool>());
    let decided = prop_oneof![
        Just(DecidedPosition::Nothing),
        Just(DecidedPosition::Unknown),
        "PASS|FAIL|WARN".prop_map(DecidedPosition::Held),
        "[a-z ]{1,90}".prop_map(DecidedPosition::New),
    ];
    (any::<bool>(), prop::collection::vec(round, 0..5), decided).prop_map(|(are_texts, rounds, decided)| {
        let round = |(round, (mut stands, ruling, ballots)): (u32, (Vec<SeatPosition>, _, _))| {
            (1..).zip(&mut stands).for_each(|(seat, held): (u32, _)| held.seat = format!("seat-{seat}"));
            stands.iter_mut().for_each(|held| held.is_unsorted &= are_texts);
            RoundPositions { round, stands, ruling, ballots }
        };
        let rounds = (0..).zip(rounds).map(round).collect();
        PositionHistory { are_texts, rounds, decided, ..PositionHistory::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_was_held_the_account_of_it_fits_the_terminal(positions in histories(), width in 24_usize..110, unicode in any::<bool>()) {
        let read = read(positions, &["a/1", "b/2", "b/2", "c/3", "c/4", "d/5"], Some(Status::Complete));
        let part = read.section(TITLE, &TerminalStyle { color: false, width, unicode });
        for line in part.lines() {
            prop_assert!(line.width() <= width.min(100), "{} columns of {width}: {line:?}", line.width());
        }
        let sentences = paragraph(&read).replace("...", "");
        prop_assert!(sentences.matches(". ").count() <= 6 || sentences.contains('"'), "too many sentences: {}", sentences);
        prop_assert!(sentences.matches(" unknown").count() <= 1, "unknown is said once: {}", sentences);
        prop_assert!(read.markdown().contains("Technical details"));
        prop_assert!(read.page().ends_with("</html>\n"));
    }
}
