"""Follows the realtime events of a user, which a browser tab shows without polling.

    python3 events.py [number of events; default: no end]

VERBATIM_URL: the service; VERBATIM_TOKEN: the session token of the user (not needed if AUTH_TYPE is none).
"""

import http.client
import json
import os
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

URL = os.environ.get("VERBATIM_URL", "http://127.0.0.1:7091")
# The service sends a keepalive comment every 15 seconds, so a longer silence means a broken connection.
SILENCE_SECONDS = 60
wanted = float(sys.argv[1]) if len(sys.argv) > 1 else float("inf")
last_id = None
seen = 0


def connect():
    headers = {"Accept": "text/event-stream"}
    if "VERBATIM_TOKEN" in os.environ:
        headers["Authorization"] = f"Bearer {os.environ['VERBATIM_TOKEN']}"
    # Without a cursor the service sends only new events.
    if last_id is not None:
        headers["Last-Event-ID"] = last_id
    return urlopen(Request(f"{URL}/api/events", headers=headers), timeout=SILENCE_SECONDS)


def follow(response):
    global last_id, seen
    number = None
    for line in response:
        text = line.decode().rstrip("\n")
        # Other lines that start with ":" are comments, such as ": keepalive".
        if text == ": connected":
            print("connected", flush=True)
        elif text.startswith("id: "):
            number = text[4:]
        elif text.startswith("data: ") and line.endswith(b"\n"):
            event = json.loads(text[6:])
            last_id = number
            seen += 1
            payload = json.dumps(event["payload"], separators=(",", ":"))
            print(f"{event['type']} {event['scope'].get('id', '')} {payload}", flush=True)
            if seen >= wanted:
                return


while seen < wanted:
    try:
        with connect() as response:
            follow(response)
    except HTTPError as error:
        if error.code not in (429, 503):
            sys.exit(f"{error.code} {error.read().decode()}")
        time.sleep(float(error.headers.get("Retry-After", "1")))
    except (OSError, http.client.HTTPException) as error:
        print(f"Cut off after {last_id}: {error}", file=sys.stderr)
    if seen < wanted:
        time.sleep(0.5)
