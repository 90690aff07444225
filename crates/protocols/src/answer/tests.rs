//! The rule, line by line.

use super::*;

const OPTIONS: &str = "Which is the capital of France?\nA) Lyon\nB) Paris\nC) 1,000\nD) A dog";

fn key(question: &str, text: &str) -> Option<String> {
    Answer::read(question, text).map(|answer| answer.key())
}

/// "normalised: case, white space, punctuation, 'the answer is'".
#[test]
fn words_count_without_case_space_punctuation_and_what_introduces_them() {
    for said in [
        "Eiffel Tower",
        "the eiffel  tower.",
        "\"Eiffel Tower\"",
        "**Eiffel Tower**",
        "The answer is the Eiffel Tower.",
        "So, the answer is: Eiffel Tower!",
        "Answer: Eiffel Tower",
        "final answer: `Eiffel tower`",
        "eiffel-tower",
    ] {
        assert_eq!(key("What?", said).as_deref(), Some("eiffel tower"), "{said}");
    }
    let same = |one: &str, other: &str| Answer::read("", one) == Answer::read("", other);
    for (one, other) in
        [("C++", "C"), ("x < 0", "x > 0"), ("(a+b)*c", "a+b*c"), ("v1.2", "v12"), ("not Paris", "Paris")]
    {
        assert!(!same(one, other), "{one} is not {other}");
    }
    assert!(same("x < 0", "X<0") && same("Don\u{2019}t", "dont") && same("Yes, it does", "yes"));
}

/// "the word alone counts only if what follows does not limit it".
#[test]
fn a_yes_or_no_that_is_limited_is_another_answer() {
    let same = |one: &str, other: &str| Answer::alone("Shall we?", one) == Answer::alone("Shall we?", other);
    for (word, limited) in [
        ("Yes", "Yes, but only if the budget is doubled"),
        ("Yes", "Yes, in May, provided that the board agrees"),
        ("Yes", "Yes, as long as it is free"),
        ("Yes", "Yes, not now"),
        ("No", "No, unless sales double"),
        ("No", "No, unless it rains, in which case yes"),
        ("No", "No, today; tomorrow yes"),
        ("No", "Answer: No; unless sales double"),
        ("True", "Answer: True. But only if x is positive"),
    ] {
        assert!(!same(word, limited), "{word} | {limited}");
        let gold = Answer::alone("Shall we?", word).unwrap();
        assert!(!Answer::read("Shall we?", limited).unwrap().meets(&gold), "{word} | {limited}");
    }
    for (word, reasoned) in
        [("yes", "Yes, it does"), ("no", "No, it is far too dear"), ("yes", "Yes; it saves time and money")]
    {
        assert!(same(word, reasoned), "{word} | {reasoned}");
    }
}

/// "numbers by value".
#[test]
fn numbers_count_by_value() {
    for said in [
        "1000",
        "1,000",
        "1000.0",
        "1e3",
        "$1,000.00",
        "+1000",
        "2000/2",
        "The answer is 1,000. It is round.",
    ] {
        assert_eq!(key("", said).as_deref(), Some("1000"), "{said}");
    }
    for (said, want) in [
        ("0.75", "3/4"),
        ("3/4", "3/4"),
        ("\\frac{3}{4}", "3/4"),
        ("-0", "0"),
        ("\u{2212}5", "-5"),
        ("50%", "50 percent"),
        ("42 km", "42 km"),
        ("1.5e-3", "3/2000"),
        ("007", "7"),
        ("1,00", "1,00"),
        ("1/0", "1/0"),
        ("3 of 4", "3 of 4"),
        ("2024-01-05", "2024 01 05"),
        ("1e999", "1e999"),
        ("3x", "3x"),
    ] {
        assert_eq!(key("", said).as_deref(), Some(want), "{said}");
    }
    let meets =
        |said: &str, gold: &str| Answer::read("", said).unwrap().meets(&Answer::read("", gold).unwrap());
    assert!(meets("42 km", "42") && meets("$18", "18") && meets("18 dollars", "18"));
    assert!(!meets("42", "42 km") && !meets("42 km", "42 miles") && !meets("50%", "0.5"));
}

/// "Multiply number words out; `%`/percent stays distinct from none."
#[test]
fn a_number_word_is_a_part_of_the_number() {
    for (said, want) in [
        ("5 million", "5000000"),
        ("$2.5 million", "2500000"),
        ("$3 M", "3000000"),
        ("5 hundred thousand people", "500000 people"),
        ("2 billion", "2000000000"),
        ("3 dozen eggs", "36 eggs"),
        ("5k", "5000"),
        ("5 k", "5000"),
        ("1/2 million", "500000"),
        ("300 K", "300 k"),
        ("5 ms", "5 ms"),
        ("5 per cent", "5 percent"),
    ] {
        assert_eq!(key("", said).as_deref(), Some(want), "{said}");
    }
    let meets =
        |said: &str, gold: &str| Answer::read("", said).unwrap().meets(&Answer::read("", gold).unwrap());
    for said in
        ["5 million", "5 thousand", "5 billion", "5 hundred", "5 dozen", "5k", "5%", "5 percent", "5 or more"]
    {
        assert!(!meets(said, "5"), "{said}");
    }
    assert!(meets("5 million", "5,000,000") && meets("5k", "5000") && meets("5 million dollars", "5000000"));
    assert!(meets("5%", "5 percent") && !meets("5", "5%"));
}

