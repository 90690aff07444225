//! The files of a keyring: written whole or not at all, private ones for their owner's eyes only.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use super::KeyringError;
use crate::key::{PublicKey, SecretKey};

const LOCK: &str = "lock";

/// Makes the folder if it is not there, and holds everybody else up until the file is dropped.
pub(super) fn lock(folder: &Path) -> Result<File, KeyringError> {
    make_folder(folder)?;
    let path = folder.join(LOCK);
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(failed(&path))?;
    match file.lock() {
        // Some network disks have no locks. There, two first uses in the same moment may make two keys, of which the
        // later one stays.
        Err(why) if why.kind() != ErrorKind::Unsupported => Err(failed(&path)(why)),
        _ => Ok(file),
    }
}

/// Refuses a private key that others can read.
#[cfg(unix)]
pub(super) fn check_mode(file: &Path) -> Result<(), KeyringError> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = match fs::metadata(file) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.map_err(failed(file))?.permissions().mode() & 0o777,
    };
    if mode & 0o077 == 0 { Ok(()) } else { Err(KeyringError::Open { file: file.to_owned(), mode }) }
}

/// Other systems keep a person's files from others by where they are.
#[cfg(not(unix))]
pub(super) fn check_mode(_: &Path) -> Result<(), KeyringError> {
    Ok(())
}

/// The private key in a file, whoever can read it; `None` without such a file.
pub(super) fn read_secret_unguarded(file: &Path) -> Result<Option<SecretKey>, KeyringError> {
    let Some(text) = read(file)? else { return Ok(None) };
    let damaged = || KeyringError::Damaged { file: file.to_owned() };
    SecretKey::parse(&text).map(Some).ok_or_else(damaged)
}

/// The public key in a file and the words after it; `None` without such a file.
pub(super) fn read_public(file: &Path) -> Result<Option<(PublicKey, String)>, KeyringError> {
    let Some(text) = read(file)? else { return Ok(None) };
    let (key, words) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let key = PublicKey::parse(key).map_err(|why| KeyringError::Public { file: file.to_owned(), why })?;
    Ok(Some((key, words.to_owned())))
}

/// The public keys in a folder: each with its file's name and the time after `word`, by name.
pub(super) fn public_keys(
    folder: &Path,
    word: &str,
) -> Result<Vec<(String, PublicKey, String)>, KeyringError> {
    let entries = match fs::read_dir(folder) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed(folder))?,
    };
    let mut keys = Vec::new();
    for entry in entries {
        let file = entry.map_err(failed(folder))?.path();
        let Some(name) = file.file_name().and_then(|name| name.to_str()?.strip_suffix(".pub")) else {
            continue;
        };
        if let Some((key, words)) = read_public(&file)? {
            let at = words.strip_prefix(word).unwrap_or_default().trim().to_owned();
            keys.push((name.to_owned(), key, at));
        }
    }
    keys.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(keys)
}

/// Writes a public key and some words after it.
pub(super) fn write_public(file: &Path, key: &PublicKey, words: &str) -> Result<(), KeyringError> {
    if let Some(folder) = file.parent() {
        make_folder(folder)?;
    }
    write(file, &format!("{}\n", format!("{key} {words}").trim()))
}

/// Writes a file that only its owner may read: whole, on the disk, and then under its name.
pub(super) fn write(file: &Path, text: &str) -> Result<(), KeyringError> {
    let part = file.with_extension("part");
    let written = write_part(&part, text).and_then(|()| fs::rename(&part, file));
    if written.is_err() {
        // The error that matters is the first one.
        drop(fs::remove_file(&part));
    }
    written.map_err(failed(file))?;
    // Only some systems let a folder be opened to be flushed; the others do not need it.
    if let Some(folder) = file.parent().and_then(|folder| File::open(folder).ok()) {
        drop(folder.sync_all());
    }
    Ok(())
}

/// Removes a file if it is there.
pub(super) fn remove(file: &Path) -> Result<(), KeyringError> {
    match fs::remove_file(file) {
        Err(why) if why.kind() != ErrorKind::NotFound => Err(failed(file)(why)),
        _ => Ok(()),
    }
}

fn read(file: &Path) -> Result<Option<String>, KeyringError> {
    match fs::read_to_string(file) {
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(failed(file)),
    }
}

fn write_part(part: &Path, text: &str) -> io::Result<()> {
    // What a crash left behind is nobody's: the caller holds the lock.
    match fs::remove_file(part) {
        Err(why) if why.kind() != ErrorKind::NotFound => return Err(why),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(part)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()
}

fn make_folder(folder: &Path) -> Result<(), KeyringError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(failed(folder))
}

fn failed(file: &Path) -> impl Fn(io::Error) -> KeyringError {
    move |why| KeyringError::File { file: file.to_owned(), why }
}
