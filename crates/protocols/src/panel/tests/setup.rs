//! Who sits, what is judged, and by which rubric.

use super::*;

/// "Three judges with the stances `neutral`, `for`, `against` (3 to 7, odd; stances cycle)"; rule 11: "the models cycle over
/// the seats".
#[test]
fn three_to_seven_judges_sit_an_odd_number_and_stances_cycle() {
    let seats = |models: &[&str], set: &[(&str, &str)]| {
        let seats = Panel.seats(&request(&[PLAN], models, set).unwrap()).unwrap();
        let judges = seats.into_iter().filter(|seat| seat.role == "judge");
        judges.map(|seat| format!("{} {}", seat.id, seat.model)).collect::<Vec<_>>()
    };
    assert_eq!(seats(&["a/x"], &[]), ["judge-1 a/x", "judge-2 a/x", "judge-3 a/x"]);
    assert_eq!(seats(&["a/x", "b/y"], &[]), ["judge-1 a/x", "judge-2 b/y", "judge-3 a/x"]);
    assert_eq!(seats(&["a/x", "b/y"], &[("judges", "5")]).len(), 5);
    assert_eq!(seats(&["m/m"; 7], &[]).len(), 7);
    assert_eq!(seats(&["m/m"; 4], &[("judges", "3")]).len(), 3, "a count that is set wins");
    for (models, set, words) in [
        (4, &[][..], "4 models are named"),
        (8, &[], "8 models are named"),
        (9, &[], "3 to 7"),
        (1, &[("judges", "4")], "must be odd"),
        (1, &[("judges", "6")], "must be odd"),
        (1, &[("judges", "2")], "from 3 to 7"),
        (1, &[("judges", "9")], "from 3 to 7"),
        (0, &[], "at least one model"),
    ] {
        let why = refused(&[PLAN], &vec!["m/m"; models], set);
        assert!(why.contains(words), "{models} {set:?}: {why}");
    }
    let outcome = scored(&[], &[&[3.0][..]; 7]);
    let stances: Vec<&str> =
        outcome.verdict["judges"].as_array().unwrap().iter().map(|j| j["stance"].as_str().unwrap()).collect();
    assert_eq!(stances, ["neutral", "for", "against", "neutral", "for", "against", "neutral"]);
}

/// "The title that people read is the first heading of the artifact, or all file names; `feature` in records stays the first file's
/// stem."
#[test]
fn the_title_is_a_heading_or_the_file_names_and_the_feature_a_stem() {
    for (files, named, title, feature) in [
        (&[("docs/queue-plan.md", "text\n\n## The queue ##\n# Later")][..], "", "The queue", "queue-plan"),
        (&[("a.md", "# \u{961f}\u{5217}"), ("b.md", "# Other")], "", "\u{961f}\u{5217}", "a"),
        (&[("queue.plan.md", "text"), ("b.md", "# Other")], "", "queue.plan.md, b.md", "queue.plan"),
        (&[("a.py", "# a comment")], "", "a.py", "a"),
        (&[("docs\\plan.md", "```\n# no heading\n```")], "", "docs\\plan.md", "plan"),
        (&[(".plan", "#tag")], " ", ".plan", ".plan"),
        (&[("docs/queue-plan.md", "# Heading")], "The queue", "The queue", "The queue"),
    ] {
        let mut all = vec![("rubric:r.yaml", "a: 100")];
        all.extend(files);
        let request = request(&all, MODELS, &[("feature", named)]).unwrap();
        assert_eq!((Panel.info().title)(&request), title);
        let brief = testing::brief(&Panel, request).unwrap();
        assert_eq!(brief.question, title);
        let (debate, _) = Debate::open(brief).unwrap();
        assert_eq!(PanelLog::read(&debate).unwrap().feature(), feature);
    }
}

