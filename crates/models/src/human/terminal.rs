//! What a terminal has to do for a person to sit at it.

use std::io;

/// What a person did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// A line, without its end.
    Line(String),
    /// Ctrl-D, or the end of the input.
    End,
}

/// A terminal. Its methods may wait; they are called on threads that do nothing else, reading and writing on one each.
pub trait Terminal: Send + Sync {
    /// Writes `text`, which has no control character but newline and tab.
    fn write(&self, text: &str) -> io::Result<()>;

    /// The next line. `wanted` says whether anybody still waits for it: a terminal that can look up now and then gives
    /// `None` when not. One that cannot, gives the line whenever it comes, and nobody will take it.
    fn read_line(&self, wanted: &dyn Fn() -> bool) -> io::Result<Option<Typed>>;

    /// Forgets what was typed and not read yet, as far as it can: a question is about to be put, or was closed.
    fn discard(&self) {}

    /// How many columns it has.
    fn columns(&self) -> usize {
        80
    }
}
