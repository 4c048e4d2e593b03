import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { InProcessSignals } from '../../platform/messaging/signals/in-process-signals.js';
import { SseStreams } from '../../platform/http/sse.js';
import { type Caller, type SignedInUser, CREDENTIAL_ENDED } from './caller.js';
import { CHECKED_EVERY_MS, OpenResponses } from './open-responses.js';
import { RevocableCredentials } from './revocable-credentials.js';

const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'r', causationId: 'r' } as const;
const user: SignedInUser = { kind: 'user', userId: 'ann', roles: ['user'], credential: 'session-token', cause };
const withSession = (sessionId: string): Caller => ({ ...user, sessionId });
const withToken = (id: string, generation = 1): Caller => ({
  ...user,
  token: { id, name: id, generation, scopes: [], resources: {} },
});
const withKey = (keyId: string): Caller => ({
  kind: 'agent-key',
  ...{ agentId: 'a1', ownerId: 'ann', keyId, signedIn: undefined, cause },
});

const withLink = (linkId: string): Caller => ({
  kind: 'link',
  ...{ linkId, ownerId: 'ann', terms: { agentId: null, promptId: '', sourceId: null }, signedIn: undefined, cause },
});

/** The stores of credentials: which credentials have ended, which stores are unavailable, and how often each was queried. */
let over: Set<string>;
let isAway: Set<'sessions' | 'tokens'>;
let asked: { sessions: number; tokens: number; keys: number; links: number };
let signals: InProcessSignals;
let timing: VirtualTiming;
let responses: OpenResponses;
const ask = (store: keyof typeof asked) => {
  asked[store]++;
  if ((isAway as Set<string>).has(store)) throw new Error('away');
};
const sessions = {
  endedAmong: async (ids: readonly string[]) => {
    ask('sessions');
    return ids.filter((id) => over.has(id));
  },
};
const tokens = {
  isValid: async ({ grant }: { grant: { id: string; generation: number } }) => {
    ask('tokens');
    return grant.generation > 1 || !over.has(grant.id);
  },
};
const links = {
  isCurrent: async (id: string) => {
    ask('links');
    return !over.has(id);
  },
};
const devices = { isCurrent: async (_: string, tokenId: string) => !over.has(tokenId) };
const keys = {
  isCurrent: async (_: string, keyId: string) => {
    ask('keys');
    return !over.has(keyId);
  },
};

beforeEach(() => {
  [over, isAway, asked] = [new Set(), new Set(), { sessions: 0, tokens: 0, keys: 0, links: 0 }];
  [signals, timing] = [new InProcessSignals(), new VirtualTiming()];
  const credentials = new RevocableCredentials(
    { now: () => new Date(timing.elapsedMs()) },
    sessions,
    () => tokens,
    () => keys,
    () => links,
    () => devices,
  );
  responses = new OpenResponses(credentials, timing, signals);
});

const openedBy = (...callers: Caller[]): ServerResponse => {
  const response = new PassThrough() as unknown as ServerResponse;
  for (const caller of callers) responses.add(caller, response);
  return response;
};
const areOver = (...opened: ServerResponse[]) => opened.map(({ destroyed }) => destroyed);
const ends = async (id: string) => {
  over.add(id);
  signals.publish(CREDENTIAL_ENDED, id);
  await new Promise(setImmediate);
};
/** The timer of the responses does not keep the virtual time running, so the test waits for something else. */
const aCheckLater = async () => {
  await timing.pause(CHECKED_EVERY_MS + 1);
  await new Promise(setImmediate);
};

const CREDENTIALS: Readonly<Record<string, Caller>> = {
  'a session': withSession('c1'),
  'a token': withToken('c1'),
  'a key': withKey('c1'),
  'a link': withLink('c1'),
};

