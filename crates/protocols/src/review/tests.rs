//! Seed 004 and its part of PROTOCOLS.md, sentence by sentence.
