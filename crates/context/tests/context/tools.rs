//! What seats can have looked up: files under a folder, pages of allowed hosts, tools of MCP servers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use agon_context::tools::files::FilesTool;
use agon_context::tools::{Toolbox, ToolsConfig};
use agon_core::ToolAnswer;
use agon_engine::{CallMessage, MessageRole};
use serde_json::{Value, json};

use crate::support::call_with;
use crate::test_server::{ServerAction, TestServer, ok};

fn toolbox(sections: &str) -> Toolbox {
    let config: ToolsConfig = toml::from_str(sections).unwrap();
    config.iter().for_each(|(name, tool)| tool.check(name).unwrap());
    Toolbox::new(config)
}

async fn ask(toolbox: &Toolbox, tool: &str, arguments: Value) -> Result<ToolAnswer, String> {
    let model = toolbox.model(tool).unwrap();
    assert!(model.is_errand());
    let completion = model.call(&call_with(&arguments.to_string()), None).await.unwrap();
    assert_eq!(completion.model, format!("tool/{tool}"));
    let answer: ToolAnswer = serde_json::from_str(&completion.text).unwrap();
    match answer.refused.clone() {
        Some(why) => Err(why),
        None => Ok(answer),
    }
}

fn write(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

/// A folder with a few files, and one beside it that nobody may read.
fn folder() -> (tempfile::TempDir, Toolbox) {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("root");
    write(outer.path(), "secret.txt", "the secret");
    write(&root, "src/queue.rs", "fn push() {\n    // The queue holds nine jobs.\n}\n");
    write(&root, "src/Worker.rs", "// A worker takes jobs from the queue.\n");
    write(&root, "notes.md", &(1..=1000).map(|n| format!("Line {n}.\n")).collect::<String>());
    write(&root, "target/out.rs", "// The queue in a build folder.\n");
    write(&root, ".gitignore", "target/\n");
    write(&root, ".git/config", "the queue of git\n");
    write(&root, ".env", "KEY=queue\n");
    std::fs::write(root.join("picture.png"), b"\x89PNG\0queue").unwrap();
    let toolbox = toolbox(&format!("[files]\nroot = {root:?}"));
    (outer, toolbox)
}

#[tokio::test]
async fn files_are_read_by_line_searched_and_listed() {
    let (_outer, toolbox) = folder();
    let files = |arguments| ask(&toolbox, "files", arguments);
    let whole = files(json!({"path": "src/queue.rs"})).await.unwrap();
    assert_eq!(whole.text, "1 | fn push() {\n2 |     // The queue holds nine jobs.\n3 | }\n");
    assert_eq!(whole.source, "src/queue.rs, lines 1 to 3 of 3");
    let part = files(json!({"path": "./notes.md", "from": 998})).await.unwrap();
    assert_eq!((part.text.lines().next(), part.text.lines().count()), (Some(" 998 | Line 998."), 3));
    let long = files(json!({"path": "notes.md", "to": 900})).await.unwrap();
    assert_eq!(
        long.source,
        "notes.md, lines 1 to 400 of 1000; ask for the lines from 401 on in another request"
    );
    let listed = files(json!({"path": ""})).await.unwrap();
    assert_eq!(listed.text, ".gitignore\nnotes.md\npicture.png\nsrc/\ntarget/\n");
    let words = files(json!({"query": "QUEUE jobs"})).await.unwrap();
    assert_eq!(
        words.text,
        "src/Worker.rs:1: // A worker takes jobs from the queue.\nsrc/queue.rs:2:     // The queue holds nine jobs.\n"
    );
    let expression = files(json!({"query": r"fn \w+\(\)", "path": "src"})).await.unwrap();
    assert_eq!(expression.text, "src/queue.rs:1: fn push() {\n");
    // An expression sees one line, wherever it stands in the file.
    for (query, line) in [
        (r"^Line 99[0-1]\.$", "notes.md:990: Line 990.\nnotes.md:991: Line 991.\n"),
        (r"\ALine 500\.\z", "notes.md:500: Line 500.\n"),
        (r"(?-m)^Line 1000\.$", "notes.md:1000: Line 1000.\n"),
    ] {
        assert_eq!(files(json!({"query": query})).await.unwrap().text, line, "{query}");
    }
    files(json!({"query": r"998\.\s+Line"})).await.unwrap_err();
    for (arguments, why) in [
        (json!({"query": "nothing of this"}), "files has a line that matches"),
        (json!({"query": "(unclosed"}), "is not a regular expression"),
        (json!({"path": "src/none.rs"}), "does not exist"),
        (json!({"path": "notes.md", "from": 2000}), "has 1000 lines"),
        (json!({"path": "notes.md", "from": 0}), "counted from 1"),
        (json!({"path": "picture.png"}), "is not a text"),
        (json!({}), "need a `path` or a `query`"),
    ] {
        let refused = files(arguments.clone()).await.unwrap_err();
        assert!(refused.contains(why), "{arguments}: {refused}");
    }
}

#[tokio::test]
async fn a_long_result_names_its_part_and_is_never_longer_than_it_may_be() {
    let (outer, toolbox) = folder();
    write(&outer.path().join("root"), "wide.txt", &format!("{}\nend\n", "x".repeat(50_000)));
    let wide = ask(&toolbox, "files", json!({"path": "wide.txt"})).await.unwrap();
    assert!(wide.text.contains("[... cut, 50000 characters]") && wide.text.ends_with("2 | end\n"));
    let many = ask(&toolbox, "files", json!({"query": "Line"})).await.unwrap();
    assert!(many.source.contains("12; there are more"), "{}", many.source);
    let model = toolbox.model("files").unwrap();
    let mut call = call_with(&json!({"path": "notes.md"}).to_string());
    call.max_output_tokens = 20;
    let small: ToolAnswer = serde_json::from_str(&model.call(&call, None).await.unwrap().text).unwrap();
    assert!(small.text.len() <= 160 && small.source.contains("ask for the lines from"), "{small:?}");
}

#[tokio::test]
async fn nothing_outside_the_folder_can_be_reached_by_a_path() {
    let (outer, toolbox) = folder();
    let absolute = outer.path().join("secret.txt");
    for path in [
        "../secret.txt",
        "src/../../secret.txt",
        "src/..",
        "..",
        "/etc/passwd",
        absolute.to_str().unwrap(),
        "~/x",
        "..\\secret.txt",
        "C:/x",
        "a\0b",
        ".git/config",
        "SRC/../.GIT/config",
        ".env",
        "keys/server.pem",
    ] {
        for arguments in [json!({"path": path}), json!({"path": path, "query": "secret"})] {
            let refused = ask(&toolbox, "files", arguments.clone()).await.unwrap_err();
            assert!(!refused.contains("the secret"), "{arguments}: {refused}");
        }
    }
    let found = ask(&toolbox, "files", json!({"query": "queue"})).await.unwrap();
    assert!(
        !found.text.contains("git") && !found.text.contains("KEY") && !found.text.contains("build"),
        "{}",
        found.text
    );
}

#[cfg(unix)]
#[tokio::test]
async fn links_pipes_and_devices_are_refused() {
    use std::os::unix::fs::symlink;
    let (outer, toolbox) = folder();
    let root = outer.path().join("root");
    symlink(outer.path(), root.join("up")).unwrap();
    symlink(outer.path().join("secret.txt"), root.join("link.txt")).unwrap();
    symlink("/dev/zero", root.join("zero")).unwrap();
    symlink(root.join("notes.md"), root.join("inside.md")).unwrap();
    let fifo = rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    );
    fifo.unwrap();
    // Whoever waits to write there still waits afterwards.
    let pipe = root.join("pipe");
    let writer = std::thread::spawn(move || std::fs::OpenOptions::new().write(true).open(pipe));
    std::thread::sleep(std::time::Duration::from_millis(100));
    let socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    for path in ["up/secret.txt", "up", "link.txt", "zero", "inside.md", "pipe", "socket"] {
        for arguments in [json!({"path": path}), json!({"path": path, "query": "secret"})] {
            assert!(ask(&toolbox, "files", arguments.clone()).await.is_err(), "{arguments}");
        }
    }
    let found = ask(&toolbox, "files", json!({"query": "secret"})).await;
    assert!(found.unwrap_err().contains("has a line that matches"));
    let listed = ask(&toolbox, "files", json!({"path": "."})).await.unwrap();
    assert!(
        !listed.text.contains("up") && !listed.text.contains("pipe") && !listed.text.contains("link"),
        "{}",
        listed.text
    );
    drop(socket);
    assert!(!writer.is_finished(), "the pipe was opened");
    drop(std::fs::File::open(root.join("pipe")).unwrap());
    writer.join().unwrap().unwrap();
}

