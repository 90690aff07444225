//! The routes under `/api/v1`. Version 1 only grows.
//!
//! [`debates`]: opening, listing, reading and following them; [`asks`]: what waits for a person; [`actions`]: what can be done with a
//! debate; [`listings`]: everything else; [`json_limits`]: how much a body may hold.

pub mod actions;
pub mod asks;
pub mod debates;
pub mod json_limits;
pub mod listings;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::problem::Problem;

/// The query of an address, with errors that say what to do.
pub struct ApiQuery<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for ApiQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(query)) => Ok(Self(query)),
            Err(rejection) => Err(wrong_address(rejection.status(), &rejection.body_text())),
        }
    }
}

/// What an address names, with errors that say what to do.
pub struct ApiPath<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for ApiPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(named)) => Ok(Self(named)),
            Err(rejection) => Err(wrong_address(rejection.status(), &rejection.body_text())),
        }
    }
}

fn wrong_address(status: StatusCode, why: &str) -> Problem {
    Problem::new(
        status,
        format!("the address cannot be read: {why}. Correct it: /openapi.json lists what it takes"),
    )
}

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

/// A body as a JSON object.
pub fn parse_body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let bytes = if bytes.trim_ascii().is_empty() { b"{}" } else { bytes };
    json_limits::check_values(bytes)?;
    // A list would be read as the fields of an object in their order.
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    if !is_object && serde_json::from_slice::<IgnoredAny>(bytes).is_ok() {
        return Err(Problem::invalid(
            "the body must be a JSON object: name its fields as /openapi.json lists them",
        ));
    }
    serde_json::from_slice(bytes).map_err(|why| {
        let status = match why.classify() {
            serde_json::error::Category::Data => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::BAD_REQUEST,
        };
        Problem::new(status, format!("the body cannot be read: {why}"))
    })
}

#[cfg(test)]
mod tests {
    use axum::http::Uri;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct GivenFields {
        protocol: Option<String>,
        limit: Option<usize>,
    }

    #[test]
    fn a_body_is_an_object_and_nothing_else() {
        let status =
            |body: &str| parse_body::<GivenFields>(body.as_bytes()).err().map(|problem| problem.status);
        for (body, refused) in [
            ("", None),
            (" {\"limit\": 3} ", None),
            ("[\"deep\", 3]", Some(422)),
            ("null", Some(422)),
            ("\"deep\"", Some(422)),
            ("[\"deep\"", Some(400)),
            ("{\"limit\": \"x\"}", Some(422)),
            ("{", Some(400)),
        ] {
            assert_eq!(status(body), refused, "{body}");
        }
    }

    #[tokio::test]
    async fn a_query_that_cannot_be_read_is_a_problem_that_says_what_to_do() {
        let read = async |uri: &'static str| {
            let request =
                Request::builder().uri(Uri::from_static(uri)).body(axum::body::Body::empty()).unwrap();
            let (mut parts, _) = request.into_parts();
            ApiQuery::<GivenFields>::from_request_parts(&mut parts, &()).await
        };
        assert_eq!(read("/?limit=3").await.ok().and_then(|query| query.0.limit), Some(3));
        let problem = read("/?limit=abc").await.err().unwrap();
        assert!(problem.status == 400 && problem.detail.contains("limit"), "{problem:?}");
        assert!(problem.detail.contains("/openapi.json"), "{problem:?}");
    }
}
