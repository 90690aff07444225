//! What the debate did: the paragraph, the small table and all figures.

use agon_core::{
    DecidedPosition, Fate, JudgeMarks, PositionChange, PositionFate, PositionHistory, RoundPositions,
    SeatPosition, Status,
};
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
      seat-1 changed from WARN to FAIL in round 2, naming [L7]; seat-2 changed from
      PASS to WARN in round 2, naming nothing. A plain vote on the first positions
      gives WARN; the verdict is FAIL. How independent the debaters are is not
      known; no two share a model.

              R1     R2
      seat-1  WARN   FAIL*
      seat-2  PASS   WARN~
      seat-3  WARN   WARN
      * changed, naming a point or evidence; ~ changed, naming nothing
    ");
    let unsorted = texts("move? move?\nstay? other?\nwait? other?*", "").unclear();
    assert_snapshot!(unsorted.read().section(TITLE, &PLAIN), @"
    What the debate did
      seat-2 and seat-3 revised the position in round 2. No verified declaration
      says which positions are the same or which position the answer states, so
      agreement, a plain vote on the first positions and whether the debate changed
      the answer are unknown. How independent the debaters are is not known; no two
      share a model.

              R1       R2
      seat-1  move?    move?
      seat-2  stay?    other?~
      seat-3  wait?    other?*
      * changed, naming a point or evidence; ~ changed, naming nothing; ? not
      compared with others
      • seat-2: revised the position in round 2, naming nothing. In its own words:
        It is cheaper.
      • seat-3: revised the position in round 2, naming [L7]
    ");
}