/// "a leading option letter when the question lists options such as `A) ...`".
#[test]
fn an_option_is_its_letter_or_its_words() {
    for said in [
        "B",
        "b",
        "(B)",
        "B)",
        "B.",
        "**B**",
        "B) Paris",
        "B. Paris",
        "B: Paris",
        "B - Paris",
        "B Paris",
        "Option B",
        "Paris",
        "paris.",
        "The answer is (B) Paris.",
        "B, because it is",
        "B (Paris)",
        "B is correct",
        "\\boxed{B}",
        "\\boxed{\\text{B}}",
    ] {
        assert_eq!(key(OPTIONS, said).as_deref(), Some("B"), "{said}");
    }
    for (said, want) in [
        ("1000", "C"),
        ("A dog", "D"),
        ("D) A dog", "D"),
        ("A", "A"),
        ("E", "e"),
        ("A and B", "and b"),
        ("A) or B)", "or b"),
        ("B, C", "b c"),
        ("A.D. 800", "d 800"),
        ("not B", "not b"),
        ("A cat", "cat"),
    ] {
        assert_eq!(key(OPTIONS, said).as_deref(), Some(want), "{said}");
        assert_eq!(
            Answer::read(OPTIONS, said).unwrap().option().is_some(),
            want.len() == 1 && want != "e",
            "{said}"
        );
    }
}

#[test]
fn the_options_are_the_last_run_of_letters_from_a() {
    let listed = |question: &str| -> Vec<String> {
        Options::of(question).listed().map(|(l, w)| format!("{l}={w}")).collect()
    };
    for question in [
        "Q?\nA) x\nB) y",
        "Q?\n(A) x\n(B) y",
        "Q?\nA. x\nB. y",
        "Q?\n- A: x\n- B: y",
        "Is it A) x B) y",
        "Q? (a) x (b) y",
        "Example:\nA) old\nB) older\nC) oldest\nQ?\nA) x\nB) y\n",
        "Q?\n**A)** x\n**B)** y",
    ] {
        assert_eq!(listed(question).len(), 2, "{question}");
    }
    assert_eq!(listed("Q?\nA) x\nB) y\n\nEnd with a line."), ["A=x", "B=y"]);
    for question in
        ["Who is J. R. Smith?", "Q?\nA) only", "Q?\nB) x\nC) y", "See (A).", "A. Smith met B. Jones"]
    {
        assert!(listed(question).len() < 2, "{question}: {:?}", listed(question));
    }
}

/// "also finds the answer in longer text: a last line `Answer: X` / `final answer: X` / `\boxed{X}` / a single option letter; else None".
#[test]
fn the_answer_is_found_in_longer_text() {
    let long =
        "There are many reasons to weigh here.\nThe first would be that Lyon is larger than people think.";
    for end in [
        "Answer: B",
        "**Answer:** B",
        "**Final Answer**: B",
        "### Final answer\n\nB) Paris",
        "So the answer is B.",
        "Hence \\(\\boxed{B}\\).",
        "B",
        "(B)",
        "**B**",
        "It is old. The correct answer is B. Lyon is not.",
        "Answer:\nB",
        "Answer: A\nNo, wait.\nAnswer: B",
        "The answer is A. Therefore, my final answer is B.",
        "Answer: Paris",
    ] {
        assert_eq!(key(OPTIONS, &format!("{long}\n{end}")).as_deref(), Some("B"), "{end}");
    }
    for text in [
        long,
        "",
        "  \n ",
        "Nobody knows what the answer is here, and it would take long to find out, so I say none.",
        "It would be wrong to reanswer: B and that is what many have said before, all of them.\nNone was right.",
    ] {
        assert_eq!(key(OPTIONS, text), None, "{text}");
    }
    let words = "of many words, of which there are more than a short answer has, as any reader can count";
    let question = format!("Which?\nA) One\nB) One {words}.");
    assert_eq!(key(&question, &format!("One {words}")).as_deref(), Some("B"));
    assert_eq!(key(&question, &format!("Two {words}")), None);
    assert_eq!(key("", "Answer: Dr. Jekyll. He drank it.").as_deref(), Some("dr jekyll"));
    assert_eq!(key("", "<think>Answer: 3</think>Answer: 4").as_deref(), Some("4"));
}

#[test]
fn who_was_asked_for_the_answer_alone_gave_it_whatever_it_is() {
    let words = "one two three four five six seven eight nine ten eleven twelve thirteen";
    assert!(Answer::read("", words).is_none());
    assert_eq!(Answer::alone("", words).unwrap().key(), words);
    assert_eq!(Answer::alone("", "...").unwrap().key(), "...");
    assert!(Answer::alone("", " \n").is_none());
    assert_eq!(Answer::alone(OPTIONS, "The answer is B").unwrap().said(), "B");
}

proptest::proptest! {
    /// No text makes it panic, and the words that it finds are found again in themselves.
    #[test]
    fn any_text_is_read(text in "(?s).{0,80}", question in "(?s).{0,60}") {
        if let Some(answer) = Answer::alone(&question, &text) {
            proptest::prop_assert!(!answer.key().is_empty());
        }
    }
}
