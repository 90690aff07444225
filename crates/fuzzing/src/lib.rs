//! Tries a property on bytes from outside: what the fuzz targets in `fuzz/` do for hours, in a second, for the ordinary tests.
//!
//! A property is a function that takes any bytes and panics if something that must hold does not. It is written once, in the module
//! `fuzzing` of the crate that reads the bytes. A fuzz target and a test both call it.

#![allow(clippy::panic, reason = "a property that does not hold fails the test")]

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How many random inputs are tried.
const CASES: u32 = 256;
/// The most pieces that an input is made of.
const PIECES_MAX: usize = 24;
/// Longer files of a corpus are tried as they are, but not changed.
const CHANGED_BYTES_MAX: usize = 16 << 10;

/// Tries `property` on every file in `fuzz/corpus/TARGET`, on changed copies of them, and on random mixtures of `pieces`.
pub fn check(target: &str, pieces: &'static [&'static str], property: impl Fn(&[u8])) {
    let corpus = corpus(target);
    corpus.iter().for_each(|bytes| property(bytes));
    let piece = prop_oneof![
        8 => select(pieces).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => any::<String>().prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    let mixture = prop::collection::vec(piece, 0..PIECES_MAX).prop_map(|pieces| pieces.concat());
    let seeds: Vec<Vec<u8>> = corpus.into_iter().filter(|bytes| bytes.len() <= CHANGED_BYTES_MAX).collect();
    let input = if seeds.is_empty() {
        mixture.boxed()
    } else {
        let spliced = (select(seeds), any::<Index>(), any::<Index>(), mixture.clone()).prop_map(splice);
        prop_oneof![mixture, spliced].boxed()
    };
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    // The same inputs every time: new ones are for the fuzz targets to find, not for whoever changes something else.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let result = runner.run(&input, |bytes| {
        property(&bytes);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{target}: {failure}");
    }
}

/// Replaces a part of a seed.
fn splice((seed, one, other, inserted): (Vec<u8>, Index, Index, Vec<u8>)) -> Vec<u8> {
    let (one, other) = (one.index(seed.len() + 1), other.index(seed.len() + 1));
    let (from, to) = (one.min(other), one.max(other));
    let head = seed.get(..from).unwrap_or_default();
    // Most changes are small, so that what follows keeps its meaning.
    let to = if to - from > inserted.len() { from + inserted.len() } else { to };
    let tail = seed.get(to..).unwrap_or_default();
    [head, &inserted, tail].concat()
}

/// The files of a fuzz target's corpus.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
        .iter()
        .map(|file| fs::read(file).unwrap_or_else(|why| panic!("{}: {why}", file.display())))
        .collect()
}
