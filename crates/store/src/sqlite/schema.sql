-- The tables of the store. In every table, `n` is the row's number and other tables refer to it.
-- The logs are `debates` and `events`. Everything else comes from them and can be rebuilt, except for notes, imports,
-- resolutions and deliveries.

CREATE TABLE debates (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    protocol TEXT NOT NULL,
    question TEXT NOT NULL,
    created_at TEXT NOT NULL,
    parent TEXT,
    status TEXT, -- of the outcome; NULL until the debate closes
    owner TEXT,  -- the lock file of the process that runs it
    provenance TEXT -- where it was held and who spoke in it, as JSON; NULL if its brief does not say
) STRICT;
-- Events are stored in the order in which they are written, whatever debate they belong to. A commit then touches few
-- pages, however many debates run.
CREATE TABLE events (
    n INTEGER PRIMARY KEY,
    debate INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (debate, seq)
) STRICT;

CREATE VIRTUAL TABLE search USING fts5(
    question, verdict, replies, tokenize = 'unicode61 remove_diacritics 2'
);
-- Debates of which the index does not have everything. A debate is indexed when it closes.
CREATE TABLE search_backlog (
    debate INTEGER PRIMARY KEY,
    events INTEGER NOT NULL -- how many of its events the index has
) STRICT;

