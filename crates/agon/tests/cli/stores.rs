//! Stores that are named, full, or only to be read.

use crate::support::Home;

const DEEP: [&str; 5] = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--quiet"];

#[test]
fn every_command_that_is_shown_names_the_store_it_needs() {
    let home = Home::new();
    let said = home.agon(&[&DEEP[..], &["--db", "my store.db"]].concat()).ok();
    let commands: Vec<&str> = said.out.lines().filter(|line| line.starts_with("  agon ")).collect();
    assert_eq!(commands.len(), 2);
    assert!(commands.iter().all(|line| line.contains(" --db 'my store.db'")), "{commands:?}");
    assert_eq!(home.agon(&["replay", "last", "--db", "my store.db"]).out, said.out);

    home.write("key.yaml", crate::support::wrong_key());
    let stopped = home.agon(&["deep", "q?", "--models", "script/key.yaml", "--db", "my store.db", "--json"]);
    assert_eq!(stopped.status, Some(2), "{stopped:?}");
    let last = stopped.err.lines().last().unwrap();
    assert!(last.starts_with("agon resume 1") && last.ends_with(" --db 'my store.db'"), "{stopped:?}");
    let shown = home.agon(&["show", "last", "--db", "my store.db"]).ok().out;
    assert!(shown.replace('\n', " ").contains("--db 'my store.db'`."), "{shown}");
}

/// Under a limit on the size of the files that can be written.
#[cfg(unix)]
fn limited(home: &Home, blocks: &str, args: &[&str]) -> crate::support::Said {
    home.agon_limited(&format!("ulimit -f {blocks}"), &[], args)
}

/// A limit on the size of files is to the store what a full disk is. The signal of the system does not end the process.
#[test]
#[cfg(unix)]
fn a_store_that_fails_in_the_middle_ends_with_the_line_that_goes_on() {
    let home = Home::new();
    let said = limited(&home, "500", &DEEP);
    assert_eq!((said.status, said.out.as_str()), (Some(3), ""), "{said:?}");
    assert!(said.err.contains("the log is kept. Then continue with:\nagon resume 1"), "{said:?}");
    let resume: Vec<&str> = said.err.lines().last().unwrap().split(' ').skip(1).collect();
    home.agon(&resume).ok();
    home.agon(&["verify", resume[1]]).ok();
}

/// A file system on which nothing can be written; a limit of nothing on the size of files comes close.
#[test]
#[cfg(unix)]
fn reading_verbs_work_where_nothing_can_be_written() {
    let home = Home::new();
    home.debate();
    for verb in
        [&["list"][..], &["show", "last"], &["verify", "last"], &["replay", "last"], &["export", "last"]]
    {
        let shown = home.agon(verb).ok();
        assert_eq!(limited(&home, "0", verb), shown, "{verb:?}");
    }
}

#[test]
fn old_debates_are_removed_on_request_and_what_is_needed_stays() {
    let home = Home::new();
    home.debate();
    home.debate();
    let prune = ["store", "prune", "--older-than", "0"];
    // A debate is as old as the clock says, so the newest of two that were opened in the same second may stay as well.
    let planned = home.agon(&[&prune[..], &["--dry-run", "--json"]].concat()).ok().json();
    assert_eq!(planned["dry_run"], true, "{planned}");
    assert_eq!(home.agon(&["list", "--json"]).json().as_array().unwrap().len(), 2);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let pruned = home.agon(&[&prune[..], &["--json"]].concat()).ok().json();
    assert_eq!(pruned["debates"]["removed"], 1, "{pruned}");
    assert!(pruned["debates"]["log_bytes"].as_u64().unwrap() > 1000, "{pruned}");
    assert_eq!(home.agon(&["list", "--json"]).json().as_array().unwrap().len(), 1, "the newest stays");
    home.agon(&["show", "last"]).ok();
    let vacuumed = home.agon(&["store", "vacuum"]).ok().out;
    assert!(vacuumed.contains("MB before, "), "{vacuumed}");
    let said = home.agon(&prune).ok().out;
    assert!(said.starts_with("0 debates opened before "), "{said}");
}
