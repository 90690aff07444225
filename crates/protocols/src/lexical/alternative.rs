//! Whether two texts put different things in one place of nearly the same words.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::tokens;

/// So many of the words that say something must be common, of those of the longer text.
const NEARLY: f64 = 0.7;
/// So many of all words must stand around the place, of those of the longer text.
const FRAME: f64 = 0.6;
/// With fewer words in common there is no frame in which a place could be filled differently.
const COMMON_MIN: usize = 2;
/// From so many letters on, words that begin alike are forms of one word.
const STEM_CHARS: usize = 4;

/// Words that say little by themselves: another one of these makes no other position. Numbers are told apart by their figures.
pub const LITTLE: &[&str] = &[
    // Whether something is denied is told by counting denials.
    "not", "no", "never", "none", "neither", "nor", "cannot", "without", "against", "rather", "instead",
    "nicht", "nie", "ne", "pas", "jamais", "a", "an", "the", "and", "or", "but", "so", "then", "than", "as",
    "at", "by", "for", "from", "in", "into", "of", "off", "on", "onto", "out", "over", "per", "to", "up",
    "with", "within", "via", "through", "is", "are", "was", "were", "be", "been", "being", "it", "its",
    "this", "that", "these", "those", "they", "them", "their", "we", "us", "our", "you", "your", "he", "she",
    "his", "her", "i", "my", "do", "does", "did", "done", "has", "have", "had", "will", "would", "shall",
    "should", "can", "could", "may", "might", "must", "all", "any", "each", "every", "one", "single", "some",
    "both", "also", "too", "very", "just", "only", "percent", "about", "now", "soon", "first", "there",
    "here", "which", "who", "what", "when", "where", "how", "if",
];

/// Whether two texts say nearly the same, but each has a word that says something where the other has another: "buy from A" and
/// "buy from B". Likeness sees one text in that; those who wrote it mean two. Where only one of them has more words, it adds to
/// the other.
pub fn alternative(a: &str, b: &str) -> bool {
    Wording::of(a).is_alternative(&Wording::of(b))
}

/// The words of a text: to compare one text with many, they are taken apart once.
#[derive(Debug, Clone)]
pub struct Wording {
    all: Vec<String>,
    /// Those that say something, each once, in order.
    telling: Vec<String>,
}

impl Wording {
    /// Those of a text.
    pub fn of(text: &str) -> Self {
        let all: Vec<String> = tokens(text).collect();
        Self { telling: telling(&all).into_iter().map(str::to_owned).collect(), all }
    }

    /// All of them, in small letters, as they stand.
    pub(super) fn all(&self) -> &[String] {
        &self.all
    }

    /// Whether the two texts are [`alternative`]s.
    pub fn is_alternative(&self, other: &Self) -> bool {
        self.has_another_word(other) || self.has_other_words(other)
    }

    /// Whether one is the other but for one place, in which each says something else.
    fn has_another_word(&self, other: &Self) -> bool {
        let (a, b) = (&self.all, &other.all);
        let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let room = a.len().min(b.len()) - front;
        let back = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count().min(room);
        let longer = a.len().max(b.len());
        let frame = (front + back) as f64 >= FRAME * longer as f64 && front + back >= COMMON_MIN;
        // Of a word or two there is no frame; in doubt they differ.
        let tiny = self.telling.len().max(other.telling.len()) <= 2;
        if !frame && !tiny {
            return false;
        }
        let (one, other) = (place(a, front, back), place(b, front, back));
        let new = |words: &[&str], others: &[&str]| words.iter().any(|word| !has_form(others, word));
        (frame || one.len().max(other.len()) <= 1) && new(&one, &other) && new(&other, &one)
    }

    /// Whether they have nearly all words in common that say something, in any order, and each has others.
    fn has_other_words(&self, other: &Self) -> bool {
        let longer = self.telling.len().max(other.telling.len());
        let enough = COMMON_MIN.max((NEARLY * longer as f64).ceil() as usize);
        let (Some(only), Some(only_other)) = (self.lacking(other, enough), other.lacking(self, enough))
        else {
            return false;
        };
        only > 0 && only_other > 0
    }

    /// How many words it has that the other has in no form; `None` where so few are left that the two have too little in common.
    fn lacking(&self, other: &Self, enough: usize) -> Option<usize> {
        let most = self.telling.len().checked_sub(enough)?;
        let lacking = self.telling.iter().filter(|word| !has_form(&other.telling, word));
        let lacking = lacking.take(most + 1).count();
        (lacking <= most).then_some(lacking)
    }
}

