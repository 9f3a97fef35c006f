#!/bin/sh
# Keyreeve VERSION for Linux on ARCHITECTURE: a shell script with an archive behind it.
#   sh FILE [FOLDER]
# unpacks the program into a new folder NAME of FOLDER, which is the current folder by default. It installs nothing else.
set -eu

fail() {
  printf 'keyreeve: %s\n' "$1" >&2
  exit 1
}

case ${1-} in
-h | --help)
  sed -n '2,4s/^# \{0,1\}//p' "$0"
  exit 0
  ;;
esac
[ "$(uname -s)" = Linux ] || fail 'this file is for Linux'
case "$(uname -m)" in
MACHINES) ;;
*) fail "this file is for ARCHITECTURE, and this machine is $(uname -m)" ;;
esac
# The program is linked with it, and Alpine has another one. A folder of glibc's linker is on every machine that has it.
[ -n "$(ls /lib*/ld-linux-* /lib/*/ld-linux-* 2>/dev/null)" ] || fail 'the program needs glibc 2.28 or newer'

archive() {
  tail -c +OFFSET "$0"
}
found=$(archive | sha256sum)
[ "${found%% *}" = SHA256 ] || fail "$0 is incomplete or was changed: its SHA-256 is not the expected one"

parent=${1-.}
[ -d "$parent" ] || fail "$parent is no folder"
target=$parent/NAME
[ ! -e "$target" ] || fail "$target exists"
# Beside the target, so that the rename is atomic: another process finds the complete program, or none.
temporary=$(mktemp -d "$parent/.keyreeve-XXXXXX")
trap 'rm -rf "$temporary"' EXIT
trap 'exit 1' HUP INT TERM
archive | tar -xzf - -C "$temporary" --no-same-owner
mv -T "$temporary/NAME" "$target"
printf '%s\n' "$target"
exit 0
