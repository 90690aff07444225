#compdef agon
# Completion of agon in zsh. It asks agon itself, which knows your debates and models.
# In ~/.zshrc: source <(agon completions zsh)
_agon() {
    local agon=${(Q)words[1]} candidate
    local -a candidates closed open
    agon=${agon/#\~\//$HOME/}
    whence -p -- $agon >/dev/null || agon=agon
    candidates=("${(@f)$(AGON_COMPLETE=zsh $agon -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    for candidate in $candidates; do
        # No space follows what is not complete yet. The value ends at the first colon without a backslash.
        if [[ ${${candidate//\\:/}%%:*} == *[/=] ]]; then
            open+=("$candidate")
        else
            closed+=("$candidate")
        fi
    done
    (( $#closed )) && _describe -V 'agon' closed
    (( $#open )) && _describe -V 'agon' open -S ''
    (( $#closed + $#open ))
}
if [[ ${funcstack[1]} == _agon ]]; then
    _agon "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _agon agon
fi
