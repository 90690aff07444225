//! What is one position and what is not.

use super::*;

/// Positions that are plainly one.
#[test]
fn the_same_words_or_answer_or_nearly_the_same_text_is_one_position() {
    let long = "Adopt the queue: the team writes down what it does, tells everybody a week before, looks at the figures \
                again, asks the customers, and mends what fails";
    let longer = format!("{long}, as agreed.");
    for (one, other) in [
        ("Tabs!", "tabs"),
        ("**Use tabs.**", "Use tabs"),
        ("B", "(B)"),
        ("B. Paris", "b"),
        ("Option B: Paris", "B) it is Paris, since 1789"),
        ("Yes. It saves 12 ms.", "Yes, it costs 3 dollars less."),
        ("We count them.\nAnswer: 42", "Final answer: 42."),
        ("So it is \\boxed{x^2}.", "\\boxed{x^2}"),
        ("The answer is 7.", "7"),
        ("Tabs", "Tabs, because they are wide."),
        ("Tabs.", "Tabs. They don't break."),
        (
            "Use tabs in all files. They are as wide as you like.",
            "Use tabs in all files. They are wide for some.",
        ),
        (long, &longer),
    ] {
        assert!(is_same(one, other) && is_same(other, one), "{one} | {other}");
    }
}

/// "in doubt they differ".
#[test]
fn what_only_sounds_alike_stays_apart() {
    for (one, other) in [
        ("Tabs", "Spaces"),
        ("B", "C"),
        ("Yes", "No"),
        ("Yes.", "Yes, but only if it is free."),
        ("Yes.", "Yes, in May, but only if it is free."),
        ("Use Postgres for the queue of jobs.", "Use Redis for the queue of jobs."),
        ("Pay out 10 percent of the profit.", "Pay out 90 percent of the profit."),
        ("Adopt the queue this year.", "Do not adopt the queue this year."),
        ("Raise the price of the plan in spring.", "Lower the price of the plan in spring."),
        ("Tabs", "Tabs, but not in Python."),
        ("Tabs", "Tabs are bad."),
        ("It depends. Small teams buy.", "It depends. Big ones build."),
        ("The answer is simple: buy it.", "The answer is simple: build it."),
        ("x < 5", "x > 5"),
        ("Anything", ""),
    ] {
        assert!(!is_same(one, other) && !is_same(other, one), "{one} | {other}");
    }
}

/// "An opening sentence of a few words followed by other sentences is the short answer".
#[test]
fn a_short_opening_sentence_is_the_answer_and_the_rest_says_why() {
    for opening in ["Go", "Use Go"] {
        let mut groups = Groups::default();
        let texts = [
            "It builds fast, and one file is all that has to be shipped.",
            "The standard library has the server and the client that we need.",
            "Garbage collection is good enough for a service of this size.",
        ];
        let named = (texts.iter().zip(["a", "b", "c"]))
            .map(|(why, holder)| groups.name(&format!("{opening}. {why}"), holder, &["a", "b", "c"]));
        let names: Vec<String> = named.collect();
        assert!(names.iter().all(|name| *name == format!("{opening}.")), "{names:?}");
    }
    for (one, other) in [
        ("Go. It builds fast.", "Rust. It runs fast."),
        ("Go. It builds fast on all machines.", "Go. Only if the budget is doubled next year."),
        ("Go. It builds fast on all machines.", "Go. We can do that provided the budget is doubled."),
        ("Wait. Ship it in 2 months from now.", "Wait. Nothing is ready before 9 months have passed."),
        ("Pay more. Raise the wages of all.", "Pay more. Lower the wages of those who left."),
        ("Dr. Jekyll drank it in the night.", "Dr. Watson saw nothing of what happened."),
        ("It depends. Small teams should purchase it.", "It depends. Large teams write their own."),
        ("Go. It builds fast.\nAnswer: Rust", "Go. The library is broad."),
    ] {
        assert!(!is_same(one, other) && !is_same(other, one), "{one} | {other}");
    }
}

