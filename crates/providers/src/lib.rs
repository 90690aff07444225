//! The models: OpenAI-compatible servers and scripts.