/// A search reads ignore files of the folder, which may come from somebody else.
#[cfg(unix)]
#[tokio::test]
async fn an_ignore_file_that_is_a_link_or_a_device_is_not_read() {
    use std::os::unix::fs::symlink;
    let (outer, toolbox) = folder();
    let root = outer.path().join("root");
    std::fs::remove_file(root.join(".gitignore")).unwrap();
    symlink("/dev/zero", root.join(".gitignore")).unwrap();
    symlink("/dev/zero", root.join("src/.ignore")).unwrap();
    let fifo = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, root.join("target/.gitignore"), rustix::fs::FileType::Fifo, fifo, 0)
        .unwrap();
    write(&root, "deep/.gitignore", &"*.rs\n".repeat(20_000));
    write(&root, "deep/a.rs", "A queue below too many rules.\n");
    let found = ask(&toolbox, "files", json!({"query": "queue"})).await.unwrap();
    for path in ["src/queue.rs:2", "target/out.rs:1", "deep/a.rs:1"] {
        assert!(found.text.contains(path), "{path}: {}", found.text);
    }
}

#[tokio::test]
async fn a_search_leaves_out_what_the_nearest_ignore_file_says() {
    let (outer, toolbox) = folder();
    let root = outer.path().join("root");
    write(&root, ".ignore", "*.log\n/notes.md\n");
    write(&root, "a.log", "queue\n");
    write(&root, "logs/.gitignore", "!kept.log\n");
    write(&root, "logs/kept.log", "queue\n");
    write(&root, "logs/other.log", "queue\n");
    write(&root, "logs/notes.md", "queue\n");
    let found = ask(&toolbox, "files", json!({"query": "^queue"})).await.unwrap();
    assert_eq!(found.text, "logs/kept.log:1: queue\nlogs/notes.md:1: queue\n");
    let below = ask(&toolbox, "files", json!({"query": "queue", "path": "target"})).await.unwrap();
    assert!(below.text.contains("build folder"), "a folder that is named is searched: {}", below.text);
    let one = ask(&toolbox, "files", json!({"query": "queue", "path": "src/queue.rs"})).await.unwrap();
    assert_eq!(one.text.lines().count(), 1, "{}", one.text);
}

