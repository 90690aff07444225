//! What `agon doctor` asks the providers, and that nothing of a key is in what it gets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod support;

use std::time::Duration;

use agon_mock::{Mock, Response, Spoilt};
use agon_models::{Catalogue, Config, Probe};
use serde_json::json;
use support::{KEY, WIRES, all_wires, mock};

const PATIENT: Duration = Duration::from_secs(20);

async fn probed(catalogue: &Catalogue, timeout: Duration, name: &str) -> Probe {
    let probes = catalogue.probe(timeout).await;
    assert!(!format!("{probes:?} {}", json!(probes)).contains(KEY), "{probes:?}");
    probes.into_iter().find(|probe| probe.name == name).unwrap_or_else(|| panic!("{name} was not asked"))
}

fn unasked() -> Mock {
    mock(|_| panic!("only the list of models is asked for"))
}

/// "per provider reachable or not, key present or not (never shown), models, prices known".
#[tokio::test]
async fn each_wire_lists_its_models() {
    let mock = unasked();
    for wire in WIRES {
        let probe = probed(&all_wires(&mock), PATIENT, wire).await;
        assert_eq!(
            (probe.reachable, probe.status, probe.key_accepted),
            (true, Some(200), Some(true)),
            "{wire}"
        );
        assert_eq!((probe.models, probe.problem), (Some(vec!["mock".to_owned()]), None), "{wire}");
        assert!(probe.base_url.starts_with(&mock.root()), "{wire}");
        assert_eq!(probe.models_priced, 0, "another seller's prices are not known");
    }
}

#[tokio::test]
async fn a_key_that_is_not_accepted_is_told_by_its_variable() {
    for wire in WIRES {
        let mock = unasked();
        mock.list(|_| Response::error(401, &format!("bad key {KEY}")));
        let probe = probed(&all_wires(&mock), PATIENT, wire).await;
        assert_eq!(
            (probe.reachable, probe.status, probe.key_accepted),
            (true, Some(401), Some(false)),
            "{wire}"
        );
        assert!(probe.problem.as_ref().unwrap().contains("_API_KEY"), "{probe:?}");
        assert_eq!(probe.models, None);
    }
}

#[tokio::test]
async fn what_is_wrong_is_said_in_a_sentence() {
    type Answer = fn() -> Response;
    let cases: [(Answer, Option<u16>, &str); 8] = [
        (|| Response::error(404, "no"), Some(404), "no list of models"),
        (|| Response::error(400, "no"), Some(400), "no list of models"),
        (|| Response::error(302, "no"), Some(302), "where it really is"),
        (|| Response::error(503, "down"), Some(503), "503"),
        (Response::html, Some(200), "text/html"),
        (Response::empty, Some(200), "base URL"),
        (|| Response::json(200, &json!({"data": 3})), Some(200), "base URL"),
        (|| Response::spoilt("x", Spoilt::Truncate), Some(200), "broke off"),
    ];
    for (answer, status, named) in cases {
        for wire in WIRES {
            let mock = unasked();
            mock.list(move |_| answer());
            let probe = probed(&all_wires(&mock), PATIENT, wire).await;
            assert_eq!((probe.reachable, probe.status, probe.key_accepted), (true, status, None), "{wire}");
            assert!(probe.problem.as_ref().unwrap().contains(named), "{wire}: {probe:?}");
        }
    }
}

/// "nothing hangs past its timeout": a server that hangs or stalls keeps no other from being told.
#[tokio::test]
async fn a_server_that_hangs_is_not_waited_for() {
    let (hangs, answers) = (unasked(), unasked());
    hangs.list(|request| match request.path.starts_with("/v1beta") {
        true => Response::spoilt("never", Spoilt::Hang),
        false => Response::spoilt("half of it", Spoilt::Stall),
    });
    let config = format!("[providers.local]\nbase_url = \"{}\"", answers.url());
    let (url, root) = (hangs.url(), hangs.root());
    let catalogue = Catalogue::new(toml::from_str::<Config>(&config).unwrap(), |name| match name {
        "OPENAI_BASE_URL" => Some(url.clone()),
        "GEMINI_BASE_URL" => Some(root.clone()),
        _ => None,
    });
    let probes = catalogue.probe(Duration::from_secs(2)).await;
    let of = |name: &str| probes.iter().find(|probe| probe.name == name).unwrap();
    let problem = |name: &str| of(name).problem.clone().unwrap_or_default();
    assert!(!of("gemini").reachable && problem("gemini").contains("did not answer within 2s"), "{probes:?}");
    assert!(
        of("openai").reachable && problem("openai").contains("did not end its list of models within 2s"),
        "{probes:?}"
    );
    assert_eq!(of("local").models.as_ref().unwrap(), &["mock"]);
}

#[tokio::test]
async fn only_those_are_asked_that_could_be_called() {
    let gone = unasked().url();
    let env = |name: &str| match name {
        "OLLAMA_HOST" => Some(gone.clone()),
        "OPENAI_BASE_URL" => Some("nonsense".into()),
        _ => None,
    };
    let probes = Catalogue::new(Config::default(), env).probe(PATIENT).await;
    let names: Vec<&str> = probes.iter().map(|probe| probe.name.as_str()).collect();
    assert_eq!(names, ["ollama"], "the others have no key, or no address");
    assert!(!probes[0].reachable && probes[0].key_accepted.is_none());
    assert!(probes[0].problem.as_ref().unwrap().contains("running"), "{probes:?}");
}

#[tokio::test]
async fn prices_that_the_person_gives_are_counted() {
    let mock = unasked();
    let list = json!({"data": [{"id": "a"}, {"id": "b/c"}, {"id": "d"}]});
    mock.list(move |_| Response::json(200, &list));
    let url = mock.url();
    let config = format!(
        "[providers.local]\nbase_url = \"{url}\"\n[prices]\n\"local/a\" = {{ input = 1, output = 1 }}\n\
         \"local/b/c\" = {{ input = 0, output = 0 }}\n\"other/d\" = {{ input = 1, output = 1 }}"
    );
    let catalogue = Catalogue::new(toml::from_str::<Config>(&config).unwrap(), |_| None);
    assert_eq!(probed(&catalogue, PATIENT, "local").await.models_priced, 2);
}
