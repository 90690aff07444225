//! What the layout of the prompts saves: DESIGN "Prompts". Of the input of N seats on one model over R rounds,
//! `T = N[(R+1)(L+c) + N*o*R(R+1)/2]`, only `U = L + R*N*o + N(R+1)c` is new to a cache that keeps prefixes.
//!
//! "A test compares predicted and actual common prefixes": here in bytes, for the debaters of `deep`. The terms, as they are
//! measured from the prompts: `L` is what stands before the first entry of the transcript (rules, question, instructions,
//! schema), `o` an entry (heading, quotation, rule), `c` the private tail. Two things are not as in the formula, and are
//! reckoned with exactly: the first answers are asked for without the instructions of the debate, `L0` instead of `L`; and
//! nothing in them is private, so that their tail `c0` is new once and not N times.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use agon_core::play::play;
use agon_core::{
    Ask, Brief, CallUsage, Debate, DebateLimits, LOG_VERSION, Protocol, Reply, Request, options, protocol,
    quotations,
};
use agon_protocols::PROTOCOLS;
use serde_json::{Value, json};

/// Another prompt may go on like this one for a few letters more than it has to: `## You Are Debater ` in a tail, or the line
/// break and `## ` where one has a heading and the other its tail. No prompt gains more by that.
const CHANCE_BYTES_MAX: usize = "\n## You Are Debater ".len();

/// What a debater was asked.
struct Asked {
    phase: String,
    round: u32,
    system: usize,
    shared: usize,
    tail: usize,
    text: String,
    /// How much of it an earlier prompt of the debate began with, whoever read that.
    known: usize,
}

/// Everything that the debaters read in a debate of `n` seats on one model over `rounds` rounds, in order. All answers and
/// arguments have the same length, and each is different.
fn debate(n: usize, rounds: u32, focus: Option<&str>) -> Vec<Asked> {
    let (mut earlier, mut asked) = (Vec::<String>::new(), Vec::new());
    let mut answer = |debate: &Debate, ask: &Ask| {
        let phase = debate.last_phase().unwrap();
        let text = format!("{}{}", ask.prompt.system, ask.prompt.user());
        let known = earlier.iter().map(|before| common(before, &text)).max().unwrap_or_default();
        if ask.seat.starts_with("debater") {
            asked.push(Asked {
                phase: phase.name.clone(),
                round: phase.round,
                system: ask.prompt.system.len(),
                shared: ask.prompt.shared.len(),
                tail: ask.prompt.tail.len(),
                text: text.clone(),
                known,
            });
        }
        earlier.push(text);
        scripted(ask, &phase.name, phase.round, focus)
    };
    let opened = Debate::open(brief(n, rounds)).unwrap().1;
    play(deep(), vec![opened], &mut answer, &mut |_| {}).unwrap();
    assert_eq!(asked.len(), n * (rounds as usize + 1), "every debater in every round");
    asked
}

fn deep() -> &'static dyn Protocol {
    *PROTOCOLS.iter().find(|protocol| protocol.info().name == "deep").unwrap()
}

fn brief(n: usize, rounds: u32) -> Brief {
    let rounds = rounds.to_string();
    let set = [("min_rounds", &rounds), ("max_rounds", &rounds)];
    let set = set.map(|(key, value)| (key.to_owned(), value.clone()));
    let request = Request {
        question: "Should the team adopt the queue, and if so, what should it move there first?".into(),
        models: vec!["one/a".to_owned(); n],
        options: options::resolve(deep().info().options, set).unwrap(),
        ..Request::default()
    };
    Brief {
        version: LOG_VERSION,
        id: "test".into(),
        protocol: deep().info().name.into(),
        seats: deep().seats(&request).unwrap(),
        question: request.question,
        files: Vec::new(),
        options: request.options,
        seed: 5,
        limits: DebateLimits::default(),
        templates: protocol::template_hashes(deep()),
        written_by: String::new(),
        created_at: String::new(),
        parent: None,
    }
}

fn scripted(ask: &Ask, phase: &str, round: u32, focus: Option<&str>) -> Reply {
    let point =
        format!("{} of round {round} says that {}", ask.seat, "the queue is worth its cost; ".repeat(40));
    let value = match phase {
        // The words that others read of an argument, so that all entries are alike.
        "answer" => json!(format!("Stance: maintain (no_change)\nKey points:\n- {point}")),
        "debate" => {
            json!({"stance": "maintain", "key_points": [point], "counterpoints": [], "revision": "no_change",
            "revised_position": null, "confidence": 0.5})
        }
        "moderate" => {
            json!({"should_stop": false, "agreement_score": 0.1, "new_points_ratio": 0.9, "consensus_answer": null,
            "remaining_disagreements": [], "next_round_focus": focus})
        }
        _ => json!({"answer": "Adopt it.", "why": "It is worth its cost.", "contested": []}),
    };
    let (text, value) = match value {
        Value::String(text) => (text, None),
        value => (value.to_string(), Some(value)),
    };
    let (model, usage) = (ask.model.clone(), CallUsage::default());
    Reply::Said { text, value, model, usage, cut_off: false, shortened: None }
}

