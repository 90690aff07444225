//! Keys on disk: created on first use, rotated, trusted and distrusted.

use std::fs;
use std::process::{Command, Stdio};

use agon_publish::receipts::{InvalidKey, KeyStanding, Keyring, KeyringError, SecretKey};

const NOW: &str = "2026-02-01T08:30:00Z";
const CHILD: &str = "AGON_TEST_KEYRING";

#[test]
fn a_key_is_created_on_first_use_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let ring = Keyring::new(folder.path().join("deep/er"));
    assert_eq!(ring.own().unwrap(), None);
    assert_eq!(ring.known().unwrap(), []);
    assert!(!ring.folder().exists(), "reading creates nothing");
    let key = ring.key().unwrap().public();
    assert_eq!(ring.key().unwrap().public(), key);
    assert_eq!(ring.own().unwrap(), Some(key.clone()));
    assert_eq!(fs::read_to_string(ring.folder().join("agon.pub")).unwrap(), format!("{key}\n"));
    assert_eq!(key.id().len(), 16);
}

#[cfg(unix)]
#[test]
fn a_private_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let ring = Keyring::new(folder.path().join("keys"));
    let old = ring.key().unwrap().public();
    let file = ring.folder().join("agon.key");
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(file.as_path()), mode(ring.folder())), (0o600, 0o700));
    for open in [0o640, 0o604, 0o620, 0o666] {
        fs::set_permissions(&file, fs::Permissions::from_mode(open)).unwrap();
        let why = ring.key().unwrap_err().to_string();
        assert!(why.contains("others on this machine can read this private key"), "{why}");
        // Receipts can still be checked.
        assert_eq!(ring.known().unwrap().len(), 1);
    }
    // The advice of the error works.
    let (gone, new) = ring.rotate(NOW).unwrap();
    assert_eq!(gone, Some(old));
    assert_eq!(ring.key().unwrap().public(), new);
    assert_eq!(mode(file.as_path()), 0o600);
}

#[test]
fn after_a_rotation_the_old_private_key_is_gone_and_its_public_half_is_retired() {
    let folder = tempfile::tempdir().unwrap();
    let ring = Keyring::new(folder.path());
    let secret = |ring: &Keyring| fs::read_to_string(ring.folder().join("agon.key")).unwrap();
    let first = ring.key().unwrap().public();
    let old_secret = secret(&ring);
    let (old, new) = ring.rotate(NOW).unwrap();
    assert_eq!(old, Some(first.clone()));
    assert_ne!(new, first);
    for entry in walk(folder.path()) {
        assert!(!fs::read_to_string(&entry).unwrap().contains(old_secret.trim()), "{}", entry.display());
    }
    let known = ring.known().unwrap();
    assert_eq!((&known[0].key, &known[0].standing), (&new, &KeyStanding::Own));
    assert_eq!((&known[1].key, &known[1].standing), (&first, &KeyStanding::Retired { at: NOW.into() }));
    let (_, newest) = ring.rotate(NOW).unwrap();
    assert_eq!(ring.known().unwrap().len(), 3);
    assert_eq!(ring.own().unwrap(), Some(newest));
}

#[test]
fn an_interrupted_rotation_keeps_the_old_key() {
    let folder = tempfile::tempdir().unwrap();
    let ring = Keyring::new(folder.path());
    let own = ring.key().unwrap().public();
    // The key is listed as retired but still there, and there is a half-written file.
    fs::create_dir(folder.path().join("retired")).unwrap();
    fs::write(folder.path().join(format!("retired/{}.pub", own.id())), format!("{own} retired {NOW}\n"))
        .unwrap();
    fs::remove_file(folder.path().join("agon.pub")).unwrap();
    fs::write(folder.path().join("agon.part"), "ed25519-sec").unwrap();
    let known = ring.known().unwrap();
    assert_eq!((known.len(), &known[0].standing), (1, &KeyStanding::Own));
    assert_eq!(ring.key().unwrap().public(), own);
    assert_eq!(ring.rotate(NOW).unwrap().0, Some(own));
}

