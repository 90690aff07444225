//! The verdict of a debate that is a gate, for somebody's pipeline: annotations, SARIF and JUnit are renderings of it.

/// A gate's verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct GateReport {
    /// What it does to a pipeline. It agrees with the exit status.
    pub ruling: GateRuling,
    /// The verdict in a word; `None` where there is none.
    pub verdict: Option<String>,
    /// What the verdict means, in a sentence or two.
    pub meaning: String,
    /// What was judged.
    pub target: String,
    /// A path to attach general remarks to.
    pub path: Option<String>,
    /// Whether reservations block, too.
    pub fails_on_warn: bool,
    /// How many were heard.
    pub footer: Option<String>,
    /// The judges, in seat order.
    pub judges: Vec<GateJudge>,
    /// What was found, the worst first, dropped findings last.
    pub findings: Vec<GateFinding>,
}

/// What a verdict does to a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateRuling {
    /// It passes.
    Passed,
    /// It passes with reservations.
    Warned,
    /// It blocks.
    Blocked,
    /// There is no verdict, or the debate was cut short.
    Missing,
}

/// One judge of a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct GateJudge {
    /// What it is called.
    pub name: String,
    /// Its seat.
    pub seat: String,
    /// Who made its model.
    pub vendor: Option<String>,
    /// The verdict that counts.
    pub verdict: Option<String>,
    /// How sure it is.
    pub confidence: Option<String>,
    /// Its main point.
    pub key_insight: Option<String>,
    /// What it recommends.
    pub recommendation: Option<String>,
    /// The round whose answer counts.
    pub round: Option<u8>,
    /// What that answer found.
    pub findings: Vec<GateFinding>,
    /// What a reader should know of its verdict.
    pub notes: Vec<String>,
    /// Why it gave no verdict.
    pub absence: Option<String>,
}

/// How bad a finding is, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateSeverity {
    /// It must not ship.
    Critical,
    /// Fix it before or soon after.
    Significant,
    /// Optional.
    Minor,
}

impl GateSeverity {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Significant => "significant",
            Self::Minor => "minor",
        }
    }
}

/// Something that a judge found.
#[derive(Debug, Clone, PartialEq)]
pub struct GateFinding {
    /// How bad it is.
    pub severity: GateSeverity,
    /// What it is.
    pub description: String,
    /// Its kind, in the judge's words.
    pub category: Option<String>,
    /// What to do about it.
    pub recommendation: Option<String>,
    /// Where it is, in the judge's words.
    pub location: Option<String>,
    /// The file, where the location names one.
    pub file: Option<String>,
    /// Its first line.
    pub line: Option<u64>,
    /// Its last line.
    pub end_line: Option<u64>,
    /// Whether its location is not in what was judged.
    pub unverified: bool,
    /// Who raised it or agreed with it.
    pub judges: Vec<String>,
    /// What else the judges say of it, in sentences: who disputes it, and what became of it.
    pub remarks: Vec<String>,
    /// Who dropped it later; empty where nobody did.
    pub dropped_by: Vec<String>,
    /// Whether everybody who raised it dropped it.
    pub dropped: bool,
}

impl GateFinding {
    /// Where it is, for a reader.
    pub fn place(&self) -> Option<String> {
        let place = match (&self.file, self.line, self.end_line) {
            (None, ..) => return self.location.clone(),
            (Some(file), None, _) => file.clone(),
            (Some(file), Some(line), Some(last)) if last > line => format!("{file}:{line}-{last}"),
            (Some(file), Some(line), _) => format!("{file}:{line}"),
        };
        Some(place)
    }
}
