//! A verdict for a pipeline: annotations, a SARIF file and a JUnit report.

use std::collections::BTreeMap;

use agon_core::{
    DebateView, Event, Fidelity, GateFinding, GateJudge, GateReport, GateRuling, GateSeverity, Status,
};
use agon_report::{GateFormat, NotAGate, gate_report};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::samples::{self, DebateLog, ReadDebate, brief};
use crate::terminal::outcome;

pub(crate) fn finding(severity: GateSeverity, description: &str, judges: &[&str]) -> GateFinding {
    GateFinding {
        severity,
        description: description.into(),
        category: None,
        recommendation: None,
        location: None,
        file: None,
        line: None,
        end_line: None,
        unverified: false,
        judges: judges.iter().map(|judge| (*judge).to_owned()).collect(),
        remarks: Vec::new(),
        dropped_by: Vec::new(),
        dropped: false,
    }
}

fn judge(name: &str, verdict: Option<&str>, insight: &str, findings: Vec<GateFinding>) -> GateJudge {
    GateJudge {
        name: name.into(),
        seat: name.into(),
        vendor: Some("openai".into()),
        verdict: verdict.map(str::to_owned),
        confidence: verdict.map(|_| "HIGH".into()),
        key_insight: verdict.map(|_| insight.into()),
        recommendation: verdict.map(|_| "Limit attempts before release.".into()),
        round: verdict.map(|_| 2),
        findings,
        notes: Vec::new(),
        absence: verdict.is_none().then(|| "no R1 within 120 s".into()),
    }
}

/// A gate that fails, with a finding of every kind in no order.
pub(crate) fn failed() -> GateReport {
    let limiting = GateFinding {
        category: Some("Authentication".into()),
        recommendation: Some("Count attempts by account and by address.".into()),
        location: Some("src/auth.py:45-47".into()),
        file: Some("src/auth.py".into()),
        line: Some(45),
        end_line: Some(47),
        ..finding(GateSeverity::Critical, "No rate limiting on `/login`", &["security", "operations"])
    };
    let dropped = GateFinding {
        category: Some("authentication".into()),
        location: Some("the token settings".into()),
        dropped_by: vec!["security".into()],
        dropped: true,
        ..finding(GateSeverity::Significant, "Tokens live for an hour", &["security"])
    };
    let retries = GateFinding {
        category: Some("reliability".into()),
        file: Some("src/session store.py".into()),
        line: Some(12),
        ..finding(GateSeverity::Significant, "The retry loop has no upper bound", &["operations"])
    };
    let ids = finding(GateSeverity::Minor, "Error responses carry no request id", &["operations"]);
    let weak = GateJudge {
        notes: vec!["WEAK FLIP: changed its verdict without evidence".into()],
        ..judge("operations", Some("WARN"), "The retry loop hides an outage.", vec![retries.clone()])
    };
    GateReport {
        ruling: GateRuling::Blocked,
        verdict: Some("FAIL".into()),
        meaning: "1 of 2 judges that were heard fails it.".into(),
        target: "auth".into(),
        path: Some("src/auth.py".into()),
        fails_on_warn: false,
        footer: Some("2/3 R1, 2/3 R2, fidelity full".into()),
        judges: vec![
            judge("security", Some("FAIL"), "A password can be tried without end.", vec![limiting.clone()]),
            weak,
            judge("usability", None, "", Vec::new()),
        ],
        findings: vec![dropped, limiting, ids, retries],
    }
}

/// The place of the critical finding in [`failed`].
const LIMITING: usize = 1;

/// A debate with this gate.
pub(crate) fn gated(gate: GateReport) -> ReadDebate {
    let mut log = DebateLog::open(brief(&[]));
    log.push(Event::Closed { outcome: Box::new(outcome(json!({}))) }, 6_230);
    let view = DebateView { gate: Some(gate), ..DebateView::default() };
    ReadDebate::with_view(agon_protocols::find("review").unwrap(), log.debate, view)
}

