//! What must hold for any table of votes or rulings. The tests and the fuzz target `audit_tables` call it.

#![allow(clippy::unwrap_used)]

use serde_json::Value;

use crate::audit::{AuditTable, BootstrapOptions, JudgeOptions, VoteOptions, audit_judges, audit_votes};

/// Longer tables only take longer.
const TABLE_BYTES_MAX: usize = 2048;

/// A table is audited or refused with a sentence, and every share that an audit gives is one.
pub fn audit_tables(bytes: &[u8]) {
    let Ok(table) = AuditTable::read(bytes.get(..TABLE_BYTES_MAX).unwrap_or(bytes)) else { return };
    assert!(
        table.row_count() > 0
            && table.columns().all(|name| table.column(name).unwrap().len() == table.row_count())
    );
    // Intervals take much longer than all the rest, so few tables get them.
    let resamples = if bytes.len().is_multiple_of(32) { 2 } else { 0 };
    let (bootstrap, threads) = (BootstrapOptions { resamples, seed: 1 }, Some(1));
    if let Ok(audit) = audit_votes(&table, &VoteOptions { bootstrap, threads, ..VoteOptions::default() }) {
        assert!(audit.questions <= audit.rows && audit.models.len() >= 2);
        for share in [audit.unanimous, audit.pairwise_agreement, audit.tied]
            .into_iter()
            .chain(audit.agreement.iter().flatten().copied())
        {
            assert!((0.0..=1.0).contains(&share), "{share}");
        }
        assert!(audit.entropy.is_finite() && audit.entropy >= 0.0);
        assert_written_as_read(&serde_json::to_value(&audit).unwrap());
    }
    if let Ok(audit) = audit_judges(&table, &JudgeOptions { bootstrap, threads, ..JudgeOptions::default() }) {
        assert_written_as_read(&serde_json::to_value(&audit).unwrap());
    }
}

fn assert_written_as_read(document: &Value) {
    assert_eq!(serde_json::from_str::<Value>(&document.to_string()).unwrap(), *document);
}

#[test]
fn no_table_at_all_stops_an_audit_or_gives_a_share_above_one() {
    const PIECES: &[&str] = &[
        "id,gold,a,b,c\n",
        "1,x,x,y,x\n",
        "2,y,y,y,x\n",
        ",",
        "\n",
        "\r\n",
        "\"",
        "\"\"",
        "gold",
        "subset",
        "a_ab,a_ba,b_ab,b_ba,gold,subset\n",
        "A,B,A,tie,A,s\n",
        "first,second,1,2,A,t\n",
        "A",
        "B",
        "tie",
        " ",
        "\u{feff}",
        "x",
        "\u{1f}\u{8b}",
        "1e9",
        "-",
    ];
    agon_fuzzing::check("audit_tables", PIECES, audit_tables);
}
