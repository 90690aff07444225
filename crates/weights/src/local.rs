//! A file, a wheel or a folder at hand.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::aside::Tell;
use crate::error::Trouble;
use crate::known::{Known, KnownFile};
use crate::{keep, wheel};

/// Copies the wanted files from `path` into the folder. What is at `path` stays as it is.
pub(crate) fn bring(
    path: &Path,
    known: &Known,
    wanted: &[KnownFile],
    folder: &Path,
    tell: &Tell,
) -> Result<(), Trouble> {
    let unreadable = |error: io::Error| Trouble::Source(format!("it cannot be read ({error})"));
    let metadata = fs::metadata(path).map_err(unreadable)?;
    let found = if metadata.is_dir() {
        match in_folder(path, known, wanted)? {
            Found::Wheel(wheel) => return wheel::unpack(&wheel, known, wanted, folder, tell),
            Found::Files(files) => files,
        }
    } else if is_wheel(path).map_err(unreadable)? {
        return wheel::unpack(path, known, wanted, folder, tell);
    } else {
        beside(path, metadata.len(), known, wanted)?
    };
    for (file, from) in wanted.iter().zip(found) {
        let mut from = File::open(from).map_err(unreadable)?;
        keep::take_in(folder, file, &mut from, tell)?;
    }
    Ok(())
}

enum Found {
    /// A path for each wanted file.
    Files(Vec<PathBuf>),
    Wheel(PathBuf),
}

/// The files under their own names, or as they lie in an unpacked wheel, or the wheel itself.
fn in_folder(folder: &Path, known: &Known, wanted: &[KnownFile]) -> Result<Found, Trouble> {
    let unpacked = folder.join(known.wheel.folder);
    let find = |file: &KnownFile| {
        [folder, &unpacked].into_iter().map(|place| place.join(file.name)).find(|path| path.is_file())
    };
    let files: Vec<PathBuf> = wanted.iter().filter_map(find).collect();
    if files.len() == wanted.len() {
        return Ok(Found::Files(files));
    }
    let begins = format!("{}-{}-", known.wheel.package.replace('-', "_"), known.wheel.version);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut wheels = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&begins) && name.ends_with(".whl")
    });
    wheels.next().map(Found::Wheel).ok_or_else(|| lacks("in the folder", known, wanted, find))
}

/// The file itself, known by its size, and the others of the model beside it.
fn beside(path: &Path, bytes: u64, known: &Known, wanted: &[KnownFile]) -> Result<Vec<PathBuf>, Trouble> {
    let Some(given) = known.files.iter().find(|file| file.bytes == bytes) else {
        let wants: Vec<String> =
            known.files.iter().map(|file| format!("{} ({} bytes)", file.name, file.bytes)).collect();
        let why = format!(
            "it has {bytes} bytes and is no wheel; of {} there is {}",
            known.name,
            wants.join(" and ")
        );
        return Err(Trouble::Source(why));
    };
    let find = |file: &KnownFile| {
        let sibling = path.with_file_name(file.name);
        if file == given { Some(path.to_owned()) } else { sibling.is_file().then_some(sibling) }
    };
    let files: Vec<PathBuf> = wanted.iter().filter_map(find).collect();
    if files.len() == wanted.len() { Ok(files) } else { Err(lacks("beside it", known, wanted, find)) }
}

fn lacks(
    place: &str,
    known: &Known,
    wanted: &[KnownFile],
    find: impl Fn(&KnownFile) -> Option<PathBuf>,
) -> Trouble {
    let missing: Vec<&str> =
        wanted.iter().filter(|file| find(file).is_none()).map(|file| file.name).collect();
    let (missing, wheel) = (missing.join(" and "), known.wheel);
    Trouble::Source(format!(
        "there is no {missing} {place}: put all files of {} into one folder and name that, or name the wheel {} {}",
        known.name, wheel.package, wheel.version
    ))
}

fn is_wheel(path: &Path) -> io::Result<bool> {
    let mut begin = Vec::with_capacity(wheel::MAGIC.len());
    File::open(path)?.take(wheel::MAGIC.len() as u64).read_to_end(&mut begin)?;
    Ok(begin == wheel::MAGIC)
}
