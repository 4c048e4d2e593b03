// Follows the realtime events of a user, which a browser tab shows without polling.
//   node events.mjs [number of events; default: no end]
// VERBATIM_URL: the service; VERBATIM_TOKEN: the session token of the user (not needed if AUTH_TYPE is none).
import { setTimeout as pause } from 'node:timers/promises';

const { VERBATIM_URL = 'http://127.0.0.1:7091', VERBATIM_TOKEN } = process.env;
const [wanted = 'Infinity'] = process.argv.slice(2);
let lastId;
let seen = 0;

while (seen < Number(wanted)) {
  const headers = {
    Accept: 'text/event-stream',
    ...(VERBATIM_TOKEN && { Authorization: `Bearer ${VERBATIM_TOKEN}` }),
    // Without a cursor the service sends only new events.
    ...(lastId !== undefined && { 'Last-Event-ID': lastId }),
  };
  try {
    const response = await fetch(`${VERBATIM_URL}/api/events`, { headers });
    if (response.ok) await follow(response);
    else if (response.status === 429 || response.status === 503) {
      await response.body.cancel();
      await pause(1000 * Number(response.headers.get('retry-after') ?? 1));
    } else {
      console.error(`${response.status} ${await response.text()}`);
      process.exit(1);
    }
  } catch (error) {
    console.error(`Cut off after ${lastId}: ${error.message}`);
  }
  if (seen < Number(wanted)) await pause(500);
}

async function follow(response) {
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body) {
    const records = (text + decoder.decode(bytes, { stream: true })).split('\n\n');
    text = records.pop();
    for (const record of records) {
      show(record);
      if (seen >= Number(wanted)) return;
    }
  }
}

function show(record) {
  if (record === ': connected') console.log('connected');
  const [, id, data] = /^id: (.*)\ndata: (.*)$/s.exec(record) ?? [];
  // Other records are comments, such as ": keepalive".
  if (id === undefined) return;
  lastId = id;
  seen++;
  const { type, scope, payload } = JSON.parse(data);
  console.log(`${type} ${scope.id ?? ''} ${JSON.stringify(payload)}`);
}
