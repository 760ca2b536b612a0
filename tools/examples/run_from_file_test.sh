#!/usr/bin/env bash
# A run from a file is the run of the same flags, and is shown back; an unknown name is refused with the nearest one.
PROGRAM=$(realpath "$1")
SMALL_DATA=$(realpath "$2")
source "$(dirname "$0")/test_helpers.sh"

"$SMALL_DATA" small 640 100 || fail "no data"
flags=(--data=small --at_most="2 updates" --grad_accum_steps=2 --schedule="linear" --seed=5)
"$PROGRAM" "${flags[@]}" --summary_json=flags.json > /dev/null 2>&1 || fail "exit code $? with flags"
"$PROGRAM" "${flags[@]}" --write_config=run.json || fail "--write_config ends with $?"
"$PROGRAM" --config=run.json --summary_json=file.json --show_config > shown.txt 2> /dev/null || fail "exit code $? with a file"
[[ $(value flags.json state_crc32c) == $(value file.json state_crc32c) ]] || fail "the file gives another run"
grep -qx 'at_most: "2 updates"' shown.txt || fail "not shown: $(head -n 50 shown.txt)"
printf 'data: "small"\natmost: "2 updates"\n' > bad.txt
expect_error "bad.txt: atmost is not an option of this program; did you mean at_most?" "$PROGRAM" --config=bad.txt
