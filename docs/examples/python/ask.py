"""Asks a question and prints the answer with its sources.

    python3 ask.py ["question"]

VERBATIM_URL: the service; VERBATIM_API_KEY: the key of the agent that answers.
"""

import json
import os
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

URL = os.environ.get("VERBATIM_URL", "http://127.0.0.1:7091")
API_KEY = os.environ.get("VERBATIM_API_KEY", "demo")
question = sys.argv[1] if len(sys.argv) > 1 else "What happens to a stream when its producer dies?"

body = json.dumps({"question": question, "api_key": API_KEY}).encode()
try:
    with urlopen(Request(f"{URL}/api/answer", body, {"Content-Type": "application/json"})) as response:
        answer = json.load(response)
except HTTPError as error:
    sys.exit(f"{error.code} {error.read().decode()}")

print(f"answer: {answer['answer']}")
for source in answer["sources"]:
    print(f"source: {source['title']}")
print(f"conversation: {answer['conversation_id']}")
