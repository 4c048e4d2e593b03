"""Streams an answer, resumes after a broken connection, and proves that nothing was lost.

    python3 stream.py ["question"]

VERBATIM_URL: the service; VERBATIM_API_KEY: the key of the agent that answers;
VERBATIM_CUT_AFTER: cuts the first connection after this number of frames, to show how the stream resumes.
"""

import hashlib
import http.client
import json
import os
import sys
import time
import uuid
from urllib.error import HTTPError
from urllib.request import Request, urlopen

URL = os.environ.get("VERBATIM_URL", "http://127.0.0.1:7091")
API_KEY = os.environ.get("VERBATIM_API_KEY", "demo")
CUT_AFTER = float(os.environ.get("VERBATIM_CUT_AFTER", "inf"))
# The service sends a keepalive comment every 15 seconds, so a longer silence means a broken connection.
SILENCE_SECONDS = 60
KEY = {"X-API-Key": API_KEY}


class Stream:
    """One answer, read over one or more connections."""

    def __init__(self, question):
        self.question = question
        # With the same idempotency key a repeated question counts as the same question.
        self.idempotency_key = str(uuid.uuid4())
        self.digest = hashlib.sha256()
        self.message_id = None
        self.last_id = -1
        self.is_over = False
        self.connections = 0

    def read(self):
        while not self.is_over:
            if self.connections > 0:
                time.sleep(0.5)
            self.connections += 1
            try:
                with urlopen(self.request(), timeout=SILENCE_SECONDS) as response:
                    for number, data in frames_of(response):
                        self.show(number, data)
                        if self.connections == 1 and self.last_id + 1 >= CUT_AFTER:
                            break
            except HTTPError as error:
                # 503 means that the service cannot answer now. Every other error is final.
                if error.code != 503:
                    sys.exit(f"{error.code} {error.read().decode()}")
            except (OSError, http.client.HTTPException) as error:
                print(f"Cut off after frame {self.last_id}: {error}", file=sys.stderr)

    def request(self):
        """The request for the question, or for the frames after the last one."""
        if self.message_id is not None:
            return Request(f"{URL}/api/messages/{self.message_id}/events", headers={**KEY, "Last-Event-ID": str(self.last_id)})
        body = json.dumps({"question": self.question, "api_key": API_KEY}).encode()
        return Request(f"{URL}/stream", body, {"Content-Type": "application/json", "Idempotency-Key": self.idempotency_key})

    def show(self, number, data):
        self.digest.update(f"id: {number}\ndata: {data}\n".encode())
        self.last_id = number
        frame = json.loads(data)
        if frame["type"] == "message_id":
            self.message_id = frame["message_id"]
        elif frame["type"] == "answer":
            print(frame["answer"], end="", flush=True)
        elif frame["type"] == "error":
            print(f"\nerror: {frame['error']}")
        self.is_over = frame["type"] == "end" or frame.get("code") == "stopped"


def frames_of(response):
    """The whole frames of a stream. A frame that is cut off is skipped, because the next connection sends it again."""
    number, data = None, None
    for line in response:
        text = line.decode().rstrip("\n")
        if text.startswith("id: "):
            number = int(text[4:])
        elif text.startswith("data: "):
            data = text[6:]
        elif text == "" and number is not None and data is not None:
            yield number, data
            number, data = None, None
        # Lines that start with ":" are comments, such as ": keepalive".


stream = Stream(sys.argv[1] if len(sys.argv) > 1 else "What happens to a stream when its producer dies?")
stream.read()
with urlopen(Request(f"{URL}/api/messages/{stream.message_id}/digest", headers=KEY)) as reply:
    is_complete = json.load(reply)["sha256"] == stream.digest.hexdigest()
print(f"\nframes: {stream.last_id + 1}, connections: {stream.connections}, complete: {str(is_complete).lower()}")
