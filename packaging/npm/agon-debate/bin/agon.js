#!/usr/bin/env node
// Starts the program `agon`, which is in the optional dependency for this platform, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const CANNOT_START = 3;

function findProgram() {
  const dependency = `@agon-debate/${process.platform}-${process.arch}`;
  const file = process.platform === "win32" ? "agon.exe" : "agon";
  try {
    return require.resolve(`${dependency}/bin/${file}`);
  } catch {
    console.error(
      `error: the package ${dependency} is not installed.\n` +
        "Install agon-debate again without --omit=optional. If there is no package for your platform, `pip install agon-debate` or\n" +
        "`cargo install agon-debate` may help.",
    );
    process.exit(CANNOT_START);
  }
}

const program = spawn(findProgram(), process.argv.slice(2), { stdio: "inherit" });

program.on("error", (error) => {
  console.error(`error: agon cannot be started: ${error.message}`);
  process.exit(CANNOT_START);
});
program.on("exit", (status, signal) => {
  process.exit(signal ? 128 + constants.signals[signal] : status);
});

// A terminal sends Ctrl-C and Ctrl-\ to the program, too. If they were passed on as well, the program would get them twice, and a second
// Ctrl-C ends it at once.
const atTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
const fromTerminal = ["SIGINT", "SIGQUIT"];
for (const signal of [...fromTerminal, "SIGTERM", "SIGHUP"]) {
  if (process.platform === "win32" && signal === "SIGQUIT") continue;
  process.on(signal, () => {
    if (!(atTerminal && fromTerminal.includes(signal))) program.kill(signal);
  });
}