#[test]
fn a_position_has_the_name_of_the_first_who_said_it() {
    let mut groups = Groups::default();
    assert_eq!(groups.name("Use tabs. They are wide.", "a", &[]), "Use tabs.");
    assert_eq!(groups.name("use TABS", "b", &[]), "Use tabs.");
    assert_eq!(groups.name("Spaces.", "c", &[]), "Spaces.");
}

/// Two positions never share a name, however they begin.
#[test]
fn two_positions_have_two_names() {
    let mut groups = Groups::default();
    let texts = ["It depends. Small teams buy.", "It depends. Big ones build it all again."];
    let names = texts.map(|text| groups.name(text, "a", &[]));
    assert_eq!(names, ["It depends.", "It depends. Big ones build it all again."]);
    let long = |end: &str| format!("{}{end}", "word and more of it, ".repeat(20));
    let [one, other] = ["buy", "build"].map(|end| groups.name(&long(end), "a", &[]));
    assert!(one != other && other.ends_with(" (2)"), "{one} | {other}");
}

/// "counterpoints that target a label speak against grouping the two only in long texts where likeness is unsure; equal short
/// answers stay equal".
#[test]
fn a_declared_conflict_keeps_apart_what_is_only_alike() {
    let long = "Adopt the queue: the team writes down what it does, tells everybody a week before, looks at the figures again";
    let longer = format!("{long}, as agreed");
    let named = |conflicts: &[&str], text: &str| {
        let mut groups = Groups::default();
        groups.name(long, "a", &[]) == groups.name(text, "b", conflicts)
    };
    assert!(named(&[], &longer) && named(&["c"], &longer));
    assert!(!named(&["a"], &longer));
    assert!(named(&["a"], long), "the same words are the same");
}

#[test]
fn new_words_for_a_position_keep_its_name_unless_they_are_plainly_others() {
    let update = |was: &str, text: &str| {
        let mut groups = Groups::default();
        groups.name("Spaces.", "b", &[]);
        let name = groups.name(was, "a", &[]);
        (groups.update((&name, was), text, "a", &[]) == name, groups.find(text).is_some())
    };
    for (was, text, kept) in [
        ("Use tabs.", "Tabs everywhere, with a file that says how wide.", true),
        ("Use tabs.", "Use tabs, four wide.", true),
        ("B) Paris", "B", true),
        ("Use tabs.", "Use blanks.", false),
        ("Use tabs.", "spaces", false),
        ("B) Paris", "C) Rome", false),
    ] {
        assert_eq!(update(was, text), (kept, true), "{was} | {text}");
    }
}

/// What is like the first of a group may still contradict another of it.
#[test]
fn nobody_joins_whom_a_member_contradicts() {
    let texts = [
        "Pay out a part of the profit of the year, as the board proposed in the spring letter.",
        "Pay out a part of the profit of the year, as the board proposed in the spring letter: 10 percent.",
        "Pay out a part of the profit of the year, as the board proposed in the spring letter: 90 percent.",
    ];
    let mut groups = Groups::default();
    let names = texts.map(|text| groups.name(text, "a", &[]));
    assert!(names[0] == names[1] && names[0] != names[2], "{names:?}");
}

#[test]
fn a_name_is_the_declared_answer_or_the_first_sentence() {
    for (text, want) in [
        ("Let us see. 6 * 7 makes it.\n**Answer:** 42", "42"),
        ("A. Paris. It always was.", "A. Paris."),
        ("1. Buy it. 2. Run it.", "1. Buy it."),
        ("# Plan\nBuy it", "Plan Buy it"),
        ("Run version 1.2 now. Then rest.", "Run version 1.2 now."),
        ("  ", ""),
    ] {
        assert_eq!(shown(text), want, "{text}");
    }
    let long = shown(&"word ".repeat(100));
    assert!(long.chars().count() <= NAME_CHARS + 4 && long.ends_with("word ..."), "{long}");
}
