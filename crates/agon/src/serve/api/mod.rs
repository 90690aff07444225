//! The routes under `/api/v1`. Version 1 only grows.
//!
//! [`debates`]: opening, listing, reading and following them; [`asks`]: what waits for a person; [`actions`]: what can be done with a
//! debate; [`listings`]: everything else.

pub mod actions;
pub mod asks;
pub mod debates;
pub mod listings;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// A JSON body with errors that say what to do. An empty body is an empty object.
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = read_body(request, state).await?;
        parse_body(&bytes).map(Self)
    }
}

/// The bytes of a body, within the limit.
pub async fn read_body<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    Bytes::from_request(request, state).await.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the body is larger than the server allows: send less, or raise `body_mb` in [serve]",
        ),
        status => Problem::new(status, rejection.body_text()),
    })
}

/// A body as JSON.
pub fn parse_body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let bytes = if bytes.trim_ascii().is_empty() { b"{}" } else { bytes };
    serde_json::from_slice(bytes).map_err(|why| {
        let status = match why.classify() {
            serde_json::error::Category::Data => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::BAD_REQUEST,
        };
        Problem::new(status, format!("the body cannot be read: {why}"))
    })
}
