use serde_json::json;

use super::*;

/// Types the lines one after another (`^D` is Ctrl-D). Returns the screen and the step after the last line.
fn typed(schema: Option<&Value>, lines: &[&str]) -> (String, FormStep) {
    let mut screen = String::new();
    let mut typed = Vec::new();
    for line in lines {
        match next_step(schema, &typed) {
            FormStep::Ask(text) => screen.push_str(&text),
            ended => panic!("{line:?} is one line too many: {ended:?}\n{screen}"),
        }
        screen.push_str(line);
        screen.push('\n');
        typed.push(if *line == "^D" { TerminalInput::End } else { TerminalInput::Line((*line).to_owned()) });
    }
    (screen, next_step(schema, &typed))
}

fn value(schema: &Value, lines: &[&str]) -> Value {
    match typed(Some(schema), lines) {
        (_, FormStep::Done(text)) => serde_json::from_str(&text).unwrap(),
        (screen, other) => panic!("{other:?}\n{screen}"),
    }
}

fn argument() -> Value {
    json!({
        "type": "object",
        "properties": {
            "stance": {"description": "Whether you hold to your position.", "type": "string",
                       "enum": ["maintain", "partial_concede"]},
            "key_points": {"description": "Your strongest arguments.", "type": "array", "maxItems": 2,
                           "items": {"type": "string", "maxLength": 9}},
            "counterpoints": {"type": "array", "maxItems": 12, "items": {"type": "object",
                "properties": {"target": {"enum": ["A", "B"]}, "evidence": {"type": "string"}},
                "required": ["target"]}},
            "revised_position": {"description": "Your updated answer.", "type": ["string", "null"], "maxLength": 16000},
            "confidence": {"description": "How sure you are.", "type": "number", "minimum": 0.0, "maximum": 1.0},
        },
        "required": ["stance", "key_points", "confidence"],
    })
}

#[test]
fn a_structured_answer_is_asked_for_field_by_field() {
    let lines = ["hold", "2", "Short.", "Much too long.", "Fine.", "y", "b", "", "", "", "80%", "0,8", "0.8"];
    let (screen, step) = typed(Some(&argument()), &lines);
    assert_eq!(
        screen,
        "\nYou are asked for each part of the answer. You do not need to write JSON.\n\
         (/skip passes, /again starts over.)\n\n* stance\n    Whether you hold to your position.\n    \
         1. maintain\n    2. partial_concede\n  number or word> hold\n    \
         Please try again: type a number from 1 to 2, or one of the words.\n  number or word> 2\n\n* key points\n    \
         Your strongest arguments.\n    (a list, at most 2; an empty line ends it)\n  1> Short.\n  2> Much too long.\n    \
         Please try again: it has 14 characters, and at most 9 are allowed.\n  2> Fine.\n\n* counterpoints\n    \
         (a list, at most 12; an empty line ends it)\n\n* counterpoints / 1\n  add it? y, or an empty line for no> y\n\n\
         * counterpoints / 1 / target\n    1. A\n    2. B\n  number or word> b\n\n* counterpoints / 1 / evidence\n  \
         one line, or an empty line for none> \n\n* counterpoints / 2\n  add it? y, or an empty line for no> \n\n\
         * revised position\n    Your updated answer.\n    \
         (several lines; a line with a single . ends it; an empty line leaves it out)\n> \n\n* confidence\n    \
         How sure you are.\n  a number from 0 to 1> 80%\n    Please try again: type a number from 0 to 1.\n  \
         a number from 0 to 1> 0,8\n    \
         Please try again: type a number from 0 to 1, with a point and no comma.\n  \
         a number from 0 to 1> 0.8\n"
    );
    let answer = r#"{"stance":"partial_concede","key_points":["Short.","Fine."],"counterpoints":[{"target":"B"}],"confidence":0.8}"#;
    assert_eq!(step, FormStep::Done(answer.into()));
}

#[test]
fn a_choice_can_be_named_by_word_or_by_number() {
    let schema = |values: Value| json!({"properties": {"x": {"enum": values}}, "required": ["x"]});
    let words = schema(json!(["no_change", "major-revision"]));
    for (line, chosen) in
        [("1", "no_change"), ("No Change", "no_change"), ("major revision", "major-revision")]
    {
        assert_eq!(value(&words, &[line]), json!({"x": chosen}));
    }
    assert_eq!(value(&schema(json!(["2", "1"])), &["1"]), json!({"x": "1"}));
    assert_eq!(value(&schema(json!([7, 8])), &["7"]), json!({"x": 7}));
    assert_eq!(value(&words, &["0", "3", "9999999999999999999999", "2"]), json!({"x": "major-revision"}));
}

