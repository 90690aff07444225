//! The trickster: whether a consensus is hollow, that is, whether many agree on little.
//!
//! Four signals, each the share of what was said that is weak in one way, with the words that it rests on:
//!
//! - `uncited`: the claims without evidence. A number or a link alone is no evidence. An agent without claims asserts its whole
//!   text without evidence, which counts as one claim.
//! - `unspecific`: the evidence that nobody could check.
//! - `near_copies`: the pairs of texts that are near copies: four fifths of their sequences of five words are the same, or their
//!   measured similarity is at least 0.98.
//! - `no_reasons`: the arguments without a reason: no claim, and no "because", neither in the text nor in an answer to a critique.
//!
//! A signal fires at its threshold and above, but never at 0. A consensus is hollow if `trickster_signals` of them fire.
//!
//! The trickster looks at all proposals if they agree, and at those that win a vote together. It challenges a hollow agreement at
//! most once in a round. A winning group is known only after the vote, so its challenge comes in the extended round.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::ballots::group_same;
use super::context::{CitedId, cited_ids};
use super::convergence::ConvergenceCheck;
use super::log::{ArenaLog, HeldProposal};
use super::rhetoric::{PhrasePattern, TextWord, sentences, words};
use super::{ArenaPhase, LAST_REVISION};

/// What one agent argues.
#[derive(Debug, Clone)]
pub(super) struct AgentArgument<'a> {
    pub(super) label: &'a str,
    pub(super) text: &'a str,
    /// Its claims, each with its evidence, which may be empty.
    pub(super) claims: Vec<(&'a str, &'a str)>,
    /// Its answers to critiques.
    pub(super) addressed: Vec<&'a str>,
    /// The ids that it was shown and could cite.
    pub(super) shown: Vec<&'a str>,
}

/// The shares at which the signals fire, and how many signals make a consensus hollow.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SignalThresholds {
    pub(super) uncited: f64,
    pub(super) unspecific: f64,
    pub(super) near_copies: f64,
    pub(super) no_reasons: f64,
    pub(super) signals: usize,
}

/// What the trickster found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TricksterFinding {
    pub(super) hollow: bool,
    /// All four signals, in the order above.
    pub(super) signals: Vec<WeaknessSignal>,
}

/// A way in which arguments are weak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SignalKind {
    Uncited,
    Unspecific,
    NearCopies,
    NoReasons,
}

/// How weak the arguments are in one way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct WeaknessSignal {
    pub(super) signal: SignalKind,
    /// The share that is weak, from 0 to 1.
    pub(super) value: f64,
    pub(super) threshold: f64,
    pub(super) fired: bool,
    /// The words that it rests on, from that agent's text, claims or evidence.
    pub(super) quotes: Vec<AgentQuote>,
}

/// An agent's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AgentQuote {
    pub(super) label: String,
    pub(super) quote: String,
}

