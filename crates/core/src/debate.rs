//! The log, folded into what protocols and reports read.

use crate::event::{GENESIS, LogEntry};
use crate::{
    AbsenceReason, AskRecord, Brief, CallUsage, Corrupt, Event, LOG_VERSION, LogRecord, Outcome, Phase,
    Reply, ToolItem,
};

/// A call that left, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallAttempt {
    /// Counted from 1 for each ask.
    pub number: u32,
    /// The model that was called.
    pub model: String,
    /// The most that it could cost.
    pub worst_usd: Option<f64>,
    /// The most tokens that it could use.
    pub worst_tokens: u64,
    /// Whether it was an errand on this machine.
    pub errand: bool,
    /// What came back, unless it was the answer; `None` while nothing has.
    pub fault: Option<AttemptFault>,
}

/// What an attempt without a usable answer left behind.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptFault {
    /// What the ask is if no attempt does better.
    pub why: AbsenceReason,
    /// What was seen.
    pub detail: String,
    /// The words, where there were any.
    pub text: Option<String>,
    /// Whether the answer counts if no attempt does better: only a declaration in it does not verify.
    pub unverified: bool,
    /// What it used.
    pub usage: CallUsage,
}

/// A phase of the debate with its asks and what came of each.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseTurn {
    /// The phase's name and round.
    pub phase: Phase,
    /// The asks, in seat order.
    pub asks: Vec<AskRecord>,
    /// For each ask its reply, once there is one.
    pub replies: Vec<Option<Reply>>,
    /// For each ask the calls that were made.
    pub attempts: Vec<Vec<CallAttempt>>,
    /// How many events the log had before the phase began.
    pub since: u64,
    /// Whether it was copied from the debate that this one branched from.
    pub inherited: bool,
    /// How long the debate had run when the phase was decided on, in milliseconds.
    pub decided_at_ms: u64,
    /// How long the debate had run at the phase's last reply, in milliseconds.
    pub ended_at_ms: u64,
}

impl PhaseTurn {
    /// Each ask with its reply, in seat order.
    pub fn settled(&self) -> impl Iterator<Item = (&AskRecord, &Reply)> {
        self.asks.iter().zip(&self.replies).filter_map(|(ask, reply)| Some((ask, reply.as_ref()?)))
    }

    /// The asks that are still without a reply.
    pub fn outstanding(&self) -> impl Iterator<Item = &AskRecord> {
        self.asks.iter().zip(&self.replies).filter(|(_, reply)| reply.is_none()).map(|(ask, _)| ask)
    }

    /// Each absence: the ask, why, and what was seen.
    pub fn absences(&self) -> impl Iterator<Item = (&AskRecord, AbsenceReason, &str)> {
        self.settled().filter_map(|(ask, reply)| match reply {
            Reply::Absent { why, detail } => Some((ask, *why, detail.as_str())),
            Reply::Said { .. } => None,
        })
    }
}

/// What a person said to the whole table while the debate ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interjection {
    /// Who said it.
    pub by: String,
    /// The words.
    pub text: String,
    /// How many phases had begun when it was said.
    pub after: usize,
}

/// What a debate has used so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DebateUsage {
    /// Calls, every attempt counted.
    pub calls: u32,
    /// Input tokens.
    pub input_tokens: u64,
    /// Input tokens that came from a provider's cache.
    pub cached_input_tokens: u64,
    /// Input tokens that were written to a provider's cache.
    pub cache_write_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// US dollars, over the calls whose cost is known.
    pub usd: f64,
    /// Whether the cost of every call is known.
    pub usd_known: bool,
    /// The most that calls of unknown cost can have cost.
    pub doubtful_usd: f64,
    /// Calls whose answers were lost in a crash or an interruption.
    pub lost_calls: u32,
    /// The most that the lost calls can have cost.
    pub lost_usd: f64,
    /// Whether the price of every lost call is known.
    pub lost_usd_known: bool,
}

