//! Checks that a receipt is as it was signed and agrees with the log in it, and names what was changed.

use agon_core::{Debate, Protocol};
use serde::Serialize;
use serde_json::Value;

use super::chain::SignedEnd;
use super::explain;
use super::keyring::{KeyStanding, KnownKey};
use super::keys::PublicKey;
use super::statement::{SignedOutcome, contradictions};

mod envelope_checks;
mod log_checks;

pub(super) use envelope_checks::CheckedSignature;
pub(super) use log_checks::{CheckedLog, StatementComparison};

/// How many differing fields are named.
pub(super) const DIFFERENCES_MAX: usize = 20;

/// How the outcome is computed again from a log.
#[derive(Clone, Copy)]
pub struct ReplayContext<'a> {
    /// Finds a protocol by name.
    pub protocol: &'a dyn Fn(&str) -> Option<&'static dyn Protocol>,
    /// What a debate came to, read from its log in the same way as for a new receipt. An error is a sentence.
    pub outcome: &'a dyn Fn(&Debate) -> Result<SignedOutcome, String>,
}

/// Something that is wrong with a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReceiptFinding {
    /// Where in the file: `receipt.payload`, `public_key`, `log[7].body`; empty for the whole file.
    pub place: String,
    /// The number of the event, if one is concerned.
    pub event: Option<u64>,
    /// The field of the statement, if one is concerned: `predicate.verdict.answer`.
    pub field: Option<String>,
    /// What is wrong, as a sentence.
    pub why: String,
}

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    Holds,
    /// It does not hold.
    Fails,
    /// It could not be checked.
    NotChecked,
}

/// One check and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReceiptCheck {
    /// `signature`, `statement`, `log`, `outcome` or `replay`.
    pub what: &'static str,
    /// The result.
    pub state: CheckState,
    /// The result in words.
    pub said: String,
}

/// Who signed a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReceiptSigner {
    pub key: String,
    pub id: String,
    /// What the key is to the reader; `None` if it is not on the reader's keyring.
    #[serde(flatten)]
    pub standing: Option<KeyStanding>,
}

/// The result of checking a receipt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReceiptVerification {
    /// What was changed, or is not as [required](Self::require). Empty if nothing was changed.
    pub findings: Vec<ReceiptFinding>,
    /// What another version of Agon computed and this version does not reproduce. It may be right or false.
    pub unsettled: Vec<ReceiptFinding>,
    pub checks: Vec<ReceiptCheck>,
    /// Who signed; `None` if no signature is valid.
    pub signer: Option<ReceiptSigner>,
    /// What else a reader should know.
    pub notes: Vec<String>,
    /// The id of the debate, as the receipt says.
    pub id: Option<String>,
    /// The number of events in the log, as the receipt says.
    pub events: Option<u64>,
    /// The last hash of the log, as the receipt says.
    pub head: Option<String>,
    /// When it was signed, as the receipt says.
    pub signed_at: Option<String>,
    /// The version of Agon that signed it, as the receipt says.
    pub agon: Option<String>,
    /// The id of the required key, if another key signed.
    pub wanted: Option<String>,
}

impl ReceiptVerification {
    /// Whether nothing was changed since somebody signed it.
    pub fn is_intact(&self) -> bool {
        self.findings.is_empty()
    }

    /// Whether it is intact, signed with a key on the reader's keyring, and nothing is left open. Anybody can sign a
    /// forged debate with a new key, and anybody can claim a version that computes the outcome differently.
    pub fn is_trusted(&self) -> bool {
        let is_known = self.signer.as_ref().is_some_and(|signer| signer.standing.is_some());
        self.is_intact() && self.unsettled.is_empty() && is_known
    }

    /// Whether the log was computed again and came to the signed outcome.
    pub fn is_replayed(&self) -> bool {
        self.checks.iter().any(|check| check.what == "replay" && check.state == CheckState::Holds)
    }

