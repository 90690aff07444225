//! Probes of providers for `agon doctor`. No probe contains a key.

use std::time::Duration;

use crate::support::{KEY, WIRES, all_wires, mock};
use agon_mock::{ConnectionFault, MockResponse, MockServer};
use agon_models::{ModelCatalogue, ModelsConfig, ProviderProbe};
use serde_json::json;

const LONG_TIMEOUT: Duration = Duration::from_secs(20);

async fn probed(catalogue: &ModelCatalogue, timeout: Duration, name: &str) -> ProviderProbe {
    let probes = catalogue.probe(timeout).await;
    assert!(!format!("{probes:?} {}", json!(probes)).contains(KEY), "{probes:?}");
    probes.into_iter().find(|probe| probe.name == name).unwrap_or_else(|| panic!("{name} was not asked"))
}

fn server_without_chat() -> MockServer {
    mock(|_| panic!("a probe asks only for the list of models"))
}

#[tokio::test]
async fn every_wire_format_lists_its_models() {
    let mock = server_without_chat();
    for wire in WIRES {
        let probe = probed(&all_wires(&mock), LONG_TIMEOUT, wire).await;
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
async fn a_rejected_key_is_named_by_its_variable() {
    for wire in WIRES {
        let mock = server_without_chat();
        mock.list(|_| MockResponse::error(401, &format!("bad key {KEY}")));
        let probe = probed(&all_wires(&mock), LONG_TIMEOUT, wire).await;
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
async fn every_problem_is_explained() {
    type Answer = fn() -> MockResponse;
    let cases: [(Answer, Option<u16>, &str, bool); 8] = [
        (|| MockResponse::error(404, "no"), Some(404), "no list of models", false),
        (|| MockResponse::error(400, "no"), Some(400), "no list of models", false),
        (|| MockResponse::error(302, "no"), Some(302), "real address", false),
        (|| MockResponse::error(503, "down"), Some(503), "503", false),
        (MockResponse::html, Some(200), "no model server", true),
        (MockResponse::empty, Some(200), "base URL", true),
        (|| MockResponse::json(200, &json!({"data": 3})), Some(200), "base URL", true),
        (|| MockResponse::broken("x", ConnectionFault::Truncate), Some(200), "was cut off", false),
    ];
    for (answer, status, named, is_no_list) in cases {
        for wire in WIRES {
            let mock = server_without_chat();
            mock.list(move |_| answer());
            let probe = probed(&all_wires(&mock), LONG_TIMEOUT, wire).await;
            assert_eq!((probe.reachable, probe.status, probe.key_accepted), (true, status, None), "{wire}");
            assert!(probe.problem.as_ref().unwrap().contains(named), "{wire}: {probe:?}");
            assert_eq!(probe.sent_no_list, is_no_list, "{wire}: {probe:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_hangs_does_not_delay_the_others() {
    let (hangs, answers) = (server_without_chat(), server_without_chat());
    hangs.list(|request| match request.path.starts_with("/v1beta") {
        true => MockResponse::broken("never", ConnectionFault::Hang),
        false => MockResponse::broken("half of it", ConnectionFault::Stall),
    });
    let config = format!("[providers.local]\nbase_url = \"{}\"", answers.url());
    let (url, root) = (hangs.url(), hangs.root());
    let catalogue =
        ModelCatalogue::new(toml::from_str::<ModelsConfig>(&config).unwrap(), |name| match name {
            "OPENAI_BASE_URL" => Some(url.clone()),
            "GEMINI_BASE_URL" => Some(root.clone()),
            _ => None,
        });
    let probes = catalogue.probe(Duration::from_secs(2)).await;
    let of = |name: &str| probes.iter().find(|probe| probe.name == name).unwrap();
    let problem = |name: &str| of(name).problem.clone().unwrap_or_default();
    assert!(!of("gemini").reachable && problem("gemini").contains("did not answer within 2s"), "{probes:?}");
    assert!(
        of("openai").reachable && problem("openai").contains("did not finish its list of models within 2s"),
        "{probes:?}"
    );
    assert!(!of("openai").sent_no_list, "a slow list may be right: {probes:?}");
    assert_eq!(of("local").models.as_ref().unwrap(), &["mock"]);
}

#[tokio::test]
async fn only_usable_providers_are_asked() {
    let gone = server_without_chat().url();
    let env = |name: &str| match name {
        "OLLAMA_HOST" => Some(gone.clone()),
        "OPENAI_BASE_URL" => Some("nonsense".into()),
        _ => None,
    };
    let probes = ModelCatalogue::new(ModelsConfig::default(), env).probe(LONG_TIMEOUT).await;
    let names: Vec<&str> = probes.iter().map(|probe| probe.name.as_str()).collect();
    assert_eq!(names, ["ollama"], "the others have no key, or no address");
    assert!(!probes[0].reachable && probes[0].key_accepted.is_none());
    assert!(probes[0].problem.as_ref().unwrap().contains("running"), "{probes:?}");
}

#[tokio::test]
async fn configured_prices_are_counted() {
    let mock = server_without_chat();
    let list = json!({"data": [{"id": "a"}, {"id": "b/c"}, {"id": "d"}]});
    mock.list(move |_| MockResponse::json(200, &list));
    let url = mock.url();
    let config = format!(
        "[providers.local]\nbase_url = \"{url}\"\n[prices]\n\"local/a\" = {{ input = 1, output = 1 }}\n\
         \"local/b/c\" = {{ input = 0, output = 0 }}\n\"other/d\" = {{ input = 1, output = 1 }}"
    );
    let catalogue = ModelCatalogue::new(toml::from_str::<ModelsConfig>(&config).unwrap(), |_| None);
    assert_eq!(probed(&catalogue, LONG_TIMEOUT, "local").await.models_priced, 2);
}
