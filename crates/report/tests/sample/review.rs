//! A review made by hand: two judges of one vendor with two rounds, one of another vendor with one.

use agon_core::{Fidelity, Status, Termination};
use serde_json::{Value, json};

use super::{Log, outcome, seat};

const INSIGHTS: [&str; 3] = [
    "A password can be tried without end: nothing on the way from `/login` to the database counts attempts.",
    "The retry loop in the session store hides an outage until every worker waits on it.",
    "The interface is small and reads well, but an error cannot be traced to its request.",
];

fn finding(severity: &str, description: &str, more: Value) -> Value {
    let mut finding = json!({"severity": severity, "description": description, "category": null, "location": null,
        "recommendation": null});
    for (key, value) in more.as_object().unwrap() {
        finding[key] = value.clone();
    }
    finding
}

fn first(verdict: &str, confidence: &str, insight: &str, findings: Vec<Value>, advice: &str) -> Value {
    json!({"verdict": verdict, "confidence": confidence, "key_insight": insight, "findings": findings, "recommendation": advice})
}

fn second(first: &Value, verdict: &str, because: Value) -> Value {
    let mut second = first.clone();
    second["verdict"] = json!(verdict);
    second["restatement"] = json!("I looked at the login path first. The missing limit was my evidence.");
    second["steel_man"] = json!("A gateway in front of the service may well limit attempts already.");
    second["challenges"] = json!([{"judge": "usability", "claim": "Errors are the worst of it",
        "response": "An attacker with a word list is worse."}]);
    second["acknowledgments"] =
        json!([{"judge": "operations", "point": "The retry loop makes an attack cheaper."}]);
    second["changed_because"] = because;
    second
}

/// The findings of the verdict, as consolidation leaves them.
fn findings() -> Value {
    let limit = finding(
        "critical",
        "No rate limiting on `/login`",
        json!({"id": "F2", "category": "Authentication", "location": "src/auth.py:45-47", "file": "src/auth.py", "line": 45,
            "end_line": 47, "recommendation": "Count attempts by account and by address.",
            "judges": ["security", "operations"], "rounds": [1, 2], "dropped": false, "dropped_by": []}),
    );
    let retry = finding(
        "significant",
        "The retry loop has no upper bound, so one slow database takes every worker with it",
        json!({"id": "F1", "category": "reliability", "location": "src/session store.py:12", "file": "src/session store.py",
            "line": 12, "end_line": null, "judges": ["operations"], "rounds": [1, 2], "dropped": false, "dropped_by": []}),
    );
    let expiry = finding(
        "significant",
        "Tokens live for an hour",
        json!({"id": "F3", "category": "authentication", "location": "the token settings", "file": null, "line": null,
            "end_line": null, "judges": ["security"], "rounds": [1], "dropped": true, "dropped_by": ["security"]}),
    );
    let request = finding(
        "minor",
        "Error responses carry no request id",
        json!({"id": "F4", "judges": ["usability"], "rounds": [1], "file": null, "line": null, "end_line": null,
            "dropped": false, "dropped_by": []}),
    );
    json!([expiry, limit, retry, request])
}

/// Who ruled what in which round.
fn judges() -> [Value; 3] {
    let limit = finding(
        "critical",
        "No rate limiting on `/login`",
        json!({"location": "src/auth.py:45-47", "recommendation": "Count attempts by account and by address."}),
    );
    let retry = finding("significant", "The retry loop has no upper bound", json!({}));
    let security = first("WARN", "HIGH", INSIGHTS[0], vec![limit.clone()], "Limit attempts before release.");
    let operations = first("PASS", "MEDIUM", INSIGHTS[1], vec![retry], "Bound the loop, then ship.");
    let usability = first("WARN", "LOW", INSIGHTS[2], Vec::new(), "Put a request id into every error.");
    let because =
        json!({"kind": "code_location", "citation": "src/auth.py:45 calls the database before any check"});
    let judge = |name: &str, vendor: &str, r1: &Value, r2: Value, used: &str, verdict: &str| {
        json!({"judge": name, "seat": name, "vendor": vendor, "perspective": name, "mixed": r2.is_null(), "r1": r1, "r2": r2,
            "weak_flip": false, "reverted": false, "used": used, "verdict": verdict, "note": null})
    };
    let mut all = [
        judge("security", "openai", &security, second(&security, "FAIL", because), "r2", "FAIL"),
        judge("operations", "openai", &operations, second(&operations, "WARN", Value::Null), "r2", "WARN"),
        judge("usability", "anthropic", &usability, Value::Null, "r1", "WARN"),
    ];
    all[1]["weak_flip"] = json!(true);
    all
}

