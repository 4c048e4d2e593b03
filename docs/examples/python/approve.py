"""Asks an agent whose tools need approval, and lets the user approve or deny each call on the terminal.

    python3 approve.py "question"

VERBATIM_URL: the service; VERBATIM_AGENT_ID: the agent; VERBATIM_TOKEN: the session token of its owner
(not needed if AUTH_TYPE is none).
"""

import json
import os
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

URL = os.environ.get("VERBATIM_URL", "http://127.0.0.1:7091")
HEADERS = {"Content-Type": "application/json"}
if "VERBATIM_TOKEN" in os.environ:
    HEADERS["Authorization"] = f"Bearer {os.environ['VERBATIM_TOKEN']}"


def send(body):
    try:
        with urlopen(Request(f"{URL}/api/answer", json.dumps(body).encode(), HEADERS)) as response:
            return json.load(response)
    except HTTPError as error:
        sys.exit(f"{error.code} {error.read().decode()}")


def decide(call):
    arguments = json.dumps(call["arguments"], separators=(",", ":"))
    print(f"approve {call['tool_name']}.{call['action_name']} {arguments}? [y/n]", flush=True)
    if sys.stdin.readline().strip() == "y":
        return {"call_id": call["call_id"], "decision": "approved"}
    return {"call_id": call["call_id"], "decision": "denied", "comment": "Not now."}


answer = send({"question": sys.argv[1], "agent_id": os.environ["VERBATIM_AGENT_ID"]})
while answer.get("pending_tool_calls"):
    decisions = [decide(call) for call in answer["pending_tool_calls"]]
    answer = send({"conversation_id": answer["conversation_id"], "tool_actions": decisions})

for call in answer["tool_calls"]:
    print(f"call: {call['action_name']} {call['status']}")
print(f"answer: {answer['answer']}")