describe.each(Object.entries(CREDENTIALS))('a response that was opened with %s', (_, caller) => {
  it('ends when the signal reports the end of its credential, and no other response ends', async () => {
    const [own, others] = [openedBy(caller), openedBy(withSession('c2'), withToken('c3'), withKey('c4'))];
    await ends('c1');
    expect(areOver(own, others)).toEqual([true, false]);
  });

  it('ends without a signal, when the store reports the end', async () => {
    const both = [openedBy(caller), openedBy(caller)];
    await aCheckLater();
    expect(areOver(...both)).toEqual([false, false]);
    over.add('c1');
    await aCheckLater();
    expect(areOver(...both)).toEqual([true, true]);
  });

  it('is checked together with others by one query, and by none after all are closed', async () => {
    const all = [openedBy(caller), openedBy(caller), openedBy(caller, caller)];
    signals.publish(CREDENTIAL_ENDED, 'c1');
    await new Promise(setImmediate);
    expect(Object.values(asked).sort()).toEqual([0, 0, 0, 1]);
    for (const each of all) each.destroy();
    await new Promise(setImmediate);
    signals.publish(CREDENTIAL_ENDED, 'c1');
    await aCheckLater();
    expect(Object.values(asked).sort()).toEqual([0, 0, 0, 1]);
  });

  it('ends also if it was opened after all others had been closed', async () => {
    openedBy(caller).destroy();
    await new Promise(setImmediate);
    const later = openedBy(caller);
    await ends('c1');
    expect(areOver(later)).toEqual([true]);
  });

  it('does not end if it is exempted', async () => {
    const response = openedBy(caller);
    responses.spare(response);
    await ends('c1');
    expect(areOver(response)).toEqual([false]);
  });
});

it('stays open while its store is unavailable, and ends when the store is back', async () => {
  const [own, others] = [openedBy(withToken('c1')), openedBy(withSession('c2'))];
  isAway.add('tokens');
  for (const id of ['c1', 'c2']) over.add(id);
  await aCheckLater();
  expect(areOver(own, others)).toEqual([false, true]);
  isAway.clear();
  await aCheckLater();
  expect(areOver(own)).toEqual([true]);
});

it('one query checks all sessions', async () => {
  for (const id of ['c1', 'c2', 'c3']) openedBy(withSession(id));
  await aCheckLater();
  expect(asked).toEqual({ sessions: 1, tokens: 0, keys: 0, links: 0 });
});

it('a response that was opened with the new secret of a token stays open', async () => {
  const [old, fresh] = [openedBy(withToken('c1')), openedBy(withToken('c1', 2))];
  await ends('c1');
  expect(areOver(old, fresh)).toEqual([true, false]);
});

it('a response that was opened with a session token ends when that token expires', async () => {
  const until = (expiresAt: number) => openedBy({ ...user, tokenExpiresAt: new Date(expiresAt) });
  const [brief, longer] = [until(CHECKED_EVERY_MS * 1.5), until(CHECKED_EVERY_MS * 9)];
  await aCheckLater();
  expect(areOver(brief, longer)).toEqual([false, false]);
  await aCheckLater();
  expect(areOver(brief, longer)).toEqual([true, false]);
});

it('a response that was opened with two credentials ends with either', async () => {
  const both = openedBy(withSession('c1'), withKey('c2'));
  await ends('c2');
  expect(areOver(both)).toEqual([true]);
});

describe('over HTTP', () => {
  const streams = new SseStreams({ keepaliveMs: 60_000, stallMs: 60_000, bufferedBytesMax: 1000 });
  const replyOn = (raw: ServerResponse) => ({ raw, hijack: () => undefined, getHeaders: () => ({}) });
  let arrived = 0;
  const server = createServer((request, response) => {
    responses.add(withSession(request.url!.slice(1)), response);
    if (request.headers.accept === 'text/event-stream') void streams.start(replyOn(response)).comment('connected');
    arrived++;
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => server.closeAllConnections() ?? server.close(resolve)));

  const request = (session: string, headers = {}) =>
    get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, path: `/${session}`, headers, agent: false });

  const streamOf = async (session: string) => {
    const response = await new Promise<IncomingMessage>((resolve) =>
      request(session, { accept: 'text/event-stream' }).on('response', resolve),
    );
    const seen = { text: '', isOver: false };
    response.setEncoding('utf8').on('data', (part: string) => (seen.text += part));
    response.on('end', () => (seen.isOver = true));
    await eventually(() => seen.text !== '');
    return seen;
  };

  it('a stream ends without a further frame, another response is aborted, and other sessions stay open', async () => {
    const [mine, others] = [await streamOf('one'), await streamOf('two')];
    const waiting = new Promise<NodeJS.ErrnoException>((resolve) => request('one').on('error', resolve));
    await eventually(() => arrived === 3);
    await ends('one');
    await eventually(() => mine.isOver);
    expect(mine.text).toBe(': connected\n\n');
    expect((await waiting).code).toBe('ECONNRESET');
    expect(others.isOver).toBe(false);
    await ends('two');
    await eventually(() => others.isOver);
  });
});
