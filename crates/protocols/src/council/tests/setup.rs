//! Seats, options and rosters.

use super::*;

fn request(files: &[(&str, &str)], models: &[&str], set: &[(&str, &str)]) -> Result<Request, Invalid> {
    testing::request(&Council, "Should we adopt the queue?", files, models, set)
}

fn seats(files: &[(&str, &str)], models: &[&str], set: &[(&str, &str)]) -> Vec<(String, String, String)> {
    let seats = Council.seats(&request(files, models, set).unwrap()).unwrap();
    seats.into_iter().map(|seat| (seat.id, seat.role, seat.model)).collect()
}

fn ids(files: &[(&str, &str)], models: &[&str], set: &[(&str, &str)]) -> Vec<String> {
    let seats = seats(files, models, set).into_iter().filter(|(_, role, _)| role == "councillor");
    seats.map(|(id, ..)| id).collect()
}

fn refused(files: &[(&str, &str)], models: &[&str], set: &[(&str, &str)]) -> String {
    match request(files, models, set) {
        Ok(request) => Council.seats(&request).unwrap_err().0,
        Err(why) => why.0,
    }
}

/// "`--councillors` 3 to 6 (default 4: Visionary, Critic, Pragmatist, Innovator; then Ethicist; then Domain Expert, which needs
/// `--focus`)". "Seats are named by role; `--models` are dealt out in roster order."
#[test]
fn councillors_sit_in_roster_order_and_models_cycle() {
    let named = |id: &str, role: &str, model: &str| (id.to_owned(), role.to_owned(), model.to_owned());
    assert_eq!(
        seats(&[], &["a/x", "b/y", "c/z"], &[]),
        [
            named("visionary", "councillor", "a/x"),
            named("critic", "councillor", "b/y"),
            named("pragmatist", "councillor", "c/z"),
            named("innovator", "councillor", "a/x"),
            named("moderator", "moderator", "a/x"),
        ]
    );
    let six = [("councillors", "6"), ("focus", "queues")];
    let all = ["visionary", "critic", "pragmatist", "innovator", "ethicist", "domain-expert"];
    assert_eq!(ids(&[], &["a/x"], &six), all);
    assert_eq!(ids(&[], &["a/x"], &[("councillors", "3")]), all[..3]);
    for models in [1, 2, 5, 7] {
        assert_eq!(
            ids(&[], &vec!["a/x"; models], &[]),
            all[..4],
            "{models} models: their number changes nothing"
        );
        assert_eq!(ids(&[], &vec!["a/x"; models], &[("councillors", "3")]), all[..3]);
    }
}

#[test]
fn the_moderator_can_have_its_own_model() {
    let mut request = request(&[], MODELS, &[]).unwrap();
    request.roles.insert("moderator".into(), "m/m".into());
    assert_eq!(Council.seats(&request).unwrap().last().unwrap().model, "m/m");
}

#[test]
fn a_value_out_of_range_is_an_error() {
    for (set, words) in [
        (("rounds", "0"), "from 1 to 4"),
        (("rounds", "5"), "from 1 to 4"),
        (("councillors", "2"), "from 3 to 6"),
        (("councillors", "7"), "from 3 to 6"),
        (("exchanges", "0"), "from 1 to 5"),
        (("exchanges", "6"), "from 1 to 5"),
        (("councillors", "6"), "--focus"),
        (("economy_model", "a/x"), "--economy"),
    ] {
        let why = refused(&[], MODELS, &[set]);
        assert!(why.contains(words), "{set:?}: {why}");
    }
    assert!(refused(&[], &[], &[]).contains("at least one model"));
    let empty = testing::request(&Council, "  ", &[], MODELS, &[]).unwrap();
    assert!(Council.seats(&empty).unwrap_err().0.contains("topic is empty"));
}

/// "runs one councillor at a time on `--economy-model` (default: the first of `--models`)".
#[test]
fn economy_mode_seats_everybody_on_one_model() {
    let models = |set: &[(&str, &str)]| -> Vec<String> {
        seats(&[], MODELS, set).into_iter().map(|(.., model)| model).collect()
    };
    assert_eq!(models(&[("economy", "true")]), ["a/x"; 5]);
    assert_eq!(models(&[("economy", "true"), ("economy_model", "e/e")]), ["e/e"; 5]);
    assert!(refused(&[], MODELS, &[("economy", "true"), ("economy_model", "e/e,f/f")]).contains("one model"));
    let mut request = request(&[], MODELS, &[("economy", "true")]).unwrap();
    request.roles.insert("moderator".into(), "m/m".into());
    let seats = Council.seats(&request).unwrap();
    assert_eq!(
        seats.last().map(|seat| seat.model.as_str()),
        Some("m/m"),
        "a moderator that is named keeps its model"
    );
}

