//! Who sits: counts, perspectives, explorers, a second vendor, and the limit of twelve.

use super::super::seats::PRESETS;
use super::*;

fn count(models: &[&str], set: &[(&str, &str)], role: &str) -> usize {
    seated(models, set).unwrap().iter().filter(|seat| seat.role == role).count()
}

fn names(seats: &[Seat]) -> Vec<&str> {
    seats.iter().map(|seat| seat.id.as_str()).collect()
}

/// "Judges: default 2, `--deep` 3, `--count N`".
#[test]
fn the_number_of_judges_is_two_or_three_or_the_count() {
    for (set, judges) in [
        (&[][..], 2),
        (&[("deep", "true")], 3),
        (&[("count", "1")], 1),
        (&[("count", "5")], 5),
        (&[("count", "12")], 12),
        (&[("deep", "true"), ("count", "2")], 2),
    ] {
        assert_eq!(count(&["a/x"], set, "judge"), judges, "{set:?}");
    }
    for wrong in ["0", "13", "two"] {
        assert!(seated(&["a/x"], &[("count", wrong)]).unwrap_err().contains("from 1 to 12"), "{wrong}");
    }
    assert!(seated(&[], &[]).unwrap_err().contains("at least one model"));
}

/// "the count rises to the number of perspectives, and of models named".
#[test]
fn the_count_rises_to_perspectives_and_models() {
    for (models, set, judges) in [
        (1, &[("perspectives", "security")][..], 2),
        (1, &[("perspectives", "security,cost")], 2),
        (1, &[("perspectives", "security,cost,risk")], 3),
        (1, &[("preset", "doc-review")], 4),
        (1, &[("preset", "doc-review"), ("count", "3")], 4),
        (1, &[("preset", "doc-review"), ("count", "5")], 5),
        (1, &[("preset", "ops"), ("perspectives", "cost,reliability")], 4),
        (2, &[], 2),
        (3, &[], 3),
        (3, &[("count", "2")], 3),
        (3, &[("count", "4")], 4),
        (4, &[("deep", "true")], 4),
    ] {
        assert_eq!(count(&vec!["a/x"; models], set, "judge"), judges, "{models} models, {set:?}");
    }
}

/// "... and the first line of the run says so."
#[test]
fn a_count_that_rises_is_told() {
    for (models, set, note) in [
        (1, &[][..], None),
        (2, &[], None),
        (3, &[], Some("3 judges instead of 2: one for each perspective or model")),
        (4, &[("deep", "true")], Some("4 judges instead of 3: one for each perspective or model")),
        (1, &[("preset", "ops")], Some("3 judges instead of 2: one for each perspective or model")),
        (1, &[("preset", "ops"), ("count", "3")], None),
        (3, &[("count", "5")], None),
        (3, &[("quick", "true")], None),
    ] {
        let (debate, _) = Debate::open(brief(&vec!["a/x"; models], set)).unwrap();
        let want: Vec<&str> = note.into_iter().collect();
        assert_eq!(view(&debate).outline.facts, want, "{models} models, {set:?}");
    }
}

/// "A perspective that needs something (`spec-compliance`: `--spec`) is seated only when it is there; `code-review` has one for tests."
#[test]
fn a_perspective_that_needs_a_specification_sits_only_with_one() {
    let seated = |files: &[(&str, &str)], set: &[(&str, &str)]| {
        let request = testing::request(&Review, "", files, &["a/x"], set).unwrap();
        Review.seats(&request).map_err(|why| why.0)
    };
    let (plain, with_spec) = ([("a.py", "x")], [("a.py", "x"), ("spec:s.md", "It adds.")]);
    let preset = [("preset", "code-review")];
    assert_eq!(names(&seated(&plain, &preset).unwrap()), ["correctness", "error-paths", "testing"]);
    assert_eq!(
        names(&seated(&with_spec, &preset).unwrap()),
        ["correctness", "error-paths", "testing", "spec-compliance"]
    );
    let named = [("perspectives", "correctness,spec-compliance")];
    assert!(seated(&plain, &named).unwrap_err().contains("the perspective spec-compliance needs --spec"));
    assert_eq!(names(&seated(&with_spec, &named).unwrap()), ["correctness", "spec-compliance"]);
}

