//! The report of a council, as a person reads it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use agon_report::{Style, html, markdown, text};
use insta::assert_snapshot;
use sample::council;
use serde_json::Value;

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

/// A part of the terminal's report, from one heading up to another.
fn part(document: &Value, from: &str, to: &str) -> String {
    let shown = text(document, &PLAIN);
    let start = shown.find(&format!("{from}\n")).unwrap_or_else(|| panic!("{from:?} is missing in\n{shown}"));
    let rest = &shown[start..];
    let end = rest.find(&format!("\n{to}\n")).unwrap_or_else(|| panic!("{to:?} is missing in\n{rest}"));
    rest[..end].trim_end().to_owned()
}

/// "at the end the position evolution of every councillor over the rounds at a glance, the votes, and the conditions".
#[test]
fn a_council_reads_from_the_verdict_to_how_positions_moved() {
    assert_snapshot!(part(&council::eventful().1, "Verdict", "Where they still disagree"), @"
    Verdict
      PROCEED WITH CONDITIONS
      4 votes: 1 PROCEED, 2 PROCEED WITH CONDITIONS, 1 RECONSIDER. Confidence
      MEDIUM.

    Votes
      Councillor  Vote                   Key argument           Remaining concern
      Visionary   PROCEED                The peak stops us      The team is small.
                                         from growing.
      Critic      PROCEED WITH           Both paths make a      Nobody is on call at
                  CONDITIONS             loss visible.          night.
      Pragmatist  PROCEED WITH           A month is cheap.      One group may be too
                  CONDITIONS                                    easy.
      Innovator   RECONSIDER             The queue must not     It will be moved
                                         own the invoice.       twice.
      The strongest point of the other side, as each sees it:
      Visionary: A lost invoice is a lost customer.
      Critic: A lost invoice is a lost customer.
      Pragmatist: A lost invoice is a lost customer.
      Innovator: A lost invoice is a lost customer.

    Conditions
      • No invoice is lost in the pilot
        Critic, Pragmatist
      • The old path stays for a month
        Pragmatist

    The minority's opinion
      • Innovator (RECONSIDER): Not like this: a ledger first.
        The queue must not own the invoice. Opened with: Do not move billing, split
        it: write invoices to a ledger first and let the queue only send them, after
        a pilot.

    How positions moved
      Councillor  Opening  Round 1  Round 2          Vote
      Visionary   HIGH     HIGH     HIGH             PROCEED
      Critic      HIGH     HIGH     MEDIUM, changed  PROCEED WITH CONDITIONS
      Pragmatist  MEDIUM   MEDIUM   MEDIUM           PROCEED WITH CONDITIONS
      Innovator   LOW      LOW      LOW              RECONSIDER
      • Critic in round 2: Move billing after a pilot in which no invoice is lost.
        both paths for a month make a loss visible

    What they agree on
      • A pilot in spring comes first.
        Visionary, Critic, Pragmatist, Innovator (100%); challenged and held
    ");
}

/// "nobody can dodge": who evaded is named, and what the moderator did is shown with the words that it rests on.
#[test]
fn it_names_who_evaded_and_what_the_moderator_did() {
    assert_snapshot!(part(&council::eventful().1, "Who evaded a challenge", "Dissent"), @r#"
    Who evaded a challenge
      • Critic on [C1], round 1: What would a pilot have to show you?
        Put again, its answer takes no stance

    What the moderator did
      Round 1, Evasion: a challenge is put again to Critic
        Asked: Question: What would a pilot have to show you?
        Because: no answer to this id
        Answer: [C1] (no stance) That depends on many things.
        Outcome: evaded

      Round 1, Groupthink: Critic must make the case against
        Asked: A pilot in spring comes first.
        Words: Visionary: "Move billing to the queue: the nightly peak is what stops
          us from growing, and a pilot this spring shows the way."; Critic: "Do not
          move billing yet: an invoice that is lost costs more than a slow night,
          and nobody has shown a pilot that loses none."; Pragmatist: "Start with a
          pilot on one customer group this spring, with the old path kept beside it
          for a month."; Innovator: "Do not move billing, split it: write invoices
          to a ledger first and let the queue only send them, after a [...]
        Answer: Against "A pilot in spring comes first.": A pilot on the easy
          customers proves nothing about the hard ones. What would need to be true:
          That the hard customers fail in another way. What would change my mind: A
          pilot on the hardest. Blind spots: We all wish for spring.
        Outcome: answered

    Risks
      Severity  Unlikely  Possible  Likely
      Critical  -         1         -
      High      -         -         -
      Medium    -         -         1
      Low       -         1         -
      • Critical, possible: An invoice is lost
        Critic, Pragmatist. Against it: both paths for a month; a daily count
      • Medium, likely: The team cannot run it at night
        Visionary. Against it: an on-call rota
      • Low, possible: The pilot drags on
        Pragmatist

    Open questions
      Asked in round 2, the last one that was held.
      • [C13] Visionary to Critic: Which years did you count in round 2?
      • [C14] Visionary to Pragmatist: Who runs it at night?
      • [C15] Critic to Pragmatist: Which years did you count in round 2?
      • [C16] Critic to Innovator: Who runs it at night?
      • [C17] Pragmatist to Innovator: Which years did you count in round 2?
      • [C18] Pragmatist to Visionary: Who runs it at night?
      And 2 more: the full report has them.
    "#);
}

#[test]
fn both_sides_of_a_disagreement_are_told() {
    let shown = part(&council::eventful().1, "Where they still disagree", "Who evaded a challenge");
    assert!(shown.contains("[C2]: Who answers for a lost invoice?\n    Pragmatist: The figures"), "{shown}");
    assert!(
        shown.contains("[C5]: The nightly peak grows by a fifth a year.\n    Visionary: That was one year."),
        "{shown}"
    );
    assert!(shown.contains("Critic: The figures of spring answer C5"), "{shown}");
    assert!(shown.ends_with("And 2 more: the full report has them."), "{shown}");
}

/// "every challenge and opening question has an id, an owner and a fate, and the report can list them all"; "exchanges in full".
#[test]
fn the_full_report_lists_every_challenge_and_every_message() {
    let (debate, document) = council::eventful();
    let (whole, page) = (markdown(&document, &debate), html(&document, &debate));
    for (place, challenge) in document["verdict"]["challenges"].as_array().unwrap().iter().enumerate() {
        let id = format!("[C{}]", place + 1);
        let heading = whole
            .lines()
            .position(|line| line.starts_with(&format!("### {id} ")))
            .unwrap_or_else(|| panic!("{id}"));
        let badges = whole.lines().nth(heading + 2).unwrap();
        assert!(badges.contains(challenge["fate"].as_str().unwrap()), "{id}: {badges}");
        assert!(page.contains(&id), "{id}");
    }
    for words in
        ["Would a month with both paths convince you?", "It would go a long way, if somebody counts."]
    {
        assert!(whole.contains(words) && page.contains(words), "{words}");
    }
    assert!(whole.contains("*evaded"), "the one that was dodged");
    assert!(
        whole.contains("Which years did you count in round 2?")
            && !whole.contains("the full report has them")
    );
}

#[test]
fn an_even_split_is_divided_and_both_halves_are_told() {
    let document = council::divided().1;
    assert_snapshot!(part(&document, "Verdict", "Votes"), @"
    Verdict
      RECONSIDER (divided)
      4 votes: 2 PROCEED, 1 RECONSIDER, 1 DO NOT PROCEED. Confidence LOW.
    ");
    let other = part(&document, "The other half's opinion", "How positions moved");
    assert!(other.contains("Visionary (PROCEED)") && other.contains("Pragmatist (PROCEED)"), "{other}");
}

#[test]
fn without_a_quorum_there_is_no_verdict() {
    let document = council::lost().1;
    let shown = text(&document, &PLAIN);
    assert!(
        shown.contains("No verdict\n  Fewer than two councillors were left, so that there was no vote."),
        "{shown}"
    );
    assert!(!shown.contains("\nVotes\n"), "{shown}");
}

#[test]
fn one_vote_decides_nothing() {
    let document = council::one_vote().1;
    let shown = part(&document, "Verdict", "Votes");
    assert!(
        shown.contains("No verdict\n  1 vote of 4 councillors: 1 PROCEED. That is too few to decide"),
        "{shown}"
    );
    assert!(!shown.contains("Confidence"), "{shown}");
}

/// Names come from the roster, and the vote is in the transcript as such.
#[test]
fn phases_have_names_that_say_what_they_are() {
    let (debate, document) = council::eventful();
    let whole = markdown(&document, &debate);
    for title in [
        "## Opening statements",
        "## Round 1: cross-examination",
        "## Round 1: peer exchange",
        "## Round 1: answers to the moderator",
        "## Votes",
    ] {
        assert!(whole.contains(&format!("\n{title}\n")), "{title}");
    }
}
