//! "`agon doctor`: per provider reachable or not, key present or not (never shown), models, prices known, embedded files, store,
//! in one readable table; `--json`."

use agon_mock::{MockResponse, MockServer, MockSettings};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Home, Said};

const KEY: &str = "sk-0123456789-secret";
/// Nobody listens there.
const NOBODY: (&str, &str) = ("OLLAMA_HOST", "127.0.0.1:1");

fn listing(list: impl Fn() -> MockResponse + Send + Sync + 'static) -> MockServer {
    let mock = MockServer::start(MockSettings::new(|_| MockResponse::error(500, "nobody asks"))).unwrap();
    mock.list(move |_| list());
    mock
}

fn listed(ids: &[&str]) -> Value {
    json!({"object": "list", "data": ids.iter().map(|id| json!({"id": id})).collect::<Vec<_>>()})
}

/// What was printed, without how many prices are known: that changes with the table of prices.
fn steady(said: &Said) -> String {
    let shown = said.shown();
    let (before, after) = shown.split_once(" known        of ").unwrap();
    let after = after.trim_start_matches(|char: char| char.is_ascii_digit());
    assert!(after.starts_with(" models"), "{shown}");
    format!("{before} known        of N{after}")
}

/// One of each wire, a key that is refused, a page where a list should be, nobody, and one without a key.
struct Table {
    home: Home,
    mocks: Vec<MockServer>,
    env: Vec<(&'static str, String)>,
}

impl Table {
    fn laid() -> Self {
        let home = Home::new();
        let wires =
            MockServer::start(MockSettings::new(|_| MockResponse::error(500, "nobody asks"))).unwrap();
        let own = listing(|| MockResponse::json(200, &listed(&["a", "b", "c", "d"])));
        let (refusing, strange) =
            (listing(|| MockResponse::error(401, "invalid api key")), listing(MockResponse::html));
        home.write(
            "here.toml",
            format!(
                "models = [\"own/a\"]\n[providers.own]\nbase_url = \"{}\"\n[providers.strange]\nbase_url = \"{}\"\n\
                 [providers.gone]\nbase_url = \"http://127.0.0.1:1/v1\"\nkey_env = \"GONE_KEY\"\n\
                 [prices]\n\"own/a\" = {{ input = 1, output = 2 }}\n\
                 [commands.shell]\ncommand = [\"/bin/sh\"]\n[commands.agent]\ncommand = [\"no-such-agent\", \"-p\"]\n",
                own.url(),
                strange.url()
            ),
        );
        let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GROQ_API_KEY", "GONE_KEY"];
        let mut env: Vec<(&str, String)> = keys.iter().map(|name| (*name, KEY.to_owned())).collect();
        env.extend([
            (NOBODY.0, NOBODY.1.to_owned()),
            ("OPENAI_BASE_URL", wires.url()),
            ("ANTHROPIC_BASE_URL", wires.root()),
            ("GEMINI_BASE_URL", wires.root()),
            ("GROQ_BASE_URL", refusing.url()),
            // A short path, so that lines are broken where they always are.
            ("AGON_HOME", "home".to_owned()),
        ]);
        Self { home, mocks: vec![wires, own, refusing, strange], env }
    }

    fn doctor(&self, more: &[&str]) -> Said {
        let env: Vec<(&str, &str)> = self.env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let said = self.home.agon_in(&env, &[&["doctor", "--config", "here.toml"], more].concat());
        assert!(!said.out.contains(KEY) && !said.err.contains(KEY), "{said:?}");
        said.ok()
    }

