#!/usr/bin/env bash
# Asks an agent whose tools need approval, and lets the user approve or deny each call on the terminal.
#   bash approve.sh "question"
# VERBATIM_URL: the service; VERBATIM_AGENT_ID: the agent; VERBATIM_TOKEN: the session token of its owner
# (not needed if AUTH_TYPE is none).
set -euo pipefail
url=${VERBATIM_URL:-http://127.0.0.1:7091}

send() {
  curl -sS --fail-with-body "$url/api/answer" -H 'Content-Type: application/json' \
    ${VERBATIM_TOKEN:+-H "Authorization: Bearer $VERBATIM_TOKEN"} -d "$1"
}

answer=$(send "{\"question\": \"$1\", \"agent_id\": \"$VERBATIM_AGENT_ID\"}")
while echo "$answer" | grep -q '"pending_tool_calls":\[{'; do
  echo "$answer"
  conversation=$(echo "$answer" | sed 's/.*"conversation_id":"\([^"]*\)".*/\1/')
  decisions=
  for call in $(echo "$answer" | sed 's/.*"pending_tool_calls":\[//' | grep -o '"call_id":"[^"]*"' | cut -d '"' -f 4); do
    echo "approve $call? [y/n]"
    read -r reply || reply=n
    if [ "$reply" = y ]; then decision=approved; else decision=denied; fi
    decisions="$decisions${decisions:+, }{\"call_id\": \"$call\", \"decision\": \"$decision\"}"
  done
  answer=$(send "{\"conversation_id\": \"$conversation\", \"tool_actions\": [$decisions]}")
done
echo "$answer"
