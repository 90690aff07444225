//! An OpenAI-compatible server for tests and benchmarks.
