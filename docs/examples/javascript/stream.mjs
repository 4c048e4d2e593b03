// Streams an answer, resumes after a broken connection, and proves that nothing was lost.
//   node stream.mjs ["question"]
// VERBATIM_URL: the service; VERBATIM_API_KEY: the key of the agent that answers;
// VERBATIM_CUT_AFTER: cuts the first connection after this number of frames, to show how the stream resumes.
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

const { VERBATIM_URL = 'http://127.0.0.1:7091', VERBATIM_API_KEY = 'demo', VERBATIM_CUT_AFTER = 'Infinity' } = process.env;
const [question = 'What happens to a stream when its producer dies?'] = process.argv.slice(2);
const idempotencyKey = randomUUID();
const digest = createHash('sha256');
let messageId;
let lastId = -1;
let isOver = false;
let connections = 0;

while (!isOver) {
  if (connections > 0) await pause(500);
  connections++;
  const response = await connect().catch((error) => console.error(`Not connected: ${error.message}`));
  if (!response) continue;
  if (!response.ok) {
    // 503 means that the service cannot answer now. Every other error is final.
    if (response.status !== 503) throw new Error(`${response.status} ${await response.text()}`);
    await response.body.cancel();
    continue;
  }
  try {
    for await (const frame of framesOf(response)) {
      show(frame);
      if (connections === 1 && lastId + 1 >= Number(VERBATIM_CUT_AFTER)) break;
    }
  } catch (error) {
    console.error(`Cut off after frame ${lastId}: ${error.message}`);
  }
}

const stored = await (await fetch(`${VERBATIM_URL}/api/messages/${messageId}/digest`, { headers: key() })).json();
console.log(`\nframes: ${lastId + 1}, connections: ${connections}, complete: ${stored.sha256 === digest.digest('hex')}`);

/** Asks, or goes on after the last frame. The idempotency key makes a repeated question the same question. */
function connect() {
  if (messageId !== undefined) {
    const headers = { ...key(), 'Last-Event-ID': String(lastId) };
    return fetch(`${VERBATIM_URL}/api/messages/${messageId}/events`, { headers });
  }
  return fetch(`${VERBATIM_URL}/stream`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
    body: JSON.stringify({ question, api_key: VERBATIM_API_KEY }),
  });
}

function key() {
  return { 'X-API-Key': VERBATIM_API_KEY };
}

/** The whole frames of a stream. A frame that is cut off is not given: the next connection brings it again. */
async function* framesOf(response) {
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body) {
    const records = (text + decoder.decode(bytes, { stream: true })).split('\n\n');
    text = records.pop();
    // Other records are comments, such as ": keepalive".
    for (const record of records) if (record.startsWith('id: ')) yield record;
  }
}

function show(record) {
  digest.update(`${record}\n`);
  const [, id, data] = /^id: (\d+)\ndata: (.*)$/s.exec(record);
  lastId = Number(id);
  const frame = JSON.parse(data);
  if (frame.type === 'message_id') messageId = frame.message_id;
  if (frame.type === 'answer') process.stdout.write(frame.answer);
  if (frame.type === 'error') process.stdout.write(`\nerror: ${frame.error}`);
  isOver = frame.type === 'end' || (frame.type === 'error' && frame.code === 'stopped');
}
