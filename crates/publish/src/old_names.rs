//! Old names of public items, for crates that still use them.

/// Old names in [`crate::receipts`].
#[doc(hidden)]
pub(crate) mod receipts {
    pub use crate::receipts::keyring::{KeyStanding as Standing, KnownKey as Known};
    pub use crate::receipts::receipt::{LoggedRecord as Link, ReceiptSubject as Subject};
    pub use crate::receipts::secrets::KnownSecret as Secret;
    pub use crate::receipts::verify::{ReceiptVerification as Verification, ReplayContext as Means};
}

/// Old names in [`crate::deliveries`].
#[doc(hidden)]
pub(crate) mod deliveries {
    pub use crate::deliveries::destination::ReportFormat as Format;
    pub use crate::deliveries::outbox::{DueDelivery as Parcel, OutcomeRenderer as Render};
    pub use crate::deliveries::runner::{
        DeliveryReport as Report, DeliveryRunner as Courier, DeliverySettings as Settings,
        ReportedDelivery as Told,
    };
    pub use crate::deliveries::signature::verify_signature as verify;
}
