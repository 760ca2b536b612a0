#!/usr/bin/env bash
# Exports every architecture of architectures.py, trains each in C++ and in Python, and prints the table of trainer/exported/README.md.
#
#   tools/golden/exported_table.sh [--only=gpt2,llama] [--venv=/tmp/export]
#
# Makes the virtual environment from pinned packages and builds the C++ side first.
set -eu
cd "$(dirname "$0")/../.."
venv=/tmp/export
options=()
for option in "$@"; do
  case $option in
    --venv=*) venv=${option#--venv=} ;;
    *) options+=("$option") ;;
  esac
done
[ -e "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet torch==2.13.0 safetensors==0.8.0 numpy==2.4.6 transformers==5.23.0
tools/bazel build //tools/convert:exported_check
exec "$venv/bin/python" tools/golden/exported_table.py "${options[@]}"