pub(crate) fn written(read: &ReadDebate, format: GateFormat) -> String {
    gate_report(&read.source(), format).unwrap()
}

fn github(gate: GateReport) -> String {
    written(&gated(gate), GateFormat::Github)
}

/// The run of a SARIF file.
fn sarif(read: &ReadDebate) -> Value {
    let file: Value = serde_json::from_str(&written(read, GateFormat::Sarif)).unwrap();
    assert_eq!(file["version"], "2.1.0");
    file["runs"][0].clone()
}

fn junit(gate: GateReport) -> String {
    written(&gated(gate), GateFormat::Junit)
}

/// A line of output that GitHub's runner takes for a command.
#[derive(Debug, PartialEq)]
struct WorkflowCommand {
    name: String,
    properties: BTreeMap<String, String>,
    message: String,
}

/// The commands in a step's output, by the runner's own rules. A line of the old form (`##[`) must not occur.
fn commands(output: &str) -> Vec<WorkflowCommand> {
    let mut commands = Vec::new();
    for line in output.split(['\r', '\n']) {
        let Some(line) = line.trim_start().strip_prefix("::") else {
            let visible: String =
                line.chars().filter(|char| !"\u{200b}\u{200d}\u{feff}".contains(*char)).collect();
            assert!(!visible.contains("##["), "{line:?}");
            continue;
        };
        let (info, message) = line.split_once("::").unwrap();
        let (name, properties) = info.split_once(' ').unwrap();
        let pairs = properties.split(',').filter_map(|pair| pair.split_once('='));
        let unescape = |text: &str| {
            let text = text.replace("%0D", "\r").replace("%0A", "\n");
            text.replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
        };
        commands.push(WorkflowCommand {
            name: name.into(),
            properties: pairs.map(|(key, value)| (key.to_owned(), unescape(value))).collect(),
            message: unescape(message),
        });
    }
    commands
}

