import { setImmediate } from 'node:timers/promises';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { jsonOf, sendJson } from './json-in-pages.js';

const BODY = { name: 'Hours', items: [], at: new Date(0) };

/** What is sent. `read`: after how long a reader takes the next bytes. */
async function sentFor(pages?: () => AsyncIterable<readonly unknown[]>, taken: () => void = () => undefined) {
  let text = '';
  const reader = new Writable({
    highWaterMark: 1,
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      taken();
      setImmediate().then(() => done(), done);
    },
  });
  const reply = {
    header: () => reply,
    send: (sent: string | NodeJS.ReadableStream) => (typeof sent === 'string' ? (text = sent) : pipeline(sent, reader)),
  };
  await sendJson(reply as unknown as FastifyReply, jsonOf(BODY, 'items', pages));
  return JSON.parse(text) as unknown;
}

const pagesOf = (...pages: (readonly unknown[])[]) =>
  async function* () {
    yield* pages;
  };

it('sends an object whole, or with all pages of a list', async () => {
  const others = { name: 'Hours', at: '1970-01-01T00:00:00.000Z' };
  expect(await sentFor()).toEqual({ ...others, items: [] });
  expect(await sentFor(pagesOf([], [1, { b: 'ü' }], [], [3]))).toEqual({ ...others, items: [1, { b: 'ü' }, 3] });
  expect(await sentFor(pagesOf())).toEqual({ ...others, items: [] });
});

it('reads a page once the previous one is sent', async () => {
  let [read, sent, most] = [0, 0, 0];
  const page = ['x'.repeat(100_000)];
  async function* counted() {
    for (let left = 50; left > 0; left--) {
      most = Math.max(most, ++read - sent);
      yield page;
    }
  }
  await sentFor(counted, () => sent++);
  expect(most).toBeLessThan(5);
});
