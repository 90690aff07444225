//! Old names of public items, for crates that still use them.

/// Old names in [`crate::receipts`].
#[doc(hidden)]
pub(crate) mod receipts {
    pub use crate::receipts::keyring::{KeyStanding as Standing, KnownKey as Known};
    pub use crate::receipts::receipt::{LoggedRecord as Link, ReceiptSubject as Subject};
    pub use crate::receipts::secrets::KnownSecret as Secret;
    pub use crate::receipts::verify::{ReceiptVerification as Verification, ReplayContext as Means};
}
