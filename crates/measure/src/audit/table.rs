//! A CSV file, also a gzipped one.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use csv::StringRecord;
use flate2::read::MultiGzDecoder;

use crate::audit::Trouble;

/// A longer table is refused: a small gzip file can be a very long one.
const LENGTH_MB_MAX: u64 = 1_024;
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// So many columns are named in a sentence.
const NAMED_MAX: usize = 24;

/// Named columns and rows, all of one length, without the white space around what is in a cell.
#[derive(Debug, Clone)]
pub struct Table {
    head: StringRecord,
    rows: Vec<StringRecord>,
}

impl Table {
    /// Reads a file.
    pub fn open(file: &Path) -> Result<Self, Trouble> {
        Self::read(std::fs::File::open(file)?)
    }

    /// Reads CSV, gzipped if it begins so, whatever its name is.
    pub fn read(mut source: impl Read) -> Result<Self, Trouble> {
        let mut bytes = Vec::new();
        limited(&mut source, &mut bytes).map_err(Trouble::Unreadable)?;
        if bytes.starts_with(&GZIP) {
            let mut text = Vec::new();
            limited(&mut MultiGzDecoder::new(bytes.as_slice()), &mut text).map_err(Trouble::Gzip)?;
            bytes = text;
        }
        if bytes.len() as u64 > LENGTH_MB_MAX << 20 {
            return Err(Trouble::TooLong(LENGTH_MB_MAX));
        }
        Self::parse(&bytes)
    }

    fn parse(bytes: &[u8]) -> Result<Self, Trouble> {
        // Some programs put a mark before UTF-8, which would become part of the first column's name.
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
        let head = reader.headers().map_err(trouble)?.clone();
        let rows = reader.records().collect::<Result<Vec<_>, _>>().map_err(trouble)?;
        let mut seen = BTreeSet::new();
        if let Some(name) = head.iter().find(|name| !seen.insert(*name)) {
            return Err(Trouble::TwoColumns(name.to_owned()));
        }
        if rows.is_empty() {
            return Err(Trouble::NoRows);
        }
        Ok(Self { head, rows })
    }

    /// The names of the columns, in order.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.head.iter()
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Never: a table without rows is refused.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What is in the column of this name, row by row, if there is one.
    pub fn find(&self, name: &str) -> Option<Vec<&str>> {
        let place = self.head.iter().position(|column| column == name)?;
        Some(self.rows.iter().map(|row| row.get(place).unwrap_or_default()).collect())
    }

    /// What is in the column of this name, row by row.
    pub fn column(&self, name: &str) -> Result<Vec<&str>, Trouble> {
        self.find(name)
            .ok_or_else(|| Trouble::NoColumn { name: name.to_owned(), columns: listed(self.columns()) })
    }
}

/// Names for a sentence, not more than one can read.
pub(crate) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let shown = names.iter().take(NAMED_MAX).map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 if names.is_empty() => "none".into(),
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// One byte more than is allowed is enough to know.
fn limited(source: &mut impl Read, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
    source.take((LENGTH_MB_MAX << 20) + 1).read_to_end(bytes)
}

fn trouble(error: csv::Error) -> Trouble {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => Trouble::Ragged {
            line: pos.as_ref().map_or(0, csv::Position::line),
            expected: *expected_len,
            found: *len,
        },
        csv::ErrorKind::Utf8 { pos, .. } => Trouble::NotText(pos.as_ref().map_or(1, csv::Position::line)),
        _ => Trouble::Malformed(error.to_string()),
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
        Table::read(bytes).unwrap_err().to_string()
    }

    /// "on CSV (also .gz)": by what it begins with, so that its name does not matter.
    #[test]
    fn a_table_is_read_gzipped_or_not() {
        let text = "\u{feff}id , gold\r\n\r\n1,\" a, b \"\r\n2,\n";
        for bytes in [
            text.as_bytes().to_vec(),
            gzipped(text),
            [gzipped("id,gold\n1,\"a, b\"\n"), gzipped("2,\n")].concat(),
        ] {
            let table = Table::read(bytes.as_slice()).unwrap();
            assert_eq!(table.columns().collect::<Vec<_>>(), ["id", "gold"]);
            assert_eq!(table.column("gold").unwrap(), ["a, b", ""]);
            assert_eq!(table.len(), 2);
        }
    }

    #[test]
    fn what_is_no_table_is_refused_with_a_sentence() {
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
        assert!(Table::open(Path::new("no/such.csv")).unwrap_err().to_string().starts_with("cannot be read"));
    }

    #[test]
    fn a_column_that_is_not_there_is_named_beside_those_that_are() {
        let table = Table::read(&b"id,gold\n1,2\n"[..]).unwrap();
        let found = table.column("Gold").unwrap_err().to_string();
        assert_eq!(found, "has no column \"Gold\"; it has \"id\", \"gold\"");
        assert_eq!(listed(std::iter::empty()), "none");
        assert!(listed(std::iter::repeat_n("a", 30)).ends_with("\"a\" and 6 more"));
    }
}
