//! Stores on a PostgreSQL server, and a process that is stopped while it runs a debate.

use std::io::{BufRead, BufReader};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agon_mock::{MockServer, MockSettings, PostgresInstance, converging_debate};
use serde_json::Value;

use crate::support::{Home, said};

/// The address of a new database, or `None` if PostgreSQL is not installed. The password is not needed, and nobody may print it.
fn database() -> Option<String> {
    static DATABASES: AtomicUsize = AtomicUsize::new(0);
    let server = PostgresInstance::shared()?;
    let name = format!("agon{}", DATABASES.fetch_add(1, Ordering::Relaxed));
    let mut admin = postgres::Client::connect(&server.address("postgres"), postgres::NoTls).unwrap();
    admin.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
    Some(server.address(&name).replace("postgres@", "postgres:secret@"))
}

#[test]
fn debates_are_held_and_kept_on_a_server_and_copied_to_a_file() {
    let Some(address) = database() else { return };
    let home = Home::new();
    let debate = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--seed", "7", "--quiet"];
    let held = home.agon(&[&debate[..], &["--db", &address]].concat()).ok();
    assert!(
        held.out.contains(" --db postgres://postgres@127.0.0.1") && !held.out.contains("secret"),
        "{held:?}"
    );
    let env = [("AGON_DB", address.as_str())];
    let agon = |args: &[&str]| home.agon_in(&env, args);
    let listed = agon(&["list", "--json"]).ok().json();
    assert_eq!(listed[0]["status"], "complete");
    assert_eq!(agon(&["search", "spaces", "--json"]).ok().json().as_array().unwrap().len(), 1);
    agon(&["verify", "last"]).ok();
    let doctor = agon(&["doctor", "--offline"]);
    assert!(doctor.out.contains("PostgreSQL 1") && doctor.out.contains("schema version 1"), "{doctor:?}");
    assert!(!doctor.out.contains("secret"), "{doctor:?}");
    assert!(!home.path("home/agon.db").exists(), "there is no file");

    let copied = home.agon(&["store", "copy", &address, "copy.db", "--json"]).ok().json();
    assert_eq!((&copied["copied"], &copied["refused"]), (&1.into(), &Value::Array(vec![])));
    let of = |store: &str| home.agon(&["export", "last", "--format", "json", "--db", store]).ok().json();
    assert_eq!(of("copy.db")["log"], of(&address)["log"]);
    home.agon(&["verify", "last", "--db", "copy.db"]).ok();
    let again = home.agon(&["store", "copy", "copy.db", &address]).ok();
    assert!(again.out.starts_with("0 debates copied, 1 there already."), "{again:?}");
}

#[test]
fn a_server_that_is_not_there_is_explained_without_the_password() {
    let said = Home::new().agon(&["list", "--db", "postgres://me:secret@127.0.0.1:1/agon"]);
    assert_eq!(said.status, Some(3), "{said:?}");
    assert!(said.err.contains("postgres://me@127.0.0.1:1/agon") && !said.err.contains("secret"), "{said:?}");
}

/// For each debate how many calls its log has.
fn calls_in(log: &Value) -> usize {
    let events = log.as_array().unwrap().iter().map(|link| link["body"].as_str().unwrap());
    events.filter(|body| serde_json::from_str::<Value>(body).unwrap()["event"] == "sent").count()
}

/// It is stopped, not killed: its connection stays, and so does its lock. Another process takes over after a while and finishes.
#[test]
fn a_process_that_is_stopped_loses_its_debate_and_can_write_nothing_when_it_goes_on() {
    let Some(address) = database() else { return };
    let home = Home::new();
    let responder = converging_debate(Duration::from_millis(150));
    let mock = MockServer::start(MockSettings { responder, keep: 1_000 }).unwrap();
    let url = mock.url();
    let env = [
        ("AGON_DB", address.as_str()),
        ("AGON_TAKEOVER_S", "1"),
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-0123456789"),
    ];
    let debate = ["deep", "Tabs or spaces?", "--models", "openai/x", "--seed", "7", "--events"];
    let mut first = home.command(&debate).envs(env).spawn().unwrap();
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines();
    while !lines.next().unwrap().unwrap().contains("\"event\":\"replied\"") {}
    std::thread::spawn(move || lines.for_each(drop));
    let signal = |name: &str| {
        assert!(Command::new("kill").args([name, &first.id().to_string()]).status().unwrap().success());
    };
    signal("-STOP");
    let second = loop {
        let second = home.agon_in(&env, &["resume", "last", "--json"]);
        if !second.err.contains("is being run by another process") {
            break second.ok().json();
        }
    };
    assert_eq!(second["status"], "complete");
    let log = || home.agon_in(&env, &["export", "last", "--format", "json"]).ok().json()["log"].clone();
    let before = log();
    signal("-CONT");
    let first = said(first);
    assert_ne!(first.status, Some(0), "{first:?}");
    assert!(
        first.err.contains("was taken over by another process") || first.err.contains("is over"),
        "{first:?}"
    );
    assert_eq!(log(), before, "the log has nothing of it");
    assert!(mock.calls() as usize <= calls_in(&before), "every call is in the log");
    home.agon_in(&env, &["verify", "last"]).ok();
}