fn verdict() -> Value {
    let judges = judges();
    let advice: Vec<Value> = judges
        .iter()
        .map(|judge| json!({"judge": judge["judge"], "recommendation": judge["r1"]["recommendation"]}))
        .collect();
    json!({"mode": "validate", "verdict": "FAIL", "fail_on": "fail", "debate": true, "branch": "disagreed", "target": "auth", "paths": ["src/auth.py"],
        "shifts": [
            {"judge": "security", "r1": "WARN", "r2": "FAIL", "changed": true, "because": judges[0]["r2"]["changed_because"],
                "weak_flip": false, "reverted": false},
            {"judge": "operations", "r1": "PASS", "r2": "WARN", "changed": true, "because": null, "weak_flip": true,
                "reverted": false},
        ],
        "judges": judges, "vendors": [{"vendor": "openai", "verdict": "FAIL"}, {"vendor": "anthropic", "verdict": "WARN"}],
        "findings": findings(), "recommendations": advice, "footer": "3/3 R1, 2/3 R2, fidelity full"})
}

fn open() -> Log {
    let seats = vec![
        seat("security", "judge", "openai/alpha"),
        seat("operations", "judge", "openai/alpha"),
        seat("usability", "judge", "anthropic/beta"),
    ];
    let question = "Review src/auth.py and src/session store.py.";
    Log::seated("review", question, seats, json!({"mode": "validate", "debate": true}))
}

fn close(log: &mut Log, status: Status, rounds: u32, verdict: Value) {
    let ended = if rounds > 0 { Termination::AllRoundsComplete } else { Termination::QuorumLost };
    let mut outcome = outcome(status, ended, rounds, verdict);
    outcome.labels.clear();
    log.close(outcome);
}

/// The verdict is FAIL: one judge changed with evidence, one without.
pub(crate) fn failed() -> Log {
    let mut log = open();
    let judges = judges();
    let first = log.ask("judge", 1, &[("security", None), ("operations", None), ("usability", None)]);
    for (ask, judge) in (first..).zip(&judges) {
        log.sent(ask, 1);
        log.said(ask, "", Some(judge["r1"].clone()));
    }
    let second = log.ask("revise", 2, &[("security", None), ("operations", None)]);
    for (ask, judge) in (second..).zip(&judges[..2]) {
        log.sent(ask, 1);
        log.said(ask, "", Some(judge["r2"].clone()));
    }
    close(&mut log, Status::Complete, 2, verdict());
    log
}

/// The same, with the vendors' results apart.
pub(crate) fn split() -> Value {
    let mut document = failed().document();
    document["verdict"]["verdict"] = json!("DISAGREE");
    document["verdict"]["vendors"][1]["verdict"] = json!("PASS");
    for field in ["/verdict", "/r1/verdict"] {
        *document["verdict"]["judges"][2].pointer_mut(field).unwrap() = json!("PASS");
    }
    document
}

/// A review of one round that everybody passes, in which one judge was absent.
pub(crate) fn passed() -> Value {
    let mut document = failed().document();
    let said = json!({"verdict": "PASS", "confidence": "HIGH", "key_insight": "Attempts are counted now.", "findings": [],
        "recommendation": "Ship it."});
    for judge in document["verdict"]["judges"].as_array_mut().unwrap() {
        judge["r1"] = said.clone();
        judge["r2"] = Value::Null;
        judge["used"] = json!("r1");
        judge["verdict"] = json!("PASS");
        judge["weak_flip"] = json!(false);
    }
    let absent = &mut document["verdict"]["judges"][1];
    for field in ["r1", "used", "verdict"] {
        absent[field] = Value::Null;
    }
    absent["note"] = json!("no R1 within 120 s");
    for (field, value) in [
        ("verdict", json!("PASS")),
        ("findings", json!([])),
        ("shifts", json!([])),
        ("recommendations", json!([])),
        ("branch", Value::Null),
        ("debate", json!(false)),
        ("footer", json!("2/3 R1, fidelity degraded")),
    ] {
        document["verdict"][field] = value;
    }
    document["rounds_completed"] = json!(1);
    document["fidelity"] = json!(Fidelity::Degraded);
    document["absences"] = json!([{"seat": "operations", "phase": "judge", "round": 1, "why": "timed_out",
        "detail": "no answer within 120 s"}]);
    document
}

/// Nobody was heard.
pub(crate) fn unheard() -> Value {
    let mut log = open();
    close(
        &mut log,
        Status::Failed,
        0,
        json!({"mode": "validate", "verdict": null, "fail_on": "fail", "target": "auth"}),
    );
    log.document()
}
