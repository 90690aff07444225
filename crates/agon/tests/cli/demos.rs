//! The protocols' demos: each runs without any model, to a verdict in which every voice was heard.

use serde_json::json;

use crate::support::Home;

#[test]
fn every_demo_ends_with_a_verdict_and_without_absences() {
    let demos = agon_protocols::all().map(|protocol| protocol.info()).filter(|info| info.demo.is_some());
    let mut names = vec!["demo".to_owned()];
    for info in demos {
        let home = Home::new();
        home.write("plan.md", "# Plan\n\nWe move on Monday.\n");
        let is_file = ["FILE", "TARGET"].iter().any(|word| info.subject.contains(word));
        let subject = if is_file { "plan.md" } else { "What should we do?" };
        names.push(format!("demo-{}", info.name));
        for script in names.drain(..).map(|name| format!("script/{name}")) {
            let said = home.agon(&[info.name, subject, "--models", &script, "--seed", "7", "--json"]);
            let outcome = said.json();
            let status = (&outcome["status"], &outcome["fidelity"], &outcome["absences"]);
            assert_eq!(status, (&json!("complete"), &json!("full"), &json!([])), "{script}: {}", said.err);
        }
    }
    assert!(names.is_empty(), "no protocol has a demo");
}

/// How many demos there are.
fn count() -> usize {
    agon_protocols::all().filter(|protocol| protocol.info().demo.is_some()).count()
}

#[test]
fn agon_demo_plays_all_of_them_and_leaves_nothing_but_debates() {
    let home = Home::new();
    // Neither options nor hooks of the user's configuration count.
    home.write(
        "home/agon.toml",
        "models = [\"no/such\"]\n[deep]\nmax_rounds = 1\n[[hooks]]\nrun = [\"touch\", \"hooked\"]\n",
    );
    let before: Vec<_> = home.files().into_iter().map(|(path, _)| path).collect();
    let said = home.agon(&["demo", "--json"]).ok();
    assert_eq!(said.err, "");
    let debates = said.json()["debates"].as_array().unwrap().clone();
    assert_eq!(debates.len(), count());
    for outcome in &debates {
        let state = (&outcome["status"], &outcome["fidelity"], &outcome["absences"]);
        assert_eq!(state, (&json!("complete"), &json!("full"), &json!([])), "{outcome}");
    }
    let deep = debates.iter().find(|outcome| outcome["protocol"] == "deep").unwrap();
    assert_eq!(deep["rounds_completed"], 2);
    assert_eq!(home.agon(&["list", "--json"]).ok().json().as_array().unwrap().len(), count());
    assert_eq!(home.agon(&["knowledge", "list", "--json"]).ok().json(), json!([]));
    assert_eq!(home.agon(&["ratings", "--json"]).ok().json(), json!([]));
    let after = home.files().into_iter().map(|(path, _)| path);
    let new: Vec<_> =
        after.filter(|path| !before.contains(path) && !path.starts_with(home.path("home"))).collect();
    assert_eq!(new, Vec::<std::path::PathBuf>::new(), "no records and no hook");
}

#[test]
fn agon_demo_plays_the_ones_that_are_named() {
    let home = Home::new();
    let said = home.agon(&["demo", "poll", "ask"]).ok();
    let at = |text: &str| said.err.find(text).unwrap_or_else(|| panic!("{text:?} is not in {said:?}"));
    assert!(at("Demo 1 of 2: poll\n") < at("Demo 2 of 2: ask\n") && at("agon ask 'Should passwords") > 0);
    assert!(at("The demos are stored: agon list") > 0 && !said.err.contains("Press a key"), "{said:?}");
    assert_eq!(said.out.matches("\nDebate 1").count(), 2, "two reports: {said:?}");
    let quiet = home.agon(&["demo", "poll", "--quiet"]).ok();
    assert!(quiet.err.is_empty() && quiet.out.starts_with("Should a new web service"), "{quiet:?}");
    let again = home.agon(&["demo", "poll", "--quiet"]).ok();
    let report = |text: &str| crate::support::steady(text);
    assert_eq!(report(&quiet.out), report(&again.out), "the same every time");
    assert_eq!(home.agon(&["demo", "chess"]).status, Some(2));
}

/// "a pause that a key skips on a terminal"
#[test]
#[cfg(unix)]
fn a_key_skips_the_pause_and_q_ends_the_demos() {
    let home = Home::new();
    let prompt = "q ends the demos.\n";
    let (screen, status) = crate::support::in_terminal(&home, &[], "demo poll ask", &[(prompt, " ")]);
    assert_eq!(status, Some(0), "{screen}");
    assert!(screen.contains("Next: ask. Press a key") && screen.contains("Demo 2 of 2: "), "{screen}");
    let (screen, status) = crate::support::in_terminal(&home, &[], "demo poll ask", &[(prompt, "q")]);
    assert_eq!(status, Some(0), "{screen}");
    assert!(!screen.contains("Demo 2 of 2") && screen.contains("The demos are stored"), "{screen}");
    let (_, status) = crate::support::in_terminal(&home, &[], "demo poll ask", &[(prompt, "\u{3}")]);
    assert_eq!(status, Some(130));
}
