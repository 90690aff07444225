//! A temporary store in a PostgreSQL database.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agon_mock::PostgresServer;
use agon_store::{DebateStore, StoreAddress};
use postgres::{Client, NoTls};

/// A schema of its own on the server of this process.
pub(crate) struct TestHome {
    address: String,
    plain: Mutex<Client>,
}

impl TestHome {
    /// Ends the process if PostgreSQL is not installed: the whole suite is skipped then.
    pub(crate) fn new() -> Self {
        static SCHEMAS: AtomicUsize = AtomicUsize::new(0);
        let Some(server) = PostgresServer::shared() else { std::process::exit(0) };
        let schema = format!("test_{}", SCHEMAS.fetch_add(1, Ordering::Relaxed));
        let address = format!("{}?options=-csearch_path%3D{schema}", server.address("postgres"));
        let mut plain = Client::connect(&address, NoTls).unwrap();
        plain.batch_execute(&format!("CREATE SCHEMA {schema}")).unwrap();
        Self { address, plain: Mutex::new(plain) }
    }

    /// The store as another process opens it.
    pub(crate) fn address(&self) -> String {
        self.address.clone()
    }

    pub(crate) fn open(&self) -> DebateStore {
        DebateStore::open(StoreAddress::parse(self.address.as_ref()).unwrap()).unwrap()
    }

    /// Runs a statement that the store would not run, and returns how many rows it changed.
    pub(crate) fn change(&self, sql: &str) -> usize {
        self.plain.lock().unwrap().execute(sql, &[]).unwrap() as usize
    }

    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.plain.lock().unwrap().query_one(sql, &[]).unwrap().get(0)
    }

    pub(crate) fn real(&self, sql: &str) -> f64 {
        self.plain.lock().unwrap().query_one(sql, &[]).unwrap().get(0)
    }

    pub(crate) fn text(&self, sql: &str) -> String {
        self.plain.lock().unwrap().query_one(sql, &[]).unwrap().get(0)
    }

    /// All rows of a table.
    pub(crate) fn rows(&self, table: &str) -> Vec<String> {
        let sql = format!("SELECT CAST(one AS TEXT) FROM {table} AS one");
        self.plain.lock().unwrap().query(&sql, &[]).unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// Lets no write through until it is dropped.
    pub(crate) fn block_writes(&self) -> WriteBlock {
        let mut connection = Client::connect(&self.address, NoTls).unwrap();
        connection.batch_execute("BEGIN; LOCK TABLE debates, processes IN EXCLUSIVE MODE").unwrap();
        WriteBlock { connection }
    }

    /// Makes every write of a kind fail, such as `INSERT ON knowledge`.
    pub(crate) fn spoil(&self, writes: &str) {
        let function =
            "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'spoiled'; END $$";
        let trigger = format!("CREATE TRIGGER spoil BEFORE {writes} FOR EACH ROW EXECUTE FUNCTION spoil()");
        self.plain.lock().unwrap().batch_execute(&format!("{function}; {trigger}")).unwrap();
    }

    pub(crate) fn unspoil(&self) {
        self.plain.lock().unwrap().batch_execute("DROP FUNCTION spoil() CASCADE").unwrap();
    }

    /// Lets every writer look dead, as one is that was not seen for long.
    pub(crate) fn hide_owners(&self) {
        self.plain.lock().unwrap().execute("DELETE FROM processes", &[]).unwrap();
    }

    /// Waits until the server knows that a killed process is gone.
    pub(crate) fn await_release(&self, id: &str) {
        let store = self.open();
        while store.is_running(id).unwrap() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// See [`TestHome::block_writes`].
pub(crate) struct WriteBlock {
    connection: Client,
}

impl Drop for WriteBlock {
    fn drop(&mut self) {
        self.connection.batch_execute("COMMIT").unwrap();
    }
}
