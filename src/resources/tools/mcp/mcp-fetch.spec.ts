import { describe, expect, it } from '@jest/globals';
import { MCP_ITEMS_MAX, MCP_MESSAGES_MAX } from './answer-meter.js';
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

const answered = async (text: string, pieceBytes: number, type: string, status = 200) => {
  const bytes = Buffer.from(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += pieceBytes) controller.enqueue(bytes.subarray(at, at + pieceBytes));
      controller.close();
    },
  });
  const fetch = mcpFetch(async () => new Response(body, { status, headers: { 'content-type': type } }));
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

  it('as an event stream loses the data of requests that are too many', async () => {
    const [ping, done] = ['data: {"id":1,"method":"ping"}\n', 'data: {"id":1,"result":{}}\n\n'];
    const sent = `id: 7\n${ping}\n`.repeat(MCP_MESSAGES_MAX.request + 2);
    const kept = `id: 7\n${ping}\n`.repeat(MCP_MESSAGES_MAX.request);
    expect(await answered(sent + done, 10, 'text/event-stream')).toBe(`${kept}id: 7\n\nid: 7\n\n${done}`);
  });

  it('as an event stream loses the data of events that are no messages', async () => {
    const keepAlive = 'event: ping\ndata: 1\n\n'.repeat(MCP_MESSAGES_MAX.other + 1);
    const result = 'event: message\ndata: {"id":1,"result":{}}\n\n';
    expect(await answered(keepAlive + result, 10, 'text/event-stream')).toBe(keepAlive.replaceAll('data: 1\n', '') + result);
  });

  it('is read in turns with other work', async () => {
    let turns = 0;
    const count = (): void => void (turns++, (next = setImmediate(count)));
    let next = setImmediate(count);
    await answered('data: 1\n\n'.repeat(10), 9, 'text/event-stream');
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  const wrong = JSON.stringify({ id: 1, result: { content: Array.from({ length: MCP_ITEMS_MAX + 1 }, () => ({})) } });
  it.each([
    ['application/json; charset=utf-8', 200, wrong],
    ['Application/JSON; x="text/event-stream"', 200, wrong],
    ['text/event-stream', 200, `data: ${wrong}\n\n`],
    ['text/plain', 400, wrong],
    ['text/event-stream', 400, wrong],
  ])('of the type %s with the status %i is refused if its message has too many items', async (type, status, text) => {
    await expect(answered(text, 1_000, type, status)).rejects.toMatchObject({ name: 'AnswerTooLarge' });
  });
});