/// "`--fail-on red|yellow` makes the panel a gate (exit 1); without it a verdict is exit 0."
#[test]
fn fail_on_makes_the_panel_a_gate() {
    for (score, fail_on, passed) in [
        (4.0, None, None),
        (2.0, None, None),
        (4.0, Some("red"), Some(true)),
        (3.5, Some("red"), Some(true)),
        (2.9, Some("red"), Some(false)),
        (4.0, Some("yellow"), Some(true)),
        (3.5, Some("yellow"), Some(false)),
    ] {
        let set: Vec<(&str, &str)> = fail_on.iter().map(|word| ("fail_on", *word)).collect();
        let debate = run_brief(brief(MODELS, &set), &|_, _, round| Some(plain(&[score], round)));
        assert_eq!(Panel.info().gates(&debate.brief), fail_on.is_some());
        assert_eq!(debate.outcome.as_ref().unwrap().passed, passed, "{score} {fail_on:?}");
        assert_eq!(Panel.view(&debate).unwrap().gate.is_some(), fail_on.is_some());
    }
    let tie = scored(&[("fail_on", "red")], &[&[3.0], &[4.0], &[5.0]]);
    assert_eq!(tie.passed, Some(false), "nothing passes without a majority");
    assert!(refused(&[PLAN], MODELS, &[("fail_on", "green")]).contains("fail_on"));
}

/// "Input: one or more artifact files"; bad input is refused before any call.
#[test]
fn a_request_without_files_or_with_an_empty_file_is_refused() {
    assert!(refused(&[], MODELS, &[]).contains("agon panel FILE"));
    assert!(refused(&[("rubric:r.yaml", "a: 100")], MODELS, &[]).contains("nothing to judge"));
    assert!(refused(&[PLAN, ("b.md", " \n")], MODELS, &[]).contains("b.md is empty"));
}

/// "Custom rubrics from a file: names, weights", which sum to 100.
#[test]
fn the_weights_of_a_users_rubric_sum_to_100() {
    for text in [
        "clarity: 60\nsafety: 40\n",
        "{\"clarity\": 60, \"safety\": 40}",
        "dimensions:\n- name: Clarity\n  weight: 60\n  description: can it be read?\n- name: Safety\n  weight: 40\n",
        "clarity = 59.9999995\nsafety = 40\n",
        "Clarity: 60.0000005\nSAFETY: 40\n",
    ] {
        let files = [PLAN, ("rubric:r.yaml", text)];
        let rubric = rubric::Rubric::of(&request(&files, MODELS, &[]).unwrap().files).unwrap();
        let keys: Vec<&str> = rubric.dimensions.iter().map(|dimension| dimension.key.as_str()).collect();
        assert_eq!(keys, ["clarity", "safety"], "{text}");
    }
    let of = |count: u32| -> String {
        (0..count).map(|n| format!("d{n}: {}\n", 100.0 / f64::from(count))).collect()
    };
    for count in [1, 12] {
        let files = [PLAN, ("rubric:r.yaml", &of(count))];
        let rubric = rubric::Rubric::of(&request(&files, MODELS, &[]).unwrap().files).unwrap();
        assert_eq!(rubric.dimensions.len(), count as usize, "1 to 12 dimensions");
    }
    let many = of(13);
    for (text, words) in [
        ("clarity: 60\nsafety: 41\n", "they sum to 101"),
        ("clarity: 60\nsafety: 39.99\n", "they sum to 99.99"),
        ("clarity: 60.00001\nsafety: 40\n", "must sum to 100"),
        ("clarity: 100\nsafety: 0\n", "a weight over 0"),
        ("clarity: 110\nsafety: -10\n", "a weight over 0"),
        ("clarity: much\nsafety: 40\n", "a weight over 0"),
        ("Clear Text: 60\nclear_text: 40\n", "twice"),
        ("\"--\": 60\nsafety: 40\n", "empty"),
        ("clarity: {weight: 100, anchors: [a, b]}\n", "five sentences"),
        ("just words", "mapping"),
        ("", "no name"),
        (many.as_str(), "1 to 12 dimensions, but it has 13"),
    ] {
        let why = refused(&[PLAN, ("rubric:my/r.yaml", text)], MODELS, &[]);
        assert!(why.contains(words) && why.contains("my/r.yaml"), "{text}: {why}");
    }
}

