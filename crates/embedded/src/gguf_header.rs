//! Reads the header of a GGUF file. What candle takes for granted is checked first: a file that states an alignment of 0, or a tensor
//! with more weights than can be counted, would stop it with a panic.

use std::io::{self, Read, Seek, SeekFrom};

use candle_core::quantized::gguf_file::Content;

use crate::EmbeddedError;
use crate::embedded_error::first_line;

const ALIGNMENT_KEY: &[u8] = b"general.alignment";
/// The bytes of a value of each type in a file: whole numbers, fractions and flags; `None` for text and lists.
const TYPE_BYTES: [Option<u64>; 13] = [
    Some(1),
    Some(1),
    Some(2),
    Some(2),
    Some(4),
    Some(4),
    Some(4),
    Some(1),
    None,
    None,
    Some(8),
    Some(8),
    Some(8),
];
const TEXT_TYPE: u64 = 8;
/// Lists in lists, as deep as candle reads them.
const DEPTH_MAX: usize = 64;

/// The header of the file, which is read from its start.
pub(crate) fn read_header(file: &mut (impl Read + Seek)) -> Result<Content, EmbeddedError> {
    file.seek(SeekFrom::Start(0))?;
    if !has_usable_alignment(file) {
        return Err(EmbeddedError::File("it states an alignment of 0".into()));
    }
    file.seek(SeekFrom::Start(0))?;
    let content = Content::read(file)
        .map_err(|why| EmbeddedError::File(format!("it is not a GGUF file: {}", first_line(&why))))?;
    for (name, info) in &content.tensor_infos {
        // A tensor without weights has no bytes, so that nothing would limit its other dimensions.
        let mut dimensions = info.shape.dims().iter();
        if matches!(dimensions.try_fold(1_usize, |count, more| count.checked_mul(*more)), None | Some(0)) {
            return Err(EmbeddedError::File(format!("it has no usable {name}")));
        }
    }
    Ok(content)
}

/// Whether no alignment in the metadata is 0. Metadata that cannot be read are left to candle, which says what is wrong with them.
fn has_usable_alignment(file: &mut impl Read) -> bool {
    let mut is_usable = true;
    // An error ends the walk where candle's ends, too.
    let _ = each_alignment(file, &mut |bytes| is_usable &= bytes.iter().any(|byte| *byte != 0));
    is_usable
}

/// Calls `found` with the bytes of every alignment in the metadata.
fn each_alignment(file: &mut impl Read, found: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let (_magic, version) = (number(file, 4)?, number(file, 4)?);
    let length_bytes = if version == 1 { 4 } else { 8 };
    let (_tensors, entries) = (number(file, length_bytes)?, number(file, length_bytes)?);
    for _ in 0..entries {
        let length = number(file, length_bytes)?;
        let mut key = Vec::new();
        if file.take(length).read_to_end(&mut key)? as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let kind = number(file, 4)?;
        // candle ignores zeros at the end of a text.
        let end = key.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        match value_bytes(kind) {
            Some(bytes) if key.get(..end) == Some(ALIGNMENT_KEY) => {
                let mut value = Vec::new();
                file.take(bytes).read_to_end(&mut value)?;
                found(&value);
            }
            _ => skip_value(file, kind, length_bytes, 0)?,
        }
    }
    Ok(())
}

fn value_bytes(kind: u64) -> Option<u64> {
    TYPE_BYTES.get(usize::try_from(kind).ok()?).copied().flatten()
}

fn skip_value(file: &mut impl Read, kind: u64, length_bytes: usize, depth: usize) -> io::Result<()> {
    if depth > DEPTH_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    if let Some(bytes) = value_bytes(kind) {
        return skip(file, bytes);
    }
    if kind == TEXT_TYPE {
        let length = number(file, length_bytes)?;
        return skip(file, length);
    }
    let (kind, length) = (number(file, 4)?, number(file, length_bytes)?);
    match value_bytes(kind) {
        Some(bytes) => skip(file, length.saturating_mul(bytes)),
        None => (0..length).try_for_each(|_| skip_value(file, kind, length_bytes, depth + 1)),
    }
}

fn skip(file: &mut impl Read, bytes: u64) -> io::Result<()> {
    match io::copy(&mut file.take(bytes), &mut io::sink())? == bytes {
        true => Ok(()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// A number of four or eight bytes.
fn number(file: &mut impl Read, bytes: usize) -> io::Result<u64> {
    let mut number = [0; 8];
    file.read_exact(number.get_mut(..bytes).unwrap_or_default())?;
    Ok(u64::from_le_bytes(number))
}
