import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Controller, Get, Module, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { describe, expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { Config, readConfig } from '../config/config.js';
import { HttpModule } from '../../app/http.module.js';
import { createHttpApp } from './http-server.js';
import { SseStreams } from './sse.js';
import { WaitingReplies } from './waiting-replies.js';

const arrived: (() => void)[] = [];
const release: (() => void)[] = [];

@Controller()
class Probe {
  constructor(
    private readonly streams: SseStreams,
    private readonly waiting: WaitingReplies,
  ) {}

  @Get('api/waiting')
  async wait(@Res({ passthrough: true }) reply: FastifyReply) {
    arrived.shift()?.();
    await once(this.waiting.signalOf(reply), 'abort');
    throw this.waiting.brokenOff();
  }

  @Get('api/slow')
  async slow() {
    arrived.shift()?.();
    await new Promise<void>((resolve) => release.push(resolve));
    return { done: true };
  }

  @Get('api/quick')
  quick() {
    return { done: true };
  }

  @Get('stream')
  stream(@Res() reply: FastifyReply) {
    void this.streams.start(reply).write('id: 7\ndata: {}\n\n');
  }
}

/** Delays the closing of the server until `open`. */
class Gate {
  open!: () => void;
  private readonly opened = new Promise<void>((resolve) => (this.open = resolve));
  beforeApplicationShutdown() {
    return this.opened;
  }
}

const config = readConfig({ SHUTDOWN_SECONDS: '0.3' });
const global = { module: class {}, global: true, providers: [{ provide: Config, useValue: config }], exports: [Config] };

@Module({ imports: [global, HttpModule], controllers: [Probe], providers: [Gate] })
class ProbeModule {}

const serve = async () => {
  const app = await createHttpApp(ProbeModule, { ...config, readModels: [] }, { logger: false });
  await app.listen(0, '127.0.0.1');
  return app;
};

const agent = new http.Agent({ keepAlive: true });

const get = (app: NestFastifyApplication, path: string) =>
  new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: string }>((resolve, reject) => {
    const { port } = app.getHttpServer().address() as AddressInfo;
    const request = http.get({ port, host: '127.0.0.1', path, agent }, (response) => {
      let body = '';
      response.on('data', (chunk) => (body += String(chunk))).on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }));
    });
    request.on('error', reject);
  });

/** Requests the slow route and resolves when its handler runs. */
const askSlowly = async (app: NestFastifyApplication, path = '/api/slow') => {
  const reached = new Promise<void>((resolve) => arrived.push(resolve));
  const answer = get(app, path);
  await reached;
  return { answer };
};

describe('an application that closes', () => {
  it('ends event streams, finishes running requests, refuses new ones and does not wait for idle connections', async () => {
    const app = await serve();
    await get(app, '/api/quick');
    const { answer } = await askSlowly(app);
    const stream = get(app, '/stream');
    while (app.get(SseStreams).size === 0) await new Promise((resolve) => setImmediate(resolve));
    const closed = app.close();
    expect(await stream).toMatchObject({ status: 200, body: 'id: 7\ndata: {}\n\n' });
    const refused = await get(app, '/api/quick');
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1', connection: 'close' } });
    expect(JSON.parse(refused.body)).toMatchObject({ success: false, error: 'shutting_down' });
    app.get(Gate).open();
    release.pop()!();
    expect(await answer).toMatchObject({ status: 200, body: '{"done":true}' });
    await closed;
  });

  it('refuses requests on open connections with the same body after it has stopped listening', async () => {
    const app = await serve();
    const server = app.getHttpServer();
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const answers = text(socket);
    const ask = (path: string) => socket.write(`GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`);
    const reached = new Promise<void>((resolve) => arrived.push(resolve));
    ask('/api/slow');
    await reached;
    const next = once(server, 'request');
    app.get(Gate).open();
    const closed = app.close();
    while (server.listening) await new Promise((resolve) => setImmediate(resolve));
    ask('/api/quick');
    await next;
    release.pop()!();
    const [, answered, refused] = (await answers).split('HTTP/1.1 ');
    expect(answered).toContain('{"done":true}');
    expect(refused).toMatch(/^503 .*"error":"shutting_down"/s);
    await closed;
  });

  it('refuses a request that still waits for its answer before the time is over', async () => {
    const app = await serve();
    const { answer } = await askSlowly(app, '/api/waiting');
    app.get(Gate).open();
    const closed = app.close();
    expect(await answer).toMatchObject({ status: 503, body: expect.stringContaining('shutting_down') });
    await closed;
  });

  it('disconnects a request that does not finish in time', async () => {
    const app = await serve();
    const { answer } = await askSlowly(app);
    const cut = answer.catch((error: unknown) => error);
    app.get(Gate).open();
    const server = app.getHttpServer();
    const closed = once(server, 'close');
    void app.close();
    expect(await cut).toMatchObject({ code: 'ECONNRESET' });
    await closed;
    release.pop()!();
  });
});
