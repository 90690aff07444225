//! A JUnit report: the verdict is a test, and so is every judge.

use agon_core::{GateFinding, GateJudge, GateRuling};

use super::{PipelineReport, finding_text};

/// One suite with a test for the verdict, which fails if and only if the exit status is 1, and a test for each judge.
pub(super) fn report(review: &PipelineReport) -> String {
    let mut cases = vec![verdict_case(review)];
    cases.extend(review.judges().map(|(model, judge)| judge_case(&model, judge, review.gate.fails_on_warn)));
    let count = |wanted: &str| cases.iter().filter(|case| case.result_is(wanted)).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\"",
        cases.len(),
        count("failure"),
        count("error"),
        count("skipped"),
        review.elapsed_ms as f64 / 1000.0
    );
    let name = attribute(&format!("{} {}", review.command, review.gate.target));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&format!("<testsuites name=\"{}\" {counts}>\n", attribute(&review.command)));
    out.push_str(&format!("  <testsuite name=\"{name}\" {counts}>\n"));
    out.push_str(&properties(review));
    let class = attribute(&format!("{}.{}", review.command.replace(' ', "."), review.gate.target));
    cases.iter().for_each(|case| case.write(&mut out, &class));
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

struct JunitCase {
    name: String,
    result: Option<JunitResult>,
    out: String,
}

struct JunitResult {
    tag: &'static str,
    /// The verdict, as the type of the failure.
    kind: String,
    message: String,
    text: String,
}

impl JunitCase {
    fn result_is(&self, tag: &str) -> bool {
        self.result.as_ref().is_some_and(|result| result.tag == tag)
    }

    fn write(&self, out: &mut String, class: &str) {
        out.push_str(&format!("    <testcase classname=\"{class}\" name=\"{}\">\n", attribute(&self.name)));
        if let Some(JunitResult { tag, kind, message, text }) = &self.result {
            // A skipped test has only a message.
            let kind =
                if *tag == "skipped" { String::new() } else { format!(" type=\"{}\"", attribute(kind)) };
            let rest = if text.is_empty() { "/>".into() } else { format!(">{}</{tag}>", escape(text)) };
            out.push_str(&format!("      <{tag} message=\"{}\"{kind}{rest}\n", attribute(message)));
        }
        if !self.out.is_empty() {
            out.push_str(&format!("      <system-out>{}</system-out>\n", escape(&self.out)));
        }
        out.push_str("    </testcase>\n");
    }
}

fn properties(review: &PipelineReport) -> String {
    let fidelity = if review.is_degraded { "degraded" } else { "full" };
    let mut pairs =
        vec![("debate", review.id.as_str()), ("verdict", &review.verdict), ("fidelity", fidelity)];
    pairs.extend(review.gate.footer.as_ref().map(|footer| ("footer", footer.as_str())));
    let mut out = String::from("    <properties>\n");
    for (name, value) in pairs {
        out.push_str(&format!("      <property name=\"{name}\" value=\"{}\"/>\n", attribute(value)));
    }
    out.push_str("    </properties>\n");
    out
}

fn verdict_case(review: &PipelineReport) -> JunitCase {
    let tag = match review.gate.ruling {
        GateRuling::Passed | GateRuling::Warned => None,
        GateRuling::Blocked => Some("failure"),
        GateRuling::Missing => Some("error"),
    };
    let findings: Vec<String> = review.gate.findings.iter().map(finding_line).collect();
    // A test that passed has no failure to list the findings in, so they go to the output.
    let (text, mut out) = match tag {
        Some(_) => (findings.join("\n"), vec![review.meaning.clone()]),
        None => (String::new(), [vec![review.meaning.clone()], findings].concat()),
    };
    let result = tag.map(|tag| JunitResult {
        tag,
        kind: review.verdict.clone(),
        message: review.meaning.clone(),
        text,
    });
    out.extend(review.absences.iter().chain(&review.warnings).cloned());
    out.extend(review.gate.footer.clone());
    JunitCase { name: "verdict".into(), result, out: out.join("\n") }
}

fn judge_case(model: &str, judge: &GateJudge, fail_on_warn: bool) -> JunitCase {
    let fails = match judge.verdict.as_deref() {
        Some("FAIL") => true,
        Some("WARN") => fail_on_warn,
        _ => false,
    };
    let failure = fails.then(|| JunitResult {
        tag: "failure",
        kind: judge.verdict.clone().unwrap_or_default(),
        message: judge.key_insight.clone().or(judge.verdict.clone()).unwrap_or_default(),
        text: judge.recommendation.clone().unwrap_or_default(),
    });
    let absent = judge.absence.as_ref().map(|absence| JunitResult {
        tag: "skipped",
        kind: String::new(),
        message: absence.clone(),
        text: String::new(),
    });
    let mut out: Vec<String> = vec![format!("{}{model}", judge.name)];
    out.extend(judge.verdict.as_ref().map(|verdict| verdict_line(judge, verdict)));
    out.extend(judge.key_insight.as_ref().map(|insight| format!("Key insight: {insight}")));
    out.extend(judge.findings.iter().map(finding_line));
    out.extend(judge.recommendation.as_ref().map(|advice| format!("Recommendation: {advice}")));
    let notes = judge.notes.iter().filter(|_| judge.absence.is_none());
    out.extend(notes.map(|note| format!("Note: {note}")));
    JunitCase { name: judge.name.clone(), result: failure.or(absent), out: out.join("\n") }
}

fn verdict_line(judge: &GateJudge, verdict: &str) -> String {
    let sure = judge.confidence.as_ref().map_or(String::new(), |sure| format!(", confidence {sure}"));
    let round = judge.round.map_or(String::new(), |round| format!(", in round {round}"));
    format!("{verdict}{sure}{round}")
}

fn finding_line(finding: &GateFinding) -> String {
    let place = finding.place().map_or(String::new(), |place| format!(" ({place})"));
    format!("- {}{place}: {}", finding.severity.as_str(), finding_text(finding).replace('\n', "\n  "))
}

fn attribute(text: &str) -> String {
    escape(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Escapes text for XML 1.0. `clean_text` has removed all forbidden characters except these two.
fn escape(text: &str) -> String {
    maud::html! { (text.replace(['\u{fffe}', '\u{ffff}'], "")) }.into_string()
}
