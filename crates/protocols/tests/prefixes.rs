//! How much the layout of the prompts saves with a provider that caches prefixes (DESIGN, "Prompts"). N seats on one model read
//! `T = N[(R+1)(L+c) + N*o*R(R+1)/2]` over R rounds. Only `U = L + R*N*o + N(R+1)c` of that is new to the cache.
//!
//! "A test compares predicted and actual common prefixes". This one does it in bytes, for the debaters of `deep`. It measures the
//! terms from the prompts: `L` is everything before the first entry of the transcript (rules, question, instructions),
//! `o` is an entry (heading, quotation, rule), and `c` is the private tail. Two things differ from the formula, and the test
//! accounts for both exactly. The prompts of the first answers lack the instructions of the debate, so they have `L0` instead of
//! `L`. And they have nothing private, so their tail `c0` is new once instead of N times.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use agon_core::play::play;
use agon_core::{
    Ask, Brief, CallUsage, Debate, DebateLimits, LOG_VERSION, Protocol, Reply, Request, options, protocol,
    quotations,
};
use agon_protocols::PROTOCOLS;
use serde_json::{Value, json};

/// Two prompts may by chance have a few more bytes in common than their shared parts: `## You Are Debater ` at the start of a tail,
/// or a line break and `## ` if a heading follows in one and the tail in the other. This is the most that chance adds.
const CHANCE_BYTES_MAX: usize = "\n## You Are Debater ".len();

/// A prompt that a debater read. The sizes are in bytes.
struct DebaterPrompt {
    phase: String,
    round: u32,
    system: usize,
    shared: usize,
    tail: usize,
    text: String,
    /// How much of it is a prefix of an earlier prompt of the debate, read by any seat.
    cached: usize,
}

