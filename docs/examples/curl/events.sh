#!/usr/bin/env bash
# Follows the realtime events of a user: what a browser tab shows without asking again.
#   bash events.sh [how many; without: for ever]
# VERBATIM_URL: the service; VERBATIM_TOKEN: the session token of the user (not needed where AUTH_TYPE is none).
set -euo pipefail
url=${VERBATIM_URL:-http://127.0.0.1:7091}
wanted=${1:-0}
cursor=$(mktemp)
trap 'rm -f "$cursor"' EXIT
last=
seen=0

until [ "$wanted" -gt 0 ] && [ "$seen" -ge "$wanted" ]; do
  # Without a cursor only what happens from now on is sent.
  curl -sN --fail --retry 10 --retry-connrefused "$url/api/events" -H 'Accept: text/event-stream' \
    ${VERBATIM_TOKEN:+-H "Authorization: Bearer $VERBATIM_TOKEN"} ${last:+-H "Last-Event-ID: $last"} |
    while IFS= read -r line; do
      echo "$line"
      case $line in
        id:*) id=${line#id: } ;;
        data:*) seen=$((seen + 1)) && echo "$id $seen" >"$cursor" ;;
      esac
      if [ "$wanted" -gt 0 ] && [ "$seen" -ge "$wanted" ]; then break; fi
    done || if [ "${PIPESTATUS[0]}" -eq 22 ]; then echo 'The service refuses the connection.' >&2 && exit 1; fi
  if [ -s "$cursor" ]; then read -r last seen <"$cursor"; fi
  sleep 1
done
