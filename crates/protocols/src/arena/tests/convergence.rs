//! "Semantic similarity is measured between proposals at rounds 3, 4, and 5": two signals, and the rule of declared conflicts.

use super::*;

/// Positions that cannot both hold, with a similarity that a measure may give them: embeddings find contradictions 0.71 to 0.97
/// alike. The denial can be seen in the words.
const DENIED: &[(&str, &str, f64)] = &[
    ("We should adopt the queue this year.", "We should not adopt the queue this year.", 0.97),
    ("The cache is safe to enable.", "The cache is never safe to enable.", 0.93),
    ("There is a reason to migrate now.", "There is no reason to migrate now.", 0.95),
    ("Tests can run without the network.", "Tests cannot run without the network.", 0.91),
    ("Users want the new editor.", "Users don't want the new editor.", 0.88),
    ("Ship the release on Friday with the patch.", "Ship the release on Friday without the patch.", 0.96),
    ("The board is for the merger.", "The board is against the merger.", 0.87),
    ("Any of the plans will do.", "None of the plans will do.", 0.86),
];

/// Positions that cannot both hold and deny nothing: one has a word or a figure, the other its opposite or another figure.
const CONTRARY: &[(&str, &str, f64)] = &[
    ("Run the jobs on Postgres.", "Run the jobs on Redis.", 0.90),
    ("Let the sales team decide.", "Let the legal team decide.", 0.93),
    ("Raise the price in spring.", "Lower the price in spring.", 0.94),
    ("Store the keys on the server.", "Store the keys on the client.", 0.92),
    ("Start with the small tenants.", "Start with the large tenants.", 0.95),
    ("Accept the offer of the vendor.", "Reject the offer of the vendor.", 0.90),
    ("Keep the monolith as it is.", "Split the monolith into services.", 0.71),
    ("Hire before the launch.", "Hire after the launch.", 0.97),
    ("Pay out 10 percent of the profit.", "Pay out 90 percent of the profit.", 0.97),
    ("Ship it in Q3 as planned.", "Ship it in Q4 as planned.", 0.96),
    ("Keep two copies in each region.", "Keep three copies in each region.", 0.95),
    ("Alert when the load is > 5.", "Alert when the load is < 5.", 0.97),
];

/// Positions that cannot both hold although the words do not show it: only a declaration does.
const UNSEEN: &[(&str, &str, f64)] = &[
    ("Postgres runs the jobs.", "It is Redis that all of the jobs go to.", 0.90),
    ("Let the seller choose the date.", "The date is chosen by the buyer.", 0.93),
];

/// Two ways to say the same, with a similarity that a measure may give them.
const PARAPHRASES: &[(&str, &str, f64)] = &[
    ("Adopt the queue this year.", "This year the queue should be taken up.", 0.71),
    ("Raise the price in spring.", "From April on it should cost more.", 0.34),
    ("Split the monolith into services.", "Cut the one big program into several.", 0.42),
    ("Buy the tool.", "Purchase it rather than build it.", 0.08),
];

/// A debate of two agents with these positions and this measured similarity.
fn held(one: &str, other: &str, alike: f64, conflict: Option<usize>, set: &[(&str, &str)]) -> Outcome {
    let set = [BARE, set].concat();
    let positions = [one, other];
    ScriptedArena {
        models: &MODELS[..2],
        set: &set,
        alike: &|_| alike,
        votes: &|_| vec![1, 2],
        with: &|ask, phase, _, said| {
            if ["propose", "revise", "refine"].contains(&phase) {
                let n = number(&ask.seat);
                said["position"] = json!(positions[n - 1]);
                if phase != "propose" && conflict == Some(n) {
                    said["conflicts_with"] = json!([allowed(ask, "/properties/conflicts_with/items")[0]]);
                }
            }
        },
        ..ScriptedArena::default()
    }
    .outcome()
}

fn converged(outcome: &Outcome) -> bool {
    outcome.verdict["convergence"].as_array().unwrap().iter().any(|check| check["converged"] == true)
}

/// "opposed near-identical texts never converge", nor are ballots on them counted together, also when nobody declares a conflict.
#[test]
fn opposed_proposals_never_converge_however_alike_they_are() {
    for (one, other, planted) in [DENIED, CONTRARY].concat() {
        for alike in [planted, 0.97, 1.0] {
            let outcome = held(one, other, alike, None, &[("convergence_threshold", "0.5")]);
            assert!(!converged(&outcome), "{one} {other} at {alike}");
            assert_ne!(outcome.termination, Termination::Converged);
            assert_eq!(outcome.verdict["tally"].as_array().unwrap().len(), 2, "two choices, not one");
            assert!(!outcome.verdict["convergence"][0]["opposed"].as_array().unwrap().is_empty());
        }
    }
}

