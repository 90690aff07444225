//! Text out of bytes, in the encoding that they are in.

use encoding_rs::{Encoding, UTF_8};

/// How far into a document its declaration is looked for.
const DECLARATION_BYTES: usize = 256;

/// The text of these bytes: by their mark, by the server's word, by the document's own, and else in UTF-8. The first of
/// these in which it is a text decides, for servers are often wrong about what they send.
pub(super) fn text(bytes: &[u8], content_type: Option<&str>) -> Result<String, String> {
    if let Some((marked, mark)) = Encoding::for_bom(bytes) {
        return decode(marked, bytes.get(mark..).unwrap_or_default()).ok_or_else(|| not_in(marked.name()));
    }
    let labels: Vec<String> = content_type.and_then(charset).into_iter().chain(declared(bytes)).collect();
    let known: Vec<&'static Encoding> =
        labels.iter().filter_map(|label| Encoding::for_label(label.as_bytes())).collect();
    let found = known.iter().copied().chain([UTF_8]).find_map(|encoding| decode(encoding, bytes));
    found.ok_or_else(|| match (known.first(), labels.first()) {
        (Some(encoding), _) => not_in(encoding.name()),
        (None, Some(label)) => {
            format!("is in an encoding that is not known here: {}", super::plain::plain(label, 40))
        }
        (None, None) => not_in(UTF_8.name()),
    })
}

fn decode(encoding: &'static Encoding, bytes: &[u8]) -> Option<String> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    // A text in UTF-16 that claims to be in an eight-bit encoding decodes too.
    (!text.contains('\0')).then(|| text.into_owned())
}

fn not_in(encoding: &str) -> String {
    format!("is not in the encoding that it should be in, {encoding}: tell who publishes it")
}

/// `text/xml; charset="utf-8"`.
fn charset(content_type: &str) -> Option<String> {
    let lower = content_type.to_ascii_lowercase();
    let (_, value) = lower.split_once("charset=")?;
    let value = value.split(';').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

/// `<?xml version="1.0" encoding="ISO-8859-1"?>`.
fn declared(bytes: &[u8]) -> Option<String> {
    let start = bytes.get(..DECLARATION_BYTES.min(bytes.len()))?;
    let ascii: String = start.iter().map(|byte| char::from(*byte)).collect();
    let (declaration, _) = ascii.trim_start().strip_prefix("<?xml")?.split_once("?>")?;
    let value = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value.split(quote).nth(1).map(str::to_owned)
}
