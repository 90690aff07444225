//! A verification as people and programs read it.

use agon_core::event::Entry;
use agon_core::{Event, Record};
use serde_json::{Value, json};

use super::outcome::Compared;
use super::seal::{Seal, after_retirement};
use super::{Check, Log, Signer, State, Verification};
use crate::difference::{differences, excerpt};
use crate::file::Receipt;
use crate::statement::VERSION;
use crate::trail;

const CONTEXT_CHARS: usize = 24;
const DIFFERENCES_MAX: usize = 5;
const FINDINGS_MAX: usize = 20;
const VERSION_CHARS_MAX: usize = 40;

impl Verification {
    /// In a few lines for a person; `name` is the file's.
    pub fn text(&self, name: &str) -> String {
        let mut lines = vec![format!("{name}: {}", self.headline())];
        lines.extend(self.findings.iter().take(FINDINGS_MAX).map(|finding| format!("  ! {}", finding.why)));
        if self.findings.len() > FINDINGS_MAX {
            lines.push(format!(
                "  ! and {} more, all of them with --json",
                self.findings.len() - FINDINGS_MAX
            ));
        }
        lines.extend(self.unsettled.iter().map(|finding| format!("  ? {}", finding.why)));
        lines.extend(self.checks.iter().map(line));
        lines.extend(self.notes.iter().map(|note| format!("  note: {note}")));
        lines.iter().flat_map(|line| [plain(line), "\n".into()]).collect()
    }

    /// As one JSON document; `name` is the file's.
    pub fn document(&self, name: &str) -> Value {
        let mut document = json!({"name": name, "intact": self.is_intact(), "trusted": self.is_trusted()});
        let rest = serde_json::to_value(self).unwrap_or_default();
        if let (Some(document), Value::Object(rest)) = (document.as_object_mut(), rest) {
            document.extend(rest);
        }
        document
    }

    fn headline(&self) -> String {
        let changes = self.findings.len().saturating_sub(usize::from(self.wanted.is_some()));
        match (changes, &self.wanted, &self.signer) {
            (0, Some(wanted), _) => format!("signed, but not with the key that was asked for ({wanted})"),
            (0, None, Some(signer)) => self.intact(signer),
            (0, None, None) => "intact, but who signed cannot be told".into(),
            (1, ..) => "changed".into(),
            (changes, ..) => format!("changed, in {changes} ways"),
        }
    }

    fn intact(&self, signer: &Signer) -> String {
        let advice = format!(
            "signed with {signer}: compare {0} with its owner, then `agon keys trust {1} --name NAME`",
            signer.id, signer.key
        );
        match (self.left_open(), signer.standing.is_some()) {
            (None, true) => format!("intact, signed with {signer}"),
            (None, false) => format!("intact, but {advice}"),
            (Some(open), true) => format!("intact as signed, but {open}"),
            (Some(open), false) => format!("intact as signed, but {open}; and {advice}"),
        }
    }

    /// What this version could not work out as the receipt has it, in few words.
    fn left_open(&self) -> Option<String> {
        let fields = self.unsettled.iter().filter(|finding| finding.field.is_some()).count();
        let fields = match fields {
            0 => None,
            1 => Some("1 field".to_owned()),
            super::DIFFERENCES_MAX => Some(format!("at least {fields} fields")),
            _ => Some(format!("{fields} fields")),
        };
        let steps = self.unsettled.iter().any(|finding| finding.field.is_none());
        let steps = steps.then(|| "the steps of the protocol".to_owned());
        let what = fields.into_iter().chain(steps).collect::<Vec<_>>().join(" and ");
        let agon = version_shown(self.agon.as_deref().unwrap_or_default());
        (!what.is_empty()).then(|| format!("made by agon {agon}: {what} could not be worked out again"))
    }
}

/// The key as a person knows it: "your own key (4f0c…)".
impl std::fmt::Display for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.standing {
            Some(standing) => write!(f, "{standing} ({})", self.id),
            None => write!(f, "a key that you do not know ({})", self.id),
        }
    }
}

/// A version that a receipt names: in quotes and cut short if it looks like none, for a signer can write a sentence there.
pub(super) fn version_shown(version: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    match (1..=VERSION_CHARS_MAX).contains(&version.len()) && version.chars().all(is_plain) {
        true => version.to_owned(),
        false => excerpt(version, 0, 0),
    }
}

/// A line with all its characters to be seen: names in a file that a stranger sent may hold what moves the cursor.
fn plain(line: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    let shown = |c: char| if hidden(c) { c.escape_unicode().to_string() } else { c.to_string() };
    line.chars().map(shown).collect()
}

/// The lines that say what was checked.
pub(super) fn sum_up(
    receipt: &Receipt,
    seal: &Seal,
    is_readable: bool,
    log: Option<(&Log, Compared)>,
    told: &mut Verification,
) {
    after_retirement(told);
    let mut checks = vec![signature(seal, told), statement(is_readable, told)];
    if let Some((log, compared)) = log {
        checks.push(chain(log, receipt, told));
        checks.push(outcome(compared, told));
    }
    checks.append(&mut told.checks);
    told.checks = checks;
}

fn signature(seal: &Seal, told: &Verification) -> Check {
    let (state, said) = match (seal.valid, &told.signer) {
        (Some(true), Some(signer)) => (State::Holds, format!("valid, by {signer}")),
        (Some(_), _) => (State::Fails, "it does not fit".to_owned()),
        (None, _) => (State::NotChecked, "key, signature or payload cannot be read".to_owned()),
    };
    Check { what: "signature", state, said }
}

