# bash completion for keyreeve, printed by `keyreeve completion bash`. Compatible with bash 3.2.
_keyreeve() {
  local IFS=' ' line words='' paths='' current=${COMP_WORDS[COMP_CWORD]}
  line=${COMP_WORDS[*]:1:COMP_CWORD-1}
  line=${line:+$line }
  while [[ $line =~ ^--(env-file|url|key-file)' '([^' ']+' : ')*[^' ']+' '(.*)$ ]]; do line=${BASH_REMATCH[3]}; done
  case "$line" in
@CASES@
  esac
  compopt -o nosort 2> /dev/null
  IFS=$'\n'
  [ -z "$paths" ] || compopt -o filenames 2> /dev/null
  COMPREPLY=($(IFS=' ' compgen -W "$words" -- "$current"; [ -z "$paths" ] || compgen "$paths" -- "$current"))
}
complete -F _keyreeve keyreeve
