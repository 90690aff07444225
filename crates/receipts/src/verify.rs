//! Whether a receipt is as it was signed, and is what the log beside it says; and if not, what was changed.

use agon_core::event::GENESIS;
use agon_core::{Debate, Protocol, Record};
use serde::Serialize;
use serde_json::Value;

use crate::canonical;
use crate::chain::Signed;
use crate::key::PublicKey;
use crate::keyring::{Known, Standing};
use crate::statement::{Made, contradictions, statement};

mod log;
mod outcome;
mod read;
mod seal;
mod words;

/// How many bytes are hashed, by default, to find out which byte of an event was changed: some seconds.
pub const SEARCH_BYTES: u64 = 4 << 30;

/// How many differing fields are named.
const DIFFERENCES_MAX: usize = 20;

/// How a log is worked out again.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// The protocol of a name.
    pub protocol: &'a dyn Fn(&str) -> Option<&'static dyn Protocol>,
    /// The outcome's document, evidence included, from the log alone: the same as when the receipt was made.
    pub outcome: &'a dyn Fn(&Debate) -> Value,
    /// How many bytes may be hashed to find out which byte of an event was changed: [`SEARCH_BYTES`], or 0 for no search.
    pub search_bytes: u64,
}

/// Something that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Where in the file: `receipt.payload`, `public_key`, `log[7].body`; empty for all of it.
    pub place: String,
    /// The event, where it is one.
    pub event: Option<u64>,
    /// The field of the statement, where it is one: `predicate.verdict.answer`.
    pub field: Option<String>,
    /// What is wrong, in a sentence.
    pub why: String,
}

/// What became of one of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// It could not be made.
    NotChecked,
}

/// One check and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// `signature`, `statement`, `log`, `outcome` or `replay`.
    pub what: &'static str,
    /// What became of it.
    pub state: State,
    /// In words.
    pub said: String,
}

/// Who signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Signer {
    /// The key.
    pub key: String,
    /// Its id.
    pub id: String,
    /// Whose it is; `None` where it is not known.
    #[serde(flatten)]
    pub standing: Option<Standing>,
}

/// What a check of a receipt came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// What is not as it was, or not as it was [asked for](Self::require). Empty: nothing was changed.
    pub findings: Vec<Finding>,
    /// What another version is said to have worked out and this one does not give: it may be right, or false.
    pub unsettled: Vec<Finding>,
    /// The checks.
    pub checks: Vec<Check>,
    /// Who signed; `None` where no signature is valid.
    pub signer: Option<Signer>,
    /// What a reader should know besides.
    pub notes: Vec<String>,
    /// The debate's id, as the receipt says.
    pub id: Option<String>,
    /// How many events the log has, as the receipt says.
    pub events: Option<u64>,
    /// The log's last hash, as the receipt says.
    pub head: Option<String>,
    /// When it was signed, as the receipt says.
    pub signed_at: Option<String>,
    /// The version of Agon that signed it, as the receipt says.
    pub agon: Option<String>,
    /// The id of the key that was asked for, where another signed.
    pub wanted: Option<String>,
}

impl Verification {
    /// Whether nothing was changed since it was signed, by whomever.
    pub fn is_intact(&self) -> bool {
        self.findings.is_empty()
    }

    /// Whether, besides, it was signed by somebody who is known, and nothing is left open. Anybody can sign a forged debate
    /// with a new key, and anybody can name a version that would have worked it out in another way.
    pub fn is_trusted(&self) -> bool {
        let is_known = self.signer.as_ref().is_some_and(|signer| signer.standing.is_some());
        self.is_intact() && self.unsettled.is_empty() && is_known
    }

    /// Asks for one key: a finding in `receipt.signatures` where another signed it. Call it before the text or the document is
    /// made. A receipt that nobody signed has its finding already, and one that another signed needs no second.
    pub fn require(&mut self, wanted: &PublicKey) {
        let Some(signer) = self.signer.clone().filter(|_| self.wanted.is_none()) else { return };
        if signer.key == wanted.to_string() {
            return;
        }
        let id = wanted.id();
        let why = format!("it is signed with {signer}, and not with the key that was asked for ({id})");
        self.find("receipt.signatures", why);
        let mut checks = self.checks.iter_mut();
        if let Some(check) = checks.find(|check| check.what == "signature") {
            check.state = State::Fails;
            check.said = format!("valid, by {signer}, but not by the key that was asked for ({id})");
        }
        self.wanted = Some(id);
    }