/// A judge scores the dimensions of the rubric that there is, and the weighted score is by its weights.
#[test]
fn judges_score_the_rubric_that_is_given() {
    let files = [PLAN, ("rubric:r.yaml", "Clear Text: 75\nsafety: 25\n")];
    let brief = testing::brief(&Panel, request(&files, MODELS, &[]).unwrap()).unwrap();
    let debate = run_brief(brief, &|ask, _, _| {
        assert!(
            ask.prompt.user().contains("`clear_text`, weight 75\n- 1: missing or wrong\n")
                && !ask.prompt.user().contains("r.yaml")
        );
        let mut said = statement(4.0);
        said["dimension_scores"] = json!({"clear_text": 4, "safety": 3});
        Some(said)
    });
    let verdict = debate.outcome.unwrap().verdict;
    assert_eq!(verdict["weighted_score"], json!(3.75));
    assert_eq!(
        verdict["dimension_consensus"],
        json!({"clear_text": {"average": 4.0, "range": 0.0}, "safety": {"average": 3.0, "range": 0.0}})
    );
    assert_eq!(verdict["rubric"][0], json!({"name": "clear_text", "weight": 75.0, "description": ""}));
}

/// "the five dimensions with weights 20/25/20/20/15; scale 1 to 5".
#[test]
fn the_standard_rubric_has_the_seeds_dimensions_and_weights() {
    let rubric = rubric::Rubric::of(&[]).unwrap();
    let weights: Vec<(&str, f64)> = rubric.dimensions.iter().map(|d| (d.key.as_str(), d.weight)).collect();
    assert_eq!(weights, KEYS.into_iter().zip([20.0, 25.0, 20.0, 20.0, 15.0]).collect::<Vec<_>>());
    assert!((rubric.weighted(&[1.0, 2.0, 3.0, 4.0, 5.0]) - 2.85).abs() < 1e-9);
    let outcome = scored(&[], &[&[1.0], &[1.0], &[1.0]]);
    assert_eq!(outcome.verdict["weighted_score"], 1.0);
    let schema = schema_of_round(1);
    for (score, fits) in [(1.0, true), (5.0, true), (0.99, false), (5.01, false), (2.5, true)] {
        let mut said = statement(3.0);
        said["overall_score"] = json!(score);
        assert_eq!(jsonschema::is_valid(&schema, &said), fits, "overall {score}");
        let mut said = statement(3.0);
        said["dimension_scores"]["feasibility"] = json!(score);
        assert_eq!(jsonschema::is_valid(&schema, &said), fits, "dimension {score}");
    }
    let mut said = statement(3.0);
    said["dimension_scores"].as_object_mut().unwrap().remove("feasibility");
    assert!(!jsonschema::is_valid(&schema, &said), "round 1 has every dimension");
}

/// "`--bands` maps the weighted score to GREEN/YELLOW/RED (defaults 4.0 and 3.0 on the 1 to 5 scale)".
#[test]
fn bands_give_the_status_of_a_score() {
    for (score, set, status) in [
        (5.0, &[][..], "GREEN"),
        (4.0, &[], "GREEN"),
        (3.999_999_999_9, &[], "GREEN"),
        (3.999_999, &[], "YELLOW"),
        (3.0, &[], "YELLOW"),
        (2.999_999, &[], "RED"),
        (1.0, &[], "RED"),
        (4.4, &[("bands", "4.5,2")], "YELLOW"),
        (4.5, &[("bands", "4.5, 2")], "GREEN"),
        (1.9, &[("bands", "4.5,2")], "RED"),
    ] {
        assert_eq!(scored(set, &[&[score][..]; 3]).verdict["status"], status, "{score} {set:?}");
    }
    for bands in ["4.0", "3.0,4.0", "4.0,4.0", "6,3", "4,0.5", "a,b", "4,3,2", ""] {
        assert!(refused(&[PLAN], MODELS, &[("bands", bands)]).contains("such as 4.0,3.0"), "{bands}");
    }
}