CREATE TABLE knowledge (
    n INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: `embedding_models` relies on it
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('debate', 'note', 'import')),
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    source TEXT,
    debate INTEGER UNIQUE, -- the debate that decided it
    confidence REAL,
    created_at TEXT NOT NULL,
    head TEXT,      -- the debate's receipt: the last hash of its log
    events INTEGER, -- and how many events the log has
    forgotten INTEGER NOT NULL DEFAULT 0 -- a debate's entry that a rebuild must not restore
) STRICT;
CREATE VIRTUAL TABLE knowledge_words USING fts5(
    title, text, content = 'knowledge', content_rowid = 'n', tokenize = 'unicode61 remove_diacritics 2'
);
-- Forgotten text must not stay in old pages of the index.
INSERT INTO knowledge_words (knowledge_words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE knowledge_word_counts USING fts5vocab('knowledge_words', 'row');
CREATE TRIGGER knowledge_added AFTER INSERT ON knowledge WHEN new.forgotten = 0 BEGIN
    INSERT INTO knowledge_words (rowid, title, text) VALUES (new.n, new.title, new.text);
END;
CREATE TRIGGER knowledge_removed AFTER DELETE ON knowledge WHEN old.forgotten = 0 BEGIN
    INSERT INTO knowledge_words (knowledge_words, rowid, title, text) VALUES ('delete', old.n, old.title, old.text);
END;
CREATE TRIGGER knowledge_changed AFTER UPDATE OF title, text, forgotten ON knowledge BEGIN
    INSERT INTO knowledge_words (knowledge_words, rowid, title, text)
        SELECT 'delete', old.n, old.title, old.text WHERE old.forgotten = 0;
    INSERT INTO knowledge_words (rowid, title, text) SELECT new.n, new.title, new.text WHERE new.forgotten = 0;
END;

CREATE TABLE embedding_models (
    n INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL,
    knowledge_done INTEGER NOT NULL DEFAULT 0, -- every entry up to this row has its vector
    memories_done INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE vectors (
    n INTEGER PRIMARY KEY,
    model INTEGER NOT NULL,
    source INTEGER NOT NULL, -- 0 for a knowledge entry, 1 for a memory, 2 for a memory while memories are rebuilt
    item INTEGER NOT NULL,   -- the row of the entry or memory
    scale REAL NOT NULL,
    bytes BLOB NOT NULL,     -- one signed byte per dimension
    UNIQUE (model, source, item)
) STRICT;
-- The signs of many entries' vectors in one row, so that a search reads all of them quickly.
CREATE TABLE vector_signs (
    model INTEGER NOT NULL,
    first INTEGER NOT NULL, -- the smallest row that `vectors` may hold
    vectors BLOB NOT NULL,  -- rows of `vectors`, ascending, eight bytes each
    bits BLOB NOT NULL,
    UNIQUE (model, first)
) STRICT;

CREATE TABLE memories (
    n INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    text TEXT NOT NULL,
    question TEXT NOT NULL, -- its words alone, to compare
    position TEXT NOT NULL, -- its words alone, to compare
    tier TEXT NOT NULL CHECK (tier IN ('fast', 'medium', 'slow', 'glacial')),
    surprise REAL NOT NULL,
    confidence REAL NOT NULL,
    seen INTEGER NOT NULL,
    since_s INTEGER NOT NULL,
    debate INTEGER NOT NULL, -- the last debate that it was observed in
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX memories_by_agent ON memories (agent, since_s);
CREATE INDEX memories_by_question ON memories (agent, question);
CREATE INDEX memories_by_position ON memories (agent, position);
CREATE TABLE memory_observations (
    debate INTEGER NOT NULL,
    seat TEXT NOT NULL,
    memory INTEGER NOT NULL,
    label TEXT NOT NULL,
    won INTEGER NOT NULL,
    confidence REAL,
    head TEXT NOT NULL, -- the debate's receipt
    events INTEGER NOT NULL,
    PRIMARY KEY (debate, seat)
) STRICT, WITHOUT ROWID;

CREATE TABLE ratings (
    agent TEXT PRIMARY KEY,
    elo REAL NOT NULL,
    glicko REAL NOT NULL,
    deviation REAL NOT NULL,
    volatility REAL NOT NULL,
    games INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE rating_history (
    agent TEXT NOT NULL,
    game INTEGER NOT NULL, -- the agent's own games, counted from 1
    debate INTEGER NOT NULL,
    at TEXT NOT NULL,
    elo REAL NOT NULL,
    glicko REAL NOT NULL,
    PRIMARY KEY (agent, game)
) STRICT, WITHOUT ROWID;
CREATE TABLE ballots (
    debate INTEGER NOT NULL,
    seat TEXT NOT NULL,
    agent TEXT NOT NULL,
    choice TEXT NOT NULL, -- a JSON list of labels
    confidence REAL NOT NULL,
    decided INTEGER, -- whether it was for the decision; NULL if there was none
    PRIMARY KEY (debate, seat)
) STRICT, WITHOUT ROWID;

CREATE TABLE resolutions (
    n INTEGER PRIMARY KEY,
    debate INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('winner', 'truth')),
    value TEXT NOT NULL,
    note TEXT,
    at TEXT NOT NULL,
    turned_out TEXT, -- whether the decision was right or wrong
    after_event INTEGER NOT NULL -- the last event before it: debates that closed earlier came first
) STRICT;
CREATE INDEX resolutions_by_debate ON resolutions (debate, n);

CREATE TABLE deliveries (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    debate TEXT NOT NULL, -- its id: the debate may not be open yet
    destination TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'due', 'sending', 'done', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    next_s INTEGER NOT NULL DEFAULT 0, -- when it is due; while it is being sent, when the claim lapses
    last_error TEXT,
    created_s INTEGER NOT NULL,
    done_s INTEGER
) STRICT;
CREATE INDEX deliveries_by_state ON deliveries (state, next_s);
CREATE INDEX deliveries_by_debate ON deliveries (debate, state);

-- The debates that a server opened. After a restart it goes on with those that are neither over nor stopped.
CREATE TABLE served_debates (
    debate TEXT PRIMARY KEY, -- its id
    request_key TEXT UNIQUE, -- the caller's Idempotency-Key
    request_hash TEXT NOT NULL, -- of the request's body
    stopped INTEGER NOT NULL DEFAULT 0 -- somebody stopped it on purpose
) STRICT, WITHOUT ROWID;

-- What is said to a debate that another process runs.
CREATE TABLE debate_messages (
    n INTEGER PRIMARY KEY,
    debate TEXT NOT NULL, -- its id
    body TEXT NOT NULL, -- JSON
    after_event INTEGER NOT NULL -- how many events the log had
) STRICT;

-- The places for calls that each process has, and how many it could use.
CREATE TABLE call_places (
    name TEXT NOT NULL, -- of the limit
    process TEXT NOT NULL,
    places INTEGER NOT NULL,
    wanted INTEGER NOT NULL,
    seen_s INTEGER NOT NULL,
    PRIMARY KEY (name, process)
) STRICT, WITHOUT ROWID;

-- What a debate may still take from a sum that many debates share, and what it has taken.
CREATE TABLE allowances (
    pool TEXT NOT NULL,
    debate TEXT NOT NULL, -- its id
    taken INTEGER NOT NULL, -- by runs that have ended
    used_before INTEGER NOT NULL, -- by the whole debate when its last run began
    set_aside INTEGER NOT NULL, -- 0 when no run is under way
    PRIMARY KEY (pool, debate)
) STRICT, WITHOUT ROWID;
