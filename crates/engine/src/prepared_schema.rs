//! Schemas of answers, ready for use.
//!
//! Compiling a schema takes longer than a thousand validations, and the debates of a protocol share schemas. So each distinct
//! schema is prepared once. Its `Arc` is then the same for all debates, and models can recognise it by its address.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use agon_core::ReplySchema;
use jsonschema::Validator;

use crate::model::schema_request;

/// A schema may contain ids of one debate, so the number of schemas has no bound of its own.
const CACHE_SIZE: usize = 256;

pub(crate) struct PreparedSchema {
    pub(crate) schema: Arc<ReplySchema>,
    /// The size of the schema when it is part of a prompt.
    pub(crate) request_bytes: u64,
    validator: OnceLock<Result<Validator, String>>,
}

impl PreparedSchema {
    pub(crate) fn of(schema: &Arc<ReplySchema>) -> Arc<Self> {
        static CACHE: LazyLock<Mutex<HashMap<String, Arc<PreparedSchema>>>> = LazyLock::new(Mutex::default);
        let key = format!("{}\n{}", schema.name, schema.json);
        let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = cache.get(&key) {
            return Arc::clone(prepared);
        }
        if cache.len() >= CACHE_SIZE {
            cache.clear();
        }
        let prepared = Arc::new(Self {
            schema: Arc::clone(schema),
            request_bytes: (schema_request(schema).len() + schema.name.len()) as u64,
            validator: OnceLock::new(),
        });
        cache.insert(key, Arc::clone(&prepared));
        prepared
    }

    /// The compiled schema, or why it is not a JSON Schema.
    pub(crate) fn validator(&self) -> Result<&Validator, String> {
        let compile = || {
            jsonschema::validator_for(&self.schema.json).map_err(|why| {
                format!("the schema {} of the protocol is not a JSON Schema: {why}", self.schema.name)
            })
        };
        self.validator.get_or_init(compile).as_ref().map_err(Clone::clone)
    }
}
