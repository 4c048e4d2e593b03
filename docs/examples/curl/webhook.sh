#!/usr/bin/env bash
# Delivers an event to an agent's webhook exactly once and waits for the agent's answer.
#   bash webhook.sh '{"order": 7}' order-7
# VERBATIM_WEBHOOK_URL: the webhook of the agent, as GET /api/agent_webhook?id=<agent> shows it to the agent's owner.
set -euo pipefail
url=${VERBATIM_WEBHOOK_URL%/api/webhooks/*}

deliver() {
  curl -sS --fail-with-body "$VERBATIM_WEBHOOK_URL" \
    -H 'Content-Type: application/json' -H "Idempotency-Key: $2" -d "$1" | sed 's/.*"task_id":"\([^"]*\)".*/\1/'
}

task=$(deliver "$1" "$2")
echo "task: $task"
# For 24 hours the same key identifies the same delivery, so a repetition starts nothing new.
if [ "$(deliver "$1" "$2")" = "$task" ]; then echo 'delivered again: the same task'; else echo 'delivered again: another task'; fi

# 503 means that no worker is alive. The task waits for a worker.
until status=$(curl -sS "$url/api/task_status?task_id=$task") && echo "$status" | grep -qE '^\{"status":"(SUCCESS|FAILURE)"'; do
  sleep 1
done
echo "$status"