/// The debaters' prompts in a debate of `n` seats on one model over `rounds` rounds, in order. All answers and arguments have the
/// same length, and no two are the same.
fn debater_prompts(n: usize, rounds: u32, focus: Option<&str>) -> Vec<DebaterPrompt> {
    let (mut earlier, mut prompts) = (Vec::<String>::new(), Vec::new());
    let mut answer = |debate: &Debate, ask: &Ask| {
        let phase = debate.last_phase().unwrap();
        let text = format!("{}{}", ask.prompt.system, ask.prompt.user());
        let cached = earlier.iter().map(|before| common_prefix(before, &text)).max().unwrap_or_default();
        if ask.seat.starts_with("debater") {
            prompts.push(DebaterPrompt {
                phase: phase.name.clone(),
                round: phase.round,
                system: ask.prompt.system.len(),
                shared: ask.prompt.shared.len(),
                tail: ask.prompt.tail.len(),
                text: text.clone(),
                cached,
            });
        }
        earlier.push(text);
        scripted(ask, &phase.name, phase.round, focus)
    };
    let opened = Debate::open(brief(n, rounds)).unwrap().1;
    play(deep(), vec![opened], &mut answer, &mut |_| {}).unwrap();
    assert_eq!(prompts.len(), n * (rounds as usize + 1), "every debater in every round");
    prompts
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
        nonce: "nonce".into(),
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
        // As long as an argument is for others, so that all entries have the same length.
        "answer" => json!(format!("Stance: maintain (no_change)\nKey points:\n{point}")),
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

/// The length of the longest common prefix of two texts.
fn common_prefix(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

/// The terms of the formula in bytes, measured from the prompts.
#[derive(Debug, PartialEq)]
struct FormulaTerms {
    l0: usize,
    c0: usize,
    l: usize,
    c: usize,
    o: usize,
    /// The heading above the arguments of a round, which the formula leaves out.
    heading: usize,
}

fn measured_terms(prompts: &[DebaterPrompt]) -> FormulaTerms {
    let (first, last) = (&prompts[0], prompts.last().unwrap());
    let start = last.text.find("### Debater A").unwrap();
    let entry = last.text.find("### Debater B").unwrap() - start;
    let heading = "\n## Previous Round Arguments: Round 1\n".len();
    for prompt in prompts {
        assert_eq!(prompt.system + prompt.shared + prompt.tail, prompt.text.len());
        let tail = if prompt.phase == "answer" { first.tail } else { last.tail };
        assert_eq!(prompt.tail, tail, "all tails of a phase have the same length");
        let quotations = quotations(&prompt.text);
        let entries = quotations.iter().filter(|quotation| quotation.what.starts_with("Debater")).count();
        let n = prompts.iter().filter(|other| other.phase == "answer").count();
        assert_eq!(entries, prompt.round as usize * n, "every entry so far appears once");
    }
    FormulaTerms {
        l0: first.system + first.shared,
        c0: first.tail,
        l: start,
        c: last.tail,
        o: entry,
        heading,
    }
}

#[test]
fn the_formula_predicts_how_much_of_the_prompts_is_new() {
    for (n, rounds) in [(2, 1), (2, 4), (3, 1), (3, 2), (3, 3), (5, 2), (5, 5), (7, 3), (4, 6)] {
        let prompts = debater_prompts(n, rounds, None);
        let terms = measured_terms(&prompts);
        let (FormulaTerms { l0, c0, l, c, o, heading }, r) = (&terms, rounds as usize);
        let total: usize = prompts.iter().map(|prompt| prompt.text.len()).sum();
        let new: usize = prompts.iter().map(|prompt| prompt.text.len() - prompt.cached).sum();

        let formula_total = n * ((r + 1) * (l + c) + n * o * r * (r + 1) / 2);
        let predicted_total = formula_total - n * ((l + c) - (l0 + c0));
        // From the second round on, each round's prompts have one heading more than the round before.
        let headings = n * heading * r * (r - 1) / 2;
        assert_eq!(total, predicted_total + headings, "T of {n} seats over {r} rounds: {terms:?}");

        let formula_new = l + r * n * o + n * (r + 1) * c;
        let predicted_new = formula_new - n * c + c0;
        let chance = prompts.len() * CHANCE_BYTES_MAX;
        let most = predicted_new + (r - 1) * heading;
        assert!(
            (most - chance..=most).contains(&new),
            "U of {n} seats over {r} rounds: {new} are new, {predicted_new} are predicted: {terms:?}"
        );
        let tolerance = chance.max((r - 1) * heading);
        assert!(
            tolerance * 20 < predicted_new,
            "the tolerance of {tolerance} must be small compared with {predicted_new}"
        );
    }
}

/// The moderator's focus is for one round. All seats of that round share it, and the next round's prompts do not.
#[test]
fn the_focus_of_a_round_is_new_only_once() {
    let focus = "Say what the queue would cost in its first year.";
    for (n, rounds) in [(3, 2), (3, 3), (5, 4)] {
        let new = |focus| -> usize {
            let prompts = debater_prompts(n, rounds, focus);
            prompts.iter().map(|prompt| prompt.text.len() - prompt.cached).sum()
        };
        let with_focus = debater_prompts(n, rounds, Some(focus));
        let last = &with_focus.last().unwrap().text;
        let block = quotations(last).into_iter().find(|quoted| quoted.what == "the moderator").unwrap();
        assert_eq!(block.text, focus);
        let around =
            "\n## Focus of This Round\nThe moderator asks you to address:\n\nDo so in `key_points`.\n";
        let whole = around.len() + block.range.len();
        let more = new(Some(focus)) - new(None);
        // The focus replaces the tail in its place, so the bytes that both start with are no longer cached by chance.
        let once = (rounds as usize - 1) * whole;
        assert!(
            (once..=once + rounds as usize * CHANCE_BYTES_MAX).contains(&more),
            "{more} instead of {once}"
        );
    }
}

/// A provider is told to cache a prompt up to `Message::shared`, which is `Prompt::shared`. The seats of a phase have that much in
/// common, and no more except by chance. First answers have nothing private, so their prompts are equal.
#[test]
fn the_shared_part_of_a_prompt_is_what_the_seats_of_a_phase_have_in_common() {
    for prompts in [debater_prompts(2, 3, None), debater_prompts(5, 3, Some("Say what it costs."))] {
        for phase in prompts.chunk_by(|one, other| (&one.phase, one.round) == (&other.phase, other.round)) {
            let shared = phase[0].system + phase[0].shared;
            let common =
                phase.iter().map(|prompt| common_prefix(&prompt.text, &phase[0].text)).min().unwrap();
            assert!(phase.iter().all(|prompt| prompt.system + prompt.shared == shared));
            match phase[0].phase.as_str() {
                "answer" => assert_eq!(common, phase[0].text.len()),
                _ => assert!((shared..=shared + CHANCE_BYTES_MAX).contains(&common), "{common} of {shared}"),
            }
        }
    }
}