    fn find(&mut self, place: impl Into<String>, why: impl Into<String>) {
        self.findings.push(Finding { place: place.into(), event: None, field: None, why: why.into() });
    }

    fn find_event(&mut self, place: impl Into<String>, event: u64, why: impl Into<String>) {
        let (place, event, why) = (place.into(), Some(event), why.into());
        self.findings.push(Finding { place, event, field: None, why });
    }

    fn find_field(&mut self, field: &str, why: impl Into<String>) {
        let (place, field, why) = ("receipt.payload".into(), Some(field.to_owned()), why.into());
        self.findings.push(Finding { place, event: None, field, why });
    }

    fn check(&mut self, what: &'static str, state: State, said: impl Into<String>) {
        self.checks.push(Check { what, state, said: said.into() });
    }
}

/// Checks the bytes of a receipt's file. `known` are the keys that the reader knows.
pub fn verify(bytes: &[u8], known: &[Known], means: &Means<'_>) -> Verification {
    let mut told = Verification::default();
    let Some(receipt) = read::file(bytes, &mut told) else { return told };
    let signed = read::payload(&receipt.receipt, &mut told);
    let seal = seal::check(&receipt, signed.as_ref().map(|signed| &*signed.bytes), known, &mut told);
    let statement = signed.and_then(|signed| signed.statement);
    if let Some(statement) = &statement {
        tell(statement, &mut told);
    }
    let log = receipt.log.as_deref().map(|links| log::check(links, head(&told).as_ref(), means, &mut told));
    let rebuilt = match (&statement, &log) {
        (Some(statement), Some(log)) => {
            log.debate.as_ref().and_then(|debate| rebuild(statement, debate, means))
        }
        _ => None,
    };
    let compared = outcome::compare(statement.as_ref(), rebuilt.as_ref(), log.as_ref(), &seal, &mut told);
    if let Some(statement) = statement.as_ref().filter(|_| !compared.named) {
        for (field, why) in contradictions(statement) {
            told.find_field(&field, format!("`{field}` contradicts the rest of the receipt: {why}"));
        }
    }
    match &log {
        Some(log) => outcome::replay(log, statement.as_ref(), means, &mut told),
        None => no_log(&mut told),
    }
    words::sum_up(&receipt, &seal, statement.is_some(), log.as_ref().map(|log| (log, compared)), &mut told);
    told
}

/// The statement that a log gives, in the spelling that a signed one has.
fn rebuild(told: &Value, debate: &Debate, means: &Means<'_>) -> Option<Value> {
    let rebuilt = statement(&(means.outcome)(debate), debate, &Made::said(told));
    canonical::normal(&rebuilt).ok()
}

fn tell(statement: &Value, told: &mut Verification) {
    let text = |pointer: &str| statement.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    told.id = text("/predicate/id");
    told.head = text("/predicate/log/head");
    told.signed_at = text("/predicate/signed_at");
    told.agon = text("/predicate/agon");
    told.events = statement.pointer("/predicate/log/events").and_then(Value::as_u64);
}

/// What the statement says about the log's end.
fn head(told: &Verification) -> Option<(String, u64)> {
    Some((told.head.clone()?, told.events?))
}

fn no_log(told: &mut Verification) {
    told.notes.push(
        "the file has no log: only the signature was checked, and that the receipt does not contradict itself; \
         whether the debate went as it says was not"
            .into(),
    );
}

/// A log as far as it could be made whole.
pub(crate) struct Log {
    /// Its records, in order.
    records: Vec<Record>,
    /// The debate that they make.
    debate: Option<Debate>,
    /// Whether the records are all that were sealed, as they were sealed.
    whole: bool,
    /// Whether something in the middle of it is missing.
    short: bool,
    /// Whether every event could be read.
    readable: bool,
}

impl Log {
    fn head(&self) -> &str {
        self.records.last().map_or(GENESIS, |record| &record.hash)
    }
}

fn signed_of(head: Option<&(String, u64)>) -> Option<Signed<'_>> {
    head.map(|(head, events)| Signed { head, events: *events })
}
