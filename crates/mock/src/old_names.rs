//! Names that other crates still use.
#![allow(missing_docs)]

#[doc(hidden)]
pub use crate::converging_debate as debate;

#[doc(hidden)]
pub type Mock = crate::MockServer;
#[doc(hidden)]
pub type Request = crate::MockRequest;
#[doc(hidden)]
pub type Response = crate::MockResponse;
#[doc(hidden)]
pub type Responder = crate::MockResponder;
#[doc(hidden)]
pub type Spoilt = crate::ConnectionFault;
#[doc(hidden)]
pub type Debate = crate::MockDebate;
#[doc(hidden)]
pub type Wire = crate::WireFormat;
