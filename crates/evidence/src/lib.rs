//! What a debate did, measured over its log.
