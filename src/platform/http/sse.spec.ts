import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Rejection } from '../../kernel/rejection.js';
import { OPENING_CHARACTERS_MAX, type OpenedStream, type SseLimits } from './reader-stream.js';
import { HEAD_DELAY_MS, SseStreams } from './sse.js';

const LIMITS: SseLimits = { keepaliveMs: 60_000, stallMs: 60_000, bufferedBytesMax: 256 * 1024 };
const PIECE = `data: ${'x'.repeat(64 * 1024)}\n\n`;

/** The end of a body of unknown length in HTTP/1.1. */
const LAST_CHUNK = '\r\n0\r\n\r\n';

/** Whether the response in the text is complete. One that has ended before its head was sent has a length. */
function isWhole(text: string): boolean {
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1];
  return length === undefined ? text.endsWith(LAST_CHUNK) : text.slice(text.indexOf('\r\n\r\n') + 4).length === Number(length);
}

let server: http.Server;
let streams: SseStreams;
let onStream: (stream: OpenedStream) => void;
let owesRecord: boolean;

const listen = async (limits: Partial<SseLimits> = {}) => {
  streams = new SseStreams({ ...LIMITS, ...limits });
  server.on('request', (_request, raw) => {
    const reply = {
      raw,
      hijack: () => undefined,
      getHeaders: () => ({ 'access-control-allow-origin': '*', 'x-request-id': 'r1' }),
    };
    onStream(streams.start(reply, { owesRecord }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
};

const port = () => (server.address() as net.AddressInfo).port;
const connections = () =>
  new Promise<number>((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))));
const nextStream = () => new Promise<OpenedStream>((resolve) => (onStream = resolve));

/** A reader that reads everything, and nothing while its socket is paused. */
const connect = async (method = 'GET') => {
  const opened = nextStream();
  const socket = net.connect(port(), '127.0.0.1');
  socket.on('error', () => undefined);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => (text += String(chunk)));
  socket.write(`${method} / HTTP/1.1\r\nHost: x\r\n\r\n`);
  return { socket, stream: await opened, text: () => text };
};

const until = async (condition: () => boolean, ms = 60_000) => {
  for (const end = Date.now() + ms; !condition(); await new Promise((resolve) => setTimeout(resolve, 5))) {
    if (Date.now() > end) throw new Error('The condition did not come about.');
  }
};

beforeEach(() => {
  server = http.createServer();
  owesRecord = false;
});
afterEach(() => {
  streams.closeAll();
  server.closeAllConnections();
  server.close();
});

describe('an event stream', () => {
  it('has the headers of event streams and those that hooks have set, and sends bytes unchanged', async () => {
    await listen();
    const opened = nextStream();
    const answering = fetch(`http://127.0.0.1:${port()}`);
    const stream = await opened;
    const response = await answering;
    expect(await stream.write('id: 0\ndata: {"a":"é\\u0000"}\n\n')).toBe(true);
    await stream.comment('connected\nand well');
    stream.end();
    expect(await response.text()).toBe('id: 0\ndata: {"a":"é\\u0000"}\n\n: connected and well\n\n');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'access-control-allow-origin': '*',
      'x-request-id': 'r1',
    });
    expect(await stream.write('late')).toBe(false);
  });

  it('that ends in the turn in which it begins is sent in one write, with its length', async () => {
    await listen();
    const write = async (stream: OpenedStream) => {
      await stream.comment('connected');
      await stream.write('data: é\n\n');
      stream.end();
    };
    onStream = (stream) => void Promise.resolve(stream).then(write);
    const sent = jest.spyOn(net.Socket.prototype, 'write');
    const response = await fetch(`http://127.0.0.1:${port()}/`);
    expect(await response.text()).toBe(': connected\n\ndata: é\n\n');
    expect(response.headers.get('content-length')).toBe('23');
    expect(sent.mock.calls.filter(([piece]) => String(piece).includes('connected'))).toHaveLength(1);
    sent.mockRestore();
  });

  it('that goes on sends its head with its first bytes in one write', async () => {
    await listen();
    type Writes = { _writev(pieces: readonly { chunk: unknown }[], done: () => void): void };
    const sent = jest.spyOn(net.Socket.prototype as unknown as Writes, '_writev');
    const { stream, text } = await connect();
    void stream.comment('connected');
    await until(() => text().includes('connected'));
    const written = sent.mock.calls.map(([pieces]) => pieces.map(({ chunk }) => String(chunk)).join(''));
    expect(written).toContainEqual(expect.stringMatching(/^HTTP\/1\.1 200 [^]*: connected\n\n/));
    sent.mockRestore();
  });

  it('does not hold back more than OPENING_CHARACTERS_MAX before its head is sent', async () => {
    await listen();
    onStream = (stream) => {
      void stream.write('x'.repeat(OPENING_CHARACTERS_MAX));
      void stream.write('y');
      stream.end();
    };
    const response = await fetch(`http://127.0.0.1:${port()}/`);
    expect(response.headers.get('content-length')).toBeNull();
    expect(await response.text()).toBe(`${'x'.repeat(OPENING_CHARACTERS_MAX)}y`);
  });

  it('ends after the head of a HEAD request, and the connection serves the next request', async () => {
    await listen();
    const { socket, stream, text } = await connect('HEAD');
    await until(() => stream.departure.aborted && text().startsWith('HTTP/1.1 200 OK\r\n'), 5_000);
    const next = nextStream();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await (await next).write('data: 1\n\n');
    await until(() => text().includes('data: 1\n\n'));
    socket.destroy();
  });

  it('is sent after the response to an earlier request of its connection, and ends with the connection', async () => {
    await listen();
    let first: http.ServerResponse | undefined;
    const requests = server.listeners('request')[0] as (request: http.IncomingMessage, raw: http.ServerResponse) => void;
    server.removeAllListeners('request').on('request', (request: http.IncomingMessage, raw) => {
      if (request.url === '/first') first = raw;
      else requests(request, raw);
    });
    const pipelined = async () => {
      const opened = nextStream();
      const socket = net.connect(port(), '127.0.0.1');
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk) => (text += String(chunk)));
      socket.write('GET /first HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n');
      return { socket, stream: await opened, text: () => text };
    };
    const { stream, text } = await pipelined();
    expect(await stream.write('data: 1\n\n')).toBe(true);
    first!.end('earlier');
    await until(() => text().endsWith('data: 1\n\n\r\n'), 5_000);
    expect(text()).toMatch(/^HTTP\/1.1 200 OK.*earlierHTTP\/1.1 200 OK/s);
    const gone = await pipelined();
    gone.socket.destroy();
    await until(() => gone.stream.departure.aborted, 5_000);
    await until(() => streams.size === 1);
  });

  it('sends its head also without a first record, after HEAD_DELAY_MS', async () => {
    await listen();
    onStream = () => undefined;
    const since = performance.now();
    const response = await fetch(`http://127.0.0.1:${port()}`);
    // A timer of Node may fire up to a millisecond early.
    expect(performance.now() - since).toBeGreaterThan(HEAD_DELAY_MS - 2);
    expect(response.status).toBe(200);
    await response.body!.cancel();
  });

  it('sends its head once, in one write with a record that follows soon', async () => {
    await listen();
    const opened = nextStream();
    const socket = net.connect(port(), '127.0.0.1');
    const pieces: string[] = [];
    socket.setEncoding('utf8').on('data', (piece) => pieces.push(String(piece)));
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const stream = await opened;
    await new Promise((resolve) => setImmediate(resolve));
    await stream.write('data: 1\n\n');
    await new Promise((resolve) => setTimeout(resolve, 3 * HEAD_DELAY_MS));
    expect(pieces).toHaveLength(1);
    expect(pieces[0]).toMatch(/^HTTP\/1.1 200 OK\r\n.*\r\n\r\n9\r\ndata: 1\n\n\r\n$/s);
    socket.destroy();
  });

  it('breaks off when its writer fails', async () => {
    streams = new SseStreams(LIMITS);
    server.on('request', (_request, raw) =>
      streams.serve({ raw, hijack: () => undefined, getHeaders: () => ({}) }, async (stream) => {
        await stream.write('data: 1\n\n');
        throw new Rejection('not-found', 'Not found');
      }),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const response = await fetch(`http://127.0.0.1:${port()}/`);
    await expect(response.text()).rejects.toThrow('terminated');
    expect(streams.size).toBe(0);
  });

  it('sends keepalive comments only while it is silent', async () => {
    jest.useFakeTimers({ doNotFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'nextTick', 'queueMicrotask', 'Date'] });
    try {
      await listen({ keepaliveMs: 100 });
      const { stream, text, socket } = await connect();
      for (let piece = 0; piece < 10; piece++) {
        await stream.write('data: 1\n\n');
        jest.advanceTimersByTime(90);
      }
      await until(() => text().split('data: ').length > 10);
      expect(text()).not.toContain(': keepalive');
      jest.advanceTimersByTime(250);
      await until(() => text().split(': keepalive\n\n').length > 2);
      socket.destroy();
    } finally {
      jest.useRealTimers();
    }
  });

  it('signals its writer when the reader disconnects', async () => {
    await listen();
    const { socket, stream } = await connect();
    socket.destroy();
    await once(stream.signal, 'abort');
    expect(await stream.write('data: 1\n\n')).toBe(false);
    expect(streams.size).toBe(0);
  });
});