/// "a user adds a role or a whole roster without touching Rust (`--roster FILE`)".
#[test]
fn the_roles_of_a_roster_file_sit_first() {
    let skeptic = ("roster:r.yaml", "Skeptic: You doubt everything.\n");
    assert_eq!(ids(&[skeptic], MODELS, &[]), ["skeptic", "visionary", "critic", "pragmatist"]);
    assert_eq!(ids(&[skeptic], MODELS, &[("councillors", "5")]).len(), 5);
    let whole = "[[roles]]\nname = \"Judge of Costs\"\ncharter = \"You count.\"\n[[roles]]\nname = \"Critic\"\ncharter = \"You object.\"\n\
                 [[roles]]\nname = \"Child\"\ncharter = \"You ask why.\"\n[[roles]]\nname = \"Elder\"\ncharter = \"You remember.\"\n";
    let whole = ("roster:r.toml", whole);
    assert_eq!(ids(&[whole], MODELS, &[]), ["judge-of-costs", "critic", "child", "elder"]);
    assert_eq!(
        ids(&[whole], MODELS, &[("councillors", "5")]).last().unwrap(),
        "visionary",
        "and no second Critic"
    );
    let known = ("roster:r.yaml", "- Ethicist\n- Critic\n- Visionary\n");
    assert_eq!(
        ids(&[known], MODELS, &[]),
        ["ethicist", "critic", "visionary"],
        "a known name keeps its charter"
    );
}

#[test]
fn a_built_in_role_keeps_what_the_file_omits() {
    let told = |text: &str, set: &[(&str, &str)]| {
        let request = request(&[("roster:r.yaml", text)], MODELS, set)?;
        super::super::roster::seated_roles(&request, &CouncilOptions::read(&request.options))
    };
    let charter = |text: &str| told(text, &[]).unwrap().remove(0).charter;
    assert_eq!(charter("- name: Critic\n"), charter("- Critic\n"));
    assert_ne!(charter("- name: Critic\n"), charter("Critic: You object.\n"));
    for text in [
        "Domain Expert: You know it all.\n",
        "- {name: Domain Expert, charter: a}\n",
        "- name: Domain Expert\n",
    ] {
        assert!(told(text, &[]).unwrap_err().0.contains("--focus"), "{text}");
        assert!(told(text, &[("focus", "queues")]).unwrap()[0].needs_focus, "{text}");
    }
    assert!(
        told("- {name: Domain Expert, needs_focus: false}\n", &[]).is_ok(),
        "unless the file says otherwise"
    );
}

#[test]
fn the_prompt_contains_the_charter_of_the_roster_file() {
    let files = [("roster:r.yaml", "Critic: You object to every number.\n")];
    let request = request(&files, MODELS, &[]).unwrap();
    let brief = testing::brief(&Council, request).unwrap();
    let debate = run_brief(brief, &|ask, phase, round| {
        if ask.seat == "critic" && phase != "moderate" {
            assert!(ask.prompt.shared.contains("- Critic: You object to every number."));
            assert!(ask.prompt.tail.contains("You Are the Critic"));
        }
        let names = ["critic", "visionary", "pragmatist"];
        let others: Vec<&str> = names.into_iter().filter(|name| *name != ask.seat).collect();
        with(ask, phase, round, &|said| {
            for (list, key) in [("questions", 0), ("challenges", 0), ("challenges", 1)] {
                if let Some(entry) = said.get_mut(list).and_then(|list| list.get_mut(key)) {
                    entry["to"] = json!(others[key]);
                }
            }
        })
    });
    assert_eq!(debate.outcome.unwrap().status, Status::Complete);
}

/// "gets a clear error for a bad one", which names the file.
#[test]
fn a_bad_roster_is_refused_and_the_error_names_the_file() {
    let seven: String = (1..=7).map(|n| format!("Role {n}: You count.\n")).collect();
    for (text, words) in [
        (seven.as_str(), "7 roles"),
        ("Skeptic: ''\n", "charter of \"Skeptic\" is empty"),
        ("- Skeptic\n", "charter of \"Skeptic\" is empty"),
        ("- {name: Skeptic, charter: a}\n- {name: skeptic, charter: b}\n", "twice"),
        ("Moderator: You lead.\n", "moderator"),
        ("Skeptic: 7\n", "must be text"),
        ("- {name: Skeptic, charter: 7}\n", "must be text"),
        ("- {name: Critic, charter: [a]}\n", "must be text"),
        ("- {name: Skeptic, chart: a}\n", "chart"),
        ("- {name: Skeptic, charter: a, needs_focus: maybe}\n", "true or false"),
        ("just words", "mapping"),
        (&format!("{}: a\n", "x".repeat(41)), "40 characters"),
    ] {
        let why = refused(&[("roster:my/roster.yaml", text)], MODELS, &[]);
        assert!(why.contains(words) && why.contains("my/roster.yaml"), "{text:?}: {why}");
    }
    let focused = ("roster:r.yaml", "- {name: Physician, charter: You heal., needs_focus: true}\n");
    assert!(refused(&[focused], MODELS, &[]).contains("the Physician needs a field"));
    assert_eq!(ids(&[focused], MODELS, &[("focus", "hearts")])[0], "physician");
    let four = ("roster:r.yaml", "A: a\nB: b\nC: c\nD: d\n");
    assert!(
        refused(&[four], MODELS, &[("councillors", "3")]).contains("4 roles"),
        "no role is dropped silently"
    );
}
