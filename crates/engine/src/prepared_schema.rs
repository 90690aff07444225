//! Schemas of answers, ready for use.
//!
//! Compiling a schema takes longer than a thousand validations, and the debates of a protocol share schemas. So each distinct
//! schema is prepared once, and one at the same address is recognised without reading it. The `Arc` of a prepared schema is the same
//! for all debates, so models can recognise it by its address, too.

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

/// The schemas that were prepared.
#[derive(Default)]
struct PreparedSchemas {
    /// By address. A schema is kept as long as its address stands here, so that no other can have it.
    by_address: HashMap<usize, (Arc<ReplySchema>, Arc<PreparedSchema>)>,
    by_text: HashMap<String, Arc<PreparedSchema>>,
}

impl PreparedSchema {
    pub(crate) fn of(schema: &Arc<ReplySchema>) -> Arc<Self> {
        static CACHE: LazyLock<Mutex<PreparedSchemas>> = LazyLock::new(Mutex::default);
        let address = Arc::as_ptr(schema).addr();
        let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, prepared)) = cache.by_address.get(&address) {
            return Arc::clone(prepared);
        }
        if cache.by_address.len() >= CACHE_SIZE {
            cache.by_address.clear();
        }
        if cache.by_text.len() >= CACHE_SIZE {
            cache.by_text.clear();
        }
        let key = format!("{}\n{}", schema.name, schema.json);
        let prepared = Arc::clone(cache.by_text.entry(key).or_insert_with(|| {
            Arc::new(Self {
                schema: Arc::clone(schema),
                request_bytes: (schema_request(schema).len() + schema.name.len()) as u64,
                validator: OnceLock::new(),
            })
        }));
        cache.by_address.insert(address, (Arc::clone(schema), Arc::clone(&prepared)));
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
