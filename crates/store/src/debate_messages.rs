//! What is said to a debate that another process runs. A message stays until its effect is in the log.

use agon_engine::StoreError;
use serde::{Deserialize, Serialize};

use crate::sql::sql_values;
use crate::store_fault::StoreFault;
use crate::{DebateStore, StoreFuture};

/// What is said to a debate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DebateMessage {
    /// Stop in order; it can be resumed.
    Stop,
    /// End the rounds now and close.
    Conclude,
    /// Somebody says something to all seats.
    Interject { by: String, text: String },
    /// A person answers an ask.
    Answer {
        ask: u32,
        /// `None` if the person passes.
        text: Option<String>,
        /// Whether the person was told that something does not verify, and means it all the same.
        insists: bool,
    },
}

/// A message in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMessage {
    pub n: i64,
    /// The id of the debate.
    pub debate: String,
    pub message: DebateMessage,
    /// How many events the log had when it was sent.
    pub after_event: u64,
}

impl DebateStore {
    /// Sends a message to a debate. It is no error if the debate is over.
    pub fn send_message(&self, debate: &str, message: DebateMessage) -> StoreFuture<'_, ()> {
        let debate = debate.to_owned();
        self.write(move |db| {
            let body = serde_json::to_string(&message)
                .map_err(|why| StoreFault::Failed(format!("a message cannot be written ({why})")))?;
            let sql = "INSERT INTO debate_messages (debate, body, after_event)
                 VALUES (?1, ?2, (SELECT count(*) FROM events WHERE debate = (SELECT n FROM debates WHERE id = ?1)))";
            db.run(sql, sql_values![debate, body])?;
            Ok(())
        })
    }

    /// The messages of debates that are not over, oldest first. Those that this version cannot read are left out.
    pub fn unread_messages(&self) -> Result<Vec<StoredMessage>, StoreError> {
        self.read(|db| {
            let sql = "SELECT m.n, m.debate, m.body, m.after_event FROM debate_messages AS m
                 JOIN debates AS d ON d.id = m.debate WHERE d.status IS NULL ORDER BY m.n";
            let rows: Vec<(i64, String, String, i64)> =
                db.read_all(sql, &[], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
            let read = |(n, debate, body, after_event): (i64, String, String, i64)| {
                let message = serde_json::from_str(&body).ok()?;
                Some(StoredMessage { n, debate, message, after_event: after_event.cast_unsigned() })
            };
            Ok(rows.into_iter().filter_map(read).collect())
        })
    }

    /// Removes messages that have done what they were for, and those of debates that are over.
    pub fn remove_messages(&self, done: Vec<i64>) -> StoreFuture<'_, ()> {
        self.write(move |db| {
            for n in &done {
                db.run("DELETE FROM debate_messages WHERE n = ?1", sql_values![*n])?;
            }
            let over = "DELETE FROM debate_messages WHERE debate IN (SELECT id FROM debates WHERE status IS NOT NULL)";
            db.run(over, &[])?;
            Ok(())
        })
    }
}