    /// `signed_and_replayed`, `not_replayed`, `unknown_key` or `changed`.
    pub fn answer(&self) -> &'static str {
        let is_known = self.signer.as_ref().is_some_and(|signer| signer.standing.is_some());
        match (self.is_intact(), is_known) {
            (false, _) => "changed",
            (true, false) => "unknown_key",
            (true, true) if self.unsettled.is_empty() && self.is_replayed() => "signed_and_replayed",
            (true, true) => "not_replayed",
        }
    }

    /// Requires one key: adds a finding if another key signed. Call this before [`text`](Self::text) or
    /// [`document`](Self::document). A receipt without a valid signature already has a finding.
    pub fn require(&mut self, wanted: &PublicKey) {
        let Some(signer) = self.signer.clone().filter(|_| self.wanted.is_none()) else { return };
        if signer.key == wanted.to_string() {
            return;
        }
        let id = wanted.id();
        self.add(
            "receipt.signatures",
            format!("it is signed with {signer}, not with the required key ({id})"),
        );
        if let Some(check) = self.checks.iter_mut().find(|check| check.what == "signature") {
            check.state = CheckState::Fails;
            check.said = format!("valid, by {signer}, but not by the required key ({id})");
        }
        self.wanted = Some(id);
    }

    fn add(&mut self, place: impl Into<String>, why: impl Into<String>) {
        let (place, why) = (place.into(), why.into());
        self.findings.push(ReceiptFinding { place, event: None, field: None, why });
    }

    fn add_event(&mut self, place: impl Into<String>, event: u64, why: impl Into<String>) {
        let (place, why) = (place.into(), why.into());
        self.findings.push(ReceiptFinding { place, event: Some(event), field: None, why });
    }

    fn add_field(&mut self, field: &str, why: impl Into<String>) {
        let (place, field) =
            ("receipt.payload".into(), Some(field.to_owned()).filter(|field| !field.is_empty()));
        self.findings.push(ReceiptFinding { place, event: None, field, why: why.into() });
    }

    fn read_claims(&mut self, statement: &Value) {
        let text = |pointer: &str| statement.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        self.id = text("/predicate/id");
        self.head = text("/predicate/log/head");
        self.signed_at = text("/predicate/signed_at");
        self.agon = text("/predicate/agon");
        self.events = statement.pointer("/predicate/log/events").and_then(Value::as_u64);
    }

    fn signed_end(&self) -> Option<SignedEnd> {
        Some(SignedEnd { head: self.head.clone()?, events: self.events? })
    }
}

/// Checks the bytes of a receipt file. `known` is the reader's keyring.
pub fn verify(bytes: &[u8], known: &[KnownKey], context: &ReplayContext<'_>) -> ReceiptVerification {
    let mut result = ReceiptVerification::default();
    let Some(receipt) = envelope_checks::parse_receipt(bytes, &mut result) else { return result };
    let payload = envelope_checks::decode_payload(&receipt.receipt, &mut result);
    let signature = envelope_checks::check_signature(&receipt, payload.as_deref(), known, &mut result);
    let statement = payload.and_then(|payload| envelope_checks::parse_statement(&payload, &mut result));
    if let Some(statement) = &statement {
        result.read_claims(statement);
        envelope_checks::check_retirement(&mut result);
    }
    let log = receipt.log.as_deref().map(|log| log_checks::check_log(log, &mut result));
    let comparison = log_checks::compare(statement.as_ref(), log.as_ref(), &signature, context, &mut result);
    if let Some(statement) = statement.as_ref().filter(|_| !comparison.changes_named) {
        for (field, why) in contradictions(statement) {
            result.add_field(&field, format!("`{field}` contradicts the rest of the receipt: {why}"));
        }
    }
    let replay = log.as_ref().map(|log| log_checks::replay(log, context, &mut result));
    let mut checks = vec![
        explain::signature_check(&signature, &result),
        explain::statement_check(statement.is_some(), &result),
    ];
    match &log {
        Some(log) => {
            checks.push(explain::log_check(log, receipt.log.as_ref().map_or(0, Vec::len), &result));
            checks.push(explain::outcome_check(comparison, &result));
            checks.extend(replay);
        }
        None => result.notes.push(
            "the file has no log: only the signature was checked, and that the receipt does not contradict itself; \
             not whether the debate really went like this"
                .into(),
        ),
    }
    result.checks = checks;
    result
}
