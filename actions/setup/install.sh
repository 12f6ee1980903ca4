#!/usr/bin/env bash
# usage: install.sh BINARY...
#        INPUT_TOOLS="NAME NAME…" install.sh --on-path
#
# Makes the named Gatehouse binaries available and prints the folder that holds them.
# Released binaries are downloaded once, checked against the sha256 in checksums.txt
# beside this script (so whoever pins the action's commit has pinned the binaries),
# and kept in the runner's tool cache under their hash. Where checksums.txt does not
# name a binary for this platform (a branch, this project's own CI) it is built from
# this checkout with the Go toolchain on PATH.
#
# --on-path is the root action: it takes the names from INPUT_TOOLS (all binaries
# when that is empty) and puts the folder on PATH for the job's later steps.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"
table="$here/checksums.txt"

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$1"; [ -z "${2-}" ] || say "hint: $2"; exit 3; }

if [ "${1-}" = --on-path ]; then
  read -r -d '' -a names <<<"${INPUT_TOOLS-}" || true
  if [ "${#names[@]}" -eq 0 ]; then
    for dir in "$root"/cmd/*/; do names+=("$(basename "$dir")"); done
  fi
  bin="$("${BASH_SOURCE[0]}" "${names[@]}")"
  printf '%s\n' "$bin" >>"$GITHUB_PATH"
  printf 'path=%s\n' "$bin" >>"$GITHUB_OUTPUT"
  exit 0
fi
[ $# -gt 0 ] || die "no binary named" "usage: install.sh BINARY..."

case "$(uname -s)" in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) die "no binaries for $(uname -s)" "Gatehouse runs on Linux and macOS" ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) die "no binaries for $(uname -m)" "Gatehouse runs on amd64 and arm64" ;;
esac

hash_of() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

cache="${RUNNER_TOOL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}}/gatehouse"

for name in "$@"; do
  case "$name" in *[!a-z-]* | '') die "'$name' is not the name of a binary" ;; esac
  [ -d "$root/cmd/$name" ] || die "there is no binary named $name" "the README lists them"
done

# What the released binaries of this tree are, when all of them are known.
rows="" key=""
for name in "$@"; do
  row="$(awk -v os="$os" -v arch="$arch" -v name="$name" '$2 == os && $3 == arch && $4 == name { row = $1 " " $4 " " $5 } END { print row }' "$table")"
  if [ -z "$row" ]; then rows=""; break; fi
  rows+="$row"$'\n'
  key+="${row##* }"
done

if [ -n "$rows" ]; then
  # One folder a set of hashes: binaries that look for each other sit side by side.
  bin="$cache/$(printf %s "$key" | if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -c1-32)"
  mkdir -p "$bin"
  while read -r version name want; do
    [ -n "$name" ] || continue
    if [ -x "$bin/$name" ] && [ "$(hash_of "$bin/$name")" = "$want" ]; then continue; fi
    url="${GITHUB_SERVER_URL:-https://github.com}/gatehouse-ci/gatehouse/releases/download/v$version/$name-$version-$os-$arch"
    tmp="$(mktemp "$bin/.$name.XXXXXX")"
    curl --fail --silent --show-error --location --proto '=https' --retry 3 --output "$tmp" "$url" ||
      { rm -f "$tmp"; die "downloading $url failed" "check the runner's way to the release, or build with Go on PATH"; }
    got="$(hash_of "$tmp")"
    [ "$got" = "$want" ] || { rm -f "$tmp"; die "$url has sha256 $got, but checksums.txt says $want" "do not use it; report it"; }
    chmod 0755 "$tmp"
    mv -f "$tmp" "$bin/$name"
  done <<<"$rows"
  printf '%s\n' "$bin"
  exit 0
fi

command -v go >/dev/null || die "this commit has no released binaries, and there is no Go toolchain to build them" \
  "pin a release, or run actions/setup-go first"
bin="$cache/build-$(printf %s "$root" | cksum | cut -d' ' -f1)"
mkdir -p "$bin"
packages=()
for name in "$@"; do packages+=("./cmd/$name"); done
# The Go build cache makes an unchanged tree cheap; stdout is for the folder alone.
(cd "$root" && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -buildid=" -o "$bin/" "${packages[@]}") >&2 ||
  die "building $* failed"
printf '%s\n' "$bin"