#[test]
fn a_key_is_trusted_by_name_and_distrusted_again() {
    let folder = tempfile::tempdir().unwrap();
    let ring = Keyring::new(folder.path());
    let (alice, bob) = (SecretKey::make().unwrap().public(), SecretKey::make().unwrap().public());
    ring.trust("alice", &alice, NOW).unwrap();
    ring.trust("bob.b-2_", &bob, NOW).unwrap();
    let names: Vec<KeyStanding> = ring.known().unwrap().into_iter().map(|known| known.standing).collect();
    assert_eq!(names, ["alice", "bob.b-2_"].map(|name| KeyStanding::Trusted { name: name.into() }));
    assert!(matches!(
        ring.trust("alice", &SecretKey::make().unwrap().public(), NOW),
        Err(KeyringError::Taken { .. })
    ));
    assert!(matches!(
        ring.trust("Alice", &SecretKey::make().unwrap().public(), NOW),
        Err(KeyringError::Taken { .. })
    ));
    assert!(matches!(ring.trust("carol", &alice, NOW), Err(KeyringError::Known { .. })));
    assert_eq!(ring.distrust("alice").unwrap(), alice);
    assert!(matches!(ring.distrust("alice"), Err(KeyringError::Unknown(_))));
    assert_eq!(ring.known().unwrap().len(), 1);
    let bobs_key = &ring.known().unwrap()[0];
    let document = serde_json::json!({"key": bob.to_string(), "standing": "trusted", "name": "bob.b-2_"});
    assert_eq!(serde_json::to_value(bobs_key).unwrap(), document);
    let own = ring.key().unwrap().public();
    let why = ring.trust("me", &own, NOW).unwrap_err().to_string();
    assert!(why.contains("already on your keyring: it is your own key"), "{why}");
}

#[test]
fn a_name_cannot_leave_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let ring = Keyring::new(folder.path().join("keys"));
    let key = SecretKey::make().unwrap().public();
    for name in ["", "..", "../x", "a/b", "a\\b", ".hidden", "-x", "ü", "a b", &"a".repeat(65)] {
        assert!(matches!(ring.trust(name, &key, NOW), Err(KeyringError::Name(_))), "{name}");
        assert!(matches!(ring.distrust(name), Err(KeyringError::Name(_))), "{name}");
    }
    assert!(!folder.path().join("keys").exists());
}

#[test]
fn an_error_about_a_damaged_file_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let ring = Keyring::new(folder.path());
    ring.trust("alice", &SecretKey::make().unwrap().public(), NOW).unwrap();
    fs::write(folder.path().join("trusted/alice.pub"), "ed25519:AAAA\n").unwrap();
    let why = ring.known().unwrap_err();
    assert!(matches!(&why, KeyringError::Public { why: InvalidKey::Bytes, .. }), "{why}");
    assert!(why.to_string().contains("alice.pub"), "{why}");
    ring.key().unwrap();
    fs::write(folder.path().join("agon.key"), "ed25519-secret:AAAA\n").unwrap();
    assert!(matches!(ring.key(), Err(KeyringError::Damaged { .. })));
}

#[test]
fn processes_that_create_the_key_at_the_same_time_get_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    let child = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "keyring::print_the_key_of_a_child_process", "--nocapture"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..6).map(|_| child()).collect();
    let mut keys: Vec<String> = children
        .into_iter()
        .map(|child| {
            let printed = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
            let key = printed.split("key:").nth(1).and_then(|rest| rest.split_whitespace().next());
            key.unwrap_or_else(|| panic!("no key in {printed}")).to_owned()
        })
        .collect();
    keys.dedup();
    assert_eq!(keys, [Keyring::new(folder.path()).own().unwrap().unwrap().id()]);
}

/// Does nothing by itself. The test above runs it in child processes.
#[test]
fn print_the_key_of_a_child_process() {
    if let Some(folder) = std::env::var_os(CHILD) {
        println!("key:{} ", Keyring::new(folder).key().unwrap().public().id());
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

/// For example because it was stolen.
#[test]
fn a_retired_key_can_be_distrusted() {
    let folder = tempfile::tempdir().unwrap();
    let ring = Keyring::new(folder.path());
    ring.key().unwrap();
    let (old, _) = ring.rotate(NOW).unwrap();
    let old = old.unwrap();
    assert!(ring.known().unwrap().iter().any(|known| known.key == old));
    assert_eq!(ring.distrust(&old.id()).unwrap(), old);
    assert!(ring.known().unwrap().iter().all(|known| known.key != old));
}