/// Tests, failures, errors and skipped tests. The counts in the attributes of both levels agree with the elements.
fn counted(xml: &str) -> [usize; 4] {
    let tree = roxmltree::Document::parse(xml).unwrap();
    let counts =
        [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")];
    counts.map(|(attribute, tag)| {
        let elements = tree.descendants().filter(|node| node.has_tag_name(tag)).count();
        for level in ["testsuites", "testsuite"] {
            let suite = tree.descendants().find(|node| node.has_tag_name(level)).unwrap();
            assert_eq!(suite.attribute(attribute).unwrap(), elements.to_string(), "{level} {attribute}");
        }
        elements
    })
}

#[test]
fn annotations_have_the_locations_of_the_findings_the_worst_first() {
    assert_snapshot!(github(failed()), @"
    ::error file=src/auth.py,line=45,endLine=47,title=agon%3A critical%2C Authentication::No rate limiting on `/login`%0ARecommendation: Count attempts by account and by address.%0ARaised or accepted by security, operations.
    ::warning file=src/session store.py,line=12,title=agon%3A significant%2C reliability::The retry loop has no upper bound%0ARaised or accepted by operations.
    ::notice title=agon%3A minor::Error responses carry no request id%0ARaised or accepted by operations.
    ::notice title=agon%3A significant%2C authentication%2C dropped in round 2::Tokens live for an hour%0ARaised or accepted by security.%0ADropped in round 2 by security.
    ::error title=agon review auth%3A FAIL::FAIL: 1 of 2 judges that were heard fails it.%0A2/3 R1, 2/3 R2, fidelity full
    agon review auth: FAIL: 1 of 2 judges that were heard fails it.
    - security (openai): FAIL: A password can be tried without end.
    - operations (openai): WARN: The retry loop hides an outage.
    - usability (openai): no R1 within 120 s
    Replies: 2/3 R1, 2/3 R2, fidelity full
    ");
}

#[test]
fn the_words_of_a_model_are_never_a_command() {
    let bad = "::set-env name=A::b\n::error::no\r\n  ::stop-commands::x\r##[add-path]/tmp %0A 100%";
    let mut gate = failed();
    let finding = &mut gate.findings[LIMITING];
    (finding.description, finding.recommendation) = (bad.into(), Some(bad.into()));
    (finding.category, finding.file) = (Some("a::b,c=d".into()), Some("odd: name, 100%::x.py".into()));
    gate.judges[0].name = "::add-mask::x".into();
    gate.judges[0].key_insight = Some("#\u{200b}#[group]x\n::add-mask::y ##[add-path]/tmp".into());
    gate.target = "\n::debug::x".into();
    gate.footer = Some("::debug::##[error]x".into());
    let output = github(gate);
    let commands = commands(&output);
    assert_eq!(commands.len(), 5, "four findings and the verdict: {output}");
    let odd = &commands[0];
    assert_eq!(odd.properties["file"], "odd: name, 100%::x.py");
    assert_eq!(odd.properties["title"], "agon: critical, a::b,c=d");
    let words = "::set-env name=A::b\n::error::no\n  ::stop-commands::x##[add-path]/tmp %0A 100%\n";
    assert!(odd.message.starts_with(words), "{odd:?}");
}

#[test]
fn the_verdict_is_among_the_ten_annotations_that_github_shows() {
    for found in [9, 10, 30] {
        let mut gate = failed();
        let numbered = |number: u64| GateFinding {
            file: Some("a.py".into()),
            line: Some(number),
            ..finding(GateSeverity::Critical, &format!("Number {number}."), &[])
        };
        gate.findings = (1..=found).map(numbered).collect();
        let output = github(gate.clone());
        let errors: Vec<WorkflowCommand> =
            commands(&output).into_iter().filter(|command| command.name == "error").collect();
        assert_eq!(errors.len(), 10);
        assert!(errors[9].message.starts_with("FAIL: "), "{output}");
        assert_eq!(output.matches("Also found").count(), usize::from(found > 9));
        for number in 10..=found {
            assert!(output.contains(&format!("(a.py:{number}): Number {number}.")), "{output}");
        }
        // A verdict of another kind takes no place from them.
        gate.ruling = GateRuling::Passed;
        let errors = commands(&github(gate)).into_iter().filter(|command| command.name == "error").count();
        assert_eq!(errors as u64, found.min(10));
    }
}

#[test]
fn every_ruling_is_the_same_in_every_format() {
    for (ruling, fidelity, annotation, case, exit) in [
        (GateRuling::Passed, Fidelity::Full, "notice", "", 0),
        (GateRuling::Passed, Fidelity::Degraded, "warning", "", 0),
        (GateRuling::Warned, Fidelity::Full, "warning", "", 0),
        (GateRuling::Blocked, Fidelity::Full, "error", "failure", 1),
        (GateRuling::Blocked, Fidelity::Degraded, "error", "failure", 1),
        (GateRuling::Missing, Fidelity::Degraded, "error", "error", 3),
    ] {
        let mut read = gated(GateReport { ruling, ..failed() });
        let outcome = read.debate.outcome.as_mut().unwrap();
        outcome.fidelity = fidelity;
        outcome.status = if exit == 3 { Status::Failed } else { Status::Complete };
        let at = format!("{ruling:?} {fidelity:?}");
        assert_eq!(commands(&written(&read, GateFormat::Github)).last().unwrap().name, annotation, "{at}");
        let xml = written(&read, GateFormat::Junit);
        let tree = roxmltree::Document::parse(&xml).unwrap();
        let test = tree.descendants().find(|node| node.has_tag_name("testcase")).unwrap();
        assert_eq!(test.attribute("name"), Some("verdict"));
        let elements = test.children().filter(|node| node.is_element()).map(|node| node.tag_name().name());
        assert_eq!(elements.filter(|name| *name != "system-out").collect::<String>(), case, "{at}");
        let invocation = &sarif(&read)["invocations"][0];
        assert_eq!(invocation["exitCode"], json!(exit), "{at}");
        assert_eq!(invocation["executionSuccessful"], json!(exit != 3), "{at}");
    }
}

#[test]
fn a_debate_that_is_no_gate_is_refused() {
    let read = samples::converged().read();
    let refused = gate_report(&read.source(), GateFormat::Sarif);
    assert_eq!(refused, Err(NotAGate { protocol: "deep".into() }));
    assert_snapshot!(refused.unwrap_err(), @"the formats github, gitlab, sarif, junit, comment need a verdict that a pipeline can follow, and this debate (deep) gives none: choose another format, such as json");
}

#[test]
fn a_format_is_chosen_by_its_name() {
    let known =
        [GateFormat::Github, GateFormat::Gitlab, GateFormat::Sarif, GateFormat::Junit, GateFormat::Comment];
    assert_eq!(GateFormat::NAMES.map(GateFormat::from_name), known.map(Some));
    assert_eq!(GateFormat::from_name("xml"), None);
}

#[test]
fn a_sarif_file_has_rules_results_and_the_verdict() {
    let run = sarif(&gated(failed()));
    let driver = &run["tool"]["driver"];
    assert_eq!((&driver["name"], &driver["version"]), (&json!("agon"), &json!(env!("CARGO_PKG_VERSION"))));
    let rules = driver["rules"].as_array().unwrap().iter().map(|rule| rule["id"].as_str().unwrap());
    // A category is one rule however it is written; without one, the severity is the rule.
    assert_eq!(rules.collect::<Vec<_>>(), ["authentication", "reliability", "minor"]);
    for result in run["results"].as_array().unwrap() {
        assert_eq!(result["ruleId"], driver["rules"][result["ruleIndex"].as_u64().unwrap() as usize]["id"]);
    }
    assert_eq!(run["properties"]["verdict"], "FAIL");
    assert_eq!(run["properties"]["footer"], "2/3 R1, 2/3 R2, fidelity full");
    assert_snapshot!(serde_json::to_string_pretty(&run["results"][0]).unwrap(), @r#"
    {
      "ruleId": "authentication",
      "ruleIndex": 0,
      "level": "error",
      "message": {
        "text": "No rate limiting on `/login`\nRecommendation: Count attempts by account and by address.\nRaised or accepted by security, operations."
      },
      "locations": [
        {
          "physicalLocation": {
            "artifactLocation": {
              "uri": "src/auth.py"
            },
            "region": {
              "startLine": 45,
              "endLine": 47
            }
          }
        }
      ],
      "partialFingerprints": {
        "agonFinding/v1": "35df57c599dc9858e14d971c5c8d1ecd4ead45388c870e734465bb7ea7ab4fcc"
      },
      "properties": {
        "severity": "critical",
        "category": "Authentication",
        "location": "src/auth.py:45-47",
        "unverified": false,
        "judges": [
          "security",
          "operations"
        ],
        "dropped": false,
        "droppedBy": []
      },
      "suppressions": []
    }
    "#);
}

/// Level, place and suppression of each result.
fn results(gate: GateReport) -> String {
    let run = sarif(&gated(gate));
    let line = |result: &Value| {
        let place = &result["locations"][0]["physicalLocation"];
        let (uri, lines) = (place["artifactLocation"]["uri"].as_str().unwrap_or("nowhere"), &place["region"]);
        let suppressed = &result["suppressions"][0]["justification"];
        format!(
            "{} {uri}:{}-{} {suppressed}",
            result["level"].as_str().unwrap(),
            lines["startLine"],
            lines["endLine"]
        )
    };
    run["results"].as_array().unwrap().iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A result without a location makes code scanning refuse the whole file.
#[test]
fn every_result_has_a_place_if_a_file_was_judged_and_a_dropped_one_is_suppressed() {
    assert_snapshot!(results(failed()), @r#"
    error src/auth.py:45-47 null
    warning src/session%20store.py:12-12 null
    note src/auth.py:1-1 null
    note src/auth.py:1-1 "Dropped in round 2 by security."
    "#);
    assert_snapshot!(results(GateReport { path: None, ..failed() }), @r#"
    error src/auth.py:45-47 null
    warning src/session%20store.py:12-12 null
    note nowhere:null-null null
    note nowhere:null-null "Dropped in round 2 by security."
    "#);
}

/// A finding that is shown on a line which its judge did not name says so, and why it is unverified.
#[test]
fn a_finding_says_that_its_judge_did_not_name_the_line_where_it_is_shown() {
    let no_line = "It names no line of this file that could be found, so it is shown on line 1.";
    let no_file = "It names no file, so it is shown on line 1 of the first file that was judged.";
    let unverified =
        |place: &str| format!("Unverified: \u{201c}{place}\u{201d} is not in what was judged.\n");
    for (location, file, line, said) in [
        (None, None, None, no_file.to_owned()),
        (Some("src/auth.py"), Some("src/auth.py"), None, no_line.to_owned()),
        (
            Some("src/auth.py:99"),
            Some("src/auth.py"),
            None,
            format!("{}{no_line}", unverified("src/auth.py:99")),
        ),
        (Some("the settings"), None, None, format!("{}{no_file}", unverified("the settings"))),
        (Some("src/auth.py:7"), Some("src/auth.py"), Some(7), String::new()),
    ] {
        let found = GateFinding {
            location: location.map(str::to_owned),
            file: file.map(str::to_owned),
            line,
            unverified: said.starts_with("Unverified"),
            ..finding(GateSeverity::Minor, "It leaks.", &[])
        };
        let read = gated(GateReport { findings: vec![found], ..failed() });
        let quality: Value = serde_json::from_str(&written(&read, GateFormat::Gitlab)).unwrap();
        let want = format!("It leaks.\n{said}");
        assert_eq!(sarif(&read)["results"][0]["message"]["text"], want.trim_end(), "{location:?}");
        assert_eq!(quality[0]["description"], want.trim_end(), "{location:?}");
        let comment = written(&read, GateFormat::Comment);
        assert_eq!(comment.contains("is not in what was judged."), said.starts_with("Unverified"));
    }
}

/// "comment and JUnit never name the judges' models": where the debate has the seat, its model stands after the judge's name.
#[test]
fn a_judge_is_named_with_its_model() {
    let mut read = gated(failed());
    let seat = read.debate.brief.seats[0].clone();
    read.view.gate.as_mut().unwrap().judges[0].seat = seat.id;
    for format in [GateFormat::Comment, GateFormat::Junit, GateFormat::Github] {
        let text = written(&read, format).replace("**", "");
        let who = format!("security ({})", seat.model);
        assert!(text.contains(&who), "{who} is not in {text}");
    }
}

#[test]
fn a_path_is_a_uri_in_a_sarif_file() {
    for (path, uri) in [
        ("src/auth.py", "src/auth.py"),
        ("./src/auth.py", "src/auth.py"),
        ("src\\win dows\\a.cs", "src/win%20dows/a.cs"),
        ("100%/a#b?c:d.py", "100%25/a%23b%3Fc%3Ad.py"),
        ("caf\u{e9}.py", "caf%C3%A9.py"),
        ("../up.py", "../up.py"),
        ("/etc/passwd", "file:///etc/passwd"),
        ("C:\\a b.cs", "file:///C:/a%20b.cs"),
        ("./", "."),
    ] {
        let mut gate = failed();
        gate.findings[LIMITING].file = Some(path.into());
        let place = &sarif(&gated(gate))["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], uri, "{path}");
    }
}

#[test]
fn a_fingerprint_outlives_a_moved_line_and_a_changed_comma_but_not_another_file() {
    let print = |change: &dyn Fn(&mut GateFinding)| {
        let mut gate = failed();
        change(&mut gate.findings[LIMITING]);
        sarif(&gated(gate))["results"][0]["partialFingerprints"]["agonFinding/v1"].clone()
    };
    let first = print(&|_| {});
    assert!(first.is_string());
    let moved = |finding: &mut GateFinding| {
        (finding.line, finding.end_line) = (Some(90), None);
        finding.description = "no rate-limiting on /login.".into();
        finding.file = Some("./src/auth.py".into());
        finding.judges = vec!["usability".into()];
    };
    assert_eq!(print(&moved), first);
    assert_ne!(print(&|finding| finding.file = Some("src/other.py".into())), first);
    assert_ne!(print(&|finding| finding.description = "No limit on /logout".into()), first);
}

#[test]
fn a_sarif_file_says_who_was_missing_and_makes_no_link_of_the_words_of_a_model() {
    let mut read = samples::degraded().read();
    let seen = finding(GateSeverity::Minor, "See [here](http://x) and a[0](1)", &[]);
    read.view.gate = Some(GateReport { findings: vec![seen], ..failed() });
    read.debate.outcome.as_mut().unwrap().warnings = vec!["Round 1 was split.".into()];
    let run = sarif(&read);
    let notices = run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
    let words = "Debater-3 timed out in round 1: no answer within 120 s";
    assert_eq!(notices[0]["message"]["text"].as_str().unwrap().to_lowercase(), words.to_lowercase());
    assert_eq!(
        (&notices[0]["level"], &notices.last().unwrap()["level"]),
        (&json!("warning"), &json!("note"))
    );
    let text = run["results"][0]["message"]["text"].as_str().unwrap();
    assert!(text.starts_with("See [here] (http://x) and a[0] (1)\n"), "{text}");
}

#[test]
fn a_junit_report_has_a_test_for_the_verdict_and_one_for_each_judge() {
    assert_snapshot!(junit(failed()), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="agon review" tests="4" failures="2" errors="0" skipped="1" time="6.230">
      <testsuite name="agon review auth" tests="4" failures="2" errors="0" skipped="1" time="6.230">
        <properties>
          <property name="debate" value="k3v9q2"/>
          <property name="verdict" value="FAIL"/>
          <property name="fidelity" value="full"/>
          <property name="footer" value="2/3 R1, 2/3 R2, fidelity full"/>
        </properties>
        <testcase classname="agon.review.auth" name="verdict">
          <failure message="FAIL: 1 of 2 judges that were heard fails it." type="FAIL">- critical (src/auth.py:45-47): No rate limiting on `/login`
      Recommendation: Count attempts by account and by address.
      Raised or accepted by security, operations.
    - significant (src/session store.py:12): The retry loop has no upper bound
      Raised or accepted by operations.
    - minor: Error responses carry no request id
      Raised or accepted by operations.
    - significant (the token settings): Tokens live for an hour
      Raised or accepted by security.
      Dropped in round 2 by security.</failure>
          <system-out>FAIL: 1 of 2 judges that were heard fails it.
    2/3 R1, 2/3 R2, fidelity full</system-out>
        </testcase>
        <testcase classname="agon.review.auth" name="security">
          <failure message="A password can be tried without end." type="FAIL">Limit attempts before release.</failure>
          <system-out>security (openai)
    FAIL, confidence HIGH, in round 2
    Key insight: A password can be tried without end.
    - critical (src/auth.py:45-47): No rate limiting on `/login`
      Recommendation: Count attempts by account and by address.
      Raised or accepted by security, operations.
    Recommendation: Limit attempts before release.</system-out>
        </testcase>
        <testcase classname="agon.review.auth" name="operations">
          <system-out>operations (openai)
    WARN, confidence HIGH, in round 2
    Key insight: The retry loop hides an outage.
    - significant (src/session store.py:12): The retry loop has no upper bound
      Raised or accepted by operations.
    Recommendation: Limit attempts before release.
    Note: WEAK FLIP: changed its verdict without evidence</system-out>
        </testcase>
        <testcase classname="agon.review.auth" name="usability">
          <skipped message="no R1 within 120 s"/>
          <system-out>usability (openai)</system-out>
        </testcase>
      </testsuite>
    </testsuites>
    "#);
}

#[test]
fn a_judge_that_warns_fails_its_test_only_if_the_gate_fails_on_warnings() {
    assert_eq!(counted(&junit(failed())), [4, 2, 0, 1], "the verdict and security fail");
    assert_eq!(
        counted(&junit(GateReport { fails_on_warn: true, ..failed() })),
        [4, 3, 0, 1],
        "operations, too"
    );
    let unheard = GateReport { ruling: GateRuling::Missing, verdict: None, judges: Vec::new(), ..failed() };
    assert_eq!(counted(&junit(unheard)), [1, 0, 1, 0]);
}

/// The gate with every text replaced by the next of `strings`.
pub(crate) fn scrambled(mut gate: GateReport, strings: &[String]) -> GateReport {
    let mut next = strings.iter().cycle();
    let mut replace = |text: &mut String| text.clone_from(next.next().unwrap());
    let scramble_finding = |finding: &mut GateFinding, replace: &mut dyn FnMut(&mut String)| {
        replace(&mut finding.description);
        let options =
            [&mut finding.category, &mut finding.recommendation, &mut finding.location, &mut finding.file];
        options
            .into_iter()
            .flatten()
            .chain(&mut finding.judges)
            .chain(&mut finding.dropped_by)
            .for_each(replace);
    };
    gate.findings.iter_mut().for_each(|finding| scramble_finding(finding, &mut replace));
    for judge in &mut gate.judges {
        judge.findings.iter_mut().for_each(|finding| scramble_finding(finding, &mut replace));
        [&mut judge.name, &mut judge.seat].into_iter().for_each(&mut replace);
        let options = [
            &mut judge.vendor,
            &mut judge.confidence,
            &mut judge.key_insight,
            &mut judge.recommendation,
            &mut judge.absence,
        ];
        options.into_iter().flatten().chain(&mut judge.notes).for_each(&mut replace);
    }
    [&mut gate.meaning, &mut gate.target].into_iter().for_each(&mut replace);
    [&mut gate.path, &mut gate.footer].into_iter().flatten().for_each(&mut replace);
    gate
}

pub(crate) fn hostile() -> impl Strategy<Value = String> {
    let pieces = "::¦error¦##[¦]¦\n¦\r¦\r\n¦ ¦%0A¦%¦]]>¦<![CDATA[¦<!--¦&¦&#0;¦\"¦'¦\0¦\u{1b}[31m¦\u{fffe}¦\u{ffff}¦\u{2028}¦\u{85}¦\
        \u{202e}¦\u{feff}¦\u{200b}¦#¦[¦critical¦word¦\u{1f600}¦\t¦a.py¦C:\\¦/¦\\¦,¦=";
    let pieces: Vec<&str> = pieces.split('¦').collect();
    let piece =
        prop_oneof![4 => proptest::sample::select(pieces).prop_map(str::to_owned), 1 => any::<String>()];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any text in any field gives well-formed XML, valid JSON and no command but ours.
    #[test]
    fn the_formats_hold_whatever_the_texts_are(strings in proptest::collection::vec(hostile(), 1..40)) {
        let read = gated(scrambled(failed(), &strings));
        let output = written(&read, GateFormat::Github);
        let commands = commands(&output);
        prop_assert_eq!(commands.len(), failed().findings.len() + 1, "{}", output);
        for command in &commands {
            prop_assert!(["error", "warning", "notice"].contains(&command.name.as_str()));
            prop_assert!(command.properties.keys().all(|key| ["file", "line", "endLine", "title"].contains(&key.as_str())));
        }
        counted(&written(&read, GateFormat::Junit));
        for result in sarif(&read)["results"].as_array().unwrap() {
            let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
            prop_assert!(!uri.is_empty() && uri.chars().all(|char| char.is_ascii_alphanumeric() || "-._~/%:".contains(char)));
        }
    }
}