/// Rule 11: "where there is a count option, the models cycle over the seats."
#[test]
fn models_cycle_over_the_judges() {
    let seats = seated(&["a/x", "b/y"], &[("count", "5")]).unwrap();
    let models: Vec<&str> = seats.iter().map(|seat| seat.model.as_str()).collect();
    assert_eq!(models, ["a/x", "b/y", "a/x", "b/y", "a/x"]);
    assert_eq!(names(&seats), ["judge-1", "judge-2", "judge-3", "judge-4", "judge-5"]);
}

/// "judges x (1 + explorers) <= 12, else an error": both sides, in several shapes.
#[test]
fn at_most_twelve_agents_sit() {
    let seven = "b/1,b/2,b/3,b/4,b/5,b/6,b/7";
    for (models, set, agents, fits) in [
        (1, &[("count", "12")][..], 12, true),
        (12, &[], 12, true),
        (13, &[], 13, false),
        (1, &[("explorers", "5")], 12, true),
        (1, &[("count", "3"), ("explorers", "3")], 12, true),
        (1, &[("count", "3"), ("explorers", "4")], 15, false),
        (1, &[("count", "4"), ("explorers", "2")], 12, true),
        (1, &[("count", "6"), ("explorers", "1")], 12, true),
        (1, &[("count", "7"), ("explorers", "1")], 14, false),
        (1, &[("count", "12"), ("explorers", "1")], 24, false),
        (1, &[("count", "6"), ("mixed", "b/y")], 12, true),
        (1, &[("count", "6"), ("mixed", seven)], 13, false),
        (1, &[("count", "5"), ("mixed", seven)], 12, true),
        (1, &[("count", "3"), ("mixed", "b/y"), ("explorers", "1")], 12, true),
        (1, &[("count", "2"), ("mixed", "b/y"), ("explorers", "2")], 12, true),
        (1, &[("count", "2"), ("mixed", "b/y"), ("explorers", "3")], 16, false),
    ] {
        match seated(&vec!["a/x"; models], set) {
            Ok(seats) => assert!(fits && seats.len() == agents, "{set:?}: {}", seats.len()),
            Err(why) => assert!(
                !fits && why.contains(&format!("are {agents} agents, and at most 12 may sit")),
                "{set:?}: {why}"
            ),
        }
    }
}

/// "`--explorers N` (up to 5 per judge)".
#[test]
fn a_judge_has_up_to_five_explorers() {
    for (explorers, fits) in [("0", true), ("5", true), ("6", false), ("-1", false)] {
        assert_eq!(
            seated(&["a/x"], &[("count", "1"), ("explorers", explorers)]).is_ok(),
            fits,
            "{explorers}"
        );
    }
    let set = [("perspectives", "cost,risk"), ("explorers", "2")];
    let seats = seated(&["a/x", "b/y"], &set).unwrap();
    let explorers: Vec<_> = seats.iter().filter(|seat| seat.role == "explorer").collect();
    let of = |seat: &&Seat| (seat.id.clone(), seat.model.clone());
    let want = [
        ("cost-explorer-1", "a/x"),
        ("cost-explorer-2", "a/x"),
        ("risk-explorer-1", "b/y"),
        ("risk-explorer-2", "b/y"),
    ];
    let found: Vec<_> = explorers.iter().map(of).collect();
    assert_eq!(found, want.map(|(id, model)| (id.to_owned(), model.to_owned())), "of its judge's model");
}

/// "`--preset` (security-audit, ..., research: 3 to 4 named perspectives each)".
#[test]
fn every_preset_has_three_or_four_perspectives_that_exist() {
    let named = "security-audit, architecture, code-review, plan-review, doc-review, ops, product, developer-experience, \
                 retrospective, research";
    assert_eq!(PRESETS.join(", "), named);
    let data: Value = toml::from_str(include_str!("../perspectives.toml")).unwrap();
    assert_eq!(data["presets"].as_object().unwrap().len(), PRESETS.len());
    for preset in PRESETS {
        let names: Vec<&str> =
            data["presets"][preset].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert!((3..=4).contains(&names.len()), "{preset}: {names:?}");
        for name in &names {
            let about = data["perspectives"][name].as_str().unwrap_or_default();
            assert!(about.len() > 20, "{preset}: {name} says {about:?}");
        }
        let seats = seated(&["a/x"], &[("preset", preset)]).unwrap();
        let without_spec: Vec<&str> = names.into_iter().filter(|name| *name != "spec-compliance").collect();
        assert_eq!(super::seats::names(&seats), without_spec, "{preset}");
    }
    assert!(seated(&["a/x"], &[("preset", "vibes")]).unwrap_err().contains("one of security-audit"));
}