impl DebateUsage {
    fn add(&mut self, usage: &CallUsage, worst_usd: Option<f64>) {
        if usage.usd.is_none() {
            self.doubtful_usd += worst_usd.unwrap_or_default();
        }
        self.input_tokens = self.input_tokens.saturating_add(usage.input_tokens);
        self.cached_input_tokens = self.cached_input_tokens.saturating_add(usage.cached_input_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(usage.cache_write_tokens);
        self.output_tokens = self.output_tokens.saturating_add(usage.output_tokens);
        self.usd += usage.usd.unwrap_or_default();
        self.usd_known &= usage.usd.is_some();
    }
}

/// A debate: its log so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Debate {
    /// What it was opened with.
    pub brief: Brief,
    /// The phases, in order.
    pub turns: Vec<PhaseTurn>,
    /// What people said in between.
    pub interjections: Vec<Interjection>,
    /// What was looked up. Only a debate as its protocol sees it has them: the log has requests and answers.
    pub items: Vec<ToolItem>,
    /// How it ended, if it has.
    pub outcome: Option<Outcome>,
    /// Milliseconds that it had run when the last event was written.
    pub at_ms: u64,
    /// How many events the log has.
    pub events: u64,
    /// The hash of the last record.
    pub head: String,
}

impl Debate {
    /// Opens a debate: the debate and its first record.
    pub fn open(brief: Brief) -> Result<(Self, LogRecord), Corrupt> {
        let entry = LogEntry { seq: 0, at_ms: 0, event: Event::Opened { brief: Box::new(brief) } };
        let record = LogRecord::seal(entry, GENESIS)?;
        let debate = Self::from_records(std::slice::from_ref(&record))?;
        Ok((debate, record))
    }

    /// Folds a log, or the beginning of one.
    pub fn from_records(records: &[LogRecord]) -> Result<Self, Corrupt> {
        let (first, rest) = records.split_first().ok_or(Corrupt::Empty)?;
        let Event::Opened { brief } = &first.entry.event else {
            return Err(Corrupt::Order { seq: 0, why: "the log does not begin with `opened`".into() });
        };
        if brief.version != LOG_VERSION {
            return Err(Corrupt::Version { found: brief.version });
        }
        let mut debate = Self {
            brief: (**brief).clone(),
            turns: Vec::new(),
            interjections: Vec::new(),
            items: Vec::new(),
            outcome: None,
            at_ms: first.entry.at_ms,
            events: 1,
            head: first.hash.clone(),
        };
        for record in rest {
            debate.apply(record)?;
        }
        Ok(debate)
    }

    /// Writes the next event: seals it to the chain and folds it in.
    pub fn push(&mut self, event: Event, at_ms: u64) -> Result<LogRecord, Corrupt> {
        let entry = LogEntry { seq: self.events, at_ms: at_ms.max(self.at_ms), event };
        let record = LogRecord::seal(entry, &self.head)?;
        self.apply(&record)?;
        Ok(record)
    }

    /// Folds in the next record of the log.
    pub fn apply(&mut self, record: &LogRecord) -> Result<(), Corrupt> {
        let seq = record.entry.seq;
        if seq != self.events || self.outcome.is_some() {
            return Err(Corrupt::Order { seq, why: "it does not follow the event before it".into() });
        }
        self.fold(seq, &record.entry.event)?;
        self.at_ms = record.entry.at_ms;
        if let (Event::Replied { .. }, Some(turn)) = (&record.entry.event, self.turns.last_mut()) {
            turn.ended_at_ms = self.at_ms;
        }
        self.events += 1;
        self.head.clone_from(&record.hash);
        Ok(())
    }

