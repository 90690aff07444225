//! What the tests do in the browser, as a person would.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::chromium::{self, Browser};

/// A page that does not get where it should within this time never does.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser, unless there is none and none is required.
pub(crate) fn browser() -> Option<Browser> {
    let found = chromium::find().ok_or_else(|| "there is no browser".to_owned());
    match found.and_then(|program| Browser::start(&program)) {
        Ok(browser) => Some(browser),
        Err(why) => {
            let required = std::env::var("AGON_BROWSER").is_ok_and(|wanted| wanted == "required");
            assert!(!required, "{why}: install chromium, or name one in AGON_CHROMIUM");
            eprintln!("skipped: {why}; install chromium, or name one in AGON_CHROMIUM");
            None
        }
    }
}

impl Browser {
    /// Waits until an expression is true on the page.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let begun = Instant::now();
        loop {
            let asked = json!({"expression": format!("Boolean({expression})"), "returnByValue": true});
            // While a page makes way for the next one, there is none to ask.
            let answer = self.try_call("Runtime.evaluate", asked).unwrap_or_default();
            if answer["result"]["value"] == json!(true) {
                return;
            }
            if begun.elapsed() > PATIENCE {
                let shown = self.evaluate("document.body.innerText");
                panic!("never: {expression}\n{shown}\n{:?}", self.faults());
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// The value of a promise.
    pub(crate) fn awaited(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Presses a key: `Tab`, `Enter`, `Escape`, or a space.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            " " => (32, " "),
            other => panic!("no key {other}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let event =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Types a text where the focus is.
    pub(crate) fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Tabs until the focus is on what the selector names. What has the focus must be seen to have it.
    pub(crate) fn tab_to(&mut self, selector: &str) {
        for _ in 0..200 {
            self.press("Tab");
            let seen = self.evaluate(&format!(
                "(() => {{ const at = document.activeElement; return [at.matches({selector:?}), at === document.body \
                 || getComputedStyle(at).outlineStyle !== 'none' || at.closest('label.button') !== null, at.outerHTML.slice(0, 120)] }})()"
            ));
            assert_eq!(seen[1], json!(true), "the focus cannot be seen on {}", seen[2]);
            if seen[0] == json!(true) {
                return;
            }
        }
        panic!("the tab key never reaches {selector}");
    }

    /// What a console would show, and what asked for something outside this server.
    pub(crate) fn faults(&self) -> Vec<&Value> {
        let is_fault = |event: &&Value| {
            let method = event["method"].as_str().unwrap_or_default();
            matches!(
                method,
                "Log.entryAdded"
                    | "Runtime.exceptionThrown"
                    | "Runtime.consoleAPICalled"
                    | "Page.javascriptDialogOpening"
            )
        };
        self.events.iter().filter(is_fault).collect()
    }

    /// The addresses that the page asked for.
    pub(crate) fn asked(&self) -> Vec<&str> {
        let requests = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        requests.filter_map(|event| event["params"]["request"]["url"].as_str()).collect()
    }
}
