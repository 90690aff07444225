//! What a debate is.
//!
//! A debate is its log, and a [`Protocol`] is a pure function from the log to the next [`Step`]. This crate
//! holds both ideas and nothing else: it never waits, and it reads no clock, no environment and no file. A
//! test fails if its dependency tree gains a runtime, an HTTP client or a database.
//!
//! A tour, in reading order:
//!
//! - [`brief`]: what a debate is opened with: question, seats, options, limits.
//! - [`ask`]: one question to one seat, with its prompt and the schema of its answer.
//! - [`reply`]: what came back: words, or an absence with its reason; what it cost.
//! - [`event`]: the log's events and the hash chain over them.
//! - [`debate`]: the log folded into what protocols and reports read.
//! - [`protocol`]: the contract of a protocol, and how a debate advances.
//! - [`options`] and [`phases`]: how a protocol declares its options and its phases.
//! - [`view`]: one reading of a log for every face; [`outline`]: the report as typed blocks; [`gate`]: a verdict for a
//!   pipeline; [`wording`]: how numbers and lists are written.
//! - [`positions`]: who held what in each round, and what follows from that for every protocol alike.
//! - [`lesson`]: what later debates may know of one; [`history`]: how the seats did in earlier debates;
//!   [`provenance`]: where a debate was held and who spoke.
//! - [`tools`]: what seats may ask to have looked up, and what was found.
//! - [`fence`]: how untrusted text is quoted, and how anonymity is kept.
//! - [`timestamps`]: dates by arithmetic; [`seed`]: shuffles and draws that are the same every time.
//! - [`play`]: a whole debate without any I/O: replay, branches, dry runs and the laws.
//! - [`simulation`]: how a protocol is played by simulated seats.
//! - [`document`]: the JSON outcome that every face of Agon prints.

#![warn(missing_docs)]

pub mod ask;
pub mod brief;
pub mod debate;
pub mod document;
pub mod event;
pub mod fence;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod gate;
pub mod history;
pub mod invisible;
pub mod lesson;
pub mod nesting;
pub mod options;
pub mod outline;
pub mod phases;
pub mod play;
pub mod positions;
pub mod protocol;
pub mod provenance;
pub mod reply;
pub mod seed;
pub mod simulation;
pub mod timestamps;
pub mod tools;
pub mod view;
pub mod wording;

pub use ask::{Ask, AskRecord, Phase, PriorExchange, Prompt, PromptHasher, ReplySchema, SeatThread};
pub use brief::{BranchParent, Brief, BriefFile, DebateLimits, LOG_VERSION, Request, Seat};
pub use debate::{AttemptFault, CallAttempt, Debate, DebateUsage, Interjection, PhaseTurn};
pub use event::{BrokenChain, Event, LogEntry, LogRecord};
pub use fence::{Fence, FencedQuotation, NameMask, quotations};
pub use gate::{GateFinding, GateJudge, GateReport, GateRuling, GateSeverity};
pub use lesson::DebateLesson;
pub use options::{Invalid, OptionKind, OptionSpec};
pub use outline::{
    Outline, PathStep, PositionPaths, ReportBlock, ReportItem, ReportLength, ReportSection, SeatCard,
    SeatPath, SectionFold, SectionKind, VerdictTone,
};
pub use phases::PhaseInfo;
pub use positions::{
    DecidedPosition, JudgeMarks, PositionChange, PositionFlip, PositionGrouping, PositionHistory,
    RoundPositions, SeatPosition,
};
pub use protocol::{
    CallPlan, Corrupt, Fate, Fidelity, NextEvent, Outcome, PositionFate, PromptTemplate, Protocol,
    ProtocolInfo, ReplyFault, RoleInfo, RoleModels, Status, Step, Termination, advance,
};
pub use provenance::{DebateProvenance, ModelKind};
pub use reply::{AbsenceReason, CallUsage, Reply, ShortenedPrompt};
pub use seed::SeededDraw;
pub use simulation::{
    SimulatedAsk, SimulatedMove, SimulatedPlay, SimulatedSeat, SimulatedSide, SimulatedSpeaker,
    SimulationSetup,
};
pub use tools::{
    ItemAsker, ItemCitation, ItemFinding, ItemRecord, ItemStatus, TableTools, ToolAnswer, ToolItem,
    ToolOffer, ToolRequest,
};
pub use view::{
    Ballot, CitableText, DebateView, Headline, QualityCheck, RecordBody, RoundSummary, SavedRecord, SeatVote,
};
