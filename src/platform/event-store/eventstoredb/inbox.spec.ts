import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';

import { describe, expect, it } from '@jest/globals';

import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import type { Answer } from './answer.js';
import { Inbox, Silence } from './inbox.js';
import { PAGE_BYTES_MAX, PAGE_EVENTS_MAX } from './limits.js';
import type { ReadCall } from './stubs.js';

const SOON_MS = 5_000;

function opened() {
  const call = Object.assign(new PassThrough({ objectMode: true }), {
    cancelled: false,
    cancel: () => void (call.cancelled = true),
  });
  let givenUp = false;
  const inbox = new Inbox({ call: call as unknown as ReadCall, giveUp: () => void (givenUp = true) });
  return { call, inbox, givenUp: () => givenUp };
}

const answer = (bytes = 1): Answer => ({ kind: 'event', bytes, event: {} as never });

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('an inbox', () => {
  it('returns the messages that have arrived and otherwise waits for the next', async () => {
    const { call, inbox } = opened();
    call.write(answer());
    call.write(answer());
    await turn();
    expect(await inbox.take(SOON_MS)).toHaveLength(2);
    const waiting = inbox.take(SOON_MS);
    call.write(answer());
    expect(await waiting).toHaveLength(1);
  });

  it.each([
    ['the maximum number of events', 1, PAGE_EVENTS_MAX],
    ['the maximum number of bytes', PAGE_BYTES_MAX / 4, 4],
  ])('pauses its call when it holds %s and resumes it when they are taken', async (_, bytes, bound) => {
    const { call, inbox } = opened();
    for (let index = 0; index < bound + 100; index++) call.write(answer(bytes));
    await turn();
    expect(call.isPaused()).toBe(true);
    expect(await inbox.take(SOON_MS)).toHaveLength(bound);
    expect(call.isPaused()).toBe(false);
  });

  it('ends with its call, after the messages before the end', async () => {
    const { call, inbox } = opened();
    call.write(answer());
    call.end();
    await once(call, 'end');
    expect(await inbox.take(SOON_MS)).toHaveLength(1);
    expect(await inbox.take(SOON_MS)).toBeUndefined();
  });

  it('fails with the error of its call, after the messages before it', async () => {
    const { call, inbox } = opened();
    call.write(answer());
    await turn();
    call.emit('error', Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: '' }));
    expect(await inbox.take(SOON_MS)).toHaveLength(1);
    await expect(inbox.take(SOON_MS)).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it('fails with Silence when no message arrives in time', async () => {
    await expect(opened().inbox.take(10)).rejects.toBeInstanceOf(Silence);
  });

  it('returns nothing after an abort', async () => {
    const { call, inbox } = opened();
    const stopping = new AbortController();
    const waiting = inbox.take(SOON_MS, stopping.signal);
    stopping.abort();
    expect(await waiting).toBeUndefined();
    call.write(answer());
    expect(await inbox.take(SOON_MS, stopping.signal)).toBeUndefined();
  });

  it('lets its call end when it is left before all messages were taken', async () => {
    const { call, inbox } = opened();
    for (let index = 0; index < PAGE_EVENTS_MAX + 10; index++) call.write(answer());
    call.end();
    await turn();
    expect(call.isPaused()).toBe(true);
    inbox.leave();
    await finished(call);
    expect(call.cancelled).toBe(true);
  });

  it('gives up the connection together with its call', () => {
    const { call, inbox, givenUp } = opened();
    inbox.giveUp();
    expect([call.cancelled, givenUp()]).toEqual([true, true]);
  });
});