describe('a reader that stops reading', () => {
  it('blocks its writer with bounded memory until it reads again', async () => {
    await listen();
    const { socket, stream, text } = await connect();
    socket.pause();
    let written = 0;
    const writing = (async () => {
      while (written < 200 && (await stream.write(PIECE))) written++;
    })();
    await until(() => written > 0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(written).toBeLessThan(200);
    socket.resume();
    await writing;
    await until(() => text().split('data: ').length === 201);
  });

  it('is disconnected after the stall limit without affecting another reader', async () => {
    await listen({ stallMs: 200 });
    const slow = await connect();
    const quick = await connect();
    slow.socket.pause();
    const started = performance.now();
    while (await slow.stream.write(PIECE));
    expect(performance.now() - started).toBeGreaterThan(150);
    expect(slow.stream.signal.aborted).toBe(true);
    expect(await quick.stream.write('data: 1\n\n')).toBe(true);
    slow.socket.destroy();
  });

  it('is kept when it reads a single large record slowly', async () => {
    await listen({ stallMs: 1_500 });
    const { socket, stream, text } = await connect();
    const record = PIECE.repeat(400);
    socket.on('data', () => {
      socket.pause();
      setTimeout(() => socket.resume(), 8);
    });
    const started = performance.now();
    expect(await stream.write(record)).toBe(true);
    expect(performance.now() - started).toBeGreaterThan(1_700);
    await until(() => text().length >= record.length);
    expect(text().split('data: ')).toHaveLength(401);
    socket.destroy();
  });

  it('is disconnected at once when its writer does not wait and the buffer exceeds the limit', async () => {
    await listen();
    const { socket, stream } = await connect();
    socket.pause();
    const writes = Array.from({ length: 400 }, () => stream.write(PIECE));
    expect(stream.signal.aborted).toBe(true);
    expect((await Promise.all(writes)).at(-1)).toBe(false);
    socket.destroy();
  });

  it('is disconnected after the stall limit also when its stream has been ended', async () => {
    await listen({ stallMs: 100 });
    const { socket, stream } = await connect();
    socket.pause();
    const started = performance.now();
    void stream.write(PIECE.repeat(200));
    stream.end();
    await until(() => streams.size === 0);
    expect(performance.now() - started).toBeGreaterThan(80);
    socket.destroy();
  });
});

describe('the streams of a process', () => {
  it('hold no resources after 2,000 connects and disconnects', async () => {
    await listen();
    let most = 0;
    onStream = () => void (most = Math.max(most, streams.size));
    const visit = () =>
      new Promise<void>((resolve, reject) => {
        const socket = net.connect(port(), '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
        socket.once('data', () => socket.destroy());
        socket.on('close', () => resolve()).on('error', reject);
      });
    const visitor = async () => {
      for (let visits = 0; visits < 20; visits++) await visit();
    };
    for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 20 }, visitor));
    await until(() => streams.size === 0);
    expect(most).toBeGreaterThan(0);
    expect((streams as unknown as { ticker: unknown }).ticker).toBeUndefined();
    expect(await connections()).toBe(0);
  });

  it('use one drain listener per response for any number of waits', async () => {
    await listen();
    let response!: http.ServerResponse;
    server.prependListener('request', (_request, raw) => (response = raw));
    const { stream, socket } = await connect();
    const before = response.listenerCount('drain');
    for (let piece = 0; piece < 100; piece++) await stream.write(PIECE);
    expect(response.listenerCount('drain')).toBe(before);
    expect(response.listenerCount('close')).toBeLessThanOrEqual(2);
    socket.destroy();
  });

  it('end after all written records, and streams that start later end at once', async () => {
    await listen();
    const first = await connect();
    void first.stream.write('id: 41\ndata: last\n\n');
    streams.closeAll();
    await until(() => isWhole(first.text()));
    expect(first.text()).toContain('id: 41\ndata: last\n\n');
    const second = await connect();
    await until(() => isWhole(second.text()));
    await until(() => streams.size === 0);
  });

  it('end after their first record if they owe it, and not after a comment', async () => {
    await listen();
    owesRecord = true;
    const before = await connect();
    streams.closeAll();
    const during = await connect();
    for (const { stream, text } of [before, during]) {
      await stream.comment('keepalive');
      expect(await stream.write('id: 0\ndata: {}\n\n')).toBe(true);
      expect(await stream.write('id: 1\ndata: {}\n\n')).toBe(false);
      await until(() => isWhole(text()));
      expect(text()).toContain('id: 0\ndata: {}\n\n');
    }
  });
});
