#!/usr/bin/env python3
"""Checks that an installed `agon` works as a person would use it: its version, a debate, its exit status, its input, Ctrl-C.

    check_program.py --version 0.1.0 [--home FOLDER] [--brief] [--wrapped] -- COMMAND...
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

QUESTION = "Should a small team write its new service in Rust or in Go?"
DEBATE = ["deep", QUESTION, "--models", "script/demo"]
INTERRUPTED = 130
BAD_USAGE = 2
WAIT_S = 60


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", required=True)
    parser.add_argument("--home", help="AGON_HOME, if the command sees another file system")
    parser.add_argument("--brief", action="store_true", help="only the version and the exit status")
    parser.add_argument("--wrapped", action="store_true", help="a program such as npx starts it, which passes no signal on")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    home = arguments.home or tempfile.mkdtemp(prefix="agon-check-")
    environment = {**os.environ, "AGON_HOME": home}
    checks = [has_version, passes_exit_status_on]
    if not arguments.brief:
        checks += [holds_debate, reads_input]
        if os.name == "posix":
            checks += [ends_at_ctrl_c]
            checks += [] if arguments.wrapped else [passes_signal_on]
    try:
        for check in checks:
            check(Program(arguments.command, environment), arguments.version)
            print(f"  ok: {os.path.basename(arguments.command[0])} {check.__name__.replace('_', ' ')}", flush=True)
    finally:
        if not arguments.home:
            shutil.rmtree(home, ignore_errors=True)


class Program:
    def __init__(self, command, environment):
        self.command = command
        self.environment = environment

    def run(self, *arguments, text=None):
        command = [*self.command, *arguments]
        given = {"input": text} if text else {"stdin": subprocess.DEVNULL}
        return subprocess.run(command, env=self.environment, capture_output=True, encoding="utf-8", timeout=WAIT_S, **given)

    def start(self, *arguments, **how):
        return subprocess.Popen([*self.command, *arguments], env=self.environment, **how)

    def debates(self):
        return json.loads(self.run("list", "--json").stdout)


def expect(is_true, what, *seen):
    if not is_true:
        sys.exit("\n".join([f"error: {what}", *map(str, seen)]))


def has_version(program, version):
    done = program.run("--version")
    expect(done.returncode == 0 and done.stdout == f"agon {version}\n", f"it is not agon {version}", done)


def passes_exit_status_on(program, _version):
    done = program.run("no-such-verb")
    expect(done.returncode == BAD_USAGE, f"bad usage must end with {BAD_USAGE}", done)
    expect(not done.stdout and done.stderr, "an error belongs on stderr", done)


def holds_debate(program, _version):
    done = program.run(*DEBATE, "--json")
    expect(done.returncode == 0, "the debate failed", done)
    outcome = json.loads(done.stdout)
    expect(outcome["status"] == "complete" and outcome["verdict"]["answer"], "the debate has no answer", outcome)
    expect(any(debate["id"] == outcome["id"] for debate in program.debates()), "the debate is not in the store")


def reads_input(program, _version):
    done = program.run("deep", "-", "--models", "script/demo", "--dry-run", text=QUESTION)
    expect(done.returncode == 0 and "script/demo" in done.stdout, "the question on stdin was not read", done)


def ends_at_ctrl_c(program, _version):
    """At a terminal, Ctrl-C makes it wait for calls in progress, and the log is kept."""
    import pty

    terminal, end = pty.openpty()
    process = program.start(*DEBATE, stdin=end, stdout=end, stderr=end, preexec_fn=make_controlling)
    os.close(end)
    read_terminal(terminal, until=b"debater-1")
    os.write(terminal, b"\x03")
    shown = read_terminal(terminal)
    process.wait(WAIT_S)
    expect(shell_status(process) == INTERRUPTED, f"Ctrl-C must end it with {INTERRUPTED}", process.returncode, shown)
    expect("stopping" in shown and "agon resume" in shown, "it does not say how to go on", shown)
    replied = shown.split("stopping", 1)[1].count("✓")
    expect(replied > 0, "it did not wait for the calls in progress", shown)
    expect(program.debates()[0]["status"] == "interrupted", "the debate is not kept", program.debates())


def passes_signal_on(program, _version):
    """A signal to the first process alone reaches the program."""
    process = program.start(*DEBATE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # The first line says that the debate has begun.
    process.stderr.readline()
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=WAIT_S)
    expect(process.returncode == INTERRUPTED, f"a signal must end it with {INTERRUPTED}", process.returncode, said)
    expect(b"agon resume" in said, "it does not say how to go on", said)


def shell_status(process):
    """The exit status as a shell shows it: 128 and the signal's number, if a signal ended it. npx ends itself by the one that it got."""
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def make_controlling():
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def read_terminal(terminal, until=None):
    """What is shown until these bytes, or until the end."""
    shown = b""
    while until is None or until not in shown:
        try:
            some = os.read(terminal, 65536)
        except OSError:
            break
        if not some:
            break
        shown += some
    return shown.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
