# For the scripts beside it: checks that name what they checked, and a folder that is removed at the end.
# The scripts take the path of the tribo tool as their argument.
set -uo pipefail

tribo=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# expect CODE ARGUMENT...: runs tribo; its output is in the files `out` and `err`.
expect() {
  local wanted=$1 got=0
  shift
  "$tribo" "$@" >out 2>err </dev/null || got=$?
  if [ "$got" -ne "$wanted" ]; then
    fail "tribo $* gave exit code $got, not $wanted"
    sed 's/^/    /' err >&2
  fi
}

# expect_error TEXT ARGUMENT...: exit code 2, nothing on stdout, a message "tribo: ... TEXT ..." on stderr.
expect_error() {
  local text=$1
  shift
  expect 2 "$@"
  [ -s out ] && fail "tribo $* wrote to stdout although it was refused"
  head -n 1 err | grep -q '^tribo: ' || fail "tribo $*: the message does not start with 'tribo: '"
  grep -qF -- "$text" err || { fail "tribo $*: the message does not say '$text'"; sed 's/^/    /' err >&2; }
}

expect_in() {  # FILE TEXT
  grep -qF -- "$2" "$1" || { fail "$1 does not contain '$2'"; sed 's/^/    /' "$1" | head -n 40 >&2; }
}

# check_python NAME CODE ARGUMENT...: assertions in Python.
check_python() {
  local name=$1 code=$2
  shift 2
  python3 -c "$code" "$@" || fail "$name"
}

finish() {
  [ "$failures" -eq 0 ] || { echo "$failures checks failed" >&2; exit 1; }
  echo "all checks passed"
}