/// "no agent declares a conflict with another's position in its revision", in either direction.
#[test]
fn a_declared_conflict_in_either_direction_keeps_contraries_apart() {
    for (one, other, planted) in UNSEEN {
        for conflict in [1, 2] {
            for alike in [*planted, 1.0] {
                let outcome = held(one, other, alike, Some(conflict), &[("convergence_threshold", "0.5")]);
                assert!(!converged(&outcome), "{one} {other} at {alike}");
                assert_eq!(outcome.verdict["tally"].as_array().unwrap().len(), 2);
                assert_eq!(outcome.verdict["convergence"][0]["conflicts"].as_array().unwrap().len(), 1);
            }
        }
        // Without the declaration they converge, so the declaration keeps them apart.
        assert!(converged(&held(one, other, 1.0, None, &[])));
    }
}

/// "MiniLM, static embeddings and n-grams all score a contradiction higher than a paraphrase": a paraphrase converges only by its figure.
#[test]
fn paraphrases_converge_by_their_similarity() {
    for (one, other, alike) in PARAPHRASES {
        assert!(!converged(&held(one, other, *alike, None, &[])), "{one} {other}: below 0.85");
        let threshold = alike.to_string();
        let outcome = held(one, other, *alike, None, &[("convergence_threshold", &threshold)]);
        assert_eq!(outcome.termination, Termination::Converged, "{one} {other}");
    }
}

/// How alike two texts are by `embeddings/lexical`: the cosine of their word counts, a word being a run of letters and digits.
fn by_words(one: &str, other: &str) -> f64 {
    let counts = |text: &str| {
        let mut counts = std::collections::BTreeMap::new();
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            *counts.entry(word.to_lowercase()).or_insert(0.0) += 1.0;
        }
        counts
    };
    let (one, other) = (counts(one), counts(other));
    let dot: f64 = one.iter().filter_map(|(word, n)| Some(n * other.get(word)?)).sum();
    let length =
        |counts: &std::collections::BTreeMap<String, f64>| counts.values().map(|n| n * n).sum::<f64>().sqrt();
    dot / (length(&one) * length(&other))
}

/// A debate of two agents with these positions and otherwise equal plans, measured by words.
fn measured_by_words(one: &str, other: &str) -> Outcome {
    let positions = [one, other];
    let plan = "The team writes down what it does, tells everybody a week before, and looks at the figures in June again.";
    ScriptedArena {
        models: &MODELS[..2],
        votes: &|_| vec![1, 2],
        with: &|ask, phase, _, said| match phase {
            "propose" | "revise" | "refine" => {
                let position = positions[number(&ask.seat) - 1];
                said["position"] = json!(position);
                said["proposal"] = json!(format!("{position} {plan}"));
            }
            "compare" => {
                let texts: Vec<String> = serde_json::from_str(&ask.prompt.tail).unwrap();
                let row = |one: &String| {
                    texts.iter().map(|other| by_words(one, other).min(1.0)).collect::<Vec<f64>>()
                };
                said["similarity"] = json!(texts.iter().map(row).collect::<Vec<_>>());
            }
            _ => {}
        },
        ..ScriptedArena::default()
    }
    .outcome()
}

/// The lexical measure finds them alike enough, but they are kept apart.
#[test]
fn opposed_proposals_never_converge_by_lexical_similarity() {
    for (one, other, _) in
        [DENIED, CONTRARY].concat().into_iter().filter(|(one, ..)| !one.starts_with("Keep the monolith"))
    {
        let outcome = measured_by_words(one, other);
        let alike = outcome.verdict["convergence"][0]["agreement_min"].as_f64().unwrap();
        assert!(alike >= 0.85, "{one} {other}: {alike}");
        assert!(!converged(&outcome), "{one} {other} at {alike}");
        assert_eq!(outcome.verdict["tally"].as_array().unwrap().len(), 2);
    }
    let same = measured_by_words("Raise the price in spring.", "Raise the price in the spring.");
    assert_eq!(same.termination, Termination::Converged, "what is not opposed does converge");
}

/// The id of an item is not a figure of the position.
#[test]
fn positions_that_cite_different_sources_are_not_opposed() {
    let outcome = held("Use one queue, as [K1] says.", "Use one queue, as [K2] says.", 0.95, None, &[]);
    assert_eq!(outcome.termination, Termination::Converged);
}