/// "`--perspectives a,b,c`": by name, however it is written, each once; the issue: "perspectives that do not exist ... a sentence
/// that names it".
#[test]
fn perspectives_are_found_by_name_or_refused_by_name() {
    let seats =
        seated(&["a/x"], &[("perspectives", " Error Paths, data_integrity ,SECURITY,security")]).unwrap();
    assert_eq!(names(&seats), ["error-paths", "data-integrity", "security"]);
    let why = seated(&["a/x"], &[("perspectives", "security,vibes")]).unwrap_err();
    assert!(why.contains("there is no perspective \"vibes\""), "{why}");
    assert!(
        why.contains("attacker, ") && why.contains("--perspectives-file"),
        "it lists the perspectives: {why}"
    );
    assert!(seated(&["a/x"], &[("perspectives", "security,,cost")]).unwrap_err().contains("empty name"));
    // Judges beyond the perspectives look at everything.
    let seats = seated(&["a/x"], &[("perspectives", "security"), ("count", "3")]).unwrap();
    assert_eq!(names(&seats), ["security", "judge-2", "judge-3"]);
}

fn with_file(text: &str, set: &[(&str, &str)]) -> Result<Vec<Seat>, String> {
    let files = [("plan.md", "Adopt the queue."), ("perspectives_file:own.yaml", text)];
    let request = testing::request(&Review, "", &files, &["a/x"], set).unwrap();
    Review.seats(&request).map_err(|why| why.0)
}

/// "`--perspectives-file`", in YAML, TOML or JSON.
#[test]
fn a_file_of_perspectives_is_yaml_toml_or_json() {
    for text in [
        "Tenant safety: Can one tenant see another's data?\nrollout: How is it turned on?\ncost: Ours.\n",
        "\"Tenant safety\" = \"Can one tenant see another's data?\"\nrollout = \"How?\"\ncost = \"Ours.\"\n",
        "{\"Tenant safety\": \"Can one tenant see another's data?\", \"rollout\": \"How?\", \"cost\": \"Ours.\"}",
        "perspectives:\n- name: Tenant safety\n  description: Can one see another's?\n- name: rollout\n- name: cost\n",
    ] {
        let seats = with_file(text, &[]).unwrap();
        assert_eq!(names(&seats), ["tenant-safety", "rollout", "cost"], "{text}");
        let picked = with_file(text, &[("perspectives", "rollout,security")]).unwrap();
        assert_eq!(names(&picked), ["rollout", "security"], "named, from the file and built in: {text}");
    }
}

/// The issue: "Bad input: ... perspectives that do not exist ...: exit 2, a sentence that names it".
#[test]
fn a_bad_file_of_perspectives_is_refused_by_name() {
    let long = format!("{}: x\n", "a".repeat(41));
    for (text, words) in [
        ("", "no name"),
        ("just words", "mapping"),
        ("a: [", "neither YAML nor JSON nor TOML"),
        ("cost: x\nCost: y\n", "twice"),
        ("\"--\": x\ncost: y\n", "empty"),
        (long.as_str(), "longer than 40 characters"),
    ] {
        let why = with_file(text, &[]).unwrap_err();
        assert!(why.contains("the perspectives in own.yaml") && why.contains(words), "{text:?}: {why}");
    }
    assert!(with_file(&format!("{}: x\n", "a".repeat(40)), &[]).is_ok());
}

/// A perspective from the user's file may have the name of a numbered seat.
#[test]
fn two_seats_cannot_have_the_same_name() {
    for (text, set, name) in [
        ("- judge-2\n", &[("count", "2")][..], "judge-2"),
        ("- cost\n- cost-2\n", &[("mixed", "b/y")], "cost-2"),
        ("- cost\n- cost-explorer-1\n", &[("explorers", "1")], "cost-explorer-1"),
    ] {
        let why = with_file(text, set).unwrap_err();
        assert!(why.contains(&format!("two seats would be called {name}")), "{why}");
        assert!(with_file(text, &[]).is_ok() != (name == "judge-2"), "{text}");
    }
}

