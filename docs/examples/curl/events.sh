#!/usr/bin/env bash
# Follows the realtime events of a user, which a browser tab shows without polling.
#   bash events.sh [number of events; default: no end]
# VERBATIM_URL: the service; VERBATIM_TOKEN: the session token of the user (not needed if AUTH_TYPE is none).
set -euo pipefail
url=${VERBATIM_URL:-http://127.0.0.1:7091}
wanted=${1:-0}
cursor=$(mktemp)
trap 'rm -f "$cursor"' EXIT
last=
seen=0

until [ "$wanted" -gt 0 ] && [ "$seen" -ge "$wanted" ]; do
  # Without a cursor the service sends only new events.
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