    fn fold(&mut self, seq: u64, event: &Event) -> Result<(), Corrupt> {
        match event {
            Event::Opened { .. } => Err(Corrupt::Order { seq, why: "a second `opened`".into() }),
            Event::Asked { phase, round, asks } => self.fold_asked(seq, Phase::new(phase, *round), asks),
            Event::Sent { ask, attempt, model, worst_usd, worst_tokens, errand } => {
                self.attempts_of(seq, *ask)?.push(CallAttempt {
                    number: *attempt,
                    model: model.clone(),
                    worst_usd: *worst_usd,
                    worst_tokens: *worst_tokens,
                    errand: *errand,
                    fault: None,
                });
                Ok(())
            }
            Event::Attempted { ask, attempt, why, detail, text, unverified, usage } => {
                let fault = AttemptFault {
                    why: *why,
                    detail: detail.clone(),
                    text: text.clone(),
                    unverified: *unverified,
                    usage: *usage,
                };
                let attempts = self.attempts_of(seq, *ask)?;
                let sent = attempts.iter_mut().rev().find(|sent| sent.number == *attempt);
                let sent =
                    sent.ok_or_else(|| Corrupt::Order { seq, why: format!("attempt {attempt} never left") })?;
                sent.fault = Some(fault);
                Ok(())
            }
            Event::Replied { ask, reply } => self.fold_reply(seq, *ask, reply),
            Event::Interjected { by, text } => {
                let (by, text, after) = (by.clone(), text.clone(), self.turns.len());
                self.interjections.push(Interjection { by, text, after });
                Ok(())
            }
            Event::Closed { outcome } => {
                self.outcome = Some((**outcome).clone());
                Ok(())
            }
        }
    }

    fn fold_asked(&mut self, seq: u64, phase: Phase, asks: &[AskRecord]) -> Result<(), Corrupt> {
        if self.outstanding().next().is_some() {
            return Err(Corrupt::Order { seq, why: "a phase began while replies were outstanding".into() });
        }
        self.turns.push(PhaseTurn {
            phase,
            asks: asks.to_vec(),
            replies: vec![None; asks.len()],
            attempts: vec![Vec::new(); asks.len()],
            since: seq,
            inherited: self.brief.parent.as_ref().is_some_and(|parent| seq <= parent.events),
            decided_at_ms: self.at_ms,
            ended_at_ms: self.at_ms,
        });
        Ok(())
    }

    fn fold_reply(&mut self, seq: u64, ask: u32, reply: &Reply) -> Result<(), Corrupt> {
        let (turn, place) = self.place_of(seq, ask)?;
        match turn.replies.get_mut(place) {
            Some(slot @ None) => *slot = Some(reply.clone()),
            _ => return Err(Corrupt::Order { seq, why: format!("ask {ask} has two replies") }),
        }
        Ok(())
    }

    fn attempts_of(&mut self, seq: u64, ask: u32) -> Result<&mut Vec<CallAttempt>, Corrupt> {
        let (turn, place) = self.place_of(seq, ask)?;
        turn.attempts.get_mut(place).ok_or(Corrupt::Order { seq, why: format!("ask {ask} is unknown") })
    }

    fn place_of(&mut self, seq: u64, ask: u32) -> Result<(&mut PhaseTurn, usize), Corrupt> {
        let unknown = || Corrupt::Order { seq, why: format!("ask {ask} is not of the current phase") };
        let turn = self.turns.last_mut().ok_or_else(unknown)?;
        let place = turn.asks.iter().position(|asked| asked.id == ask).ok_or_else(unknown)?;
        Ok((turn, place))
    }

    /// The last phase that was asked, if any.
    pub fn last_phase(&self) -> Option<&Phase> {
        self.turns.last().map(|turn| &turn.phase)
    }

    /// The asks of the last phase that are still without a reply.
    pub fn outstanding(&self) -> impl Iterator<Item = &AskRecord> {
        self.turns.last().into_iter().flat_map(PhaseTurn::outstanding)
    }

    /// The phase of this name in this round, the last one if it was asked more than once.
    pub fn turn(&self, name: &str, round: u32) -> Option<&PhaseTurn> {
        self.turns.iter().rev().find(|turn| turn.phase.name == name && turn.phase.round == round)
    }

    /// All phases of this name, in order.
    pub fn turns_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a PhaseTurn> {
        self.turns.iter().filter(move |turn| turn.phase.name == name)
    }

