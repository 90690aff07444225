//! What a report says, before it is decided how it looks.
//!
//! A protocol describes its verdict as an [`Outline`]; the report crate adds what every debate has (evidence, dissent,
//! absences, cost) and sets it for a terminal, as Markdown or as a page. Text in an outline may come from models:
//! renderers clean it.

/// The protocol's part of a report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outline {
    /// The verdict and its reason: what a reader wants first.
    pub answer: Vec<ReportSection>,
    /// What belongs to the verdict and follows the account of what the debate did.
    pub body: Vec<ReportSection>,
    /// What stands after dissent, absences and warnings.
    pub details: Vec<ReportSection>,
    /// The last section of the report.
    pub footer: Option<ReportSection>,
    /// Facts for the line under the title, beside the protocol's name, such as a mode.
    pub facts: Vec<String>,
    /// How many voices the line under the title counts, and what they are; `None` for the seats of the first role.
    pub voices: Option<(u64, &'static str)>,
    /// Sentences about what was missing, beside the absences in the log.
    pub missing: Vec<String>,
}

/// A part of a report with a heading.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSection {
    /// What it is, for a page's styles.
    pub kind: SectionKind,
    /// Its heading.
    pub title: String,
    /// What stands under the heading.
    pub blocks: Vec<ReportBlock>,
    /// Whether a page folds it.
    pub fold: SectionFold,
    /// Which reports have it.
    pub shown: ReportLength,
}

impl ReportSection {
    /// A section that every report shows and no page folds.
    pub fn new(kind: SectionKind, title: impl Into<String>, blocks: Vec<ReportBlock>) -> Self {
        Self { kind, title: title.into(), blocks, fold: SectionFold::Never, shown: ReportLength::Any }
    }

    /// The same section, folded away on a page.
    pub fn folded(self) -> Self {
        Self { fold: SectionFold::Closed, ..self }
    }

    /// The same section, in reports of this length only.
    pub fn only(self, shown: ReportLength) -> Self {
        Self { shown, ..self }
    }
}

/// What a section is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionKind {
    /// The answer or verdict.
    Answer,
    /// A verdict that needs a second look, or the absence of one.
    NoAnswer,
    /// Why the answer was given.
    Why,
    /// What the debate did.
    Evidence,
    /// What the minority holds.
    Dissent,
    /// What was said in a phase.
    Transcript,
    /// Anything else.
    Part,
}

impl SectionKind {
    /// The class of the section on a page.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::NoAnswer => "answer no-answer",
            Self::Why => "why",
            Self::Evidence => "did",
            Self::Dissent => "dissent",
            Self::Transcript => "turn",
            Self::Part => "part",
        }
    }
}

/// How a page shows a section at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionFold {
    /// It cannot be folded.
    Never,
    /// It is open.
    Open,
    /// It is closed.
    Closed,
}

/// Which reports show something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportLength {
    /// Every report.
    Any,
    /// The short report, for a terminal.
    Short,
    /// The full report, for a file or a page.
    Full,
}

/// What stands under a heading.
#[derive(Debug, Clone, PartialEq)]
pub enum ReportBlock {
    /// Somebody's words, in light Markdown.
    Prose(String),
    /// A sentence of the report's own.
    Line(String),
    /// The word that everything else is about.
    Headline(VerdictTone, String),
    /// A list.
    Items(Vec<ReportItem>),
    /// Names and values.
    Pairs(Vec<(String, String)>),
    /// A table. The first row is its head.
    Table(Vec<Vec<String>>),
    /// Blocks that belong together under a title.
    Group {
        /// Its title.
        title: String,
        /// Short facts beside the title.
        badges: Vec<String>,
        /// Its blocks.
        blocks: Vec<ReportBlock>,
    },
    /// What one seat said, which a page shows in the seat's colour.
    Speech {
        /// The seat's place at the table, from 0.
        place: usize,
        /// Its title.
        title: String,
        /// Short facts beside the title.
        badges: Vec<String>,
        /// Its blocks.
        blocks: Vec<ReportBlock>,
    },
    /// The seats at a glance. Only a page shows them.
    Cards(Vec<SeatCard>),
    /// Who held what after each round.
    Paths(PositionPaths),
    /// Blocks that only reports of this length show.
    In(ReportLength, Vec<ReportBlock>),
    /// Blocks that a page leaves out because it shows the same in another way.
    OffPage(Vec<ReportBlock>),
}

/// Whether a verdict is good news.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VerdictTone {
    /// Good.
    #[default]
    Good,
    /// With reservations.
    Warn,
    /// Bad.
    Bad,
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReportItem {
    /// Whose it is.
    pub who: Option<String>,
    /// What it says. A short report cuts long texts.
    pub text: String,
    /// A remark below it.
    pub note: Option<String>,
}

impl ReportItem {
    /// An entry with a text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// A seat at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SeatCard {
    /// Its place at the table, from 0.
    pub place: usize,
    /// Its label or name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// Who spoke.
    pub model: String,
    /// Its first position, where it took one.
    pub first: Option<String>,
    /// Its last position, where that is another.
    pub last: Option<String>,
    /// Whether it changed, and what became of its first position.
    pub notes: Vec<String>,
}

/// Who held what after each round.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PositionPaths {
    /// The rounds in which positions were taken.
    pub rounds: Vec<u32>,
    /// Those of the rounds that are votes.
    pub vote_rounds: Vec<u32>,
    /// The names of what was held, in the order in which it was first said.
    pub positions: Vec<String>,
    /// The same in full, where the name of a position is the beginning of a long text.
    pub in_full: Vec<String>,
    /// For each of them how a holder puts it in other words than its name.
    pub reworded: Vec<Option<String>>,
    /// One path for each seat.
    pub seats: Vec<SeatPath>,
    /// Whether every position is a score.
    pub scored: bool,
}

/// One seat's positions through the rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct SeatPath {
    /// The seat's label or name.
    pub who: String,
    /// Its place at the table, from 0.
    pub place: usize,
    /// For each round what it held after it; `None` where it had no position yet.
    pub steps: Vec<Option<PathStep>>,
}

/// What a seat held after a round.
#[derive(Debug, Clone, PartialEq)]
pub struct PathStep {
    /// Which of the positions.
    pub position: usize,
    /// The score, where the position is one.
    pub value: Option<f64>,
    /// Set where the seat changed: what the change cites and verifies.
    pub cited: Option<Vec<String>>,
    /// Whether the change names a cause that does not verify.
    pub names_unverified: bool,
    /// Whether nobody declared which other positions of the round are the same.
    pub is_unsorted: bool,
    /// Whether the seat puts it in other words than the position's name.
    pub is_reworded: bool,
}

impl PathStep {
    /// Whether the seat changed and nothing that it cites verifies.
    pub fn is_bare(&self) -> bool {
        self.cited.as_ref().is_some_and(Vec::is_empty)
    }
}
