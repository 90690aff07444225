//! Names of the first edition, until their last users are gone.
#![allow(missing_docs)]

use crate::*;

pub type Opt = OptionSpec;
pub type Kind = OptionKind;
pub type Asked = AskRecord;
pub type Exchange = PriorExchange;
pub type Thread = SeatThread;
pub type Schema = ReplySchema;
pub type Artifact = BriefFile;
pub type Limits = DebateLimits;
pub type Parent = BranchParent;
pub type Absence = AbsenceReason;
pub type Usage = CallUsage;
pub type Shortened = ShortenedPrompt;
pub type Record = LogRecord;
pub type Body = RecordBody;
pub type Saved = SavedRecord;
pub type Summary = RoundSummary;
pub type Check = QualityCheck;
pub type Template = PromptTemplate;
pub type Advance = NextEvent;
pub type Lesson = DebateLesson;
pub type Spent = DebateUsage;
pub type Turn = PhaseTurn;
pub type Stands = PositionHistory;
pub type Held = RoundPositions;
pub type Stand = SeatPosition;
pub type Change = PositionChange;
pub type Flip = PositionFlip;
pub type Marks = JudgeMarks;
pub type Grouping = PositionGrouping;
pub type Position = PositionFate;
pub type Quotation<'a> = FencedQuotation<'a>;
