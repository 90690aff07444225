//! Whether two texts put different things in one place of nearly the same words.

use super::Text;

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
    Text::of(a).alternative(&Text::of(b))
}

/// As [`alternative`], of texts that were read.
pub(super) fn is_alternative(a: &Text, b: &Text) -> bool {
    has_another_word(a, b) || have_other_words(a.telling(), b.telling())
}

/// Whether one is the other but for one place, in which each says something else.
fn has_another_word(one: &Text, other: &Text) -> bool {
    let (a, b) = (one.tokens(), other.tokens());
    let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let room = a.len().min(b.len()) - front;
    let back = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count().min(room);
    let frame = (front + back) as f64 >= FRAME * a.len().max(b.len()) as f64 && front + back >= COMMON_MIN;
    // Of a word or two there is no frame; in doubt they differ.
    let tiny = one.telling().len().max(other.telling().len()) <= 2;
    if !frame && !tiny {
        return false;
    }
    let place = |words: &[String]| telling(words.get(front..words.len() - back).unwrap_or_default());
    let (a, b) = (place(a), place(b));
    let fits = frame || a.len().max(b.len()) <= 1;
    fits && lacking(&a, &b) > 0 && lacking(&b, &a) > 0
}

/// Whether they have nearly all words in common that say something, in any order, and each has others.
fn have_other_words(a: &[String], b: &[String]) -> bool {
    let (only_a, only_b) = (lacking(a, b), lacking(b, a));
    let common = (a.len() - only_a).min(b.len() - only_b);
    let longer = a.len().max(b.len());
    only_a > 0 && only_b > 0 && common >= COMMON_MIN && common as f64 >= NEARLY * longer as f64
}

/// How many of some words others have no form of; both in order.
fn lacking(words: &[String], others: &[String]) -> usize {
    let mut rest = others.iter().peekable();
    let mut missing = 0;
    for word in words {
        while rest.next_if(|other| *other < word).is_some() {}
        if rest.peek() != Some(&word) && !has_form(others, word) {
            missing += 1;
        }
    }
    missing
}

/// Whether words that are in order have a form of this one. Forms begin with the same letter, so only those are looked at.
fn has_form(words: &[String], word: &str) -> bool {
    let letter = |word: &str| word.chars().next();
    let from = words.partition_point(|other| letter(other) < letter(word));
    let near = words.iter().skip(from).take_while(|other| letter(other) == letter(word));
    near.into_iter().any(|other| is_form(word, other))
}

/// The words that say something, each once, in order.
pub(super) fn telling(tokens: &[String]) -> Vec<String> {
    let longest = LITTLE.iter().map(|word| word.len()).max().unwrap_or_default();
    let little = |word: &str| word.len() <= longest && LITTLE.contains(&word);
    let says = |word: &&String| !little(word) && !word.chars().any(char::is_numeric);
    let mut words: Vec<String> = tokens.iter().filter(says).cloned().collect();
    words.sort_unstable();
    words.dedup();
    words
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