/// The words that say something between so many at the front and so many at the back.
fn place(words: &[String], front: usize, back: usize) -> Vec<&str> {
    telling(words.get(front..words.len() - back).unwrap_or_default())
}

/// Whether a word says little by itself.
pub fn says_little(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    WORDS.get_or_init(|| LITTLE.iter().copied().collect()).contains(word)
}

/// Whether words that are in order have a form of this one. Forms have their first letters in common, or one is the other and an
/// ending, so that only a few are looked at.
fn has_form(words: &[impl AsRef<str>], word: &str) -> bool {
    let end = word.char_indices().nth(STEM_CHARS).map_or(word.len(), |(end, _)| end);
    let stem = word.get(..end).unwrap_or(word);
    let from = words.partition_point(|other| other.as_ref() < stem);
    let near = words.iter().skip(from).map(AsRef::as_ref).take_while(|other| other.starts_with(stem));
    let mut singular = ["s", "es"].iter().filter_map(|ending| word.strip_suffix(ending));
    near.into_iter().any(|other| is_form(word, other))
        || singular.any(|one| words.binary_search_by(|other| other.as_ref().cmp(one)).is_ok())
}

/// The words that say something, each once, in order.
fn telling(words: &[String]) -> Vec<&str> {
    let words = words.iter().map(String::as_str);
    let mut telling: Vec<&str> =
        words.filter(|word| !says_little(word) && !word.chars().any(char::is_numeric)).collect();
    telling.sort_unstable();
    telling.dedup();
    telling
}

fn is_form(one: &str, other: &str) -> bool {
    let common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let (shorter, longer) = {
        let (one, other) = (one.chars().count(), other.chars().count());
        (one.min(other), one.max(other))
    };
    let plural =
        |one: &str, other: &str| other.strip_prefix(one).is_some_and(|end| matches!(end, "s" | "es"));
    one == other
        || plural(one, other)
        || plural(other, one)
        || (common >= STEM_CHARS && common + 1 >= shorter && longer <= common + STEM_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_word_in_one_place_is_an_alternative() {
        for (one, other) in [
            ("Buy the API of Anthropic, the cheapest by far.", "Buy the API of Google, the cheapest by far."),
            ("Use Postgres for the queue of jobs.", "Use Redis for the queue of jobs."),
            ("Run the jobs on Postgres.", "Run the jobs on Redis."),
            ("Use Postgres", "Use Redis"),
            ("Postgres", "Redis"),
            ("Raise the price of the plan in spring.", "Lower the price of the plan in spring."),
            ("The build cache is allowed on branches.", "The build cache is forbidden on branches."),
            ("Der Cache wird heute geteilt.", "Der Cache wird morgen geteilt."),
        ] {
            assert!(alternative(one, other) && alternative(other, one), "{one} | {other}");
            assert!(!alternative(one, one));
        }
    }

    /// The quick search finds what looking at every word would.
    #[test]
    fn a_form_of_a_word_is_found_wherever_it_stands() {
        let words = [
            "a",
            "as",
            "at",
            "bus",
            "buse",
            "buses",
            "cache",
            "caches",
            "caching",
            "cat",
            "ease",
            "job",
            "jobs",
            "queue",
            "queued",
            "queueing",
            "run",
            "runs",
            "s",
            "share",
            "shared",
            "sharing",
            "stop",
            "stopped",
            "\u{fc}ber",
            "\u{fc}bers",
            "\u{fc}berall",
        ];
        for word in words {
            for other in words {
                assert_eq!(has_form(&[other], word), is_form(word, other), "{word} {other}");
            }
            let others: Vec<&str> = words.iter().copied().filter(|other| *other != word).collect();
            let any = others.iter().any(|other| is_form(word, other));
            assert_eq!(has_form(&others, word), any, "{word}");
        }
    }

    #[test]
    fn the_same_in_other_words_or_with_more_of_them_is_none() {
        for (one, other) in [
            ("Keep three copies.", "Keep 3 copies."),
            ("Move every job into one queue.", "Move all jobs into a single queue."),
            ("Share the cache between branches.", "Share the cache between branches, with keys by lockfile."),
            ("Sharing caches between branches.", "Share the cache between branches."),
            ("Adopt the queue this year.", "This year the queue should be taken up."),
            ("Buy the tool.", "Purchase it rather than build it."),
            ("Do not share the cache", "Never share the cache"),
            (
                "Share the cache across branches, not per developer, keyed by lockfile",
                "Share the cache across branches, keyed by lockfile, rather than per developer",
            ),
            ("", ""),
        ] {
            assert!(!alternative(one, other) && !alternative(other, one), "{one} | {other}");
        }
    }
}