/// Other names of the same file on systems that ignore case, invisible characters, or dots and spaces at the end.
#[tokio::test]
async fn a_file_that_may_hold_secrets_is_refused_by_any_of_its_names() {
    let (outer, toolbox) = folder();
    let root = outer.path().join("root");
    let names = [
        ".GIT",
        ".g\u{200c}it",
        ".env.",
        ".env ",
        ".\u{17f}sh",
        "server.\u{212a}ey",
        ".git-credentials",
        "id_dsa",
        "credentials.json",
        ".env:x",
        "server:prod.env",
        "tls:server.key",
        "ab:.env.:c",
        ".env~",
        ".env-production",
        "prod.env",
        "terraform.tfstate",
        "kubeconfig",
        ".\u{1e9e}h",
        "terraform.tf\u{fb06}ate",
        "prod.env.bak",
        "server.key.bak",
        "server.key.orig~",
        ".git-credentials.bak",
        "id.pem.old",
        "terraform.tfstate.1700000000.backup",
        "application_default_credentials.json",
        "_netrc",
        "project.git",
        "AuthKey.p8",
        "secring.gpg",
        ".yarnrc.yml",
        ".bash_history",
        "id_rsa\n.pub",
    ];
    for name in names {
        write(&root, &format!("{name}/x"), "queue of secrets\n");
        let refused = ask(&toolbox, "files", json!({"path": format!("{name}/x")})).await.unwrap_err();
        assert!(refused.contains("may hold secrets"), "{name:?}: {refused}");
    }
    let others = ["src/credentials.rs", "src/backup.rs", "notes.md.bak", "gcloud/setup.md", "history.md"];
    others.iter().for_each(|name| write(&root, name, "queue\n"));
    let found = ask(&toolbox, "files", json!({"query": "queue"})).await.unwrap();
    assert!(!found.text.contains("secrets"), "{}", found.text);
    for name in others {
        assert!(found.text.contains(name), "{name}: {}", found.text);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_the_system_tells_of_programs_is_not_read() {
    let toolbox = toolbox("[files]\nroot = \"/\"");
    let process = std::process::id();
    for path in [
        "proc/version".to_owned(),
        format!("proc/{process}/status"),
        format!("proc/{process}"),
        "proc".into(),
    ] {
        let refused = ask(&toolbox, "files", json!({"path": path})).await.unwrap_err();
        assert!(refused.contains("is about this machine"), "{path}: {refused}");
    }
    assert!(ask(&toolbox, "files", json!({"path": "proc", "query": "Linux"})).await.is_err());
    // Which of the others there are differs between machines.
    let others =
        ["sysfs", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs", "bpf", "configfs", "pstore"];
    for mount in std::fs::read_to_string("/proc/mounts").unwrap().lines() {
        let fields: Vec<&str> = mount.split(' ').collect();
        if others.contains(&fields[2]) {
            let path = fields[1].trim_start_matches('/');
            assert!(ask(&toolbox, "files", json!({"path": path})).await.is_err(), "{mount}");
        }
    }
}

/// Whoever wrote the files of a repository may have put a link where the user's configuration expects a folder.
#[cfg(unix)]
#[test]
fn a_relative_root_is_a_folder_below_and_no_link() {
    use std::os::unix::fs::symlink;
    let outer = tempfile::tempdir().unwrap();
    let base = outer.path().join("repository");
    write(outer.path(), "secrets/a/secret.txt", "the secret");
    write(&base, "docs/inner/page.md", "a page");
    symlink(outer.path().join("secrets"), base.join("out")).unwrap();
    symlink(base.join("docs"), base.join("in")).unwrap();
    let tool = |root: &Path| FilesTool::configured(&base, root);
    for root in [".", "docs", "docs/inner", "./docs/", "docs/../docs"] {
        assert!(tool(Path::new(root)).is_ok(), "{root}");
    }
    for root in ["out", "out/a", "in", "in/", "in/.", "./in//", "in/inner", "..", "../secrets", "in/../docs"]
    {
        let refused = tool(Path::new(root)).unwrap_err();
        assert!(refused.0.contains("write the whole path"), "{root}: {refused:?}");
    }
    assert!(tool(&base.join("out")).is_ok(), "the user wrote the whole path");
}

/// The folder that was checked is the one that is read, whatever becomes of its path.
#[cfg(target_os = "linux")]
#[test]
fn a_root_above_which_a_folder_becomes_a_link_leads_nowhere() {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let outer = tempfile::tempdir().unwrap();
    let base = outer.path().join("repository");
    write(outer.path(), "outside/inner/page.md", "the secret");
    write(&base, "docs/inner/page.md", "a page");
    std::os::unix::fs::symlink(outer.path().join("outside"), base.join("link")).unwrap();
    let (docs, link, is_over) =
        (base.join("docs"), base.join("link"), std::sync::Arc::new(AtomicBool::new(false)));
    let exchange = move || renameat_with(CWD, &docs, CWD, &link, RenameFlags::EXCHANGE).unwrap();
    let read = |tool: FilesTool| tool.serve(&json!({"path": "page.md"}), 1_000).map(|found| found.text);
    let configured = || FilesTool::configured(&base, Path::new("docs/inner"));
    let before = configured().unwrap();
    exchange();
    assert_eq!(read(before).unwrap(), "1 | a page\n");
    assert!(configured().is_err());
    let ends = is_over.clone();
    let exchanging = std::thread::spawn(move || {
        while !ends.load(Ordering::Relaxed) {
            exchange();
        }
    });
    for _ in 0..3_000 {
        if let Ok(tool) = configured() {
            assert_eq!(read(tool).unwrap(), "1 | a page\n");
        }
    }
    is_over.store(true, Ordering::Relaxed);
    exchanging.join().unwrap();
}

/// The debate goes on without what it cannot read.
#[tokio::test]
async fn a_root_that_is_gone_when_a_debate_goes_on_refuses_its_requests() {
    let toolbox = toolbox("[files]\nroot = \"/no/such/folder\"");
    assert!(toolbox.offers(&["files".to_owned()]).await.is_err(), "none is opened with it");
    let refused = ask(&toolbox, "files", json!({"path": "a.md"})).await.unwrap_err();
    assert!(refused.contains("is not a folder that can be read"), "{refused}");
}

/// The names of all folders on the way are held at once.
#[tokio::test]
async fn a_search_looks_at_a_limited_number_of_entries() {
    let (outer, toolbox) = folder();
    let root = outer.path().join("root");
    write(&root, ".gitignore", "*.o\n");
    for folder in ["a", "a/z"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
        for name in 0..26_000 {
            std::fs::File::create(root.join(folder).join(format!("{name}.o"))).unwrap();
        }
    }
    write(&root, "z/last.md", "the needle\n");
    let refused = ask(&toolbox, "files", json!({"query": "needle"})).await.unwrap_err();
    assert!(refused.contains("there are more files, so name a folder"), "{refused}");
    let found = ask(&toolbox, "files", json!({"query": "needle", "path": "z"})).await.unwrap();
    assert_eq!(found.text, "z/last.md:1: the needle\n");
}

/// Runs itself in a process that can open few files. Root may read every file, so for root one that is locked is no such file.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_search_says_if_it_could_not_open_files() {
    const LIMITED: &str = "TOOLS_TEST_WITH_FEW_FILES";
    let (outer, toolbox) = folder();
    if std::env::var_os(LIMITED).is_some() {
        write(&outer.path().join("root"), &format!("{}deep.md", "d/".repeat(60)), "the needle\n");
        let refused = ask(&toolbox, "files", json!({"query": "needle"})).await.unwrap_err();
        assert!(refused.contains("1 files or folders could not be opened"), "{refused}");
        return;
    }
    let locked = outer.path().join("root/locked.md");
    std::fs::write(&locked, "the needle\n").unwrap();
    std::fs::set_permissions(&locked, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    let is_locked = std::fs::File::open(&locked).is_err();
    let said = ask(&toolbox, "files", json!({"query": "needle"})).await.err();
    let says_so = said.is_some_and(|why| why.contains("1 files or folders could not be opened"));
    assert_eq!(says_so, is_locked);
    let name = "tools::a_search_says_if_it_could_not_open_files";
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", "ulimit -n 40; exec \"$0\" --exact \"$1\""]);
    let limited = shell.arg(std::env::current_exe().unwrap()).arg(name).env(LIMITED, "1").output().unwrap();
    let said = String::from_utf8_lossy(&limited.stdout);
    assert!(limited.status.success() && said.contains("1 passed"), "{said}");
}

/// A folder that is swapped for a link while it is searched.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_becomes_a_link_during_a_search_leads_nowhere() {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    let (outer, toolbox) = folder();
    let root = outer.path().join("root");
    write(outer.path(), "outside/secret.txt", "the secret\n");
    let (is_over, swapped) = (std::sync::Arc::new(AtomicBool::new(false)), root.join("swapped"));
    let (ends, outside) = (is_over.clone(), outer.path().join("outside"));
    let swapping = std::thread::spawn(move || {
        while !ends.load(Ordering::Relaxed) {
            std::fs::create_dir(&swapped).unwrap();
            std::fs::write(swapped.join("secret.txt"), "harmless\n").unwrap();
            std::fs::remove_dir_all(&swapped).unwrap();
            symlink(&outside, &swapped).unwrap();
            std::fs::remove_file(&swapped).unwrap();
        }
    });
    for _ in 0..300 {
        for arguments in [json!({"query": "the secret"}), json!({"path": "swapped/secret.txt"})] {
            if let Ok(found) = ask(&toolbox, "files", arguments).await {
                assert!(!found.text.contains("the secret"), "{}", found.text);
            }
        }
    }
    is_over.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
}

