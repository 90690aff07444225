# What the scripts of the action share. They run with `bash`, also with version 3.2 of macOS.
# shellcheck shell=bash
set -euo pipefail

# Ends the step with a sentence that the workflow shows as an error.
stop() {
    printf '::error title=agon review::%s\n' "$(one_line "$1")"
    exit "${2:-2}"
}

# Shows a sentence as a warning.
warn() {
    printf '::warning title=agon review::%s\n' "$(one_line "$1")"
}

# A text that cannot end its workflow command or begin another.
one_line() {
    printf '%s' "$1" | tr '\r\n' '  ' | sed 's/%/%25/g'
}

# Sets an output of the step. The value must not come from a stranger, because a newline in it would set other outputs.
output() {
    printf '%s=%s\n' "$1" "$2" >>"${GITHUB_OUTPUT:?}"
}
