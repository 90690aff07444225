# Completion of agon in bash. It asks agon itself, which knows your debates and models.
# In ~/.bashrc: source <(agon completions bash)
_agon_complete() {
    local line="${COMP_LINE:0:COMP_POINT}" rest word candidate current cut="" quote="" char i
    local -a words=()
    COMPREPLY=()
    # bash also splits words at : and =, agon does not.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        rest="${line#"${line%%[![:space:]]*}"}"
        word="${COMP_WORDS[i]}"
        ((i == COMP_CWORD)) && word="$rest"
        if ((i > 0)) && [[ "$rest" == "$line" ]]; then
            words[${#words[@]} - 1]+="$word"
        else
            words+=("$word")
        fi
        line="${rest#"$word"}"
    done
    current="${words[${#words[@]} - 1]}"
    # Inside quotes, bash wants the words without them.
    [[ "$current" == *[\"\']* ]] && quote=yes
    current="${current#[\"\']}"
    words[${#words[@]} - 1]="$current"
    # bash replaces only what is behind the last : or =.
    for char in : =; do
        if [[ "$COMP_WORDBREAKS" == *"$char"* && "$current" == *"$char"* ]]; then
            word="${current%"${current##*"$char"}"}"
            ((${#word} > ${#cut})) && cut="$word"
        fi
    done
    local agon="${1/#\~\//$HOME/}"
    type -P "$agon" >/dev/null || agon=agon
    while IFS= read -r candidate; do
        candidate="${candidate#"$cut"}"
        if [[ -n "$quote" ]]; then
            # Quoted once more, it could end the quotes that were opened. So only a name that means itself in any quotes is offered.
            [[ "$candidate" == *[\"\'\$\`\\!]* ]] && continue
        elif [[ "$candidate" == *[!a-zA-Z0-9_./:=,+@%-]* ]]; then
            printf -v candidate '%q' "$candidate"
        fi
        COMPREPLY+=("$candidate")
    done < <(AGON_COMPLETE=bash "$agon" -- "${words[@]}" 2>/dev/null)
    if ((${#COMPREPLY[@]} == 1)) && [[ "${COMPREPLY[0]}" == *[/=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}
complete -o bashdefault -o nosort -F _agon_complete agon 2>/dev/null ||
    complete -o bashdefault -F _agon_complete agon