#[test]
fn an_empty_line_skips_what_is_optional() {
    let nullable = json!({"anyOf": [{"type": "string", "description": "Inner."}, {"type": "null"}]});
    let schema = json!({"properties": {"must": nullable, "may": nullable}, "required": ["must"]});
    assert_eq!(value(&schema, &["", ""]), json!({"must": null}));
    assert_eq!(value(&schema, &["a", "b"]), json!({"must": "a", "may": "b"}));
    let strict = json!({"properties": {"x": {"type": "string"}, "y": {"type": "array", "minItems": 1, "items": {"type": "integer"}}},
                        "required": ["x", "y"]});
    let (screen, step) = typed(Some(&strict), &["", "a", "", "1.5", "3", ""]);
    assert_eq!(step, FormStep::Done(r#"{"x":"a","y":[3]}"#.into()));
    assert!(screen.contains("it cannot be left empty"), "{screen}");
    assert!(screen.contains("at least 1 more must be here"), "{screen}");
    assert!(screen.contains("Please try again: type a whole number."), "{screen}");
}

#[test]
fn less_common_schemas_are_asked_for_too() {
    let of = |schema: Value| json!({"properties": {"x": schema}, "required": ["x"]});
    let described = of(json!({"oneOf": [{"const": "a", "description": "First."}, {"const": "b"}]}));
    let (screen, _) = typed(Some(&described), &["a"]);
    assert!(screen.contains("    1. a - First.\n    2. b\n"), "{screen}");
    let either = of(
        json!({"oneOf": [{"type": "integer"}, {"type": "object", "properties": {"n": {"type": "boolean"}}}]}),
    );
    assert_eq!(value(&either, &["2", "yes"]), json!({"x": {"n": true}}));
    assert_eq!(value(&either, &["integer", "4"]), json!({"x": 4}));
    assert_eq!(value(&of(json!({"const": 3})), &[]), json!({"x": 3}), "nothing has to be asked");
    assert_eq!(value(&of(json!({"$ref": "#/$defs/y"})), &["{", "[1]"]), json!({"x": [1]}), "as JSON");
    assert_eq!(value(&json!({"required": ["z"], "properties": {}}), &["\"a\""]), json!({"z": "a"}));
    let set = json!({"type": "array", "uniqueItems": true, "items": {"type": "integer", "exclusiveMinimum": 0, "multipleOf": 2}});
    assert_eq!(value(&of(set), &["2", "3", "0", "2", "4", ""]), json!({"x": [2, 4]}));
    let endless = json!({"type": "array", "uniqueItems": true, "minItems": 3, "items": {"const": 1}});
    assert_eq!(value(&of(endless), &[]), json!({"x": [1]}), "an impossible schema does not loop");
}

#[test]
fn plain_text_has_several_lines_and_ends_with_a_dot_or_ctrl_d() {
    for end in [".", "^D"] {
        let (screen, step) = typed(None, &["", "First.", "", "  Second.\u{1b}[D", end]);
        assert_eq!(step, FormStep::Done("First.\n\n  Second.".into()), "{screen}");
    }
    let (screen, step) = typed(None, &["", ".", "Now.", "."]);
    assert_eq!(step, FormStep::Done("Now.".into()));
    assert!(screen.contains("nothing was typed"), "{screen}");
}

#[test]
fn a_person_can_pass_or_start_over() {
    let schema = argument();
    for (schema, lines) in [
        (None, &["^D"][..]),
        (None, &["/skip"]),
        (None, &["Words.", "/skip"]),
        (None, &["", "^D", "^D"]),
        (Some(&schema), &["^D"]),
        (Some(&schema), &["1", " /skip "]),
        // A terminal that is gone reports the end of input again and again.
        (Some(&schema), &["1", "^D", "^D", "^D", "^D", "^D"]),
    ] {
        assert_eq!(typed(schema, lines).1, FormStep::Pass, "{lines:?}");
    }
    let (screen, step) = typed(None, &["Wrong.", "/again", "Right.", "."]);
    assert_eq!(step, FormStep::Done("Right.".into()), "{screen}");
    assert!(
        matches!(typed(Some(&schema), &["1", "/again"]).1, FormStep::Ask(text) if text.contains("* stance"))
    );
}

#[test]
fn a_text_of_the_wrong_length_must_be_typed_again() {
    let schema = json!({"properties": {"x": {"type": "string", "maxLength": 5000, "minLength": 3}}, "required": ["x"]});
    let long = "y".repeat(2_600);
    let lines = [&long, &long, ".", "ok", "^D", "fine", "by me", "^D"];
    assert_eq!(value(&schema, &lines), json!({"x": "fine\nby me"}));
}
