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
