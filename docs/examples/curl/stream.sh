#!/usr/bin/env bash
# Streams an answer, resumes after a broken connection, and proves that nothing was lost.
#   bash stream.sh ["question"]
# VERBATIM_URL: the service; VERBATIM_API_KEY: the key of the agent that answers;
# VERBATIM_CUT_AFTER: cuts the first connection after this number of frames, to show how the stream resumes.
set -euo pipefail
url=${VERBATIM_URL:-http://127.0.0.1:7091}
key=${VERBATIM_API_KEY:-demo}
question=${1:-What happens to a stream when its producer dies?}
lines=$((3 * ${VERBATIM_CUT_AFTER:-1000000}))
frames=$(mktemp)
trap 'rm -f "$frames"' EXIT

# A frame has three lines: its id, its data, and an empty one.
curl -sN "$url/stream" -H 'Content-Type: application/json' \
  -d "{\"question\": \"$question\", \"api_key\": \"$key\"}" | head -n "$lines" | tee "$frames" || true

message=$(sed -n 's/^data: {"type":"message_id","message_id":"\([^"]*\)".*/\1/p' "$frames" | head -n 1)
[ -n "$message" ] || exit 1
connections=1
until grep -qE '^data: \{"type":"(end"|error".*"code":"stopped")' "$frames"; do
  # The cursor is the number of the last whole frame. A partial frame after it in the file is sent again.
  last=$(awk '/^id: / { id = $2 } /^$/ { last = id } END { print last }' "$frames")
  awk '{ record = record $0 "\n" } /^$/ { printf "%s", record; record = "" }' "$frames" >"$frames.whole"
  mv "$frames.whole" "$frames"
  connections=$((connections + 1))
  curl -sSN --fail --retry 10 --retry-connrefused "$url/api/messages/$message/events" \
    -H "X-API-Key: $key" -H "Last-Event-ID: $last" | tee -a "$frames" || [ "${PIPESTATUS[0]}" -ne 22 ]
done

shown=$(grep -E '^(id|data): ' "$frames" | sha256sum | cut -d ' ' -f 1)
stored=$(curl -sS "$url/api/messages/$message/digest" -H "X-API-Key: $key" | sed 's/.*"sha256":"\([^"]*\)".*/\1/')
echo "frames: $(grep -c '^id: ' "$frames"), connections: $connections, complete: $([ "$shown" = "$stored" ] && echo true || echo false)"
