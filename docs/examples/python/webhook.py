"""Delivers an event to an agent's webhook exactly once and waits for the agent's answer.

    python3 webhook.py '{"order": 7}' order-7

VERBATIM_WEBHOOK_URL: the webhook of the agent, as GET /api/agent_webhook?id=<agent> shows it to the agent's owner.
"""

import json
import os
import sys
import time
from urllib.error import HTTPError
from urllib.parse import urljoin
from urllib.request import Request, urlopen

WEBHOOK_URL = os.environ["VERBATIM_WEBHOOK_URL"]
body, idempotency_key = sys.argv[1:]


def deliver():
    headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
    try:
        with urlopen(Request(WEBHOOK_URL, body.encode(), headers)) as response:
            return json.load(response)["task_id"]
    except HTTPError as error:
        sys.exit(f"{error.code} {error.read().decode()}")


def status_of(task):
    try:
        with urlopen(urljoin(WEBHOOK_URL, f"/api/task_status?task_id={task}")) as response:
            return json.load(response)
    except HTTPError as error:
        # 503 means that no worker is alive. The task waits for a worker.
        if error.code == 503:
            return {"status": "PENDING"}
        sys.exit(f"{error.code} {error.read().decode()}")


task_id = deliver()
print(f"task: {task_id}")
# For 24 hours the same key identifies the same delivery, so a repetition starts nothing new.
print(f"delivered again: {'the same task' if deliver() == task_id else 'another task'}")

outcome = status_of(task_id)
while outcome["status"] not in ("SUCCESS", "FAILURE"):
    time.sleep(0.5)
    outcome = status_of(task_id)
result = outcome["result"]
has_answer = isinstance(result, dict) and isinstance(result.get("result"), dict)
print(f"status: {outcome['status']}")
print(f"answer: {result['result']['answer'] if has_answer else json.dumps(result)}")