/// "A warning once when likeness was measured by words alone in a debate that converged or whose ballots were grouped".
#[test]
fn a_decision_by_lexical_similarity_is_warned_about() {
    let times = |outcome: &Outcome| {
        outcome.warnings.iter().filter(|warning| warning.contains("not by meaning")).count()
    };
    assert_eq!(
        times(&ScriptedArena { alike: &|_| 0.9, ..ScriptedArena::default() }.outcome()),
        1,
        "converged"
    );
    let grouped =
        ScriptedArena { alike: &|round| if round == 6 { 0.9 } else { 0.2 }, ..ScriptedArena::default() }
            .outcome();
    assert_eq!(times(&grouped), 1, "grouped");
    assert_eq!(times(&ScriptedArena::default().outcome()), 0, "it decided nothing");
    let set = [BARE, &[("embeddings", "embeddings/minilm")]].concat();
    assert_eq!(times(&ScriptedArena { set: &set, alike: &|_| 0.9, ..ScriptedArena::default() }.outcome()), 0);
}

/// "three newly reached identical ones do": stability is reported, and does not decide.
#[test]
fn three_newly_reached_identical_proposals_converge() {
    let outcome = ScriptedArena {
        with: &|_, phase, round, said| {
            if phase == "revise" {
                said["position"] = json!("Put them into one queue, from Monday on.");
                said["proposal"] = json!(format!("All jobs go into one queue in step {round}."));
            }
        },
        alike: &|_| 0.1,
        ..ScriptedArena::default()
    }
    .outcome();
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Converged, 5));
    let check = &outcome.verdict["convergence"][0];
    assert_eq!((&check["agreement_min"], &check["agreement_mean"]), (&json!(1.0), &json!(1.0)));
    assert_eq!((&check["stability_min"], &check["stability_mean"]), (&json!(0.1), &json!(0.1)));
    assert_eq!(outcome.verdict["tally"][0]["labels"], json!(["A", "B", "C"]));
}

/// "Similarity alone never makes agreement": three vendors in one place of the same sentence are three proposals, also where nobody
/// declares a conflict, and three votes for them are no majority.
#[test]
fn another_word_in_one_place_is_an_alternative() {
    let outcome = ScriptedArena {
        with: &|ask, phase, _, said| {
            if ["propose", "revise", "refine"].contains(&phase) {
                let vendor = match ask.seat.as_str() {
                    "agent-1" => "Northwind",
                    "agent-2" => "Contoso",
                    _ => "Fabrikam",
                };
                said["position"] = json!(format!("Buy the tool of {vendor}, it is the cheapest by far."));
                said["proposal"] = said["position"].clone();
            }
            if phase == "vote" {
                said["choice"] = json!(ask.label.clone().unwrap());
            }
        },
        alike: &|_| 0.96,
        set: &[("max_extended_rounds", "0")],
        ..ScriptedArena::default()
    }
    .outcome();
    assert_eq!(outcome.termination, Termination::NoMajority);
    assert_eq!(outcome.verdict["convergence"][0]["opposed"].as_array().unwrap().len(), 3);
    assert_eq!(outcome.verdict["tally"].as_array().unwrap().len(), 3);
}

/// The program that the seed was taken from "calls three opposed but unchanged positions converged".
#[test]
fn unchanged_proposals_do_not_converge_because_they_are_stable() {
    let outcome = ScriptedArena {
        with: &|ask, phase, _, said| {
            if ["revise", "refine"].contains(&phase) {
                said["proposal"] = proposal(&ask.seat)["proposal"].clone();
            }
        },
        ..ScriptedArena::default()
    }
    .outcome();
    let check = &outcome.verdict["convergence"][0];
    assert_eq!((&check["stability_min"], &check["agreement_min"]), (&json!(1.0), &json!(0.2)));
    assert!(!converged(&outcome));
}

/// "minimum agreement >= `convergence_threshold`", inclusive with 1e-9: the minimum, and not the mean.
#[test]
fn the_lowest_similarity_is_compared_with_the_threshold() {
    for (threshold, alike, want) in [
        ("0.85", 0.85, true),
        ("0.85", 0.849_999_999_9, true),
        ("0.85", 0.849_99, false),
        ("0.9", 0.899, false),
        ("1", 1.0, true),
        ("0", 0.0, true),
    ] {
        let set = [BARE, &[("convergence_threshold", threshold)]].concat();
        let outcome = ScriptedArena { set: &set, alike: &|_| alike, ..ScriptedArena::default() }.outcome();
        assert_eq!(outcome.termination == Termination::Converged, want, "{alike} of {threshold}");
    }
    // One pair of three is far apart.
    let outcome = ScriptedArena {
        with: &|_, phase, _, said| {
            if phase == "compare" {
                for (row, column) in [(0, 1), (1, 0)] {
                    said["similarity"][row][column] = json!(0.3);
                }
            }
        },
        alike: &|_| 0.95,
        ..ScriptedArena::default()
    }
    .outcome();
    let check = &outcome.verdict["convergence"][0];
    assert_eq!(check["agreement_min"], 0.3);
    assert!((check["agreement_mean"].as_f64().unwrap() - 2.2 / 3.0).abs() < 1e-9);
    assert!(!converged(&outcome));
}

