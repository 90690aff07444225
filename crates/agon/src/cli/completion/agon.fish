# Completion of agon in fish. It asks agon itself, which knows your debates and models.
# In ~/.config/fish/config.fish: agon completions fish | source
function __agon_complete
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l current (commandline --current-token --cut-at-cursor)
    set -l agon $words[1]
    type --query --path -- $agon 2>/dev/null; or set agon agon
    AGON_COMPLETE=fish command $agon -- $words "$current" 2>/dev/null
end
complete --command agon --keep-order --no-files --arguments '(__agon_complete)'
