//! "Meaning is declared and verified, never guessed from words": only declarations that verify decide which proposals are the same, in
//! every language.

use std::cell::RefCell;

use super::*;

/// What a clerk says of two proposals, and how it quotes them.
#[derive(Clone, Copy)]
enum ScriptedClerk {
    Says(&'static str, f64),
    /// With quotes that are not of the proposals.
    Misquotes(&'static str, f64),
    /// With each quote under the other's label.
    Swaps(&'static str, f64),
    /// Without any quote.
    Bare(&'static str, f64),
    /// Only the first proposal is quoted.
    Half(&'static str, f64),
    Absent,
}

use ScriptedClerk::{Absent, Bare, Half, Misquotes, Says, Swaps};

/// Two agents with these positions from the beginning to the end. The second may declare a conflict, and may change a word in every
/// round.
fn debated(one: &str, other: &str, clerk: ScriptedClerk, conflict: bool, moving: bool) -> Outcome {
    let positions = [one, other];
    let set = [BARE, &[("max_extended_rounds", "0")]].concat();
    ScriptedArena {
        models: &MODELS[..2],
        set: &set,
        votes: &|_| vec![1, 2],
        absent: &|ask, _, _| ask.seat == "clerk" && matches!(clerk, Absent),
        with: &|ask, phase, round, said| {
            if ["propose", "revise", "refine"].contains(&phase) {
                let n = number(&ask.seat);
                said["position"] = json!(positions[n - 1]);
                said["proposal"] = json!(positions[n - 1]);
                if moving && n == 1 {
                    said["proposal"] = json!(format!("{} ({round})", positions[0]));
                }
                if phase != "propose" && conflict && n == 2 {
                    said["conflicts_with"] = json!(others(ask));
                }
            }
            if phase == "compare" {
                *said = sorted(ask, &|_, _| match clerk {
                    Says(relation, alike) | Misquotes(relation, alike) | Swaps(relation, alike) => {
                        (relation, alike)
                    }
                    Bare(relation, alike) | Half(relation, alike) => (relation, alike),
                    Absent => unreachable!(),
                });
                let quotes = &mut said["pairs"][0]["quotes"];
                match clerk {
                    Misquotes(..) => quotes[0]["quote"] = json!("words that nobody wrote"),
                    Swaps(..) => {
                        let label = quotes[0]["label"].clone();
                        quotes[0]["label"] = quotes[1]["label"].clone();
                        quotes[1]["label"] = label;
                    }
                    Bare(..) => *quotes = json!([]),
                    Half(..) => _ = quotes.as_array_mut().unwrap().pop(),
                    Says(..) | Absent => {}
                }
            }
        },
        ..ScriptedArena::default()
    }
    .outcome()
}

/// What a case comes to.
#[derive(Debug, PartialEq, Clone, Copy)]
enum PairResult {
    /// They converge, and ballots on them count together.
    One,
    /// They converge, and ballots on them count apart.
    Together,
    /// They do not converge, and the score is known.
    Apart,
    /// Nobody knows.
    Unknown,
}

use PairResult::{Apart, One, Together, Unknown};

fn meaning(outcome: &Outcome) -> PairResult {
    let check = &outcome.verdict["convergence"][0];
    let groups = outcome.verdict["tally"].as_array().unwrap().len();
    match (check["converged"] == true, check["agreement_min"].as_f64(), groups) {
        (true, Some(_), 1) => One,
        (true, Some(_), 2) => Together,
        (false, Some(_), 2) => Apart,
        (false, None, 2) => Unknown,
        other => panic!("{other:?}: {check}"),
    }
}

const SAME: ScriptedClerk = Says("same", 0.95);
const FITS: ScriptedClerk = Says("compatible", 0.9);
const OPPOSED: ScriptedClerk = Says("conflict", 0.9);

/// Two positions, what the clerk says, and what it comes to.
const CASES: &[(&str, &str, ScriptedClerk, PairResult)] = &[
    // What was seen: paraphrases that counted as different, and opposites that counted as the same.
    ("Postgres only.", "Use nothing but Postgres.", SAME, One),
    ("Replace Redis with Postgres.", "Replace Postgres with Redis.", OPPOSED, Apart),
    ("Repair the mains quickly.", "Fix the mains quickly.", SAME, One),
    ("Fix the mains quickly.", "Mend the mains quickly.", SAME, One),
    // The same cases without a word of the clerk that verifies.
    ("Postgres only.", "Use nothing but Postgres.", Absent, Unknown),
    ("Replace Redis with Postgres.", "Replace Postgres with Redis.", Absent, Unknown),
    ("Replace Redis with Postgres.", "Replace Postgres with Redis.", Misquotes("same", 1.0), Unknown),
    ("Repair the mains quickly.", "Fix the mains quickly.", Misquotes("conflict", 0.0), Unknown),
    // Paraphrase.
    ("Adopt the queue this year.", "This year the queue should be taken up.", SAME, One),
    ("Führt die Warteschlange dieses Jahr ein.", "Die Warteschlange soll noch heuer kommen.", SAME, One),
    ("今年采用队列。", "队列应在今年投入使用。", SAME, One),
    ("Use Go.", "我们应该使用 Go 语言。", SAME, One),
    // Negation.
    ("Use Go here.", "Never use Go here.", OPPOSED, Apart),
    ("Nehmt hier Go.", "Nehmt hier niemals Go.", OPPOSED, Apart),
    ("在这里使用 Go。", "不要在这里使用 Go。", OPPOSED, Apart),
    // Swap.
    ("Ersetzt Redis durch Postgres.", "Ersetzt Postgres durch Redis.", OPPOSED, Apart),
    ("用 Postgres 替换 Redis。", "用 Redis 替换 Postgres。", OPPOSED, Apart),
    // Another figure.
    ("Pay out 10 percent.", "Pay out 90 percent.", OPPOSED, Apart),
    ("Schüttet 10 Prozent aus.", "Schüttet 90 Prozent aus.", OPPOSED, Apart),
    // Partial agreement: both can be followed, and they are not one choice.
    ("Cut the alerts.", "Cut the alerts, and pay for nights.", FITS, Together),
    ("Streicht die Alarme.", "Streicht die Alarme und bezahlt die Nächte.", FITS, Together),
    ("减少警报。", "减少警报，并支付夜班费。", FITS, Together),
    ("Cut the alerts.", "Paint the office.", Says("compatible", 0.1), Apart),
    // Equality after normalization needs no declaration, and no declaration undoes it.
    ("Use  Go here.", "use go HERE.", OPPOSED, One),
    ("Straße sperren", "STRASSE SPERREN", Says("conflict", 0.0), One),
    ("使用　Go", "使用 go", OPPOSED, One),
    // Quotes: empty, of another seat, of nobody, of one side only.
    ("Use Go.", "Go it is.", Bare("same", 1.0), Unknown),
    ("Use Go.", "Go it is.", Half("same", 1.0), Unknown),
    ("Use Go.", "Go it is.", Swaps("same", 1.0), Unknown),
    ("Nehmt Go.", "Go soll es sein.", Swaps("conflict", 0.0), Unknown),
    ("使用 Go。", "就用 Go。", Misquotes("same", 1.0), Unknown),
    ("使用 Go。", "就用 Go。", Absent, Unknown),
    ("Nehmt Go.", "Go soll es sein.", Absent, Unknown),
    // Below the threshold, the same in kind.
    ("Use Go.", "Go it is.", Says("same", 0.8), Apart),
];

/// "the outcome is right or `unknown`, never wrong".
#[test]
fn who_agrees_is_right_or_unknown_in_every_language() {
    for (one, other, clerk, expected) in CASES {
        for (one, other) in [(one, other), (other, one)] {
            let outcome = debated(one, other, *clerk, false, true);
            // Below the threshold the two are one choice all the same.
            if matches!(clerk, Says("same", alike) if *alike < 0.85) {
                assert_eq!(outcome.verdict["tally"].as_array().unwrap().len(), 1, "{one} {other}");
                assert_eq!(outcome.verdict["convergence"][0]["converged"], false);
                continue;
            }
            // A proposal that moves a word is not equal to one that does not.
            let is_exact = matches!((clerk, expected), (Says("conflict", _), One));
            let outcome = if is_exact { debated(one, other, *clerk, false, false) } else { outcome };
            assert_eq!(meaning(&outcome), *expected, "{one} / {other}: {}", outcome.verdict["convergence"]);
            let dissent: Vec<&Value> = outcome.dissent.iter().map(|held| &held["label"]).collect();
            let adopted = outcome.verdict["tally"][0]["labels"].as_array().unwrap();
            let won = outcome.verdict["winner"].is_string();
            assert!(
                !won || dissent.iter().all(|label| !adopted.contains(label)),
                "{one} / {other}: {dissent:?}"
            );
        }
    }
}

/// "A failed clerk leaves unknown": nulls, not 0, and it is said.
#[test]
fn what_is_not_known_is_null_and_said_once() {
    let outcome = debated("Use Go.", "Go it is.", Absent, false, true);
    let check = &outcome.verdict["convergence"][0];
    for field in ["agreement_min", "agreement_mean", "stability_min", "sorted_by"] {
        assert_eq!(check[field], Value::Null, "{field}");
    }
    assert_eq!((&check["converged"], &check["pairs"][0]["relation"]), (&json!(false), &Value::Null));
    assert!(warned(&outcome, "round 3: the clerk was absent"), "{:?}", outcome.warnings);
    let unverified = debated("Use Go.", "Go it is.", Bare("same", 1.0), false, true);
    assert!(
        warned(&unverified, "the clerk's word on them did not verify: A and B"),
        "{:?}",
        unverified.warnings
    );
    assert_eq!(unverified.fidelity, Fidelity::Full, "it is no absence");
    let known = debated("Use Go.", "Use C.", OPPOSED, false, true);
    assert_eq!(known.verdict["convergence"][0]["agreement_min"], 0.0, "0 for a conflict");
}

/// "a declaration counts against the version that the agent was shown: where the other proposal changed in the same round, the clerk's
/// word stands".
#[test]
fn a_declared_conflict_counts_against_the_version_that_was_shown() {
    for (one, other) in
        [("Use Go.", "Go it is."), ("Nehmt Go.", "Go soll es sein."), ("使用 Go。", "就用 Go。")]
    {
        let kept = debated(one, other, SAME, true, false);
        assert_eq!(kept.verdict["convergence"][0]["converged"], false, "{one}");
        assert_eq!(kept.verdict["convergence"][0]["conflicts"].as_array().unwrap().len(), 1);
        assert_eq!(kept.verdict["tally"].as_array().unwrap().len(), 2, "its own word outranks the clerk's");
        let changed = debated(one, other, SAME, true, true);
        assert_eq!(meaning(&changed), One, "the other proposal changed in the same round");
        assert_eq!(changed.verdict["convergence"][0]["conflicts"], json!([]));
    }
}

/// "Converged = score >= `convergence_threshold`": both sides, the lowest of all pairs.
#[test]
fn the_lowest_similarity_is_compared_with_the_threshold() {
    for (threshold, least, converges) in [
        ("0.85", 0.85, true),
        ("0.85", 0.849, false),
        ("0.3", 0.3, true),
        ("1", 0.999, false),
        ("0", 0.0, true),
    ] {
        let set = [BARE, &[("convergence_threshold", threshold)]].concat();
        let outcome = ScriptedArena {
            set: &set,
            with: &|ask, phase, _, said| {
                if phase == "compare" {
                    *said = sorted(ask, &|_, _| ("compatible", 1.0));
                    said["pairs"][1]["similarity"] = json!(least);
                }
            },
            ..ScriptedArena::default()
        }
        .outcome();
        let check = &outcome.verdict["convergence"][0];
        assert_eq!((&check["converged"], &check["agreement_min"]), (&json!(converges), &json!(least)));
    }
}

/// One pair that conflicts is enough, and an unknown pair beside it changes nothing about the score.
#[test]
fn one_conflict_or_unknown_pair_keeps_three_from_converging() {
    let check = |change: &dyn Fn(&mut Value)| {
        let outcome = ScriptedArena {
            with: &|ask, phase, _, said| {
                if phase == "compare" {
                    *said = sorted(ask, &|_, _| ("same", 1.0));
                    change(&mut said["pairs"]);
                }
            },
            ..ScriptedArena::default()
        }
        .outcome();
        outcome.verdict["convergence"][0].clone()
    };
    assert_eq!(check(&|_| {})["converged"], true);
    let conflict = check(&|pairs| pairs[2]["relation"] = json!("conflict"));
    assert_eq!((&conflict["converged"], &conflict["agreement_min"]), (&json!(false), &json!(0.0)));
    let unknown = check(&|pairs| _ = pairs.as_array_mut().unwrap().pop());
    assert_eq!((&unknown["converged"], &unknown["agreement_min"]), (&json!(false), &Value::Null));
    assert_eq!(unknown["pairs"].as_array().unwrap().len(), 3, "the pair is there, as unknown");
    let both = check(&|pairs| {
        pairs[0]["relation"] = json!("conflict");
        pairs.as_array_mut().unwrap().pop();
    });
    assert_eq!((&both["agreement_min"], &both["agreement_mean"]), (&json!(0.0), &Value::Null));
}

/// "An embedding similarity is computed and shown where an embedding model is configured; it decides nothing".
#[test]
fn embeddings_are_shown_and_decide_nothing() {
    let held = |set: &[(&str, &str)], embedded: f64, said: f64| {
        let set = [BARE, set].concat();
        ScriptedArena {
            set: &set,
            alike: &|_| said,
            with: &|ask, phase, _, said| {
                if phase == "compare" && ask.seat == "similarity" {
                    *said = compared(ask, embedded);
                }
            },
            ..ScriptedArena::default()
        }
        .run()
    };
    let on = [("embeddings", "embeddings/minilm")];
    let (plain, shown) = (held(&[], 0.0, 0.2), held(&on, 0.99, 0.2));
    let (plain, shown) = (plain.outcome.unwrap(), shown.outcome.unwrap());
    assert_eq!(plain.termination, shown.termination);
    let check = &shown.verdict["convergence"][0];
    assert_eq!((&check["converged"], &check["agreement_min"]), (&json!(false), &json!(0.2)));
    assert_eq!(
        check["embedding"],
        json!({"model": "embeddings/minilm", "agreement_min": 0.99, "agreement_mean": 0.99})
    );
    assert_eq!(check["stability_min"], 0.99, "each against its own last");
    assert_eq!(plain.verdict["convergence"][0]["embedding"], Value::Null);
    assert_eq!(held(&on, 0.0, 0.9).outcome.unwrap().termination, Termination::Converged);
    for none in ["", "embeddings/lexical"] {
        let debate = held(&[("embeddings", none)], 0.0, 0.2);
        assert_eq!(calls(&debate).1, 0, "words alone are no embedding");
    }
    let failed = ScriptedArena {
        set: &[BARE, &on[..]].concat(),
        absent: &|ask, _, _| ask.seat == "similarity",
        alike: &|_| 0.9,
        ..ScriptedArena::default()
    };
    assert_eq!(failed.outcome().termination, Termination::Converged, "nothing rests on it");
}

/// "a revision round that changes no proposal and brings no new critique ends the revision rounds", and stability is 1.
#[test]
fn a_round_that_changes_nothing_ends_the_revisions() {
    let table = |change: &dyn Fn(&Ask, u32, &mut Value)| {
        ScriptedArena {
            with: &|ask, phase, round, said| {
                if phase == "revise" || phase == "refine" {
                    said["proposal"] = proposal(&ask.seat)["proposal"].clone();
                    change(ask, round, said);
                }
            },
            ..ScriptedArena::default()
        }
        .run()
    };
    let names = |debate: &Debate| -> Vec<u32> {
        debate.turns.iter().filter(|turn| turn.phase.name == "revise").map(|turn| turn.phase.round).collect()
    };
    let idle = table(&|_, _, _| {});
    assert_eq!(names(&idle), [3], "and then the refinement");
    let phases = phases(&idle);
    let after: Vec<&str> = phases.iter().skip(3).map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        after,
        ["compare", "refine", "vote", "judge"],
        "a refinement that changes nothing is not sorted again"
    );
    let outcome = idle.outcome.as_ref().unwrap();
    assert_eq!(outcome.verdict["idle_revision"], 3);
    assert_eq!(
        (outcome.fidelity, &outcome.verdict["convergence"][0]["stability_min"]),
        (Fidelity::Full, &json!(1.0))
    );
    let why = Arena.view(&idle).unwrap().headline.why.unwrap();
    assert!(why.contains("Round 3 changed no proposal and brought no new critique"), "{why}");
    // White space and capitals are no change; a word, a claim and a new critique are.
    assert_eq!(
        names(&table(&|_, round, said| {
            if round == 4 {
                said["proposal"] = json!(format!("  {} ", said["proposal"].as_str().unwrap().to_uppercase()));
            }
        })),
        [3]
    );
    let word = table(&|ask, round, said| {
        if round == 3 && ask.seat == "agent-1" {
            said["proposal"] = json!("Another plan.");
        }
    });
    assert_eq!(names(&word), [3, 4, 5], "agent-1 goes back in round 4");
    // Round 3 shows no proposal that could be criticized, so a critique in it was not asked for.
    for (criticized, held) in [(3, vec![3, 4]), (4, vec![3, 4, 5])] {
        let critic = table(&|ask, round, said| {
            if ask.seat == "agent-1" {
                said["proposal"] = json!("Another plan.");
            }
            if ask.seat == "agent-1" && round == criticized {
                said["critiques"] = json!([{"label": others(ask)[0], "issue": "Who pays?", "severity": 0.4}]);
            }
        });
        assert_eq!(names(&critic), held);
    }
}

/// A position that an agent takes back is its old one again.
#[test]
fn a_change_back_is_the_first_position_again() {
    let debate = ScriptedArena {
        with: &|ask, phase, round, said| {
            if phase == "revise" && ask.seat == "agent-2" && round == 4 {
                said["position"] = json!("Rent machines by the hour.");
            }
        },
        ..ScriptedArena::default()
    }
    .run();
    let outcome = debate.outcome.as_ref().unwrap();
    let held = outcome.positions.iter().find(|position| position.seat == "agent-2").unwrap();
    assert!(!held.reason.contains("revised"), "it ends with the words that it began with: {}", held.reason);
    let flips = Arena.view(&debate).unwrap().positions.flips();
    let own: Vec<(u32, &str)> = flips
        .iter()
        .filter(|flip| flip.seat == "agent-2" && flip.round < 7)
        .map(|flip| (flip.round, flip.to.as_str()))
        .collect();
    assert_eq!(own, [(4, "Rent machines by the hour."), (5, POSITIONS[1])]);
}

/// An id of another debate, or of nobody, is no answer, no verdict and no cause.
#[test]
fn ids_of_other_debates_count_for_nothing() {
    let table = ScriptedArena {
        votes: &|_| vec![1, 2, 1],
        with: &|ask, phase, _, said| {
            if ["revise", "refine"].contains(&phase) && ask.seat == "agent-2" {
                said["position"] = json!("Rent machines by the hour.");
                said["claims"] = json!([{"claim": "It is cheap", "evidence": "[K7] of the old debate, (Q9 of that debate), [Q8 2025 report]"}]);
                said["addressed"] = json!([]);
            }
        },
        ..ScriptedArena::default()
    };
    let debate = table.run();
    let flips = Arena.view(&debate).unwrap().positions.flips();
    let flip = flips.iter().find(|flip| flip.seat == "agent-2").unwrap();
    assert_eq!((flip.evidenced, flip.cited.len()), (false, 0));
    let warnings = debate.outcome.unwrap().warnings;
    let warning = format!("{} cites [K7], which does not exist", name(&debate.brief, 2));
    assert_eq!(warnings, [warning], "nor is the marked one of this debate");
}

/// The decisions of a debate: everything that says which agents agree.
fn decisions(debate: &Debate) -> Vec<Value> {
    let outcome = debate.outcome.as_ref().unwrap();
    let verdict = &outcome.verdict;
    let checks = verdict["convergence"].as_array().unwrap().iter().map(|check| {
        let pairs: Vec<&Value> =
            check["pairs"].as_array().unwrap().iter().map(|pair| &pair["relation"]).collect();
        json!([
            check["round"],
            check["agreement_min"],
            check["converged"],
            check["conflicts"],
            check["changed"],
            pairs
        ])
    });
    let groups =
        verdict["tally"].as_array().unwrap().iter().map(|group| json!([group["labels"], group["votes"]]));
    let history = Arena.view(debate).unwrap().positions;
    let rounds =
        history.rounds.iter().map(|round| json!([round.round, round.is_sorted(), round.grouped(None)]));
    let flips = history.flips();
    let flips = flips.iter().map(|flip| json!([flip.round, flip.seat, flip.evidenced, flip.toward_majority]));
    let fates = outcome.positions.iter().map(|held| json!([held.seat, held.fate]));
    let rest = [
        verdict["winner"].clone(),
        json!(outcome.termination),
        json!(outcome.dissent.iter().map(|held| held["label"].clone()).collect::<Vec<_>>()),
        verdict["trickster"]["checks"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|check| check["hollow"].clone())
            .collect(),
        verdict["unresolved"].clone(),
    ];
    checks.chain(groups).chain(rounds).chain(flips).chain(fates).chain(rest).collect()
}

/// A debate of invented words. Every word that a seat writes goes through `word`.
fn spoken(seed: u64, word: &dyn Fn(&str) -> String) -> Debate {
    const WORDS: &[&str] = &[
        "not",
        "never",
        "same",
        "agree",
        "because",
        "queue",
        "cron",
        "ten",
        "ninety",
        "none",
        "Warteschlange",
        "nicht",
        "队列",
        "不要",
        "K1",
        "Q2",
    ];
    let text = |draw: &mut agon_core::SeededDraw, count: usize| -> String {
        let words: Vec<String> =
            (0..1 + draw.below(count)).map(|_| word(WORDS[draw.below(WORDS.len())])).collect();
        words.join(" ")
    };
    let set = [BARE, &[("trickster", "true"), ("max_extended_rounds", "1")]].concat();
    let table = ScriptedArena { set: &set, ..ScriptedArena::default() };
    let brief = Brief { seed, ..table.brief() };
    let kept = RefCell::new(std::collections::BTreeMap::<String, (String, String)>::new());
    let speak = |ask: &Ask, phase: &str, round: u32, said: &mut Value| {
        let draw =
            &mut agon_core::SeededDraw::new(seed, &format!("{} {phase} {round} {:?}", ask.seat, ask.about));
        match phase {
            "propose" | "revise" | "refine" | "challenge" => {
                let mut kept = kept.borrow_mut();
                // Some copy another agent, some stay, some change.
                let copied = kept.values().nth(draw.below(kept.len().max(1))).cloned();
                let own = kept.get(&ask.seat).cloned();
                let fresh = (text(draw, 4), text(draw, 9));
                let (position, proposal) = match draw.below(4) {
                    0 => copied.unwrap_or(fresh),
                    1 | 2 => own.unwrap_or(fresh),
                    _ => fresh,
                };
                said["position"] = json!(position);
                said["proposal"] = json!(proposal);
                said["claims"] = json!([{"claim": text(draw, 5), "evidence": if draw.below(2) == 0 { String::new() } else { text(draw, 5) }}]);
                kept.insert(ask.seat.clone(), (position, proposal));
                if phase != "propose" {
                    said["analysis"] = json!(text(draw, 9));
                    let others = others(ask);
                    said["conflicts_with"] = if draw.below(4) == 0 { json!([others[0]]) } else { json!([]) };
                }
            }
            "critique" => said["issues"] = json!([text(draw, 6)]),
            "vote" => said["reason"] = json!(if draw.below(3) == 0 { String::new() } else { text(draw, 6) }),
            "compare" => {
                *said = sorted(ask, &|_, _| ("compatible", 0.5));
                said["analysis"] = json!(text(draw, 9));
                for pair in said["pairs"].as_array_mut().unwrap() {
                    pair["relation"] = json!(["same", "compatible", "conflict"][draw.below(3)]);
                    pair["similarity"] = json!([0.3, 0.9, 1.0][draw.below(3)]);
                    if draw.below(5) == 0 {
                        pair["quotes"][0]["quote"] = json!(word("unsaid"));
                    }
                }
            }
            _ => {}
        }
    };
    ScriptedArena { with: &speak, ..table }.run_brief(brief)
}

/// "renaming every word of a debate by a bijection (a made-up language) changes no decision".
#[test]
fn a_made_up_language_changes_no_decision() {
    let plain = |word: &str| word.to_owned();
    // Every letter becomes another, so that two words are the same exactly if they were.
    let shifted = |word: &str| -> String {
        let shift = |c: char, first: u8| char::from(first + (c as u8 - first + 13) % 26);
        let letter = |c: char| match c {
            'a'..='z' => shift(c, b'a'),
            'A'..='Z' => shift(c, b'A'),
            '\u{4e00}'..='\u{9f00}' => char::from_u32(u32::from(c) + 1).unwrap(),
            other => other,
        };
        word.chars().map(letter).collect()
    };
    let prefixed = |word: &str| format!("zx{word}");
    for seed in 0..25 {
        let first = decisions(&spoken(seed, &plain));
        assert_eq!(first, decisions(&spoken(seed, &prefixed)), "seed {seed}");
        assert_eq!(first, decisions(&spoken(seed, &shifted)), "seed {seed}");
    }
}

/// "no text that a seat writes, apart from a verified declaration, changes who agrees with whom": every reason, analysis, critique and
/// claim of each debate is replaced by words that shout agreement, and every decision stays.
#[test]
fn what_seats_write_beside_their_declarations_changes_nothing() {
    let chatter =
        "We all agree, Agent A, B and C are the same, no conflict; wir sind uns einig; 我们都同意。";
    for seed in 0..20 {
        let held = |words: Option<&str>| {
            let set = [BARE, &[("max_extended_rounds", "1")]].concat();
            let table = ScriptedArena {
                set: &set,
                votes: &|_| SPLIT.to_vec(),
                scores: &|_, _| NEAR.to_vec(),
                with: &|ask, phase, round, said| {
                    let draw =
                        &mut agon_core::SeededDraw::new(seed, &format!("{} {phase} {round}", ask.seat));
                    if phase == "compare" {
                        for pair in said["pairs"].as_array_mut().unwrap() {
                            pair["relation"] = json!(["same", "compatible", "conflict"][draw.below(3)]);
                        }
                    }
                    let Some(words) = words else { return };
                    for field in ["analysis", "reason", "margin_comment"] {
                        if said.get(field).is_some() {
                            said[field] = json!(words);
                        }
                    }
                    if phase == "critique" {
                        said["issues"] = json!([words]);
                    }
                    if let Some(answers) = said.get_mut("addressed").and_then(Value::as_array_mut) {
                        answers.iter_mut().for_each(|answer| answer["how"] = json!(words));
                    }
                },
                ..ScriptedArena::default()
            };
            let brief = Brief { seed, ..table.brief() };
            decisions(&table.run_brief(brief))
        };
        assert_eq!(held(None), held(Some(chatter)), "seed {seed}");
    }
}
