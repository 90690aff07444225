//! `agon mcp --install`.

use serde_json::Value;

use crate::support::Home;

#[test]
fn the_configuration_of_each_client_is_printed() {
    let home = Home::new();
    for (client, key) in [("claude-code", "mcpServers"), ("cursor", "mcpServers"), ("vscode", "servers")] {
        let printed: Value = serde_json::from_str(&home.printed(&["mcp", "--install", client])).unwrap();
        let server = &printed[key]["agon"];
        assert!(server["command"].as_str().unwrap().ends_with("agon"), "{printed}");
        assert_eq!(server["args"], serde_json::json!(["mcp"]));
    }
    let printed = home.printed(&["mcp", "--install", "codex", "--db", "my.db"]);
    assert!(printed.starts_with("[mcp_servers.agon]") && printed.contains("my.db"), "{printed}");
    for (host, is_passed_on) in [("http://gpu.internal:11434", true), ("http://u:secret@gpu.internal", false)]
    {
        let ran = home.command(&["mcp", "--install", "cursor"]).env("OLLAMA_HOST", host).output().unwrap();
        let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(printed["mcpServers"]["agon"]["env"]["OLLAMA_HOST"] == host, is_passed_on, "{printed}");
    }
    assert_eq!(std::fs::read_dir(home.path("")).unwrap().count(), 0, "nothing is written");
}

#[test]
fn the_configuration_is_written_beside_what_is_there() {
    let home = Home::new();
    let file = home.path(".vscode/mcp.json");
    std::fs::create_dir(home.path(".vscode")).unwrap();
    std::fs::write(&file, r#"{"servers": {"mine": {"command": "x"}}, "inputs": []}"#).unwrap();
    let write = |client: &str| home.command(&["mcp", "--install", client, "--write"]).output().unwrap();
    for _ in 0..2 {
        let output = write("vscode");
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(written["servers"]["mine"]["command"], "x");
        assert!(written["servers"]["agon"]["command"].is_string() && written["inputs"].is_array());
    }
    std::fs::write(&file, "{ // mine\n}").unwrap();
    let output = write("vscode");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("Nothing was changed"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{ // mine\n}");
    assert!(write("codex").status.success());
    assert!(
        std::fs::read_to_string(home.path("user/.codex/config.toml")).unwrap().contains("mcp_servers.agon")
    );
}
