//! What can go wrong with a model that runs here.

/// Why a model could not be loaded, or not answer.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The file is not one that can be used.
    #[error("{0}")]
    File(String),
    /// The prompt is not one that can be answered.
    #[error("{0}")]
    Prompt(String),
    /// The prompt is longer than what the model reads.
    #[error("the prompt has {tokens} tokens, and the model reads at most {context}")]
    TooLong {
        /// So long is it.
        tokens: usize,
        /// So much is read.
        context: usize,
    },
    /// Nobody waits for the answer any more.
    #[error("nobody waits for the answer any more")]
    Abandoned,
    /// The arithmetic failed.
    #[error("the model could not be computed: {}", first_line(.0))]
    Arithmetic(#[from] candle_core::Error),
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

/// The library's words without the trace that it adds where one is asked for.
pub(crate) fn first_line(why: &candle_core::Error) -> String {
    why.to_string().lines().next().unwrap_or_default().to_owned()
}
