-- What is kept after a debate. All but notes, imports, resolutions and deliveries can be made again from the logs.

CREATE TABLE knowledge (
    n INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice: `embedders` counts on it
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('debate', 'note', 'import')),
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    source TEXT,
    debate INTEGER UNIQUE, -- the debate that decided it
    confidence REAL,
    created_at TEXT NOT NULL,
    head TEXT, -- the debate's receipt: the last hash of its log
    events INTEGER, -- and how many events that has
    forgotten INTEGER NOT NULL DEFAULT 0 -- a debate's entry that must not come back
) STRICT;
CREATE VIRTUAL TABLE knowledge_words USING fts5(
    title, text, content = 'knowledge', content_rowid = 'n', tokenize = 'unicode61 remove_diacritics 2'
);
-- What is forgotten must not stay in the index's older pages.
INSERT INTO knowledge_words (knowledge_words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE knowledge_counts USING fts5vocab('knowledge_words', 'row');
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

CREATE TABLE embedders (
    n INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL,
    knowledge_upto INTEGER NOT NULL DEFAULT 0, -- up to here, every entry has its vector
    memory_upto INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE vectors (
    n INTEGER PRIMARY KEY,
    embedder INTEGER NOT NULL,
    memory INTEGER NOT NULL, -- 1 for a memory's, 0 for an entry's
    item INTEGER NOT NULL,
    scale REAL NOT NULL,
    bytes BLOB NOT NULL, -- one signed byte a dimension
    UNIQUE (embedder, memory, item)
) STRICT;
-- The signs of many entries' vectors in one row, so that all of them are read in little time.
CREATE TABLE signatures (
    embedder INTEGER NOT NULL,
    first INTEGER NOT NULL, -- the least that `vectors` may have
    vectors BLOB NOT NULL,  -- their numbers, ascending, eight bytes each
    bits BLOB NOT NULL,
    UNIQUE (embedder, first)
) STRICT;

CREATE TABLE memory (
    n INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    text TEXT NOT NULL,
    question TEXT NOT NULL, -- its words alone
    position TEXT NOT NULL, -- its words alone
    tier TEXT NOT NULL CHECK (tier IN ('fast', 'medium', 'slow', 'glacial')),
    surprise REAL NOT NULL,
    confidence REAL NOT NULL,
    seen INTEGER NOT NULL,
    since_s INTEGER NOT NULL,
    debate INTEGER NOT NULL, -- the last that it was seen in
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX memory_by_agent ON memory (agent, since_s);
CREATE INDEX memory_by_question ON memory (agent, question);
CREATE INDEX memory_by_position ON memory (agent, position);
CREATE TABLE sightings (
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
    game INTEGER NOT NULL, -- the agent's own, counted from 1
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
    decided INTEGER, -- whether it was for the decision; NULL where nothing was decided
    PRIMARY KEY (debate, seat)
) STRICT, WITHOUT ROWID;

CREATE TABLE resolutions (
    n INTEGER PRIMARY KEY,
    debate INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('winner', 'truth')),
    value TEXT NOT NULL,
    note TEXT,
    at TEXT NOT NULL,
    turned_out TEXT, -- how it says that the decision turned out
    after_event INTEGER NOT NULL -- the last event before it: debates that closed earlier came first
) STRICT;
CREATE INDEX resolutions_by_debate ON resolutions (debate, n);

CREATE TABLE deliveries (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    debate TEXT NOT NULL, -- its id: there may be no debate yet
    destination TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'due', 'sending', 'done', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    next_s INTEGER NOT NULL DEFAULT 0, -- when it is due; while it is being sent, when the claim on it lapses
    last_error TEXT,
    created_s INTEGER NOT NULL,
    done_s INTEGER
) STRICT;
CREATE INDEX deliveries_by_state ON deliveries (state, next_s);
CREATE INDEX deliveries_by_debate ON deliveries (debate, state);
