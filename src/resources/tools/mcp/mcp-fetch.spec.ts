import { describe, expect, it } from '@jest/globals';
import { mcpFetch } from './mcp-fetch.js';

const STREAM = [
  '\uFEFFevent: message\r',
  '\nid: 7\rdata: {"one":\r\ndata\n',
  'a\nunknown: field\nretry: soon\nretry:\r\n retry: 5\ndatas: x\n',
  ': busy\ndata:1}\nretry: 5\n\n\r\r\n',
  'data: zwölf 🦆\n\ndata: without an end',
].join('');
const MEANT =
  'event: message\nid: 7\ndata: {"one":\ndata\n: busy\ndata:1}\nretry: 5\n\n\n\ndata: zwölf 🦆\n\ndata: without an end';

const answered = async (text: string, pieceBytes: number, type: string) => {
  const bytes = Buffer.from(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += pieceBytes) controller.enqueue(bytes.subarray(at, at + pieceBytes));
      controller.close();
    },
  });
  const fetch = mcpFetch(async () => new Response(body, { headers: { 'content-type': type } }));
  return (await fetch('https://tools.example/mcp', { method: 'POST' })).text();
};

describe('the response of a server', () => {
  it.each([1, 2, 3, 1_000])('as an event stream loses its meaningless lines, in chunks of %i bytes', async (pieceBytes) => {
    expect(await answered(STREAM, pieceBytes, 'text/event-stream; charset=utf-8')).toBe(MEANT);
  });

  it('of another type is unchanged', async () => {
    expect(await answered('{\n"a":\r\n1\n}', 2, 'application/json')).toBe('{\n"a":\r\n1\n}');
  });

  it('is refused above the maximum size, meaningless lines included', async () => {
    await expect(answered('a\n'.repeat(2 * 1024 * 1024), 64 * 1024, 'text/event-stream')).rejects.toThrow('More than');
  });
});