/// "adds judges of a second vendor, as many as the first has unless named one by one".
#[test]
fn the_second_vendor_has_as_many_judges_unless_they_are_named() {
    for (count, mixed, models) in [
        ("3", "b/y", &["b/y", "b/y", "b/y"][..]),
        ("1", "b/y", &["b/y"]),
        ("3", "b/y,b/z", &["b/y", "b/z"]),
        ("1", "b/y,c/z,b/w", &["b/y", "c/z", "b/w"]),
        ("2", " command/coder , ", &["command/coder", "command/coder"]),
    ] {
        let seats = seated(&["a/x"], &[("count", count), ("mixed", mixed)]).unwrap();
        let own = seats.iter().filter(|seat| seat.role == "mixed_judge");
        assert_eq!(own.map(|seat| seat.model.as_str()).collect::<Vec<_>>(), models, "{count} and {mixed}");
    }
    let seats = seated(&["a/x"], &[("preset", "ops"), ("mixed", "b/y")]).unwrap();
    let own = ["reliability-2", "observability-2", "incident-response-2"];
    assert_eq!(names(&seats)[3..], own, "with the same perspectives");
    assert_eq!(
        names(&seated(&["a/x"], &[("mixed", "b/y")]).unwrap()),
        ["judge-1", "judge-2", "judge-3", "judge-4"]
    );
}

/// "A `--mixed` with no second vendor to run is an error: a review that silently was not mixed is worse than none."
#[test]
fn mixed_without_a_second_vendor_is_an_error() {
    for (models, mixed, words) in [
        (&["a/x"][..], "", "names no model"),
        (&["a/x"], " , ", "names no model"),
        (&["a/x"], "a/y", "needs a second vendor, but a/y is of a"),
        (&["a/x"], "b/y,a/y", "a/y is of a"),
        (&["a/x", "b/y"], "b/z", "b/z is of b"),
        (&["a/x|b/y"], "a/z|b/z", "is of a"),
    ] {
        let why = seated(models, &[("mixed", mixed)]).unwrap_err();
        assert!(why.contains(words), "{mixed}: {why}");
    }
    assert!(
        seated(&["a/x|b/y"], &[("mixed", "b/z")]).is_ok(),
        "the vendor of a chain is that of its first link"
    );
}

/// Seed: "Agents spawned: N judges total (same instances for both rounds, not 2N)"; the cost of a debate is known in advance.
#[test]
fn the_number_of_calls_is_known_in_advance() {
    for (set, calls) in [
        (&[][..], 2),
        (&[DEBATE], 4),
        (&[DEBATE, STRICT], 6),
        (&[STRICT], 2),
        (&[DEBATE, ("mixed", "b/y")], 6),
        (&[DEBATE, ("explorers", "2")], 8),
        (&[DEBATE, ("count", "1"), ("mixed", "b/y")], 3),
        (&[("quick", "true")], 1),
        (&[("mode", "research"), ("explorers", "1")], 4),
    ] {
        let plan = Review.plan(&brief(&["a/x"], set));
        assert_eq!((plan.fewest_calls, plan.most_calls), (calls, calls), "{set:?}");
        assert_eq!(seated(&["a/x"], set).unwrap(), brief(&["a/x"], set).seats);
    }
}

#[test]
fn a_debate_of_one_judge_and_empty_perspectives_are_refused() {
    let why = seated(&["a/x"], &[DEBATE, ("count", "1")]).unwrap_err();
    assert!(why.contains("--debate needs at least two judges"), "{}", why);
    assert!(seated(&["a/x"], &[DEBATE, ("count", "1"), ("mixed", "b/y")]).is_ok());
    assert!(
        seated(&["a/x"], &[("perspectives", " ")]).unwrap_err().contains("--perspectives has an empty name")
    );
}

/// A branch seats the same judges again from this list.
#[test]
fn the_listed_models_are_those_of_the_first_vendor() {
    let brief = brief(&["a/x", "b/y"], &[("mixed", "c/z"), ("explorers", "1")]);
    assert_eq!(Review.info().listed_models(&brief), ["a/x", "b/y"]);
}