/// A debate that goes on in another folder reads the one that it was opened with.
#[tokio::test]
async fn a_request_is_served_in_the_folder_that_the_debate_was_opened_with() {
    let (outer, toolbox) = folder();
    let model = toolbox.model("files").unwrap();
    write(outer.path(), "other/here.md", "another folder\n");
    let asked = async |folder: &str| {
        let mut call = call_with(&json!({"path": "here.md"}).to_string());
        call.messages.insert(0, CallMessage::new(MessageRole::System, folder));
        let answer = model.call(&call, None).await.unwrap();
        serde_json::from_str::<ToolAnswer>(&answer.text).unwrap()
    };
    let other = outer.path().join("other").canonicalize().unwrap();
    assert_eq!(asked(other.to_str().unwrap()).await.text, "1 | another folder\n");
    assert!(asked(&toolbox.folder().unwrap()).await.refused.unwrap().contains("does not exist"));
    let gone = asked("/no/such/folder").await.refused.unwrap();
    assert!(gone.contains("\"/no/such/folder\", with which the debate was opened, is not there"), "{gone}");
    // The folder may have been replaced by a link in the meantime.
    #[cfg(unix)]
    {
        std::fs::rename(&other, outer.path().join("moved")).unwrap();
        write(outer.path(), "secrets/here.md", "a secret\n");
        std::os::unix::fs::symlink(outer.path().join("secrets"), &other).unwrap();
        let replaced = asked(other.to_str().unwrap()).await;
        assert!(
            replaced.refused.is_some_and(|why| why.contains("leads elsewhere now")),
            "{:?}",
            replaced.text
        );
    }
}

