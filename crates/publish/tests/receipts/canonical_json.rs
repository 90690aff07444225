//! Canonical JSON: the examples of RFC 8785, and that equal values have equal texts.

use agon_publish::receipts::envelope::{canonical_json, canonical_value};
use proptest::prelude::*;
use serde_json::{Map, Number, Value, json};

/// Section 3.2.3: numbers, strings and literals.
#[test]
fn the_sample_of_section_3_2_3_has_the_text_of_the_specification() {
    let sample = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let sample: Value = serde_json::from_str(sample).unwrap();
    let expected = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
                    \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
    assert_eq!(canonical_json(&sample).unwrap(), expected);
}

/// Section 3.2.3: by UTF-16 code units, so an emoji comes before a Hebrew letter.
#[test]
fn keys_are_sorted_by_utf_16_code_units() {
    let sample = json!({
        "\u{20ac}": "Euro Sign",
        "\r": "Carriage Return",
        "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\u{1f600}": "Emoji: Grinning Face",
        "\u{80}": "Control",
        "\u{f6}": "Latin Small Letter O With Diaeresis",
    });
    let text = canonical_json(&sample).unwrap();
    let places: Vec<usize> =
        ["Carriage Return", "One", "Control", "Latin Small", "Euro Sign", "Emoji", "Hebrew Letter"]
            .iter()
            .map(|value| text.find(value).unwrap())
            .collect();
    assert!(places.is_sorted(), "{text}");
}

/// Appendix B: the bits of a double and its text.
#[test]
fn numbers_have_the_texts_of_appendix_b() {
    for (bits, text) in [
        (0x0000_0000_0000_0000_u64, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        let number = f64::from_bits(bits);
        let value = Value::Number(Number::from_f64(number).unwrap());
        assert_eq!(canonical_json(&value).unwrap(), text, "{bits:x}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |number| Number::from_f64(number).map(Value::Number)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The same value with its fields in reverse order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().rev().map(|(key, value)| (key.clone(), reversed(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(reversed).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn canonical_text_stays_the_same_when_it_is_read_and_written_again(value in any_json()) {
        let text = canonical_json(&value).unwrap();
        let read: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&canonical_json(&read).unwrap(), &text);
        prop_assert_eq!(canonical_value(&read).unwrap(), read);
    }

    #[test]
    fn the_order_of_fields_does_not_matter(value in any_json()) {
        prop_assert_eq!(canonical_json(&value).unwrap(), canonical_json(&reversed(&value)).unwrap());
    }
}
