//! Reads CSV files, gzipped or not.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use csv::StringRecord;
use flate2::read::MultiGzDecoder;

use crate::audit::AuditError;

/// Larger tables are refused, because a small gzip file can unpack to an enormous one.
const LENGTH_MB_MAX: u64 = 1_024;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Named columns and at least one row. Cells have no white space around them.
#[derive(Debug, Clone)]
pub struct AuditTable {
    header: StringRecord,
    rows: Vec<StringRecord>,
}

impl AuditTable {
    /// Reads a file.
    pub fn open(file: &Path) -> Result<Self, AuditError> {
        Self::read(std::fs::File::open(file)?)
    }

    /// Reads CSV. Gzip is recognised by its first bytes, not by a file name.
    pub fn read(mut source: impl Read) -> Result<Self, AuditError> {
        let mut bytes = Vec::new();
        read_limited(&mut source, &mut bytes).map_err(AuditError::Unreadable)?;
        if bytes.starts_with(&GZIP_MAGIC) {
            let mut text = Vec::new();
            read_limited(&mut MultiGzDecoder::new(bytes.as_slice()), &mut text).map_err(AuditError::Gzip)?;
            bytes = text;
        }
        if bytes.len() as u64 > LENGTH_MB_MAX << 20 {
            return Err(AuditError::TooLong(LENGTH_MB_MAX));
        }
        Self::parse(&bytes)
    }

    fn parse(bytes: &[u8]) -> Result<Self, AuditError> {
        // Some programs write a byte order mark, which would become part of the first column's name.
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
        let header = reader.headers().map_err(csv_error)?.clone();
        let rows = reader.records().collect::<Result<Vec<_>, _>>().map_err(csv_error)?;
        let mut seen = BTreeSet::new();
        if let Some(name) = header.iter().find(|name| !seen.insert(*name)) {
            return Err(AuditError::DuplicateColumn(name.to_owned()));
        }
        if rows.is_empty() {
            return Err(AuditError::NoRows);
        }
        Ok(Self { header, rows })
    }

    /// The names of the columns, in order.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.header.iter()
    }

    /// The number of rows, which is never 0.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// The cells of a column, row by row, if the column exists.
    pub fn find(&self, name: &str) -> Option<Vec<&str>> {
        let place = self.header.iter().position(|column| column == name)?;
        Some(self.rows.iter().map(|row| row.get(place).unwrap_or_default()).collect())
    }

    /// The cells of a column, row by row.
    pub fn column(&self, name: &str) -> Result<Vec<&str>, AuditError> {
        let missing = || AuditError::NoColumn { name: name.to_owned(), columns: quoted_list(self.columns()) };
        self.find(name).ok_or_else(missing)
    }
}

/// Quotes names for a sentence and shortens long lists.
pub(crate) fn quoted_list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN_MAX: usize = 24;
    let names: Vec<&str> = names.collect();
    let shown = names.iter().take(SHOWN_MAX).map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN_MAX) {
        0 if names.is_empty() => "none".into(),
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Reads at most one byte more than allowed, which is enough to detect a table that is too long.
fn read_limited(source: &mut impl Read, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
    source.take((LENGTH_MB_MAX << 20) + 1).read_to_end(bytes)
}

fn csv_error(error: csv::Error) -> AuditError {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => AuditError::Ragged {
            line: pos.as_ref().map_or(0, csv::Position::line),
            expected: *expected_len,
            found: *len,
        },
        csv::ErrorKind::Utf8 { pos, .. } => AuditError::NotText(pos.as_ref().map_or(1, csv::Position::line)),
        _ => AuditError::Malformed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzipped(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn refused(bytes: &[u8]) -> String {
        AuditTable::read(bytes).unwrap_err().to_string()
    }

    #[test]
    fn reads_plain_and_gzipped_tables() {
        let text = "\u{feff}id , gold\r\n\r\n1,\" a, b \"\r\n2,\n";
        for bytes in [
            text.as_bytes().to_vec(),
            gzipped(text),
            [gzipped("id,gold\n1,\"a, b\"\n"), gzipped("2,\n")].concat(),
        ] {
            let table = AuditTable::read(bytes.as_slice()).unwrap();
            assert_eq!(table.columns().collect::<Vec<_>>(), ["id", "gold"]);
            assert_eq!(table.column("gold").unwrap(), ["a, b", ""]);
            assert_eq!(table.row_count(), 2);
        }
    }

    #[test]
    fn invalid_tables_are_refused_with_a_reason() {
        let gz = gzipped("id,gold\n1,2\n");
        for (bytes, sentence) in [
            (&b""[..], "has no rows"),
            (b"id,gold\n", "has no rows"),
            (b"id,gold\n1,2\n3\n", "line 3 has 1 cells and the first line has 2"),
            (b"id,\"x\ny\"\n1,2\n3,4,5\n", "line 4 has 3 cells"),
            (b"id,gold,id\n1,2,3\n", "two columns named \"id\""),
            (b"id,gold\n1,2\n3,\xff\n", "line 3 is not UTF-8"),
            (b"id,\xff\n1,2\n", "line 1 is not UTF-8"),
            (&gz[..gz.len() - 9], "broken or cut short"),
            (b"\x1f\x8b nothing like it", "broken or cut short"),
        ] {
            let found = refused(bytes);
            assert!(found.contains(sentence), "{found}");
        }
        assert!(
            AuditTable::open(Path::new("no/such.csv")).unwrap_err().to_string().starts_with("cannot be read")
        );
    }

    #[test]
    fn a_missing_column_is_reported_with_the_existing_ones() {
        let table = AuditTable::read(&b"id,gold\n1,2\n"[..]).unwrap();
        let found = table.column("Gold").unwrap_err().to_string();
        assert_eq!(found, "has no column \"Gold\"; it has \"id\", \"gold\"");
        assert_eq!(quoted_list(std::iter::empty()), "none");
        assert!(quoted_list(std::iter::repeat_n("a", 30)).ends_with("\"a\" and 6 more"));
    }
}
