//! What can be wrong with a table, in sentences that say what to do.

/// Why a table could not be audited. The sentences do not name the file: who opened it knows it.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// It begins like a gzip file and does not go on like one.
    #[error("is a gzip file that is broken or cut short ({0}): fetch or compress it again")]
    Gzip(std::io::Error),
    /// It is longer than anything that is audited here.
    #[error("is longer than {0} MB unpacked: audit a part of it")]
    TooLong(u64),
    /// A line is not text.
    #[error("line {0} is not UTF-8 text: save the table as CSV in UTF-8")]
    NotText(u64),
    /// A line has more or fewer cells than the head.
    #[error(
        "line {line} has {found} cells and the first line has {expected}: a cell that has a comma or a line break in it must be in \"quotes\""
    )]
    Ragged {
        /// Counted from 1.
        line: u64,
        /// How many the head has.
        expected: u64,
        /// How many this line has.
        found: u64,
    },
    /// No line follows the head.
    #[error("has no rows: the first line names the columns, and each further one is a question")]
    NoRows,
    /// A name would not say which column is meant.
    #[error("has two columns named \"{0}\": rename one of them")]
    TwoColumns(String),
    /// A column was asked for that is not there.
    #[error("has no column \"{name}\"; it has {columns}")]
    NoColumn {
        /// What was asked for.
        name: String,
        /// What there is.
        columns: String,
    },
    /// One model cannot vote.
    #[error(
        "has {found} to audit, and a vote needs two models: name their columns with --models ({columns} are taken for \
         something else)"
    )]
    FewModels {
        /// How many columns are models, in words.
        found: String,
        /// Those that are not.
        columns: String,
    },
    /// One and the same model cannot vote twice.
    #[error("\"{0}\" is named twice in --models")]
    NamedTwice(String),
    /// What is right cannot have a vote.
    #[error("\"{0}\" is the column of the right answers, so it cannot be one of --models")]
    GoldVotes(String),
    /// The models have no question in common.
    #[error(
        "has no question that all of these models were asked (\"{0}\" was asked the fewest): name fewer with --models"
    )]
    NothingInCommon(String),
    /// A gate needs two that vote.
    #[error(
        "--gate needs two different models of those that are audited, as in --gate \"{example}\", and not \"{given}\""
    )]
    Gate {
        /// What would do.
        example: String,
        /// What was given.
        given: String,
    },
    /// No column is that of a judge.
    #[error(
        "has no judges: each has two columns, NAME{first} for the order in which the first answer is shown first and \
         NAME{second} for the other; it has {columns}. Other endings are set with --first-suffix and --second-suffix"
    )]
    NoJudges {
        /// The ending of the first order.
        first: String,
        /// That of the second.
        second: String,
        /// What there is.
        columns: String,
    },
    /// A judge was asked in one order only, or a name is misspelt.
    #[error("has a column \"{there}\" and none named \"{missing}\": a judge needs both orders")]
    HalfAJudge {
        /// The column that is there.
        there: String,
        /// The one that should be.
        missing: String,
    },
    /// Both endings are the same, or empty.
    #[error("--first-suffix and --second-suffix must be two different endings, and not \"{0}\" and \"{1}\"")]
    Suffixes(String, String),
    /// A judge rules between two answers.
    #[error(
        "names more than two answers: {0}. A ruling names one of two, in the same words in every column; \"none\" or \"tie\" \
         is a ruling for neither, an empty cell no ruling, and \"-\" was not asked"
    )]
    ManyAnswers(String),
    /// It cannot be known which of the two answers a name means.
    #[error("has no two answers to rule between, only {0}: name them 1 and 2, or A and B")]
    OneAnswer(String),
    /// Nothing was asked in both orders.
    #[error("has no item that \"{0}\" was asked in both orders")]
    NeverAsked(String),
    /// Whatever else is no CSV.
    #[error("is no table that can be read: {0}")]
    Malformed(String),
}
