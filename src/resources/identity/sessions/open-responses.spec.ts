import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { NoSessions } from '../../../../test/support/no-sessions.js';
import { SseStreams } from '../../../platform/http/sse.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { OpenResponses } from './open-responses.js';

const ended = new Set<string>();
/** Checks that go on. */
let running = 0;
const timing = Object.assign(Object.create(systemTiming) as typeof systemTiming, {
  every: (ms: number, work: () => void) => {
    running++;
    const stop = systemTiming.every(ms, work);
    return () => {
      running--;
      stop();
    };
  },
});
class EndedSessions extends NoSessions {
  override async endedAmong(ids: readonly string[]) {
    return ids.filter((id) => ended.has(id));
  }
}

const responses = new OpenResponses(new EndedSessions(), timing);
const streams = new SseStreams({ keepaliveMs: 60_000, stallMs: 60_000, bufferedBytesMax: 1000 });
const replyOn = (raw: ServerResponse) => ({ raw, hijack: () => undefined, getHeaders: () => ({}) });
const server = createServer((request, response) => {
  responses.add(request.url!.slice(1), response);
  if (request.headers.accept === 'text/event-stream') void streams.start(replyOn(response)).comment('connected');
  else if (request.headers['x-spared']) responses.spare(response);
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.closeAllConnections() ?? server.close(resolve)));

const ask = (session: string, headers = {}) =>
  get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, path: `/${session}`, headers, agent: false });

const streamOf = async (session: string) => {
  const response = await new Promise<IncomingMessage>((resolve) =>
    ask(session, { accept: 'text/event-stream' }).on('response', resolve),
  );
  const seen = { text: '', isOver: false };
  response.setEncoding('utf8').on('data', (part: string) => (seen.text += part));
  response.on('end', () => (seen.isOver = true));
  await eventually(() => seen.text !== '');
  return seen;
};

it('end with their session, a stream without another word, and others stay open', async () => {
  const [mine, others] = [await streamOf('one'), await streamOf('two')];
  const waiting = new Promise<NodeJS.ErrnoException>((resolve) => ask('one').on('error', resolve));
  const isSpared = { over: false };
  ask('one', { 'x-spared': '1' }).on('error', () => (isSpared.over = true));
  ended.add('one');
  await eventually(() => mine.isOver);
  expect(mine.text).toBe(': connected\n\n');
  expect((await waiting).code).toBe('ECONNRESET');
  expect([others.isOver, isSpared.over]).toEqual([false, false]);
  responses.endAll('two');
  await eventually(() => others.isOver);
});

it('are asked about only while there are any', async () => {
  ask('three').on('error', () => undefined);
  await eventually(() => running === 1);
  server.closeAllConnections();
  await eventually(() => running === 0);
});