    /// What was printed, with the servers' ports put the same.
    fn shown(&self, said: &Said) -> String {
        let ports = self.mocks.iter().map(|mock| mock.root().rsplit(':').next().unwrap().to_owned());
        ports.fold(steady(said), |text, port| text.replace(&port, &"0".repeat(port.len())))
    }
}

#[test]
fn the_table_says_who_can_be_reached_who_has_which_models_and_what_is_here() {
    let table = Table::laid();
    assert_snapshot!(table.shown(&table.doctor(&[])), @r#"
    agon 0.1.0
    what               key       state        more
    configuration                ok           here.toml
    store                        not yet      home/agon.db
    anthropic/         accepted  reachable    1 model (mock), 0 with a known price;
                                              http://127.0.0.1:00000/v1
    deepseek/          not set   not asked    set DEEPSEEK_API_KEY to use it
    gemini/            accepted  reachable    1 model (mock), 0 with a known price;
                                              http://127.0.0.1:00000/v1beta
    gone/              set       unreachable  gone cannot be reached at
                                              http://127.0.0.1:1/v1 (connection
                                              refused): is the server running, and
                                              the base URL right?
    groq/              refused   reachable    groq at http://127.0.0.1:00000/v1 does
                                              not accept the key in GROQ_API_KEY
                                              (HTTP 401): set GROQ_API_KEY to a
                                              valid key; it says: invalid api key
    mistral/           not set   not asked    set MISTRAL_API_KEY to use it
    ollama/            none      not running  http://127.0.0.1:1/v1
    openai/            accepted  reachable    1 model (mock), 0 with a known price;
                                              http://127.0.0.1:00000/v1
    openrouter/        not set   not asked    set OPENROUTER_API_KEY to use it
    own/               none      reachable    4 models (a, b, c, ...), 1 with a
                                              known price; http://127.0.0.1:00000/v1
    strange/           none      wrong        strange at http://127.0.0.1:00000/v1
                                              answers with an HTML page, so it is no
                                              model server: is the base URL right?
    xai/               not set   not asked    set XAI_API_KEY to use it
    prices                       known        of N models, 1 of them yours; the
                                              built-in ones as of (date)....
    embedded/smollm2             not here     `agon models pull smollm2` (98.4 MB)
    embeddings/minilm            not here     `agon models pull minilm` (91.3 MB)
    embeddings                   in use       lexical; embeddings/minilm: its files
                                              are not here; `agon models pull
                                              minilm` puts that right
    command/agent                not found    there is no program "no-such-agent":
                                              install it, or give its path
    command/shell                found        /bin/sh
    "#);
}

#[test]
fn the_same_facts_are_there_as_json() {
    let table = Table::laid();
    let found = table.doctor(&["--json"]).json();
    let provider = |name: &str| {
        let mut all = found["providers"].as_array().unwrap().iter();
        all.find(|provider| provider["name"] == name).unwrap().clone()
    };
    for name in ["openai", "anthropic", "gemini"] {
        let provider = provider(name);
        assert_eq!(
            (&provider["state"], &provider["key_accepted"]),
            (&"reachable".into(), &true.into()),
            "{name}"
        );
        assert_eq!((&provider["models"], &provider["problem"]), (&json!(["mock"]), &Value::Null), "{name}");
    }
    let (own, groq, gone) = (provider("own"), provider("groq"), provider("gone"));
    assert_eq!((&own["models"], &own["models_priced"]), (&json!(["a", "b", "c", "d"]), &1.into()));
    assert_eq!((&own["key_env"], &own["key_present"]), (&Value::Null, &false.into()));
    assert_eq!((&groq["reachable"], &groq["key_accepted"]), (&true.into(), &false.into()));
    assert!(groq["problem"].as_str().unwrap().contains("GROQ_API_KEY"), "{groq}");
    assert_eq!((&gone["state"], &gone["reachable"]), (&"unreachable".into(), &false.into()));
    assert!(gone["problem"].as_str().unwrap().contains("cannot be reached"), "{gone}");
    let (strange, ollama, xai) = (provider("strange"), provider("ollama"), provider("xai"));
    assert!(strange["problem"].as_str().unwrap().contains("no model server"), "{strange}");
    assert_eq!((&ollama["state"], &ollama["problem"]), (&"not running".into(), &Value::Null));
    assert_eq!((&xai["state"], &xai["key_present"]), (&"not asked".into(), &false.into()));
    assert!(xai["problem"].as_str().unwrap().contains("XAI_API_KEY"), "{xai}");
    assert_eq!(
        (&found["embedded"][0]["state"], &found["embedded"][0]["place"]),
        (&"not here".into(), &"home/models/smollm2".into())
    );
    let programs = &found["commands"];
    assert_eq!(
        (&programs[0]["found"], &programs[1]["found"]),
        (&Value::Null, &"/bin/sh".into()),
        "{programs}"
    );
    assert_eq!((&found["config"]["models"], &found["prices"]["own"]), (&json!(["own/a"]), &1.into()));
}

#[test]
fn a_new_machine_has_nothing_that_is_wrong() {
    let home = Home::new();
    let said = home.agon_in(&[NOBODY, ("AGON_HOME", "home")], &["doctor"]).ok();
    assert_snapshot!(steady(&said), @r#"
    agon 0.1.0
    what               key      state        more
    configuration               none         `agon init` writes one
    store                       not yet      home/agon.db
    anthropic/         not set  not asked    set ANTHROPIC_API_KEY to use it
    deepseek/          not set  not asked    set DEEPSEEK_API_KEY to use it
    gemini/            not set  not asked    set GEMINI_API_KEY to use it
    groq/              not set  not asked    set GROQ_API_KEY to use it
    mistral/           not set  not asked    set MISTRAL_API_KEY to use it
    ollama/            none     not running  http://127.0.0.1:1/v1
    openai/            not set  not asked    set OPENAI_API_KEY to use it
    openrouter/        not set  not asked    set OPENROUTER_API_KEY to use it
    xai/               not set  not asked    set XAI_API_KEY to use it
    prices                      known        of N models; the built-in ones as of
                                             (date)....
    embedded/smollm2            not here     `agon models pull smollm2` (98.4 MB)
    embeddings/minilm           not here     `agon models pull minilm` (91.3 MB)
    embeddings                  in use       lexical; embeddings/minilm: its files
                                             are not here; `agon models pull minilm`
                                             puts that right
    "#);
    assert!(!home.path("home").exists(), "looking creates nothing");
}

#[test]
fn offline_makes_no_call() {
    let home = Home::new();
    let mock = listing(|| panic!("somebody asks"));
    let env = [NOBODY, ("OPENAI_BASE_URL", &*mock.url()), ("OPENAI_API_KEY", KEY)];
    let found = home.agon_in(&env, &["doctor", "--offline", "--json"]).ok().json();
    let openai =
        found["providers"].as_array().unwrap().iter().find(|provider| provider["name"] == "openai").unwrap();
    assert_eq!((&openai["state"], &openai["key_present"]), (&"not asked".into(), &true.into()));
    assert_eq!((&openai["reachable"], &openai["models"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_wrong_configuration_or_store_is_exit_status_2_with_the_rest_of_the_table() {
    let home = Home::new();
    home.write("wrong.toml", "modles = []\n");
    home.write("notes.db", "not a database, but long enough to look at\n".repeat(50));
    for (args, line) in [
        (&["doctor", "--offline", "--config", "wrong.toml"][..], "configuration               wrong"),
        (&["doctor", "--offline", "--db", "notes.db"], "store                       wrong"),
        (&["doctor", "--offline", "--db", "none.db"], "store                       wrong"),
    ] {
        let said = home.agon_in(&[NOBODY], args);
        assert_eq!(said.status, Some(2), "{said:?}");
        assert!(said.out.lines().any(|found| found.starts_with(line)), "{said:?}");
        assert!(said.out.contains("openai/"), "{said:?}");
    }
}

/// A home in which only what is asked for is wrong, and the doctor's run in it.
fn fixed(home: &Home, env: &[(&str, &str)], args: &[&str]) -> Said {
    let env = [&[NOBODY, ("AGON_HOME", "home")], env].concat();
    home.agon_in(&env, &[&["doctor"], args].concat())
}

#[cfg(unix)]
fn set_mode(home: &Home, name: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(home.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
fn mode(home: &Home, name: &str) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o777
}

#[test]
fn without_a_terminal_fixes_are_only_listed() {
    let home = Home::new();
    let said = fixed(&home, &[], &["--fix"]).ok();
    let (_, list) = said.out.split_once("\n\n").unwrap();
    assert_snapshot!(list, @"
    Can be fixed; `agon doctor --fix --yes` does all of it
      write a configuration to start from, all of it comments, to home/agon.toml
      fetch smollm2 (98.4 MB; a tiny model that debates without a key or a server)
      fetch minilm (91.3 MB; texts are then compared and found by meaning, not only by words)
    ");
    assert!(!home.path("home").exists(), "nothing is done");
    let document = fixed(&home, &[], &["--fix", "--json"]).ok().json();
    let states: Vec<&Value> = document["fixes"].as_array().unwrap().iter().map(|fix| &fix["state"]).collect();
    assert_eq!(states, ["offered"; 3]);
    let offline = fixed(&home, &[], &["--fix", "--offline", "--json"]).ok().json();
    assert_eq!(offline["fixes"].as_array().unwrap().len(), 1, "a download needs a network");
    let with_key = fixed(
        &home,
        &[("XAI_API_KEY", KEY), ("XAI_BASE_URL", "http://127.0.0.1:1/v1")],
        &["--fix", "--json"],
    )
    .ok()
    .json();
    assert!(!with_key["fixes"].to_string().contains("smollm2"), "there is a model already: {with_key}");
    assert_eq!(home.agon(&["doctor", "--yes"]).status, Some(2), "--yes needs --fix");
}

#[test]
#[cfg(unix)]
fn yes_writes_a_configuration_and_repairs_permissions() {
    let home = Home::new();
    home.debate();
    home.agon(&["keys", "show"]).ok();
    home.write("tokens", "0123456789abcdef0123\n");
    for (name, bits) in [
        ("home/keys/agon.key", 0o644),
        ("home/keys", 0o755),
        ("home/agon.db", 0o644),
        ("home", 0o777),
        ("tokens", 0o644),
    ] {
        set_mode(&home, name, bits);
    }
    let plain = fixed(&home, &[], &["--offline", "--json"]).ok().json();
    assert_eq!(plain["permissions"].as_array().unwrap().len(), 4, "{plain}");
    let said = fixed(&home, &[], &["--offline", "--fix", "--yes", "--token-file", "tokens"]).ok();
    assert_eq!(
        said.out.matches("\ndone: ").count() + usize::from(said.out.starts_with("done: ")),
        6,
        "{said:?}"
    );
    assert!(said.out.contains("`agon keys rotate` replaces it"), "{said:?}");
    let modes =
        ["home/keys/agon.key", "home/keys", "home/agon.db", "home", "tokens"].map(|name| mode(&home, name));
    assert_eq!(modes, [0o600, 0o700, 0o600, 0o755, 0o600]);
    assert!(home.read("home/agon.toml").contains("#models = "));
    let again = fixed(&home, &[], &["--offline", "--fix", "--yes", "--token-file", "tokens"]).ok();
    assert!(again.out.ends_with("There is nothing that could be fixed here.\n"), "{again:?}");
    assert_eq!(fixed(&home, &[], &["--token-file", "none"]).status, Some(2));
}

#[test]
fn what_cannot_be_fixed_is_exit_status_3() {
    let home = Home::new();
    // A file is in the place of the folder.
    home.write("home", "x");
    let said = fixed(&home, &[], &["--offline", "--fix", "--yes"]);
    assert_eq!(said.status, Some(3), "{said:?}");
    assert!(said.out.contains("not done: "), "{said:?}");
    let hub = [("HF_ENDPOINT", "http://127.0.0.1:1"), ("PATH", "")];
    let said = fixed(&Home::new(), &hub, &["--fix", "--yes", "--json"]);
    assert_eq!(said.status, Some(3), "{said:?}");
    let fixes = said.json()["fixes"].clone();
    assert_eq!((&fixes[0]["state"], &fixes[1]["state"]), (&"done".into(), &"failed".into()), "{fixes}");
    assert!(fixes[1]["problem"].as_str().unwrap().contains("could not be fetched"), "{fixes}");
}

#[test]
#[cfg(unix)]
fn on_a_terminal_each_fix_is_asked_for() {
    let home = Home::new();
    home.debate();
    set_mode(&home, "home/agon.db", 0o644);
    let line = "doctor --offline --fix";
    let (screen, status) = crate::support::in_terminal(&home, &[NOBODY], line, &[("[y/N] ", "\n")]);
    assert_eq!((status, screen.matches("? [y/N] ").count()), (Some(0), 2), "{screen}");
    assert!(mode(&home, "home/agon.db") == 0o644 && !home.path("home/agon.toml").exists());
    let (screen, status) = crate::support::in_terminal(&home, &[NOBODY], line, &[("[y/N] ", "y\n")]);
    assert_eq!((status, screen.matches("\ndone: ").count()), (Some(0), 2), "{screen}");
    assert!(mode(&home, "home/agon.db") == 0o600 && home.path("home/agon.toml").exists());
}
