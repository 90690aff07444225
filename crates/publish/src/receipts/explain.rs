//! The result of a verification in words, and as a JSON document.

use agon_core::event::LogEntry;
use agon_core::{Event, LogRecord};
use agon_host::visible_text;
use serde_json::{Value, json};

use super::difference::excerpt;
use super::statement::VERSION;
use super::verify::{
    CheckState, CheckedLog, CheckedSignature, DIFFERENCES_MAX, ReceiptCheck, ReceiptSigner,
    ReceiptVerification, StatementComparison,
};

const FINDINGS_MAX: usize = 20;
const VERSION_CHARS_MAX: usize = 40;

impl ReceiptVerification {
    /// A few lines for a person. `name` is the name of the file.
    pub fn text(&self, name: &str) -> String {
        let mut lines = vec![format!("{name}: {}", self.headline())];
        lines.extend(self.findings.iter().take(FINDINGS_MAX).map(|finding| format!("  ! {}", finding.why)));
        if self.findings.len() > FINDINGS_MAX {
            let more = self.findings.len() - FINDINGS_MAX;
            lines.push(format!("  ! and {more} more; --json shows all of them"));
        }
        lines.extend(self.unsettled.iter().map(|finding| format!("  ? {}", finding.why)));
        lines.extend(self.checks.iter().map(check_line));
        lines.extend(self.notes.iter().map(|note| format!("  note: {note}")));
        // A file from a stranger may contain characters that control the terminal.
        lines.iter().map(|line| visible_text(line) + "\n").collect()
    }

    /// One JSON document. `name` is the name of the file.
    pub fn document(&self, name: &str) -> Value {
        let mut document = json!({"name": name, "answer": self.answer(), "intact": self.is_intact(), "trusted": self.is_trusted()});
        let rest = serde_json::to_value(self).unwrap_or_default();
        if let (Some(document), Value::Object(rest)) = (document.as_object_mut(), rest) {
            document.extend(rest);
        }
        document
    }

    fn headline(&self) -> String {
        let changes = self.findings.len().saturating_sub(usize::from(self.wanted.is_some()));
        match (changes, &self.wanted, &self.signer) {
            (0, Some(wanted), _) => format!("signed, but not with the required key ({wanted})"),
            (0, None, Some(signer)) => self.intact_headline(signer),
            (0, None, None) => "intact, but it is unknown who signed".into(),
            (1, ..) => "changed".into(),
            (changes, ..) => format!("changed, with {changes} findings"),
        }
    }

    fn intact_headline(&self, signer: &ReceiptSigner) -> String {
        let advice = format!(
            "signed with {signer}: compare {0} with its owner, then run `agon keys trust {1} --name NAME`",
            signer.id, signer.key
        );
        match (self.left_open(), signer.standing.is_some()) {
            (None, true) if self.is_replayed() => format!("intact and replayed, signed with {signer}"),
            (None, true) => format!("intact, signed with {signer}, but not replayed"),
            (None, false) => format!("intact, but {advice}"),
            (Some(open), true) => format!("intact as signed, but {open}"),
            (Some(open), false) => format!("intact as signed, but {open}; and {advice}"),
        }
    }

    /// What this version cannot reproduce, in a few words.
    fn left_open(&self) -> Option<String> {
        let fields = match self.unsettled.iter().filter(|finding| finding.field.is_some()).count() {
            0 => None,
            1 => Some("1 field".to_owned()),
            DIFFERENCES_MAX => Some(format!("at least {DIFFERENCES_MAX} fields")),
            fields => Some(format!("{fields} fields")),
        };
        let steps = self.unsettled.iter().any(|finding| finding.field.is_none());
        let steps = steps.then(|| "the steps of the protocol".to_owned());
        let what = fields.into_iter().chain(steps).collect::<Vec<_>>().join(" and ");
        let version = shown_version(self.agon.as_deref().unwrap_or_default());
        (!what.is_empty()).then(|| format!("made by agon {version}: {what} could not be reproduced"))
    }
}

/// For example "your own key (4f0c…)".
impl std::fmt::Display for ReceiptSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.standing {
            Some(standing) => write!(f, "{standing} ({})", self.id),
            None => write!(f, "a key that you do not know ({})", self.id),
        }
    }
}

fn check_line(check: &ReceiptCheck) -> String {
    let state = match check.state {
        CheckState::Holds => "holds",
        CheckState::Fails => "FAILS",
        CheckState::NotChecked => "not checked",
    };
    format!("  {:<10} {state}: {}", check.what, check.said)
}

