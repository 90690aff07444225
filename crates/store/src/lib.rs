//! The log on disk: SQLite in one file.