/// "every such agent has declared at least once": who was absent from every revision has not agreed to anything.
#[test]
fn an_agent_that_never_declared_has_not_agreed() {
    let silent = |until: u32| {
        ScriptedArena {
            alike: &|_| 0.95,
            absent: &|ask, phase, round| ask.seat == "agent-2" && phase == "revise" && round <= until,
            ..ScriptedArena::default()
        }
        .outcome()
    };
    assert_eq!(silent(3).verdict["early_consensus"], 4);
    assert_eq!(silent(5).verdict["early_consensus"], Value::Null);
    assert_eq!(silent(3).verdict["convergence"][0]["undeclared"].as_array().unwrap().len(), 1);
}

/// "Absent in a revision: the last proposal carries, its last declared conflicts too".
#[test]
fn a_declared_conflict_is_carried_while_its_author_is_absent() {
    let outcome = ScriptedArena {
        alike: &|_| 0.95,
        absent: &|ask, phase, round| ask.seat == "agent-1" && phase == "revise" && round > 3,
        with: &|ask, phase, _, said| {
            if phase == "revise" && ask.seat == "agent-1" {
                said["conflicts_with"] = json!([allowed(ask, "/properties/conflicts_with/items")[1]]);
            }
        },
        ..ScriptedArena::default()
    }
    .outcome();
    assert_eq!(outcome.verdict["early_consensus"], Value::Null);
    for check in outcome.verdict["convergence"].as_array().unwrap().iter().take(3) {
        assert_eq!(check["conflicts"].as_array().unwrap().len(), 1, "{check}");
    }
}

/// "Similarity absent: all figures null, not converged, a warning".
#[test]
fn without_a_measure_no_figure_is_made_up() {
    let outcome =
        ScriptedArena { absent: &|_, phase, _| phase == "compare", ..ScriptedArena::default() }.outcome();
    for check in outcome.verdict["convergence"].as_array().unwrap() {
        for figure in ["agreement_min", "agreement_mean", "stability_min", "stability_mean", "measured_by"] {
            assert_eq!(check[figure], Value::Null);
        }
        assert_eq!(check["converged"], false);
    }
    assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Degraded));
    assert!(warned(&outcome, "round 3: it is not known how alike the proposals are (timed_out)"));
}

/// The errand has the proposals, then the ones before, and goes to the model of the option.
#[test]
fn the_measure_compares_the_proposals_with_each_other_and_the_ones_before() {
    let seen = std::cell::RefCell::new(Vec::new());
    let look = |ask: &Ask, phase: &str, round: u32, _: &mut Value| {
        if phase == "compare" {
            let texts: Vec<String> = serde_json::from_str(&ask.prompt.tail).unwrap();
            assert_eq!((&*ask.prompt.system, &*ask.prompt.shared, ask.seat.as_str()), ("", "", "similarity"));
            seen.borrow_mut().push((round, ask.model.clone(), texts));
        }
    };
    let set = [BARE, &[("embeddings", "embeddings/minilm")]].concat();
    let outcome = ScriptedArena { set: &set, with: &look, ..ScriptedArena::default() }.outcome();
    let seen = seen.into_inner();
    assert_eq!(seen.iter().map(|(round, ..)| *round).collect::<Vec<_>>(), [3, 4, 5, 6]);
    for pair in seen.windows(2) {
        assert_eq!(pair[0].2.len(), 6);
        assert_eq!(pair[0].2[..3], pair[1].2[3..], "what was new is what was before");
    }
    assert!(seen.iter().all(|(_, model, _)| model == "embeddings/minilm"));
    assert_eq!(outcome.verdict["convergence"][0]["measured_by"], "embeddings/minilm");
    assert!(seen[0].2[0].contains('\n'), "position, line, proposal");
    let plain = ScriptedArena::default().outcome();
    assert_eq!(plain.verdict["convergence"][0]["measured_by"], "embeddings/lexical");
}