/// The length of what two texts begin with.
fn common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

/// The terms of the formula, as the prompts have them.
#[derive(Debug, PartialEq)]
struct Terms {
    l0: usize,
    c0: usize,
    l: usize,
    c: usize,
    o: usize,
    /// The heading over the arguments of a round, for which the formula has no term.
    heading: usize,
}

fn measured(asked: &[Asked]) -> Terms {
    let (first, last) = (&asked[0], asked.last().unwrap());
    let start = last.text.find("### Debater A").unwrap();
    let entry = last.text.find("### Debater B").unwrap() - start;
    let heading = "\n## Previous Round Arguments: Round 1\n".len();
    for ask in asked {
        assert_eq!(ask.system + ask.shared + ask.tail, ask.text.len());
        let expected = if ask.phase == "answer" { first.tail } else { last.tail };
        assert_eq!(ask.tail, expected, "tails have one length");
        let said = quotations(&ask.text).iter().filter(|quoted| quoted.what.starts_with("Debater")).count();
        let n = asked.iter().filter(|other| other.phase == "answer").count();
        assert_eq!(said, ask.round as usize * n, "all entries so far, once each");
    }
    Terms { l0: first.system + first.shared, c0: first.tail, l: start, c: last.tail, o: entry, heading }
}

#[test]
fn only_as_much_is_new_as_the_formula_predicts() {
    for (n, rounds) in [(2, 1), (2, 4), (3, 1), (3, 2), (3, 3), (5, 2), (5, 5), (7, 3), (4, 6)] {
        let asked = debate(n, rounds, None);
        let terms = measured(&asked);
        let (Terms { l0, c0, l, c, o, heading }, r) = (&terms, rounds as usize);
        let total: usize = asked.iter().map(|ask| ask.text.len()).sum();
        let new: usize = asked.iter().map(|ask| ask.text.len() - ask.known).sum();

        let formula_total = n * ((r + 1) * (l + c) + n * o * r * (r + 1) / 2);
        let predicted_total = formula_total - n * ((l + c) - (l0 + c0));
        // From the second round on, every prompt has one heading more than the one before.
        let headings = n * heading * r * (r - 1) / 2;
        assert_eq!(total, predicted_total + headings, "T of {n} seats over {r} rounds: {terms:?}");

        let formula_new = l + r * n * o + n * (r + 1) * c;
        let predicted_new = formula_new - n * c + c0;
        let chance = asked.len() * CHANCE_BYTES_MAX;
        let most = predicted_new + (r - 1) * heading;
        assert!(
            (most - chance..=most).contains(&new),
            "U of {n} seats over {r} rounds: {new} are new, {predicted_new} are predicted: {terms:?}"
        );
        let tolerance = chance.max((r - 1) * heading);
        assert!(
            tolerance * 20 < predicted_new,
            "the tolerance of {tolerance} is small beside {predicted_new}"
        );
    }
}

/// The moderator's focus is for one round: all its seats read it, and nothing that stands behind it is kept for the next.
#[test]
fn the_focus_of_a_round_is_new_once() {
    let focus = "Say what the queue would cost in its first year.";
    for (n, rounds) in [(3, 2), (3, 3), (5, 4)] {
        let new =
            |focus| -> usize { debate(n, rounds, focus).iter().map(|ask| ask.text.len() - ask.known).sum() };
        let with = debate(n, rounds, Some(focus));
        let last = &with.last().unwrap().text;
        let block = quotations(last).into_iter().find(|quoted| quoted.what == "the moderator").unwrap();
        assert_eq!(block.text, focus);
        let whole = "\n## Focus of This Round\n".len() + block.range.len() + "\n".len();
        let more = new(Some(focus)) - new(None);
        // Where the focus stands now, the tail stood; what both begin with was known by chance.
        let once = (rounds as usize - 1) * whole;
        assert!(
            (once..=once + rounds as usize * CHANCE_BYTES_MAX).contains(&more),
            "{more} instead of {once}"
        );
    }
}

/// `Message::shared`, up to which a provider is told to keep a prompt, is `Prompt::shared`: the seats of a phase have that much
/// in common, and no more than chance adds. First answers have nothing private, so that they have everything in common.
#[test]
fn what_is_called_shared_is_what_the_seats_of_a_phase_have_in_common() {
    for asked in [debate(2, 3, None), debate(5, 3, Some("Say what it costs."))] {
        for phase in asked.chunk_by(|one, other| (&one.phase, one.round) == (&other.phase, other.round)) {
            let shared = phase[0].system + phase[0].shared;
            let same = phase.iter().map(|ask| common(&ask.text, &phase[0].text)).min().unwrap();
            assert!(phase.iter().all(|ask| ask.system + ask.shared == shared));
            match phase[0].phase.as_str() {
                "answer" => assert_eq!(same, phase[0].text.len()),
                _ => assert!((shared..=shared + CHANCE_BYTES_MAX).contains(&same), "{same} of {shared}"),
            }
        }
    }
}
