//! People at the table: with the keyboard alone, from the first visit to the verdict.

use serde_json::json;

use crate::server::Server;
use crate::window::browser;

#[test]
fn a_newcomer_watches_a_demo_with_the_keyboard_alone() {
    let Some(mut browser) = browser() else { return };
    let server = Server::start();
    browser.open_url(&server.url("/"), 1280, "light");
    browser.press("Tab");
    assert_eq!(browser.evaluate("document.activeElement.className"), json!("skip"));
    browser.press("Enter");
    browser.tab_to("button.demo");
    browser.press("Enter");
    browser.wait_for("location.pathname.startsWith('/debates/')");
    browser.wait_for("document.querySelector('main.report .answer')");
    assert!(browser.faults().is_empty(), "{:?}", browser.faults());
    // A menu opens with Enter and closes with Escape.
    browser.press("Tab");
    browser.tab_to(".menu summary");
    browser.press("Enter");
    assert_eq!(browser.evaluate("document.querySelectorAll('.menu[open]').length"), json!(1));
    browser.press("Escape");
    assert_eq!(browser.evaluate("document.querySelectorAll('.menu[open]').length"), json!(0));
}

#[test]
fn a_person_opens_a_debate_takes_a_seat_and_answers_with_the_keyboard_alone() {
    let Some(mut browser) = browser() else { return };
    let server = Server::start();
    browser.open_url(&server.url("/new?protocol=poll"), 1280, "light");
    browser.tab_to("[name=question]");
    browser.write("Should a team of four have a style guide?");
    browser.tab_to("[name=models]");
    browser.write("script/demo-poll\nhuman/ada\nscript/demo-poll");
    browser.wait_for("document.querySelector('[data-estimate] dl')");
    browser.tab_to(".side [type=submit]");
    browser.press("Enter");
    browser.wait_for("document.querySelector('.your-turn')");
    // An answer without its parts is refused, and the page says why.
    browser.tab_to("form[data-answer] [type=submit]");
    browser.press(" ");
    browser.wait_for("document.querySelector('form[data-answer] .refused').textContent");
    let fields = browser.evaluate("[...document.querySelectorAll('form[data-answer] .value :is(textarea, input, select)')].map(field => field.tagName + field.type)");
    browser.evaluate("document.querySelector('.your-turn .prompt').focus()");
    for field in fields.as_array().unwrap() {
        browser.tab_to("form[data-answer] .value :is(textarea, input, select)");
        match field.as_str().unwrap() {
            "SELECTselect-one" => {
                browser.evaluate("(() => { const at = document.activeElement; at.selectedIndex = at.options.length - 1 })()");
            }
            "INPUTnumber" => browser.write("0.8"),
            _ => browser.write("One page of style guide, written in Ada's own words."),
        }
    }
    browser.tab_to("form[data-answer] [type=submit]");
    browser.press("Enter");
    browser.wait_for("document.querySelector('main.report')");
    browser.wait_for("document.body.textContent.includes(\"in Ada's own words\")");
    let refusals = |event: &&serde_json::Value| event.to_string().contains("422");
    assert!(browser.faults().iter().all(refusals), "{:?}", browser.faults());
}

#[test]
fn a_debate_that_runs_can_be_spoken_to_stopped_and_resumed() {
    let Some(mut browser) = browser() else { return };
    let server = Server::start();
    let id = server.debate(&json!({"protocol": "poll", "question": "Tea or coffee?", "models": ["human/ada", "script/demo-poll"]}));
    browser.open_url(&server.url(&format!("/debates/{id}")), 390, "dark");
    browser.wait_for("document.querySelector('.your-turn')");
    browser.evaluate("document.querySelector('form[data-action=interjections] textarea').focus()");
    browser.write("Mind the budget.");
    browser.evaluate("document.querySelector('form[data-action=interjections] [type=submit]').click()");
    browser.wait_for("document.querySelector('.controls p[data-message]').textContent.startsWith('Said')");
    // What a person has begun to write stays while other things happen.
    browser.evaluate("document.querySelector('form[data-answer] textarea').focus()");
    browser.write("Half an answer");
    browser.evaluate("document.querySelector('[data-do=stop]').click()");
    browser.wait_for("document.querySelector('form[data-action=resume]')");
    browser.evaluate("document.querySelector('form[data-action=resume] [type=submit]').click()");
    browser.wait_for("document.querySelector('.your-turn')");
    assert!(browser.faults().is_empty(), "{:?}", browser.faults());
}