fn host(server: &TestServer) -> String {
    server.url("").trim_start_matches("http://").to_owned()
}

fn redirect(to: &str) -> ServerAction {
    let head =
        format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    ServerAction::Send(head.into_bytes())
}

#[tokio::test]
async fn a_page_of_an_allowed_host_is_fetched_as_text() {
    let server = TestServer::start(|path| match path {
        "/page" => ok(
            "text/html; charset=utf-8",
            "<html><head><title>Queue</title><script>evil()</script></head><body><p>The queue holds <b>nine</b> jobs.</p><p>It drops &amp; logs.</p></body></html>",
        ),
        "/moved" => redirect("/page"),
        "/picture" => ok("image/png", b"\x89PNG"),
        "/long" => ok("text/plain", "word ".repeat(20_000)),
        "/huge" => ok("text/plain", "x".repeat(3 << 20)),
        "/loop" => redirect("/loop"),
        _ => ServerAction::Send(
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec(),
        ),
    });
    let toolbox = toolbox(&format!("[fetch]\nallow = [{:?}]", host(&server)));
    let fetch = |path: &str| ask(&toolbox, "fetch", json!({"url": server.url(path)}));
    for path in ["/page", "/moved"] {
        let page = fetch(path).await.unwrap();
        assert_eq!(page.text, "Queue\nThe queue holds nine jobs.\nIt drops & logs.\n");
        assert_eq!(page.source, server.url("/page"));
    }
    let long = fetch("/long").await.unwrap();
    assert!(long.source.contains(", the first ") && long.text.len() <= 16 * 1024, "{}", long.source);
    for (path, why) in [
        ("/picture", "is not a text"),
        ("/huge", "has more than 2 MB"),
        ("/loop", "redirects more than 5 times"),
        ("/none", "answers with HTTP 404"),
    ] {
        let refused = fetch(path).await.unwrap_err();
        assert!(refused.contains(why), "{path}: {refused}");
    }
    let offer = &toolbox.offers(&["fetch".to_owned()]).await.unwrap().offers[0];
    assert!(offer.about.contains(&host(&server)));
}

