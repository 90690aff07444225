//! What can go wrong with a model that runs in this process.

/// Why a model could not be loaded, or could not answer.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// The file cannot be used.
    #[error("{0}")]
    File(String),
    /// The prompt cannot be answered.
    #[error("{0}")]
    Prompt(String),
    /// The prompt is longer than the model's context.
    #[error("the prompt has {tokens} tokens, and the model reads at most {context}")]
    TooLong {
        /// The length of the prompt.
        tokens: usize,
        /// The most tokens that the model reads.
        context: usize,
    },
    /// The caller no longer waits for the answer.
    #[error("the caller no longer waits for the answer")]
    Abandoned,
    /// The computation failed.
    #[error("the model could not be computed: {}", first_line(.0))]
    Arithmetic(#[from] candle_core::Error),
    /// A file cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

/// candle adds a backtrace to its message when one is requested; this is the message without it.
pub(crate) fn first_line(why: &candle_core::Error) -> String {
    why.to_string().lines().next().unwrap_or_default().to_owned()
}
