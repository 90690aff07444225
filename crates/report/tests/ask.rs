//! The report of a ladder, as a person reads it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use agon_core::document::document;
use agon_core::play::play;
use agon_core::{
    Artifact, Ask, Brief, Debate, LOG_VERSION, Limits, Protocol, Reply, Request, Usage, options, protocol,
};
use agon_protocols::find;
use agon_report::{Style, html, markdown, text};
use insta::assert_snapshot;
use serde_json::{Value, json};

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

fn ladder() -> &'static dyn Protocol {
    find("ask").unwrap()
}

fn brief(set: &[(&str, &str)], history: Value) -> Brief {
    let set = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let request = Request {
        question: "How many workers should the queue have?".into(),
        models: ["acme/one", "beta/two"].map(String::from).to_vec(),
        options: options::resolve(ladder().options(), set).unwrap(),
        ..Request::default()
    };
    Brief {
        version: LOG_VERSION,
        id: "test".into(),
        protocol: "ask".into(),
        seats: ladder().seats(&request).unwrap(),
        question: request.question,
        files: vec![Artifact {
            path: "history".into(),
            text: history.to_string(),
            part: Some("history".into()),
        }],
        options: request.options,
        seed: 3,
        limits: Limits::default(),
        templates: protocol::template_hashes(ladder()),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    }
}

/// A ladder in which the seats answer these first, one goes over without a reason, and three judges give this score.
fn climbed(brief: Brief, firsts: [&str; 4], score: f64) -> (Debate, Value) {
    let mut answer = |debate: &Debate, ask: &Ask| {
        let place = ask.seat.rsplit('-').next().unwrap().parse::<usize>().unwrap_or(1) - 1;
        let moves = place == 2 && debate.last_phase().unwrap().round == 1;
        let value = match debate.last_phase().unwrap().name.as_str() {
            "answer" | "deep/answer" => {
                json!({"answer": firsts[place], "why": format!("Reason {}.", place + 1), "confidence": 0.6})
            }
            "deep/debate" => {
                json!({"stance": if moves { "concede" } else { "maintain" }, "key_points": ["It fits."], "counterpoints": [],
                   "revision": if moves { "major_revision" } else { "no_change" },
                   "revised_position": if moves { json!("2 workers") } else { Value::Null }, "confidence": 0.7})
            }
            "deep/moderate" => json!({"should_stop": false, "agreement_score": 0.3, "new_points_ratio": 0.4,
                "consensus_answer": null, "remaining_disagreements": ["the memory of a worker"], "next_round_focus": null}),
            "deep/synthesis" => {
                json!({"answer": "2 workers.", "why": "The load test.", "contested": ["the price of memory"]})
            }
            _ => {
                json!({"overall_score": score, "position_statement": "It meets the objections.", "key_claims": [],
                "dimension_scores": {"correctness": score, "evidence": score, "objections": score, "clarity": score},
                "critical_findings": []})
            }
        };
        let usage = Usage { input_tokens: 400, output_tokens: 100, usd: Some(0.002), ..Usage::default() };
        let (text, model) = (value.to_string(), ask.model.clone());
        Reply::Said { text, value: Some(value), model, usage, cut_off: false, shortened: None }
    };
    let opened = Debate::open(brief).unwrap().1;
    let records = play(ladder(), vec![opened], &mut answer, &mut |_| {}).unwrap();
    let debate = Debate::from_records(&records).unwrap();
    let document = document(&debate, json!({}));
    (debate, document)
}

/// The terminal's report up to a heading.
fn until(document: &Value, heading: &str) -> String {
    let shown = text(document, &PLAIN);
    let end =
        shown.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("{heading:?} is missing in\n{shown}"));
    shown[..end].trim_end().to_owned()
}

/// "what a person reads: the answer, how it was decided and why it was enough, the steps [...] with cost, [...] the risk sentence".
#[test]
fn an_agreement_reads_in_a_few_lines() {
    let seat = |agent: &str, right: bool| json!({"agent": agent, "right": right, "position": "p"});
    let past: Vec<Value> = (0..10)
        .map(
            |id| json!({"id": id.to_string(), "seats": [seat("acme/one", id > 0), seat("beta/two", id > 0)]}),
        )
        .collect();
    let (_, document) = climbed(brief(&[], json!(past)), ["8", "8.0", "", ""], 4.0);
    assert_snapshot!(until(&document, "Who sat where"), @"
    How many workers should the queue have?
    The first two answers agree.
    ask · 2 first answers · 0.0 s

    Answer
      8

    Why
      Reason 1.

    How it was decided
      Two models answered, each alone, and gave the same answer: nothing more was
      needed.
      Of 10 earlier debates in which these two gave the same first answer, 1 was
      wrong: 10%, and between 2% and 40% with 95% confidence.

    Step by step
      Step         Why                             Calls  Tokens  US dollars  Ended
      Two answers  two different models are the    2      1,000   $0.004      agreed
                   least that can disagree

    First answers
      • Debater A (answerer-1): 8
        confidence 0.60
      • Debater B (answerer-2): 8.0
        confidence 0.60
    ");
}

/// The steps "as a small table with cost, what was contested".
#[test]
fn a_ladder_that_was_climbed_says_why_each_step_was_taken() {
    let (debate, document) = climbed(brief(&[], json!([])), ["2", "8", "8", "2"], 4.0);
    assert_snapshot!(until(&document, "Who sat where"), @"
    How many workers should the queue have?
    The debaters did not agree; the judges let the answer stand.
    ask · 4 first answers · 3 rounds · 0.2 s

    Answer
      2 workers.

    Why
      The load test.

    How it was decided
      The debate's answer stands before the judges: the panel gives the answer 4 of
      5, 3 is needed.

    What was contested
      • the price of memory
      • the memory of a worker

    Dissent
      • Debater A (answerer-2):
        8

        Reason 2.
        held to the end; the answer is another one

    Step by step
      Step         Why                          Calls  Tokens  US dollars  Ended
      Two answers  two different models are     2      1,000   $0.004      differ
                   the least that can disagree
      Debate       the two answers differ:      13     6,500   $0.0260     stable
                   their figures differ: 2 and
                   8
      Judges       the debate did not           3      1,500   $0.006      consensus
                   converge: 2 positions and 2
                   contested points were left

    First answers
      • Debater B (answerer-1): 2
        confidence 0.60
      • Debater A (answerer-2): 8
        confidence 0.60
      • Debater D (debater-3): 8
        confidence 0.60
      • Debater C (debater-4): 2
        confidence 0.60
    ");
    let long = markdown(&document, &debate);
    for words in [
        "Round 3: the judges' positions",
        "First answers of those who join",
        "Round by round",
        "The judges: verdict",
    ] {
        assert!(long.contains(words), "{words}");
    }
    assert!(html(&document, &debate).contains("Step by step"));
}

/// "never-worse".
#[test]
fn a_vote_that_was_kept_says_why() {
    let (_, document) = climbed(brief(&[("never_worse", "true")], json!([])), ["2", "8", "8", "8"], 4.0);
    let shown = text(&document, &PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "Never worse: the vote was kept, because 1 change of mind led to what the debate came to, none with evidence.";
    assert!(
        shown.contains(told) && shown.contains("The plain vote on the first answers decides."),
        "{shown}"
    );
}
