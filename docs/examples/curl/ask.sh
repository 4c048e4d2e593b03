#!/usr/bin/env bash
# Asks a question and prints the answer as JSON.
#   bash ask.sh ["question"]
# VERBATIM_URL: the service; VERBATIM_API_KEY: the key of the agent that answers.
set -euo pipefail
url=${VERBATIM_URL:-http://127.0.0.1:7091}
key=${VERBATIM_API_KEY:-demo}
question=${1:-What happens to a stream when its producer dies?}

# Escape quotes and line breaks in a question as JSON requires.
curl -sS --fail-with-body "$url/api/answer" \
  -H 'Content-Type: application/json' \
  -d "{\"question\": \"$question\", \"api_key\": \"$key\"}"
echo