/// Looks at the arguments of agents that agree. `similarity` gives what was measured between two of them, by their places.
/// Arguments without any words do not count.
pub(super) fn find_weaknesses(
    arguments: &[AgentArgument<'_>],
    similarity: &dyn Fn(usize, usize) -> Option<f64>,
    thresholds: &SignalThresholds,
) -> TricksterFinding {
    let made: Vec<(usize, &AgentArgument<'_>)> =
        arguments.iter().enumerate().filter(|(_, argument)| argument.has_words()).collect();
    let signals = vec![
        uncited(&made).signal(SignalKind::Uncited, thresholds.uncited),
        unspecific(&made).signal(SignalKind::Unspecific, thresholds.unspecific),
        near_copies(&made, similarity).signal(SignalKind::NearCopies, thresholds.near_copies),
        no_reasons(&made).signal(SignalKind::NoReasons, thresholds.no_reasons),
    ];
    let fired = signals.iter().filter(|signal| signal.fired).count();
    TricksterFinding { hollow: fired > 0 && fired >= thresholds.signals, signals }
}

/// Texts with at least this share of their word sequences in common are near copies.
const COPIED_FROM: f64 = 0.8;
/// Texts with at least this measured similarity are near copies, too.
const ALIKE_FROM: f64 = 0.98;
/// The length of a word sequence.
const SEQUENCE_WORDS: usize = 5;
/// The most quotations of one agent for a signal. All of them would be its whole proposal.
const QUOTES_MAX: usize = 3;
/// A quotation is cut here.
const QUOTE_CHARS_MAX: usize = 240;

/// How many are weak, of how many.
#[derive(Default)]
struct WeakShare {
    weak: usize,
    of: usize,
    quotes: Vec<AgentQuote>,
}

impl WeakShare {
    fn count(&mut self, is_weak: bool, label: &str, quote: &str) {
        self.of += 1;
        if is_weak {
            self.weak += 1;
            self.quote(label, quote);
        }
    }

    fn quote(&mut self, label: &str, quote: &str) {
        let cut = quote.char_indices().nth(QUOTE_CHARS_MAX).map_or(quote.len(), |(at, _)| at);
        let quote = quote.get(..cut).unwrap_or_default().trim();
        let own = self.quotes.iter().filter(|other| other.label == label);
        let is_new = own.clone().all(|other| other.quote != quote);
        if is_new && own.count() < QUOTES_MAX && !quote.is_empty() {
            self.quotes.push(AgentQuote { label: label.to_owned(), quote: quote.to_owned() });
        }
    }

    fn signal(self, signal: SignalKind, threshold: f64) -> WeaknessSignal {
        let value = if self.of == 0 { 0.0 } else { self.weak as f64 / self.of as f64 };
        WeaknessSignal {
            signal,
            value,
            threshold,
            fired: value > 0.0 && value >= threshold,
            quotes: self.quotes,
        }
    }
}

impl<'a> AgentArgument<'a> {
    fn has_words(&self) -> bool {
        let claims = self.claims.iter().flat_map(|(claim, evidence)| [*claim, *evidence]);
        claims.chain([self.text]).any(|text| text.chars().any(char::is_alphanumeric))
    }

    /// The claims that are not blank, with their evidence.
    fn made_claims(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let is_made = |(claim, evidence): &(&str, &str)| !claim.trim().is_empty() || is_evidence(evidence);
        self.claims.iter().copied().filter(is_made)
    }
}

fn uncited(made: &[(usize, &AgentArgument<'_>)]) -> WeakShare {
    let mut share = WeakShare::default();
    for (_, argument) in made {
        for (claim, evidence) in argument.made_claims() {
            share.count(!is_evidence(evidence), argument.label, claim);
        }
        if argument.made_claims().next().is_none() {
            share.count(true, argument.label, first_sentence(argument.text));
        }
    }
    share
}

/// Whether a text is evidence at all. "None" is not, and neither is a number that nobody explains.
fn is_evidence(evidence: &str) -> bool {
    let words = words(evidence);
    let is_all = |phrase: &PhrasePattern| phrase.match_len(&words) == Some(words.len());
    !words.is_empty() && !word_lists().no_evidence.iter().any(is_all) && !is_bare(evidence)
}

fn unspecific(made: &[(usize, &AgentArgument<'_>)]) -> WeakShare {
    let mut share = WeakShare::default();
    for (_, argument) in made {
        for (_, evidence) in argument.made_claims().filter(|(_, evidence)| is_evidence(evidence)) {
            share.count(!is_specific(evidence, &argument.shown), argument.label, evidence);
        }
    }
    share
}

fn near_copies(
    made: &[(usize, &AgentArgument<'_>)],
    similarity: &dyn Fn(usize, usize) -> Option<f64>,
) -> WeakShare {
    let sequences: Vec<BTreeSet<Vec<String>>> =
        made.iter().map(|(_, argument)| word_sequences(argument.text)).collect();
    let mut share = WeakShare::default();
    let all = || made.iter().zip(&sequences).enumerate();
    for (place, ((one, first), ours)) in all() {
        for (_, ((other, second), theirs)) in all().skip(place + 1) {
            let is_copy = jaccard(ours, theirs) >= COPIED_FROM
                || similarity(*one, *other).is_some_and(|alike| alike >= ALIKE_FROM);
            share.count(is_copy, first.label, first_sentence(first.text));
            if is_copy {
                share.quote(second.label, first_sentence(second.text));
            }
        }
    }
    share
}

/// Every sequence of five words. A shorter text is one sequence.
fn word_sequences(text: &str) -> BTreeSet<Vec<String>> {
    let words: Vec<String> = words(text).into_iter().map(|word| word.folded).collect();
    match words.len() {
        0 => BTreeSet::new(),
        1..SEQUENCE_WORDS => BTreeSet::from([words]),
        _ => words.windows(SEQUENCE_WORDS).map(<[String]>::to_vec).collect(),
    }
}

/// The share of all sequences that are in both texts.
fn jaccard(a: &BTreeSet<Vec<String>>, b: &BTreeSet<Vec<String>>) -> f64 {
    let both = a.intersection(b).count();
    let all = a.len() + b.len() - both;
    if all == 0 { 0.0 } else { both as f64 / all as f64 }
}

fn no_reasons(made: &[(usize, &AgentArgument<'_>)]) -> WeakShare {
    let mut share = WeakShare::default();
    for (_, argument) in made {
        let has_reason = argument.made_claims().next().is_some()
            || gives_reason(argument.text)
            || argument.addressed.iter().any(|how| gives_reason(how));
        share.count(!has_reason, argument.label, first_sentence(argument.text));
    }
    share
}

/// Whether a text gives a reason. "Since 2019" is a date.
fn gives_reason(text: &str) -> bool {
    let words = words(text);
    let is_date = |at: usize| {
        words.get(at).is_some_and(|word| word.folded == "since")
            && words.get(at + 1).is_none_or(TextWord::is_number)
    };
    (0..words.len()).filter(|at| !is_date(*at)).any(|at| {
        let rest = words.get(at..).unwrap_or_default();
        word_lists().reasons.iter().any(|phrase| phrase.match_len(rest).is_some())
    })
}

fn first_sentence(text: &str) -> &str {
    sentences(text).into_iter().next().and_then(|place| text.get(place)).unwrap_or_default()
}

/// The phrases of `trickster.toml`.
struct TricksterPhrases {
    no_evidence: Vec<PhrasePattern>,
    reasons: Vec<PhrasePattern>,
    boilerplate: Vec<PhrasePattern>,
    numbers: Vec<PhrasePattern>,
}

fn word_lists() -> &'static TricksterPhrases {
    #[derive(Deserialize, Default)]
    struct PhraseFile {
        no_evidence: Vec<String>,
        reasons: Vec<String>,
        boilerplate: Vec<String>,
        numbers: Vec<String>,
    }
    static LISTS: OnceLock<TricksterPhrases> = OnceLock::new();
    LISTS.get_or_init(|| {
        let file: PhraseFile = toml::from_str(include_str!("trickster.toml")).unwrap_or_default();
        let parse =
            |list: Vec<String>| list.iter().filter_map(|phrase| PhrasePattern::parse(phrase)).collect();
        TricksterPhrases {
            no_evidence: parse(file.no_evidence),
            reasons: parse(file.reasons),
            boilerplate: parse(file.boilerplate),
            numbers: parse(file.numbers),
        }
    })
}

/// Whether somebody could look evidence up: it has a figure or a date, words in quotation marks, code, a path, a link or a name, or it
/// cites an id that its author was shown. What everybody says of anything ("best practice", "studies show") counts for nothing.
///
/// A rule that cannot see does not accuse: scripts without capitals show no names, so evidence in them passes, and in German
/// every noun looks like a name.
pub(super) fn is_specific(evidence: &str, shown: &[&str]) -> bool {
    let is_shown =
        |cited: &CitedId<'_>| !cited.foreign && shown.iter().any(|id| id.eq_ignore_ascii_case(cited.id));
    if cited_ids(evidence).iter().any(is_shown) {
        return true;
    }
    if is_bare(&without_boilerplate(&without_ids(evidence, |_| true))) {
        return false;
    }
    let evidence = without_ids(evidence, |cited| !cited.is_quarter());
    let rest = without_boilerplate(&evidence);
    let quotes =
        [('"', '"'), ('`', '`'), ('\u{201c}', '\u{201d}'), ('\u{201e}', '\u{201c}'), ('\u{ab}', '\u{bb}')];
    rest.chars().any(char::is_numeric)
        || quotes.iter().any(|(open, close)| encloses_word(&rest, *open, *close))
        || rest.split_whitespace().any(|piece| is_path(piece) || is_code(piece))
        || has_number_word(&rest)
        || (!is_all_capitals(&evidence) && words(&rest).iter().any(|word| is_name(&rest, word)))
        || is_without_capitals(&rest)
}

/// Whether a text has only numbers and links, so that nobody knows what they show.
fn is_bare(text: &str) -> bool {
    let said: Vec<&str> = text.split_whitespace().filter(|piece| !is_link(piece)).collect();
    let is_number =
        |word: &TextWord| !word.folded.chars().any(char::is_alphabetic) || has_number_word(&word.folded);
    words(&said.join(" ")).iter().all(is_number)
}

/// Replaces removed words, so that what follows them does not look like the beginning of a sentence.
const GAP: char = '_';

fn without_ids(text: &str, is_removed: impl Fn(&CitedId<'_>) -> bool) -> String {
    let (mut kept, mut from) = (String::new(), 0);
    for cited in cited_ids(text).into_iter().filter(is_removed) {
        kept.push_str(text.get(from..cited.place.start).unwrap_or_default());
        kept.push(GAP);
        from = cited.place.end + cited.mark_after(text).map_or(0, str::len);
    }
    kept + text.get(from..).unwrap_or_default()
}

fn without_boilerplate(text: &str) -> String {
    let words = words(text);
    let (mut kept, mut from, mut at) = (String::new(), 0, 0);
    while let Some(word) = words.get(at) {
        let rest = words.get(at..).unwrap_or_default();
        let longest = word_lists().boilerplate.iter().filter_map(|phrase| phrase.match_len(rest)).max();
        let longest = longest.unwrap_or_default();
        if let Some(last) = longest.checked_sub(1).and_then(|last| rest.get(last)) {
            kept.push_str(text.get(from..word.place.start).unwrap_or_default());
            kept.push(GAP);
            from = last.place.end;
        }
        at += longest.max(1);
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    kept
}

fn encloses_word(text: &str, open: char, close: char) -> bool {
    let mut rest = text;
    while let Some((inner, later)) = rest.split_once(open).and_then(|(_, after)| after.split_once(close)) {
        if inner.chars().any(char::is_alphanumeric) {
            return true;
        }
        rest = later;
    }
    false
}

fn is_link(piece: &str) -> bool {
    const SITE_ENDINGS: &str = "com dev io net org";
    let piece = piece.trim_matches(|c: char| !c.is_alphanumeric());
    let host = piece.split('/').next().unwrap_or_default();
    let is_site = |(_, ending): (&str, &str)| SITE_ENDINGS.split(' ').any(|known| known == ending);
    piece.contains("://") || piece.starts_with("www.") || host.rsplit_once('.').is_some_and(is_site)
}

/// Whether a word is a path or a link. A single slash between words, as in "and/or", makes none.
fn is_path(piece: &str) -> bool {
    const FILE_ENDINGS: &str = "c com cpp css csv dev go h html io java js json log md net org pdf py rs sh sql toml ts txt xml yaml yml";
    let piece = piece.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '~' | '_'));
    let piece = piece.trim_end_matches(['.', '/']);
    let is_word = |part: &str| part.chars().any(char::is_alphanumeric);
    let rooted =
        ["/", "./", "../", "~/", "www."].iter().any(|root| piece.strip_prefix(root).is_some_and(is_word));
    let parts = piece.split(['/', '\\']);
    let is_known = |ending: &str| FILE_ENDINGS.split(' ').any(|known| known == ending);
    let file = piece.rsplit_once('.').is_some_and(|(stem, ending)| stem.len() > 1 && is_known(ending));
    rooted || file || piece.contains("://") || (parts.clone().count() > 2 && parts.clone().all(is_word))
}

fn is_code(piece: &str) -> bool {
    let chars: Vec<char> = piece.chars().collect();
    let snake = |three: &[char]| matches!(three, [a, '_', b] if a.is_alphanumeric() && b.is_alphanumeric());
    let camel = |two: &[char]| matches!(two, [a, b] if a.is_lowercase() && b.is_uppercase());
    let option = piece.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphabetic));
    let signs =
        ["::", "()", "==", "->", "=>"].iter().any(|sign| piece.contains(sign) && piece.len() > sign.len());
    option || signs || chars.windows(3).any(snake) || chars.windows(2).any(camel)
}

fn has_number_word(text: &str) -> bool {
    let words = words(text);
    let begins =
        |rest: &[TextWord]| word_lists().numbers.iter().any(|phrase| phrase.match_len(rest).is_some());
    (0..words.len()).any(|at| words.get(at..).is_some_and(begins))
}

/// Whether capitals tell nothing because all letters are capitals. A few words in capitals may be a name.
fn is_all_capitals(text: &str) -> bool {
    const SHORT_WORDS: usize = 3;
    words(text).len() > SHORT_WORDS && !text.chars().any(char::is_lowercase)
}

/// Whether a word begins with a capital in the middle of a sentence, or has two capitals anywhere.
fn is_name(text: &str, word: &TextWord) -> bool {
    const NO_NAMES: &[&str] = &["i", "i'm", "i'd", "i've", "i'll", "ai", "ok", "it"];
    let shown = text.get(word.place.clone()).unwrap_or_default();
    let before = text.get(..word.place.start).unwrap_or_default();
    let is_inside = before.ends_with(|c: char| c.is_whitespace() && c != '\n')
        && before.trim_end().ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | GAP));
    let capitals = shown.chars().filter(|c| c.is_uppercase()).count();
    let begins = shown.starts_with(char::is_uppercase);
    !NO_NAMES.contains(&word.folded.as_str()) && (capitals > 1 || (begins && is_inside))
}

/// Whether all letters of a text are of scripts that have no capitals.
fn is_without_capitals(text: &str) -> bool {
    let has_words = text.chars().any(char::is_alphabetic);
    has_words && !text.chars().any(|c| c.is_lowercase() || c.is_uppercase())
}

/// What the trickster made of one agreement.
#[derive(Debug)]
pub(super) struct AgreementReview {
    pub(super) round: u32,
    /// The agents that agree.
    pub(super) agents: Vec<usize>,
    /// What it found at first.
    pub(super) found: TricksterFinding,
    /// What the challenge came to; `None` without a challenge.
    pub(super) came_to: Option<ChallengeResult>,
    /// What it found after the challenge; `None` if the agents no longer agreed.
    pub(super) after: Option<TricksterFinding>,
    /// The last stage of proposals that it is about.
    stage: usize,
}

/// What a challenge came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChallengeResult {
    /// The agreement is no longer hollow.
    Met,
    /// It is still hollow.
    NotMet,
    /// The agents no longer agree.
    Left,
    /// Nothing shows whether they still agree.
    Unmeasured,
}

impl AgreementReview {
    fn new(round: u32, stage: usize, agents: Vec<usize>, found: TricksterFinding) -> Self {
        Self { round, agents, found, came_to: None, after: None, stage }
    }

    /// Adds what the agents answered to the challenge.
    fn add_answer(&mut self, log: &ArenaLog<'_>, check: &ConvergenceCheck) {
        let conflict = has_conflict(check, &self.agents);
        let agreed = !conflict && is_agreement(check, &self.agents);
        self.stage = check.stage;
        self.after = examine(log, check, &self.agents).filter(|_| agreed);
        self.came_to = Some(match &self.after {
            Some(after) if after.hollow => ChallengeResult::NotMet,
            Some(_) => ChallengeResult::Met,
            None if conflict || check.is_measured() => ChallengeResult::Left,
            None => ChallengeResult::Unmeasured,
        });
    }

    /// Whether the challenge was met; `None` if that is not known, or there was no challenge.
    pub(super) fn is_met(&self) -> Option<bool> {
        match self.came_to? {
            ChallengeResult::Met => Some(true),
            ChallengeResult::NotMet => Some(false),
            ChallengeResult::Left | ChallengeResult::Unmeasured => None,
        }
    }

    /// The last finding, if there still was an agreement.
    fn last_finding(&self) -> Option<&TricksterFinding> {
        if self.came_to.is_some() { self.after.as_ref() } else { Some(&self.found) }
    }
}

/// Whether the agreement of all agents is hollow. An agreement that could not be measured is as hollow as it was found last, unless
/// somebody left it.
pub(super) fn is_hollow(log: &ArenaLog<'_>, check: &ConvergenceCheck) -> bool {
    let hollow = |agreed: bool, check: &ConvergenceCheck, before: bool| match is_left(log, check) {
        true => false,
        false if agreed => examine(log, check, &check.holders()).is_some_and(|finding| finding.hollow),
        false => before && !check.is_measured(),
    };
    let earlier = log.checks.iter().filter(|other| other.stage < check.stage);
    let before = earlier.fold(false, |before, check| hollow(would_count(check), check, before));
    hollow(check.is_alike(), check, before)
}

/// Whether the agreement of a group that has won a vote together is hollow.
pub(super) fn is_hollow_among(log: &ArenaLog<'_>, check: &ConvergenceCheck, group: &[usize]) -> bool {
    group.len() > 1 && examine(log, check, group).is_some_and(|finding| finding.hollow)
}

/// The challenge that is due after a check: the agents of a hollow agreement that would count and was not challenged in this round,
/// and what was found.
pub(super) fn due_challenge(
    log: &ArenaLog<'_>,
    check: &ConvergenceCheck,
) -> Option<(Vec<usize>, TricksterFinding)> {
    let mut stages = log.stages.iter();
    let challenged = stages.any(|stage| stage.phase == ArenaPhase::Challenge && stage.round == check.round);
    doubtful_agreement(log, check).filter(|(_, finding)| finding.hollow && !challenged)
}

/// Every agreement that the trickster looked at, in order.
pub(super) fn reviews(log: &ArenaLog<'_>) -> Vec<AgreementReview> {
    let mut reviews: Vec<AgreementReview> = Vec::new();
    for (place, stage) in log.stages.iter().enumerate() {
        let check = log.check_of_stage(place);
        let vote = log.votes.iter().find(|vote| vote.stage == place);
        if let Some(last) = reviews.last_mut().filter(|_| stage.phase == ArenaPhase::Challenge) {
            last.add_answer(log, &check);
        } else {
            let voted_on = vote.is_some() && check.is_alike();
            let all = || Some((check.holders(), examine(log, &check, &check.holders())?));
            let doubtful = doubtful_agreement(log, &check).or_else(|| all().filter(|_| voted_on));
            reviews.extend(
                doubtful.map(|(agents, found)| AgreementReview::new(check.round, place, agents, found)),
            );
        }
        let won = vote.and_then(|vote| Some((vote.round, vote.favoured().filter(|group| group.len() > 1)?)));
        if let Some((round, group)) = won {
            let last = reviews.last().filter(|review| review.stage == place);
            let known = last.and_then(AgreementReview::last_finding);
            let is_news = |found: &TricksterFinding| known.is_none_or(|known| found.hollow && !known.hollow);
            let news = examine(log, &check, group).filter(is_news);
            reviews.extend(news.map(|found| AgreementReview::new(round, place, group.to_vec(), found)));
        }
    }
    reviews
}

/// The agreement to doubt after a check: that of all agents if it would count, else that of the group whose last victory was hollow.
fn doubtful_agreement(
    log: &ArenaLog<'_>,
    check: &ConvergenceCheck,
) -> Option<(Vec<usize>, TricksterFinding)> {
    if would_count(check) {
        let all = check.holders();
        return examine(log, check, &all).map(|finding| (all, finding));
    }
    let hollow = log.votes.iter().rfind(|vote| vote.stage < check.stage).filter(|vote| vote.hollow)?;
    let won = hollow.favoured()?;
    let groups = group_same(&check.holders(), |one, other| check.is_same(one, other));
    let mut still =
        groups.into_iter().filter(|group| group.len() > 1 && group.iter().any(|one| won.contains(one)));
    let group = still.next()?;
    examine(log, check, &group).map(|finding| (group, finding))
}

/// Whether an agreement of all would end the rounds of revision or go into a vote.
fn would_count(check: &ConvergenceCheck) -> bool {
    if check.round <= LAST_REVISION { check.converged } else { check.is_alike() }
}

fn is_agreement(check: &ConvergenceCheck, agents: &[usize]) -> bool {
    let pairs = agents
        .iter()
        .enumerate()
        .flat_map(|(n, one)| agents.iter().skip(n + 1).map(move |other| (*one, *other)));
    pairs.into_iter().all(|(one, other)| check.is_like(one, other))
}

/// Whether two of these agents conflict, by declaration or by their words.
fn has_conflict(check: &ConvergenceCheck, agents: &[usize]) -> bool {
    let mut pairs = check.conflicts.iter().chain(&check.opposed);
    pairs.any(|(one, other)| agents.contains(one) && agents.contains(other))
}

/// Whether the agents no longer agree. After a challenge, or if nothing was measured, one conflict is enough.
fn is_left(log: &ArenaLog<'_>, check: &ConvergenceCheck) -> bool {
    let challenged = log.stages.get(check.stage).is_some_and(|stage| stage.phase == ArenaPhase::Challenge);
    has_conflict(check, &check.holders()) && (challenged || !check.is_measured())
}

/// Looks at the arguments of some agents; `None` without a trickster.
fn examine(log: &ArenaLog<'_>, check: &ConvergenceCheck, agents: &[usize]) -> Option<TricksterFinding> {
    if !log.options.trickster {
        return None;
    }
    let stage = log.stages.get(check.stage)?;
    let holders: Vec<(usize, &HeldProposal)> =
        agents.iter().filter_map(|place| Some((*place, stage.held_by(*place)?))).collect();
    let texts: Vec<String> = holders.iter().map(|(_, held)| held.said.text()).collect();
    let arguments: Vec<AgentArgument<'_>> = holders
        .iter()
        .zip(&texts)
        .map(|((place, held), text)| AgentArgument {
            label: log.label(*place),
            text,
            claims: held
                .said
                .claims
                .iter()
                .map(|made| (made.claim.as_str(), made.evidence.as_str()))
                .collect(),
            addressed: held.said.addressed.iter().map(|answer| answer.how.as_str()).collect(),
            shown: log.ids_shown(*place, held.round),
        })
        .collect();
    let similarity = |one: usize, other: usize| check.similarity(holders.get(one)?.0, holders.get(other)?.0);
    Some(find_weaknesses(&arguments, &similarity, &log.options.signal_thresholds()))
}
