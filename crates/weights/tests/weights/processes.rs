//! "resumable": a process that is killed in the middle of a download, and one that waits for another.

use std::process::{Child, Command, Stdio};

use agon_weights::{Shelf, Source, State};

use crate::server::{Manner, Server};
use crate::things::{Home, model, one_file, run, until, ways};

const SHELF: &str = "AGON_WEIGHTS_TEST_SHELF";
const HUB: &str = "AGON_WEIGHTS_TEST_HUB";

/// The other process: pulls until it has the model or is killed.
#[test]
#[ignore = "the other tests here start it as a process of its own"]
fn the_other_process() {
    let (shelf, hub) = (std::env::var(SHELF).unwrap(), std::env::var(HUB).unwrap());
    let known = model(&one_file());
    run(Shelf::new(shelf).pull(known, &Source::Hub, &ways(&hub), &|_| ())).unwrap();
}

fn other(home: &Home, hub: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["processes::the_other_process", "--exact", "--ignored"])
        .env(SHELF, home.folder.path().join("models"))
        .env(HUB, hub)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_download_is_taken_up_where_it_ended() {
    let home = Home::of(one_file());
    let stalled =
        Server::start(&home.files, |_| Manner { cut_bytes: Some(120_000), hang: true, ..Manner::default() });
    let mut other = other(&home, &stalled.url());
    let so_far = State::Partial { done_bytes: 120_000, total_bytes: 200_000 };
    run(until(|| home.state() == so_far));
    other.kill().unwrap();
    other.wait().unwrap();
    let server = Server::well_behaved(&home.files);
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
    assert_eq!(server.ranges(), [Some("bytes=120000-".to_owned())]);
}

#[test]
fn processes_that_pull_at_once_download_once() {
    let home = Home::of(one_file());
    let server = Server::well_behaved(&home.files);
    let others: Vec<Child> = (0..4).map(|_| other(&home, &server.url())).collect();
    for mut other in others {
        assert!(other.wait().unwrap().success());
    }
    home.assert_present();
    assert_eq!(server.requests().len(), 1);
}
