# fish completion for keyreeve, printed by `keyreeve completion fish`.
function __keyreeve_candidates
    set -l line (string join -- ' ' (commandline -opc)[2..])
    test -n "$line"; and set line (string replace -r -- '^(?:--(?:env-file|url|key-file) [^ ]+ )+' '' "$line ")
    switch "$line"
@CASES@
    end
end
complete -c keyreeve -f -a '(__keyreeve_candidates)'