#[tokio::test]
async fn a_host_that_is_not_allowed_and_a_private_address_are_refused_also_after_a_redirect() {
    let private = TestServer::start(|_| ok("text/plain", "the secret"));
    let (elsewhere, port) = (private.url("/x"), private.url("").rsplit_once(':').unwrap().1.to_owned());
    let by_name = format!("http://localhost:{port}/x");
    let (to, named) = (elsewhere.clone(), by_name.clone());
    let server = TestServer::start(move |path| match path {
        "/elsewhere" => redirect(&to),
        "/name" => redirect(&named),
        "/metadata" => redirect("http://169.254.169.254/latest"),
        "/file" => redirect("file:///etc/passwd"),
        _ => ok("text/plain", "public"),
    });
    let (host, other) = (host(&server), host(&private));
    let listed = toolbox(&format!("[fetch]\nallow = [{host:?}]"));
    for url in [
        elsewhere.clone(),
        by_name.clone(),
        server.url("/elsewhere"),
        server.url("/name"),
        server.url("/metadata"),
        server.url("/file"),
        "http://[::1]/".to_owned(),
        "not an address".to_owned(),
    ] {
        let refused = ask(&listed, "fetch", json!({"url": url})).await.unwrap_err();
        assert!(!refused.contains("the secret"), "{url}: {refused}");
    }
    assert_eq!(private.heads().len(), 0, "nothing was sent there");
    // A name of this machine is allowed, but its address is not: only `localhost` itself may mean it.
    let named = toolbox("[fetch]\nallow = [\"localhost.localdomain\", \"a.localhost\"]");
    for name in ["localhost.localdomain", "a.localhost"] {
        let url = format!("http://{name}:{port}/x");
        assert!(ask(&named, "fetch", json!({"url": url})).await.is_err(), "{url}");
    }
    assert_eq!(private.heads().len(), 0, "nothing was sent there");
    let both = toolbox(&format!("[fetch]\nallow = [{host:?}, {other:?}, \"localhost\"]"));
    for url in [server.url("/elsewhere"), server.url("/name"), by_name] {
        let found = ask(&both, "fetch", json!({"url": url})).await.unwrap();
        assert_eq!(found.text, "the secret\n", "{url}");
    }
}

#[tokio::test]
async fn ignore_files_and_expressions_take_bounded_memory_and_time() {
    let (outer, toolbox) = folder();
    let root = outer.path().join("root");
    let files = |arguments| ask(&toolbox, "files", arguments);
    let rules = |name: &str, bytes: usize| format!("{name}\n{}", "# no rule\n".repeat(bytes / 10));
    // The second file does not fit beside the first, so only the rules of the first count.
    write(&root, "a/.gitignore", &rules("one.txt", 40_000));
    write(&root, "a/b/.gitignore", &rules("two.txt", 40_000));
    write(&root, "a/b/one.txt", "the needle\n");
    write(&root, "a/b/two.txt", "the needle\n");
    assert_eq!(files(json!({"query": "needle"})).await.unwrap().text, "a/b/two.txt:1: the needle\n");
    let refused = files(json!({"query": "[ab]{1,9000}[a-h]{1,9000}[c-z0-9]"})).await.unwrap_err();
    assert!(refused.contains("too large for a regular expression"), "{refused}");
    write(&root, "words.txt", "total_of_all = sum_of(parts)\n");
    let words = files(json!({"query": r"\w+_\w+ = \w+\(\w+", "path": "words.txt"})).await.unwrap();
    assert_eq!(words.text, "words.txt:1: total_of_all = sum_of(parts)\n");
    // An expression sees the beginning of a long line, and words all of it.
    let long = format!("first {} last\n", "x".repeat(100_000));
    write(&root, "long.txt", &long);
    assert!(files(json!({"query": "^first"})).await.is_ok());
    let cut = files(json!({"query": "last$", "path": "long.txt"})).await.unwrap_err();
    assert!(cut.contains("with the first 2 KB of a line, plain words with all of it"), "{cut}");
    assert_eq!(files(json!({"query": "last first"})).await.unwrap().text.lines().count(), 1);
}

#[tokio::test]
async fn a_tool_that_is_not_configured_is_refused_before_the_debate() {
    let toolbox = toolbox("");
    for (name, why) in [("fetch", "[tools.fetch]"), ("wiki", "add [tools.wiki]")] {
        let refused = toolbox.offers(&[name.to_owned()]).await.unwrap_err();
        assert!(refused.0.contains(why), "{refused:?}");
        assert!(toolbox.model(name).is_err());
    }
}

