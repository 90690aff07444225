//! Pulls from several processes: one is killed in the middle of a download, and one waits for another.

use std::process::{Child, Command, Stdio};

use agon_embedded::model_files::{ModelFileState, ModelFileStore, PullSource};

use crate::fixtures::{TestStore, model, one_file, run, settings, until};
use crate::server::{FileServer, ServerBehaviour};

const STORE_VARIABLE: &str = "AGON_TEST_STORE";
const HUB_VARIABLE: &str = "AGON_TEST_HUB";

/// The other process, which pulls until it has the model or is killed.
#[test]
#[ignore = "the other tests here start it as a separate process"]
fn the_other_process() {
    let (store, hub) = (std::env::var(STORE_VARIABLE).unwrap(), std::env::var(HUB_VARIABLE).unwrap());
    let model = model(&one_file());
    run(ModelFileStore::new(store).pull(model, &PullSource::Hub, &settings(&hub), &|_| ())).unwrap();
}

fn start_other(test: &TestStore, hub: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["processes::the_other_process", "--exact", "--ignored"])
        .env(STORE_VARIABLE, test.folder.path().join("models"))
        .env(HUB_VARIABLE, hub)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_download_is_resumed() {
    let test = TestStore::of(one_file());
    let stalled = FileServer::start(&test.files, |_| ServerBehaviour {
        cut_bytes: Some(120_000),
        hang: true,
        ..ServerBehaviour::default()
    });
    let mut other = start_other(&test, &stalled.url());
    let so_far = ModelFileState::Partial { done_bytes: 120_000, total_bytes: 200_000 };
    run(until(|| test.state() == so_far));
    other.kill().unwrap();
    other.wait().unwrap();
    let server = FileServer::well_behaved(&test.files);
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
    assert_eq!(server.ranges(), [Some("bytes=120000-".to_owned())]);
}

#[test]
fn processes_that_pull_at_the_same_time_download_once() {
    let test = TestStore::of(one_file());
    let server = FileServer::well_behaved(&test.files);
    let others: Vec<Child> = (0..4).map(|_| start_other(&test, &server.url())).collect();
    for mut other in others {
        assert!(other.wait().unwrap().success());
    }
    test.assert_present();
    assert_eq!(server.requests().len(), 1);
}
