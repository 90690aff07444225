//! The body of an HTTP answer, read no further than it may be long. Whoever is on the other side cannot fill the memory.

use reqwest::Response;

/// A body that is read piece by piece.
#[derive(Debug)]
pub struct BoundedBody {
    response: Response,
    bytes_left: usize,
}

/// Why a body cannot be used.
#[derive(Debug)]
pub enum BodyError {
    /// The connection failed.
    Network(reqwest::Error),
    /// The body is longer than it may be.
    TooLong,
}

impl BoundedBody {
    /// A body of at most `bytes_max` bytes.
    pub fn new(response: Response, bytes_max: usize) -> Self {
        Self { response, bytes_left: bytes_max }
    }

    /// The next piece, in whatever size it came. `None` at the end.
    pub async fn next_piece(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, BodyError> {
        let Some(piece) = self.response.chunk().await.map_err(BodyError::Network)? else { return Ok(None) };
        self.bytes_left = self.bytes_left.checked_sub(piece.len()).ok_or(BodyError::TooLong)?;
        Ok(Some(piece))
    }

    /// The whole body. One that announces that it is too long is not read at all.
    pub async fn whole(mut self) -> Result<Vec<u8>, BodyError> {
        if self.response.content_length().is_some_and(|length| length > self.bytes_left as u64) {
            return Err(BodyError::TooLong);
        }
        let mut bytes = Vec::new();
        while let Some(piece) = self.next_piece().await? {
            bytes.extend_from_slice(piece.as_ref());
        }
        Ok(bytes)
    }

    /// The beginning of the body, cut where it would be too long or where the connection failed.
    pub async fn beginning(mut self) -> String {
        let mut bytes = Vec::new();
        let bytes_max = self.bytes_left;
        while let Ok(Some(piece)) = self.response.chunk().await {
            bytes.extend_from_slice(&piece);
            if bytes.len() >= bytes_max {
                break;
            }
        }
        bytes.truncate(bytes_max);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
