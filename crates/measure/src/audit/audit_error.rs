//! What can be wrong with a table.

/// Why a table could not be audited. The sentences begin after the name of the file, which the caller knows.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// The gzip data is invalid.
    #[error("is a gzip file that is broken or cut short ({0}): download or compress it again")]
    Gzip(std::io::Error),
    /// The table is larger than the limit, in MB.
    #[error("is larger than {0} MB unpacked: audit a part of it")]
    TooLong(u64),
    /// A line, counted from 1, is not UTF-8.
    #[error("line {0} is not UTF-8 text: save the table as CSV in UTF-8")]
    NotText(u64),
    /// A line does not have as many cells as the header.
    #[error(
        "line {line} has {found} cells and the first line has {expected}: put a cell that contains a comma or a line break in \
         \"quotes\""
    )]
    Ragged {
        /// The line, counted from 1.
        line: u64,
        /// How many cells the header has.
        expected: u64,
        /// How many cells this line has.
        found: u64,
    },
    /// There is nothing after the header.
    #[error("has no rows: the first line names the columns, and each further line is a question")]
    NoRows,
    /// Two columns have the same name.
    #[error("has two columns named \"{0}\": rename one of them")]
    DuplicateColumn(String),
    /// A requested column does not exist.
    #[error("has no column \"{name}\"; it has {columns}")]
    NoColumn {
        /// The requested name.
        name: String,
        /// The existing columns.
        columns: String,
    },
    /// Fewer than two models.
    #[error(
        "has {found} to audit, and a vote needs two models: name their columns with --models ({columns} do not count as \
         models)"
    )]
    FewModels {
        /// The model columns, in words.
        found: String,
        /// The other columns.
        columns: String,
    },
    /// A model is given twice.
    #[error("\"{0}\" is named twice in --models")]
    DuplicateModel(String),
    /// The column of right answers is given as a model.
    #[error("\"{0}\" is the column of the right answers, so it cannot be one of --models")]
    GoldAsModel(String),
    /// No question was asked of all models.
    #[error(
        "has no question that all of these models were asked (\"{0}\" was asked the fewest): name fewer with --models"
    )]
    NothingInCommon(String),
    /// A gate needs two audited models.
    #[error(
        "--gate needs two different models of those that are audited, as in --gate \"{example}\", and not \"{given}\""
    )]
    InvalidGate {
        /// A valid value.
        example: String,
        /// The given value.
        given: String,
    },
    /// No column belongs to a judge.
    #[error(
        "has no judges: each judge has two columns, NAME{first} for the order that shows the first answer first and \
         NAME{second} for the other order; the table has {columns}. Set other endings with --first-suffix and --second-suffix"
    )]
    NoJudges {
        /// The ending of the first order.
        first: String,
        /// The ending of the second order.
        second: String,
        /// The existing columns.
        columns: String,
    },
    /// A judge has a column for one order only.
    #[error("has a column \"{there}\" and none named \"{missing}\": a judge needs both orders")]
    MissingOrder {
        /// The existing column.
        there: String,
        /// The missing column.
        missing: String,
    },
    /// The endings of the two orders cannot be told apart.
    #[error("--first-suffix and --second-suffix must be two different endings, and not \"{0}\" and \"{1}\"")]
    InvalidSuffixes(String, String),
    /// The rulings name more than two answers.
    #[error(
        "names more than two answers: {0}. A ruling names one of two answers, with the same name in every column; \"none\" or \
         \"tie\" is a ruling for neither, an empty cell is no ruling, and \"-\" means not asked"
    )]
    TooManyAnswers(String),
    /// The rulings name one answer, and it is unclear which of the two it is.
    #[error("has no two answers to rule between, only {0}: name them 1 and 2, or A and B")]
    OneAnswer(String),
    /// A judge was never asked in both orders.
    #[error("has no item that \"{0}\" was asked in both orders")]
    NeverAsked(String),
    /// Any other CSV error.
    #[error("is not a valid CSV table: {0}")]
    Malformed(String),
}