/// Answers one message of a client of MCP; `None` for a notification.
fn mcp_answer(message: &Value) -> Option<Value> {
    if message["params"]["name"] == "missing" {
        let error = json!({"code": -32602, "message": format!("unknown\n ticket 7{}", "!".repeat(9_000))});
        return Some(json!({"jsonrpc": "2.0", "id": message.get("id")?, "error": error}));
    }
    let result = match message["method"].as_str()? {
        "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "test", "version": "1"}}),
        "tools/list" => json!({"tools": [
            {"name": "search", "description": "Searches\n the tickets.", "inputSchema": {"type": "object", "properties": {"words": {"type": "string"}}}},
            {"name": "fail", "inputSchema": {"type": "object"}}
        ]}),
        "tools/call" if message["params"]["name"] == "search" => {
            let words = message["params"]["arguments"]["words"].as_str().unwrap_or_default().to_owned();
            json!({"content": [{"type": "text", "text": format!("Ticket 7 is about {words}.")}]})
        }
        "tools/call" => json!({"content": [{"type": "text", "text": "no such ticket"}], "isError": true}),
        _ => return None,
    };
    Some(json!({"jsonrpc": "2.0", "id": message.get("id")?, "result": result}))
}

async fn check_mcp(toolbox: &Toolbox) {
    let offers = toolbox.offers(&["tickets".to_owned()]).await.unwrap().offers;
    let named: Vec<(&str, &str)> =
        offers.iter().map(|offer| (offer.name.as_str(), offer.about.as_str())).collect();
    assert_eq!(
        named,
        [("tickets.search", "Searches the tickets."), ("tickets.fail", "It has no description.")]
    );
    assert_eq!(offers[0].arguments["properties"]["words"]["type"], "string");
    for _ in 0..2 {
        let found = ask(toolbox, "tickets.search", json!({"words": "queues"})).await.unwrap();
        assert_eq!(found.text, "Ticket 7 is about queues.\n");
        assert_eq!(found.source, r#"search with {"words":"queues"}"#);
    }
    assert_eq!(ask(toolbox, "tickets.fail", json!({})).await.unwrap_err(), "the tool failed: no such ticket");
    let unknown = ask(toolbox, "tickets.missing", json!({})).await.unwrap_err();
    assert!(unknown.starts_with("the tool failed: unknown ticket 7!") && unknown.len() < 600, "{unknown}");
}

/// A server in a few lines of shell: it finds the id of a message and answers by its method.
fn mcp_script() -> String {
    mcp_script_with(None)
}

/// The same server with another list of tools.
fn mcp_script_with(tools: Option<Value>) -> String {
    let case = |pattern: &str, method: &str, params: Value| {
        let mut answer = mcp_answer(&json!({"id": "ID", "method": method, "params": params})).unwrap();
        if let (Some(tools), "tools/list") = (&tools, method) {
            answer["result"]["tools"] = tools.clone();
        }
        let answer = answer.to_string();
        let (before, after) = answer.split_once("\"ID\"").unwrap();
        format!("*{pattern}*) printf '%s%s%s\\n' '{before}' \"$id\" '{after}' ;;\n")
    };
    let cases = [
        case("'\"initialize\"'", "initialize", json!({})),
        case("'\"tools/list\"'", "tools/list", json!({})),
        case("'\"search\"'", "tools/call", json!({"name": "search", "arguments": {"words": "queues"}})),
        case("'\"fail\"'", "tools/call", json!({"name": "fail"})),
        case("'\"missing\"'", "tools/call", json!({"name": "missing"})),
    ];
    let head = "while read -r line; do\nid=${line#*\\\"id\\\":}\nid=${id%%[,\\}]*}\ncase $line in\n";
    format!("{head}{}esac\ndone", cases.concat())
}

#[cfg(unix)]
#[tokio::test]
async fn the_tools_of_a_program_that_speaks_mcp_are_listed_and_called() {
    let command = json!(["/bin/sh", "-c", mcp_script()]);
    check_mcp(&toolbox(&format!("[tickets]\ncommand = {command}"))).await;
    let missing = toolbox("[tickets]\ncommand = [\"/no/such/program\"]");
    let refused = missing.offers(&["tickets".to_owned()]).await.unwrap_err();
    assert!(refused.0.contains("cannot be started") && refused.0.contains("[tools.tickets]"), "{refused:?}");
}

/// What seats are told of tools is in every prompt.
#[cfg(unix)]
#[tokio::test]
async fn the_tools_of_servers_have_a_limited_length_and_what_is_left_out_is_named() {
    let server = |name: &str, tools: Value| {
        let command = json!(["/bin/sh", "-c", mcp_script_with(Some(tools))]);
        format!("[{name}]\ncommand = {command}\n")
    };
    let tool = |name: String, bytes: usize| json!({"name": name, "inputSchema": {"type": "object", "description": "x".repeat(bytes)}});
    let mut large: Vec<Value> = (0..9).map(|number| tool(format!("large-{number}"), 3_900)).collect();
    large.push(tool("small".into(), 10));
    let unusable = json!([tool("two words".into(), 10), tool("x".repeat(65), 10)]);
    let many: Vec<Value> = (0..45).map(|number| tool(format!("tool-{number}"), 10)).collect();
    let sections = [
        server("one", json!(large)),
        server("two", json!(large)),
        server("many", json!(many)),
        server("bad", unusable),
    ];
    let toolbox = toolbox(&sections.concat());
    let offered = toolbox.offers(&["one".to_owned(), "two".to_owned(), "files".to_owned()]).await.unwrap();
    let names: Vec<&str> = offered.offers.iter().map(|offer| offer.name.as_str()).collect();
    assert_eq!(
        (names.len(), &names[7..]),
        (11, &["one.large-7", "one.small", "two.small", "files"][..]),
        "{names:?}"
    );
    assert_eq!((offered.left_out.len(), offered.left_out[0].as_str()), (10, "one.large-8"));
    let offered = toolbox.offers(&["many".to_owned()]).await.unwrap();
    assert_eq!((offered.offers.len(), offered.left_out.len()), (40, 5));
    let refused = toolbox.offers(&["bad".to_owned()]).await.unwrap_err();
    assert!(refused.0.contains("none of its 2 tools has a name of at most 64 letters"), "{refused:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn an_mcp_server_that_only_asks_itself_is_disconnected() {
    let hello = mcp_answer(&json!({"id": 0, "method": "initialize"})).unwrap();
    for unasked in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 7_000, "result": {}}),
        json!({"jsonrpc": "2.0", "error": {"code": 1, "message": "no"}}),
    ] {
        let script = format!("read -r hello\nprintf '%s\\n' '{hello}'\nread -r ready\nyes '{unasked}'");
        let command = json!(["/bin/sh", "-c", script]);
        let flooding = toolbox(&format!("[tickets]\ncommand = {command}"));
        let refused = flooding.offers(&["tickets".to_owned()]).await.unwrap_err();
        assert!(refused.0.contains("more than 2000 messages that answer nothing"), "{refused:?}");
    }
}

