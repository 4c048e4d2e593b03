import { createServer, type ServerResponse } from 'node:http';
import { announce, microsNow } from '../program.js';

/** The behaviour that the question requests: a number of tokens, and the milliseconds between them. 0: all at once. */
const ORDER = /paced (\d+) tokens (\d+) ms/;
/** Sends the first token, and nothing more while the caller stays connected. */
const SILENCE = 'then silence';
/** Every other token is a thought, so that each becomes a frame of its own. */
const ALTERNATING = 'alternating';

/** Calls each offered tool this many times, one call per round, before it answers. */
const CALLS = /call (\d+) times/;
const OFFERED = /"tools":\[\{"type":"function","function":\{"name":"([^"]+)"/;

const HEAD = 'data: {"id":"c1","object":"chat.completion.chunk","model":"paced","choices":[{"index":0,"delta":{"';
const TAIL = '"},"finish_reason":null}]}\n\n';
const END =
  'data: {"id":"c1","object":"chat.completion.chunk","model":"paced","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n' +
  'data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":10}}\n\ndata: [DONE]\n\n';
const BURST = 250;

let callCount = 0;
const callOf = (name: string): string => {
  const call = { index: 0, id: `call-${++callCount}`, type: 'function', function: { name, arguments: '{"text":"hello"}' } };
  const chunk = {
    id: 'c1',
    object: 'chat.completion.chunk',
    model: 'paced',
    choices: [{ index: 0, delta: { tool_calls: [call] } }],
  };
  return `data: ${JSON.stringify(chunk)}\n\n${END.replace('"stop"', '"tool_calls"')}`;
};

const token = (field = 'content'): string => `${HEAD}${field}":"t${microsNow()} ${TAIL}`;

/** A model whose tokens contain their sending time. It uses as little CPU time as possible, which the measured service needs. */
function play(body: string, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (body.includes(SILENCE)) {
    response.write(token());
    return;
  }
  const [, calls = '0'] = CALLS.exec(body) ?? [];
  if (body.split('"role":"tool"').length - 1 < Number(calls)) {
    response.end(callOf(OFFERED.exec(body)![1]!));
    return;
  }
  const [, tokens = '1', everyMs = '0'] = ORDER.exec(body) ?? [];
  if (everyMs === '0') burst(Number(tokens), response, body.includes(ALTERNATING));
  else pace(Number(tokens), Number(everyMs), response);
}

function pace(tokens: number, everyMs: number, response: ServerResponse): void {
  const begun = performance.now();
  let sent = 0;
  const next = (): void => {
    if (response.destroyed) return;
    response.write(token());
    if (++sent === tokens) response.end(END);
    else setTimeout(next, Math.max(1, begun + sent * everyMs - performance.now()));
  };
  next();
}

function burst(tokens: number, response: ServerResponse, isAlternating: boolean): void {
  let left = tokens;
  const tokenAt = (place: number) => token(isAlternating && place % 2 === 1 ? 'reasoning_content' : 'content');
  const next = (): void => {
    while (left > 0) {
      const count = Math.min(left, BURST);
      left -= count;
      if (!response.write(Array.from({ length: count }, (_, place) => tokenAt(place)).join('')) && left > 0) {
        response.once('drain', next);
        return;
      }
    }
    response.end(END);
  };
  next();
}

const server = createServer({ noDelay: true, keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.url === '/v1/models') {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[{"id":"paced"}]}');
    return;
  }
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => play(Buffer.concat(parts).toString('utf8'), response));
});
announce(server);