pub(super) fn signature_check(signature: &CheckedSignature, result: &ReceiptVerification) -> ReceiptCheck {
    let (state, said) = match (signature.valid, &result.signer) {
        (Some(true), Some(signer)) => (CheckState::Holds, format!("valid, by {signer}")),
        (Some(_), _) => (CheckState::Fails, "it does not match".to_owned()),
        (None, _) => {
            (CheckState::NotChecked, "the key, the signature or the payload cannot be read".to_owned())
        }
    };
    ReceiptCheck { what: "signature", state, said }
}

pub(super) fn statement_check(is_readable: bool, result: &ReceiptVerification) -> ReceiptCheck {
    let wrong = result.findings.iter().any(|finding| finding.place == "receipt.payload");
    let (state, said) = match (is_readable, wrong) {
        (true, false) => (CheckState::Holds, "it does not contradict itself"),
        (true, true) => (CheckState::Fails, "see above"),
        (false, _) => (CheckState::Fails, "it cannot be read"),
    };
    ReceiptCheck { what: "statement", state, said: said.to_owned() }
}

pub(super) fn log_check(log: &CheckedLog, count: usize, result: &ReceiptVerification) -> ReceiptCheck {
    let wrong = result.findings.iter().any(|finding| finding.place.starts_with("log"));
    let (state, said) = match (wrong, result.head.as_deref() == Some(log.head())) {
        (false, true) => (CheckState::Holds, format!("{count} events, head {}, as signed", log.head())),
        (false, false) => {
            (CheckState::NotChecked, format!("{count} consistent events, but what was signed cannot be read"))
        }
        (true, _) => (CheckState::Fails, format!("{count} events")),
    };
    ReceiptCheck { what: "log", state, said }
}

pub(super) fn outcome_check(comparison: StatementComparison, result: &ReceiptVerification) -> ReceiptCheck {
    let wrong = result.findings.iter().any(|finding| finding.field.is_some());
    let open = result.unsettled.iter().filter_map(|finding| finding.field.as_deref());
    let open = open.map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ");
    let (state, said) = match (comparison.complete, wrong) {
        (false, _) => {
            (CheckState::NotChecked, "the receipt or the log cannot be read, or is not whole".to_owned())
        }
        (true, true) => (CheckState::Fails, "the receipt and the log disagree".to_owned()),
        (true, false) if open.is_empty() => {
            (CheckState::Holds, "every field of the receipt is what the log gives".to_owned())
        }
        (true, false) => {
            let other = shown_version(result.agon.as_deref().unwrap_or_default());
            let said =
                format!("agon {other} signed it, and this agon {VERSION} does not give the same {open}");
            (CheckState::NotChecked, said)
        }
    };
    ReceiptCheck { what: "outcome", state, said }
}

/// A version that a receipt names. A signer can write a sentence there, so anything that does not look like a version is
/// quoted and shortened.
pub(super) fn shown_version(version: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    match (1..=VERSION_CHARS_MAX).contains(&version.len()) && version.chars().all(is_plain) {
        true => version.to_owned(),
        false => excerpt(version, 0),
    }
}

/// For example "event 7 (replied: debater-2, debate, round 1)". `before` are the records in front of it.
pub(super) fn describe_event(seq: u64, body: &str, before: &[LogRecord]) -> String {
    let Ok(entry) = serde_json::from_str::<LogEntry>(body) else { return format!("event {seq}") };
    let about = |ask: u32| describe_ask(ask, before).map(|about| format!(": {about}")).unwrap_or_default();
    let what = match &entry.event {
        Event::Opened { .. } => "opened".to_owned(),
        Event::Asked { phase, round, .. } => format!("asked: {phase}, round {round}"),
        Event::Sent { ask, .. } => format!("sent{}", about(*ask)),
        Event::Attempted { ask, .. } => format!("attempted{}", about(*ask)),
        Event::Replied { ask, .. } => format!("replied{}", about(*ask)),
        Event::Interjected { by, .. } => format!("interjected: {by}"),
        Event::Closed { .. } => "closed".to_owned(),
    };
    format!("event {seq} ({what})")
}

/// The seat, phase and round of an ask.
fn describe_ask(id: u32, before: &[LogRecord]) -> Option<String> {
    before.iter().rev().find_map(|record| match &record.entry.event {
        Event::Asked { phase, round, asks } => {
            let ask = asks.iter().find(|ask| ask.id == id)?;
            Some(format!("{}, {phase}, round {round}", ask.seat))
        }
        _ => None,
    })
}