/// What a server logs counts anew from each of its answers.
#[cfg(unix)]
#[tokio::test]
async fn an_mcp_server_may_log_much_over_a_long_connection() {
    let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}});
    let script = mcp_script().replacen("do\n", &format!("do\nyes '{note}' | head -n 900\n"), 1);
    let command = json!(["/bin/sh", "-c", script]);
    check_mcp(&toolbox(&format!("[tickets]\ncommand = {command}"))).await;
}

/// How a server sends its answers.
#[derive(Clone, Copy, PartialEq)]
enum AnswerForm {
    Json,
    Events,
    /// Whatever is asked, spaces without an end.
    Endless(&'static str),
    /// A list of tools whose every page has a next one.
    EndlessPages,
}

fn serve_mcp(stream: &TcpStream, form: AnswerForm) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
            let (name, value) = line.split_once(':').unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let mut answer = mcp_answer(&message);
        if let (AnswerForm::EndlessPages, "tools/list", Some(answer)) =
            (form, message["method"].as_str().unwrap_or_default(), &mut answer)
        {
            answer["result"] = json!({"tools": [], "nextCursor": "more"});
        }
        let response = match answer.map(|answer| answer.to_string()) {
            Some(_) if let AnswerForm::Endless(kind) = form => {
                let mut out = stream;
                write!(out, "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n").ok()?;
                loop {
                    out.write_all(&[b' '; 1 << 16]).ok()?;
                }
            }
            Some(answer) if form == AnswerForm::Events => {
                let event = format!(": a comment\n\nevent: message\ndata: {answer}\n\n");
                format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\r\n{event}",
                    event.len()
                )
            }
            Some(answer) => {
                format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{answer}",
                    answer.len()
                )
            }
            None if head.starts_with("POST") => {
                "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".to_owned()
            }
            None => "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n".to_owned(),
        };
        let mut out = stream;
        out.write_all(response.as_bytes()).ok()?;
    }
}

/// A server with one tool list, and its section of the configuration.
fn mcp_server(form: AnswerForm) -> Toolbox {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || serve_mcp(&stream, form));
        }
    });
    toolbox(&format!("[tickets]\nurl = {url:?}"))
}

#[tokio::test]
async fn the_tools_of_an_address_that_speaks_mcp_are_listed_and_called() {
    check_mcp(&mcp_server(AnswerForm::Json)).await;
    check_mcp(&mcp_server(AnswerForm::Events)).await;
}

#[tokio::test]
async fn an_mcp_server_whose_answers_or_tools_have_no_end_is_refused() {
    for kind in ["application/json", "text/event-stream", "text/html"] {
        let refused =
            mcp_server(AnswerForm::Endless(kind)).offers(&["tickets".to_owned()]).await.unwrap_err();
        assert!(refused.0.contains("cannot be used"), "{kind}: {refused:?}");
    }
    let refused = mcp_server(AnswerForm::EndlessPages).offers(&["tickets".to_owned()]).await.unwrap_err();
    assert!(refused.0.contains("it offers no tool"), "{refused:?}");
}