/// A position that its holder revised and kept is not shown in words that nobody holds any more.
#[test]
fn a_position_in_new_words_has_a_mark_and_its_new_words() {
    let mut history = texts("move move= move\nstay stay stay", "move").history();
    history.rounds[1].stands[0].reworded = Some("move in May".to_owned());
    assert_snapshot!(read(history, &["a/x", "b/y"], Some(Status::Complete)).section(TITLE, &PLAIN), @"
    What the debate did
      No debater changed its position. seat-1 revised the text in round 2. A plain
      vote on the first positions is tied; the verdict states one of the tied
      positions. Nobody changed position in round 3. How independent the debaters
      are is not known; no two share a model.

              R1   R2   R3
      seat-1  #1   #1'  #1'
      seat-2  #2   #2   #2
      #1   move
      #1'  move in May (seat-1, last)
      #2   stay
      ' in other words
    ");
}

/// Words that their holder revised once more have no mark after that.
#[test]
fn words_that_were_taken_back_have_no_mark() {
    let mut history = texts("move move= move=\nstay stay stay", "move").history();
    history.rounds[1].stands[0].reworded = Some("move in May".to_owned());
    let shown = read(history, &["a/x", "b/y"], Some(Status::Complete)).section(TITLE, &PLAIN);
    assert!(shown.contains("seat-1  #1   #1'  #1\n"), "{shown}");
    assert!(shown.contains("#1'  move in May (seat-1, last)"), "{shown}");
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
    let known = |rho: &str| {
        format!("In earlier debates, the errors of these debaters correlate by {rho} on average.")
    };
    for (rho, n_eff, sentence) in [
        (0.35, Some(1.7633), "They count as 1.8 independent voices.".to_owned()),
        (-0.03, Some(3.2), known("-0.03")),
        (-0.6, None, known("-0.60")),
    ] {
        (read.evidence.independence.rho, read.evidence.independence.n_eff) = (Some(rho), n_eff);
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
    ### The first positions

    | Position | Held by | Share |
    | --- | --- | --- |
    | move | seat-1 | unknown |
    | stay | seat-2 | unknown |
    | wait | seat-3 | unknown |

    - **The verdict states**: move
    - **The debate changed the verdict**: unknown
    - **How it is known which positions are the same**: by declarations with quotes that verify

    ### Changes of position by seat

    | Seat | Changes | Naming a point or evidence | Toward the majority |
    | --- | --- | --- | --- |
    | seat-1 | 0 | 0 | 0 |
    | seat-2 | 1 | 1 | unknown |
    | seat-3 | 0 | 0 | 0 |

    ### Agreement by round

    | After | Positions | Pairs that agree | Spread, bits | Gain, bits |
    | --- | --- | --- | --- | --- |
    | Round 1 | unknown | unknown | unknown | unknown |
    | Round 2 | 2 | 0.33 | 0.92 | - |

    ### What the positions give after each round, by the protocol's own rule

    | After | Verdict | Changed |
    | --- | --- | --- |
    | Round 1 | unknown | - |
    | Round 2 | move | unknown |

    ### Independence

    - **Resolved debates of these models**: 0

    Unknown: no earlier debate of these models is resolved; tell agon how one turned out with `agon resolve`
    ");
    assert_snapshot!(part("## Who changed and why"), @"
    ### seat-2 in round 2

    - **From**: stay
    - **To**: move
    - **Named**: [L7]
    - **In its own words**: It is cheaper.
    ");
}

fn part(read: &ReadDebate, title: &str) -> String {
    let long = read.markdown();
    long.split(&format!("## {title}\n")).nth(1).unwrap().split("\n## ").next().unwrap().trim().to_owned()
}

/// A vote is no round, a score that comes nearer joins nobody, and an id says nothing about the evidence of what it names.
#[test]
fn a_change_is_told_as_what_it_was() {
    let scores = values("3.2 3.0*\n4.1 3.7*\n2.2 3.2", "NO GO").ruled(&["NO GO", "NO GO"]).read();
    let shown = part(&scores, "Who changed and why");
    assert!(shown.contains("- **Named**: [L7]\n"), "{shown}");
    assert!(!shown.contains("joins") && !shown.contains("toward"), "{shown}");
    let voted = values("PASS PASS FAIL\nFAIL FAIL FAIL\nPASS PASS PASS", "FAIL").voted(1).read();
    let shown = part(&voted, "Who changed and why");
    assert!(shown.starts_with("### seat-1 in the vote\n"), "{shown}");
    let figures = part(&voted, "The evidence in figures");
    assert_eq!(figures.matches("| The vote |").count(), 2, "{figures}");
    assert!(!figures.contains("Round 3") && !voted.page().contains("round 3"), "{figures}");
    let twice = values("PASS FAIL PASS\nPASS PASS PASS", "PASS").voted(2).read();
    assert!(part(&twice, "Who changed and why").starts_with("### seat-1 in the vote of round 2\n"));
}

/// 3.0, 3.2 and 3.7 are no single position where 0.5 is near: only two of three pairs agree.
#[test]
fn agreement_on_scores_is_counted_by_pairs() {
    let situation = values("3.2 3.0*\n4.1 3.7*\n2.2 3.2", "NO GO").ruled(&["NO GO", "NO GO"]);
    let history = PositionHistory { near: Some(0.5), ..situation.history() };
    let read = read(history, &["a/1", "b/2", "c/3"], Some(Status::Complete));
    let shown = part(&read, "The evidence in figures");
    assert!(shown.contains("| Round 2 | 2 | 0.67 | 0.92 | 0.67 |"), "{shown}");
}

/// The words of a seat are its own, although another seat's stand for their common position. They are not cut.
#[test]
fn a_seat_keeps_its_own_words() {
    let own = format!("Fit blinds{} everywhere", " and fans".repeat(30));
    let mut history = texts("fans blinds\nstay blinds*\nwait wait", "blinds").history();
    let name = format!("{} ...", &own[..200]);
    for (seat, words) in [(0, own.as_str()), (1, "Put outside blinds up.")] {
        history.rounds[1].stands[seat].position.clone_from(&name);
        history.rounds[1].stands[seat].words = Some(words.to_owned());
    }
    let read = read(history, &["a/1", "b/2", "c/3"], Some(Status::Complete));
    let changes = part(&read, "Who changed and why");
    assert!(
        changes.contains(&format!("- **To**: Put outside blinds up.\n- **Counted with**: {own}\n")),
        "{changes}"
    );
    assert!(changes.contains(&format!("- **To**: {own}\n- **Named")), "{changes}");
    let short = read.section(TITLE, &PLAIN);
    assert!(
        short.contains("seat-2  #2    #4'*\n")
            && short.contains("#4'  Put outside blinds up. (seat-2, last)\n"),
        "{short}"
    );
    let page = read.page();
    let full = page.split("The positions in full").nth(1).unwrap().split("</details>").next().unwrap();
    assert!(full.contains(&own) && !full.contains("..."), "{full}");
    let cards = page.split("class=\"cards\"").nth(1).unwrap();
    assert!(cards.contains("Put outside blinds up."), "{cards}");
}

/// A list that leaves changes out says so, and what is named twice is said once.
#[test]
fn more_changes_than_the_short_report_lists_are_counted() {
    let mut read = texts("a b a b a b\na b a b a b", "b").read();
    read.evidence.flips[0].unverified = vec!["[B3] with other words".to_owned(); 2];
    let short = read.section(TITLE, &PLAIN);
    assert!(short.contains("seat-1 and seat-2 changed position in rounds 2 to 6."), "{short}");
    assert!(
        short.contains("seat-1: changed position in round 2, naming [B3] with other words. In"),
        "{short}"
    );
    assert_eq!(short.matches("\u{2022} seat-").count(), 7, "{short}");
    assert!(short.contains("\u{2022} and 3 more, which the full report has"), "{short}");
    assert_eq!(part(&read, "Who changed and why").matches("### seat-").count(), 10);
}

/// The full report has all of it, the short one whole sentences of it.
#[test]
fn a_reason_is_cut_in_the_short_report_only() {
    let mut read = texts("move move stay\nstay stay stay\nmove move move", "stay").voted(1).read();
    let reason = format!("It is cheaper. It costs {} of it.", "a little and a bit more ".repeat(20).trim());
    read.evidence.flips[0].reason = Some(reason.clone());
    assert!(read.markdown().contains(&format!("**In its own words**: {reason}")));
    let short = read.section(TITLE, &TerminalStyle { width: 300, ..PLAIN }).replace("\n    ", " ");
    assert!(short.contains("naming nothing. In its own words: It is cheaper. [...]"), "{short}");
}

/// The fate that is recorded, in a word, and its reason.
#[test]
fn a_first_position_has_its_recorded_fate() {
    let fate = |held: &'static str, fate: Fate| {
        let mut read = values(held, "PASS").read();
        read.evidence.dissent = vec![PositionFate {
            seat: "seat-1".into(),
            label: None,
            position: "It was so.".into(),
            fate,
            reason: "why".into(),
        }];
        let shown = part(&read, "What became of each first position");
        shown.split('*').rev().nth(1).unwrap().to_owned()
    };
    for (held, recorded, told) in [
        ("PASS PASS\nPASS PASS", Fate::Adopted, "Adopted: why"),
        ("FAIL PASS\nPASS PASS", Fate::Refuted, "Given up: why"),
        ("FAIL FAIL\nPASS PASS", Fate::Minority, "Minority: why"),
        ("FAIL FAIL\nPASS PASS", Fate::NotSettled, "Not settled: why"),
        ("2.2 3.2\n3.0 3.0", Fate::Refuted, "Changed: why"),
    ] {
        assert_eq!(fate(held, recorded), told, "{held}");
    }
}

#[test]
fn the_figures_of_judges_have_their_names() {
    let mut history = values("3\n4", "GREEN").history();
    let marks = |judge: &str, scores: [f64; 3]| JudgeMarks {
        judge: judge.into(),
        scores: ["a", "b", "c"].map(str::to_owned).into_iter().zip(scores).collect(),
        ..JudgeMarks::default()
    };
    history.marks = vec![marks("seat-1", [1.0, 2.0, 4.0]), marks("seat-2", [2.0, 2.5, 4.0])];
    let read = read(history, &["a/1", "b/2"], Some(Status::Complete));
    let shown = part(&read, "The evidence in figures");
    assert_snapshot!(shown.split("### Judge").nth(1).unwrap().trim(), @"
    - **Judges**: 2
    - **Krippendorff's alpha of the scores**: 0.86
    - **Kendall's W of the rankings**: 1.00
    ");
}

/// A round that nobody sorted is a gap with a word, never a zero.
#[test]
fn drawings_leave_a_gap_where_nothing_is_known() {
    let page =
        texts("move move? move move\nstay other? move* move\nwait wait? wait wait", "move").read().page();
    let flow = page.split("class=\"flow\"").nth(1).unwrap().split("</svg>").next().unwrap();
    assert_eq!(flow.matches("<circle class=\"hollow\"").count(), 3, "{flow}");
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
