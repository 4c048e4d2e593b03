import { expect, it } from '@jest/globals';
import { ERROR_BYTES_MAX, streamed } from './streamed-response.js';

it('contains ERROR_BYTES_MAX bytes of an error, and the rest is not read', async () => {
  let pieces = 0;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (out) => (pieces++ < 1_000 ? out.enqueue(Buffer.alloc(10_000, 'x')) : out.close()),
    cancel: () => void (cancelled = true),
  });
  const error = await streamed(new Response(body, { status: 400, headers: { 'x-a': 'b' } }), { body: '{"stream":true}' });
  expect([error.status, error.headers.get('x-a'), await error.text()]).toEqual([400, 'b', 'x'.repeat(ERROR_BYTES_MAX)]);
  expect([cancelled, pieces]).toEqual([true, expect.any(Number)]);
  expect(pieces).toBeLessThan(10);
});

it('contains a short error as it is', async () => {
  const error = await streamed(new Response('{"error":"why"}', { status: 404 }), {});
  expect([error.status, await error.text()]).toEqual([404, '{"error":"why"}']);
});

it('contains the start of an error whose connection is cut', async () => {
  let pieces = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (out) => (pieces++ === 0 ? out.enqueue(Buffer.from('{"error"')) : out.error(new Error('The connection was cut.'))),
  });
  const error = await streamed(new Response(body, { status: 401 }), {});
  expect([error.status, await error.text()]).toEqual([401, '{"error"']);
});
