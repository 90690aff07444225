"""Starts the program `agon`, which is in the same package."""

import os
import subprocess
import sys
import sysconfig


def find_program():
    """The path of the program, wherever this package was installed."""
    name = "agon.exe" if os.name == "nt" else "agon"
    folders = [sysconfig.get_path("scripts")]
    user_scheme = "nt_user" if os.name == "nt" else "posix_user"
    if user_scheme in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", scheme=user_scheme))
    # `pip install --target DIR` makes DIR/bin, and so does `--prefix` beside lib/pythonX.Y/site-packages.
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders.append(os.path.join(packages, "bin"))
    folders.append(os.path.join(packages, "..", "..", "..", "bin"))
    for folder in folders:
        program = os.path.join(folder, name)
        if os.path.isfile(program):
            return program
    raise FileNotFoundError(f"{name} is in none of these folders: {', '.join(folders)}. Install agon-debate again.")


def main():
    """Runs the program in place of this process, with the same arguments."""
    try:
        command = [find_program(), *sys.argv[1:]]
    except FileNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    if os.name != "nt":
        os.execv(command[0], command)
    process = subprocess.Popen(command)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            # The console sent it to the program, too, which decides how to end.
            pass