    /// What the seats that are asked in this phase read of what was looked up.
    pub fn items_shown(&self, name: &str, round: u32) -> impl Iterator<Item = &ToolItem> {
        let is_it = |turn: &PhaseTurn| turn.phase.name == name && turn.phase.round == round;
        let place = self.turns.iter().rposition(is_it).unwrap_or(self.turns.len());
        self.items.iter().filter(move |item| item.from_turn <= place)
    }

    /// How many asks the debate has had.
    pub fn asks(&self) -> u32 {
        let count: usize = self.turns.iter().map(|turn| turn.asks.len()).sum();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Every absence with the phase that it was in, in seat order within each phase.
    pub fn absences(&self) -> impl Iterator<Item = (&Phase, &AskRecord, AbsenceReason, &str)> {
        self.turns
            .iter()
            .flat_map(|turn| turn.absences().map(move |(ask, why, detail)| (&turn.phase, ask, why, detail)))
    }

    /// The models that really spoke for a seat, each once, in the order of the asks.
    pub fn spoke(&self, seat: &str) -> Vec<&str> {
        let mut models = Vec::new();
        for (asked, reply) in self.turns.iter().flat_map(PhaseTurn::settled) {
            if let Reply::Said { model, .. } = reply
                && asked.seat == seat
                && !models.contains(&model.as_str())
            {
                models.push(model.as_str());
            }
        }
        models
    }

    /// What the debate has used, summed in ask order so that arrival order cannot change a digit.
    pub fn spent(&self) -> DebateUsage {
        self.spent_where(|turn| !turn.inherited)
    }

    /// What some of its phases have used.
    pub fn spent_where(&self, counts: impl Fn(&PhaseTurn) -> bool) -> DebateUsage {
        let mut spent = DebateUsage { usd_known: true, lost_usd_known: true, ..DebateUsage::default() };
        for turn in self.turns.iter().filter(|turn| counts(turn)) {
            for (attempts, reply) in turn.attempts.iter().zip(&turn.replies) {
                tally(&mut spent, attempts, reply.as_ref());
            }
        }
        spent
    }

    /// The share of the time or money limit that is spent, whichever is larger; 0 without such limits. Calls whose cost
    /// is not known count with the most that they can have cost.
    pub fn spent_share(&self) -> f64 {
        if self.inherits() {
            return 0.0;
        }
        let limits = &self.brief.limits;
        let time = limits.deadline_ms.map_or(0.0, |limit| self.at_ms as f64 / (limit.max(1)) as f64);
        let money = limits.usd.map_or(0.0, |limit| {
            let spent = self.spent();
            let usd = spent.usd + spent.lost_usd + spent.doubtful_usd;
            if limit > 0.0 { usd / limit } else { 1.0 }
        });
        time.max(money)
    }

    /// How many more calls the limit allows; `None` without such a limit.
    pub fn calls_left(&self) -> Option<u32> {
        let limit = self.brief.limits.calls.filter(|_| !self.inherits())?;
        Some(limit.saturating_sub(self.spent().calls))
    }

    /// Whether what comes next is taken over from the debate that this one branched from: no limit can cut that.
    pub fn inherits(&self) -> bool {
        self.brief.parent.as_ref().is_some_and(|parent| self.events <= parent.events)
    }
}

fn tally(spent: &mut DebateUsage, attempts: &[CallAttempt], reply: Option<&Reply>) {
    let answered_by = match reply {
        Some(Reply::Said { usage, .. }) => {
            spent.add(usage, attempts.last().and_then(|attempt| attempt.worst_usd));
            attempts.last().map(|attempt| attempt.number)
        }
        _ => None,
    };
    for (place, attempt) in attempts.iter().enumerate().filter(|(_, attempt)| !attempt.errand) {
        spent.calls = spent.calls.saturating_add(1);
        let last = place + 1 == attempts.len();
        match &attempt.fault {
            Some(fault) => spent.add(&fault.usage, attempt.worst_usd),
            None if last && (reply.is_none() || answered_by.is_some()) => {}
            None => {
                spent.lost_calls += 1;
                spent.lost_usd += attempt.worst_usd.unwrap_or_default();
                spent.lost_usd_known &= attempt.worst_usd.is_some();
            }
        }
    }
}
