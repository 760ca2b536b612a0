# Functions for the tests of the examples; source it.
set -u

# fail MESSAGE: ends the test.
fail() {
  echo "FAILED: $1" >&2
  exit 1
}

# value FILE KEY: a value of a JSON file.
value() {
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1" "$2"
}

# holds EXPRESSION VALUE...: whether a Python expression over v, the list of values, is true.
holds() {
  python3 -c 'import sys; v = [float(x) for x in sys.argv[2:]]; sys.exit(not eval(sys.argv[1]))' "$@"
}

# expect_error MESSAGE COMMAND...: the command ends with 1 and prints one line, which contains MESSAGE.
expect_error() {
  local message=$1 output code
  shift
  output=$("$@" 2>&1)
  code=$?
  ((code == 1)) || fail "$*: exit code $code, want 1"
  [[ $output == *"$message"* && $output != *$'\n'* ]] || fail "$*: printed: $output"
}

# kill_at_checkpoint FOLDER COMMAND...: starts the command and kills it as soon as FOLDER has a checkpoint. Starts again if
# the run ended first.
kill_at_checkpoint() {
  local folder=$1 pid
  shift
  for _ in 1 2 3 4 5; do
    rm -rf "$folder"
    "$@" > "$folder.txt" 2>&1 &
    pid=$!
    until compgen -G "$folder/step-*" > /dev/null; do
      kill -0 "$pid" 2> /dev/null || break
      read -r -t 0.01 < <(:)
    done
    kill -KILL "$pid"
    wait "$pid" 2> /dev/null
    [[ -e $folder/summary.json ]] || return 0
  done
  fail "the run always ended before it was killed: $(cat "$folder.txt")"
}

cd "$TEST_TMPDIR" || exit 1
