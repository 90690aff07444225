//! `[[hooks]]`: after which debates they run, and what they do.

use std::fs;
use std::path::Path;

use agon_core::Status;
use agon_publish::deliveries::{HookConfig, hooks_for};
use serde::Deserialize;

use crate::memory_outbox::{DeliveryBench, StoredState};
use crate::test_server::{TestServer, status};

#[derive(Deserialize)]
struct HooksFile {
    hooks: Vec<HookConfig>,
}

fn bound_hooks(toml: &str, protocol: &str) -> Vec<String> {
    let HooksFile { hooks } = toml::from_str(toml).unwrap();
    hooks_for(&hooks, protocol).iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_hook_runs_after_the_endings_it_names() {
    for status in [Status::Complete, Status::Incomplete, Status::Failed] {
        let folder = tempfile::tempdir().unwrap();
        let toml: String = ["complete", "incomplete", "failed", "any"]
            .map(|on| format!("[[hooks]]\nname = \"{on}\"\non = \"{on}\"\nexport = {{ format = \"md\", dir = \"{on}\" }}\n"))
            .concat();
        let bench = DeliveryBench::with_status(status, &toml, folder.path(), &[]);
        let ids: Vec<usize> = bound_hooks(&toml, "arena").iter().map(|key| bench.add("d-1", key)).collect();
        let report = bench.run().await.unwrap();
        assert_eq!((ids.len(), report.delivered.len()), (4, 2), "{report:?}");
        assert!(
            ids.into_iter().all(|id| bench.stored(id).state == StoredState::Done),
            "a skipped delivery is done"
        );
        for on in ["complete", "incomplete", "failed", "any"] {
            let written = folder.path().join(on).join("d-1.md").is_file();
            assert_eq!(written, on == status.as_str() || on == "any", "{status:?}: {on}");
        }
    }
}

#[test]
fn a_hook_is_bound_to_debates_of_its_protocols() {
    let toml = "[[hooks]]\nname = \"a\"\nwebhook = \"x\"\n[[hooks]]\nname = \"b\"\nprotocols = [\"arena\", \"deep\"]\n\
                webhook = \"x\"\n[[hooks]]\nprotocols = []\nwebhook = \"x\"\n[[hooks]]\ncommand = [\"true\"]";
    assert_eq!(bound_hooks(toml, "arena").len(), 3);
    assert_eq!(bound_hooks(toml, "deep").len(), 3);
    let panel = bound_hooks(toml, "panel");
    assert_eq!((panel.len(), panel.contains(&"hook:a".to_owned())), (2, true), "{panel:?}");
}

#[tokio::test]
async fn a_webhook_is_an_address_or_the_name_of_a_destination() {
    let server = TestServer::start(|_, _| status(200, "", ""));
    let toml = format!(
        "[destinations.ops]\nkind = \"discord\"\nurl = {:?}\n[[hooks]]\nname = \"a\"\nwebhook = {:?}\n[[hooks]]\nname = \"b\"\n\
         webhook = \"ops\"",
        server.url("/discord"),
        server.url("/callback"),
    );
    let bench = DeliveryBench::new(&toml, Path::new("/"), &[]);
    for key in ["hook:a", "hook:b"] {
        assert_eq!(bench.try_once(key).await.state, StoredState::Done, "{key}");
    }
    let requests = server.requests();
    assert_eq!((requests[0].path(), requests[0].header("agon-event")), ("/callback", Some("debate.closed")));
    assert_eq!((requests[1].path(), requests[1].header("agon-event")), ("/discord", None));
}

/// A delivery does only what it was bound to do.
#[tokio::test]
async fn a_changed_hook_does_not_run_for_an_older_delivery() {
    let folder = tempfile::tempdir().unwrap();
    let before = "[[hooks]]\nexport = { dir = \"before\" }";
    let after = "[[hooks]]\nexport = { dir = \"after\" }";
    let bench = DeliveryBench::new(after, folder.path(), &[]);
    let stored = bench.try_once(&bound_hooks(before, "arena")[0]).await;
    assert_eq!(stored.state, StoredState::Dead);
    assert!(stored.error.contains("no longer has these [[hooks]]"), "{}", stored.error);
    assert_eq!(bench.try_once(&bound_hooks(after, "arena")[0]).await.state, StoredState::Done);
    let made: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(made, ["after"]);
}
