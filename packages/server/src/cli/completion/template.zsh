#compdef keyreeve
# zsh completion for keyreeve, printed by `keyreeve completion zsh`.
_keyreeve() {
  local line="${(j: :)words[2,CURRENT-1]}" paths=''
  local -a candidates match mbegin mend
  line="${line:+$line }"
  while [[ $line =~ '^--(env-file|url|key-file) [^ ]+ (.*)$' ]]; do line=$match[2]; done
  case "$line" in
@CASES@
  esac
  (( $#candidates )) && _describe keyreeve candidates
  [[ -z $paths ]] || _files ${(z)paths}
}
if [[ $funcstack[1] == _keyreeve ]]; then _keyreeve "$@"; else compdef _keyreeve keyreeve; fi
