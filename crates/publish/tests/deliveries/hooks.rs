//! `[[hooks]]`: after which debates they run, and what they do.

use std::fs;
use std::path::Path;

use agon_publish::deliveries::{HookConfig, hooks_for};
use serde::Deserialize;

use crate::server::{Server, status};
use crate::things::{Office, State};

#[derive(Deserialize)]
struct File {
    hooks: Vec<HookConfig>,
}

fn bound(toml: &str, protocol: &str) -> Vec<String> {
    let File { hooks } = toml::from_str(toml).unwrap();
    hooks_for(&hooks, protocol).iter().map(ToString::to_string).collect()
}

/// "`on` = complete|incomplete|failed|any"
#[tokio::test]
async fn a_hook_is_for_the_endings_that_it_names() {
    for status in ["complete", "incomplete", "failed"] {
        let folder = tempfile::tempdir().unwrap();
        let toml: String = ["complete", "incomplete", "failed", "any"]
            .map(|on| format!("[[hooks]]\nname = \"{on}\"\non = \"{on}\"\nexport = {{ format = \"md\", dir = \"{on}\" }}\n"))
            .concat();
        let office = Office::of(status, &toml, folder.path(), &[]);
        let ids: Vec<usize> = bound(&toml, "arena").iter().map(|key| office.post("d-1", key)).collect();
        let report = office.run().await.unwrap();
        assert_eq!((ids.len(), report.delivered.len()), (4, 2), "{report:?}");
        assert!(
            ids.into_iter().all(|id| office.kept(id).state == State::Done),
            "what is not meant is over too"
        );
        for on in ["complete", "incomplete", "failed", "any"] {
            let written = folder.path().join(on).join("d-1.md").is_file();
            assert_eq!(written, on == status || on == "any", "{status}: {on}");
        }
    }
}

#[test]
fn a_hook_is_bound_to_the_debates_of_its_protocols() {
    let toml = "[[hooks]]\nname = \"a\"\nwebhook = \"x\"\n[[hooks]]\nname = \"b\"\nprotocols = [\"arena\", \"deep\"]\n\
                webhook = \"x\"\n[[hooks]]\nprotocols = []\nwebhook = \"x\"\n[[hooks]]\ncommand = [\"true\"]";
    assert_eq!(bound(toml, "arena").len(), 3);
    assert_eq!(bound(toml, "deep").len(), 3);
    let panel = bound(toml, "panel");
    assert_eq!((panel.len(), panel.contains(&"hook:a".to_owned())), (2, true), "{panel:?}");
}

#[tokio::test]
async fn a_webhook_is_an_address_or_a_name() {
    let server = Server::start(|_, _| status(200, "", ""));
    let toml = format!(
        "[destinations.ops]\nkind = \"discord\"\nurl = {:?}\n[[hooks]]\nname = \"a\"\nwebhook = {:?}\n[[hooks]]\nname = \"b\"\n\
         webhook = \"ops\"",
        server.url("/discord"),
        server.url("/callback"),
    );
    let office = Office::new(&toml, Path::new("/"), &[]);
    for key in ["hook:a", "hook:b"] {
        assert_eq!(office.once(key).await.state, State::Done, "{key}");
    }
    let requests = server.requests();
    assert_eq!((requests[0].path(), requests[0].header("agon-event")), ("/callback", Some("debate.closed")));
    assert_eq!((requests[1].path(), requests[1].header("agon-event")), ("/discord", None));
}

/// A delivery that was bound under another configuration never runs what it was not bound to.
#[tokio::test]
async fn a_hook_that_was_changed_is_not_run_for_an_older_delivery() {
    let folder = tempfile::tempdir().unwrap();
    let before = "[[hooks]]\nexport = { dir = \"before\" }";
    let after = "[[hooks]]\nexport = { dir = \"after\" }";
    let office = Office::new(after, folder.path(), &[]);
    let kept = office.once(&bound(before, "arena")[0]).await;
    assert_eq!(kept.state, State::Dead);
    assert!(kept.error.contains("no such [[hooks]] any more"), "{}", kept.error);
    assert_eq!(office.once(&bound(after, "arena")[0]).await.state, State::Done);
    let made: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(made, ["after"]);
}