fn statement(is_readable: bool, told: &Verification) -> Check {
    let wrong = told.findings.iter().any(|finding| finding.place == "receipt.payload");
    let (state, said) = match (is_readable, wrong) {
        (true, false) => (State::Holds, "it does not contradict itself".to_owned()),
        (true, true) => (State::Fails, "see above".to_owned()),
        (false, _) => (State::Fails, "it cannot be read".to_owned()),
    };
    Check { what: "statement", state, said }
}

fn chain(log: &Log, receipt: &Receipt, told: &Verification) -> Check {
    let wrong = told.findings.iter().any(|finding| finding.place.starts_with("log"));
    let count = receipt.log.as_ref().map_or(0, Vec::len);
    let (state, said) = match (wrong, told.head.as_deref() == Some(log.head())) {
        (false, true) => (State::Holds, format!("{count} events, head {}, as it was signed", log.head())),
        (false, false) => {
            (State::NotChecked, format!("{count} events that fit each other; what was signed cannot be read"))
        }
        (true, _) => (State::Fails, format!("{count} events")),
    };
    Check { what: "log", state, said }
}

fn outcome(compared: Compared, told: &Verification) -> Check {
    let wrong = told.findings.iter().any(|finding| finding.field.is_some());
    let open = told.unsettled.iter().filter_map(|finding| finding.field.as_deref());
    let open = open.map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ");
    let (state, said) = match (compared.all, wrong) {
        (false, _) => {
            (State::NotChecked, "the receipt or the log cannot be read, or is not whole".to_owned())
        }
        (true, true) => (State::Fails, "the receipt and the log do not say the same".to_owned()),
        (true, false) if open.is_empty() => {
            (State::Holds, "every field of the receipt is what the log gives".to_owned())
        }
        (true, false) => {
            let other = version_shown(told.agon.as_deref().unwrap_or_default());
            let said =
                format!("agon {other} signed it, and this agon {VERSION} does not give the same {open}");
            (State::NotChecked, said)
        }
    };
    Check { what: "outcome", state, said }
}

fn line(check: &Check) -> String {
    let state = match check.state {
        State::Holds => "holds",
        State::Fails => "FAILS",
        State::NotChecked => "not checked",
    };
    format!("  {:<10} {state}: {}", check.what, check.said)
}

/// An event as a person knows it: "event 7 (replied: debater-2, debate, round 1)".
pub(super) fn event(seq: u64, body: &str, before: &[Record]) -> String {
    let Ok(entry) = serde_json::from_str::<Entry>(body) else { return format!("event {seq}") };
    let about = |ask: u32| asked(ask, before).map(|about| format!(": {about}")).unwrap_or_default();
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

/// Who was asked in which phase.
fn asked(ask: u32, before: &[Record]) -> Option<String> {
    before.iter().rev().find_map(|record| match &record.entry.event {
        Event::Asked { phase, round, asks } => {
            let asked = asks.iter().find(|asked| asked.id == ask)?;
            Some(format!("{}, {phase}, round {round}", asked.seat))
        }
        _ => None,
    })
}

/// What became of a body.
pub(super) fn change(was: &str, is: &str) -> String {
    let from = was.char_indices().zip(is.chars()).find(|((_, a), b)| a != b).map(|((place, _), _)| place);
    let from = from.unwrap_or(was.len().min(is.len()));
    let (was_end, is_end) = (was.get(from..).unwrap_or_default(), is.get(from..).unwrap_or_default());
    let same = was_end.chars().rev().zip(is_end.chars().rev()).take_while(|(a, b)| a == b);
    let same: usize = same.map(|(a, _)| a.len_utf8()).sum();
    let middle = |text: &str| text.get(..text.len() - same).unwrap_or_default().to_owned();
    let (gone, come) = (middle(was_end), middle(is_end));
    if gone.chars().count().max(come.chars().count()) > 2 {
        return fields(was, is);
    }
    let path = trail::path(was.as_bytes(), from);
    let path = if path.is_empty() { String::new() } else { format!(", in `{path}`,") };
    let what = match (gone.as_str(), come.as_str()) {
        ("", come) => format!("at byte {from} of it{path} {come:?} was put in"),
        (gone, "") => format!("at byte {from} of it{path} {gone:?} was taken out"),
        (gone, come) => format!("byte {from} of it{path} was {gone:?} and is {come:?}"),
    };
    let place = was.get(..from).unwrap_or_default().chars().count();
    let raw = |text: &str| excerpt(text, place.saturating_sub(CONTEXT_CHARS), place);
    let (was, is) = values(was, is).unwrap_or_else(|| (raw(was), raw(is)));
    format!("{what}: {was} became {is}")
}

/// The one value that differs, as it was and as it is.
fn values(was: &str, is: &str) -> Option<(String, String)> {
    let (was, is) = (serde_json::from_str(was).ok()?, serde_json::from_str(is).ok()?);
    match differences(&was, &is, "", 2).as_slice() {
        [only] => Some((only.first.clone(), only.second.clone())),
        _ => None,
    }
}

/// A larger change, by its fields.
fn fields(was: &str, is: &str) -> String {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    let (Some(was), Some(is)) = (read(was), read(is)) else { return "it cannot be read any more".into() };
    let told = differences(&was, &is, "", DIFFERENCES_MAX);
    let told =
        told.iter().map(|found| format!("`{}` was {} and is {}", found.path, found.first, found.second));
    told.collect::<Vec<_>>().join("; ")
}
