import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a server received it. */
export type ReceivedRequest = Readonly<{
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}>;

export type Answering = (request: ReceivedRequest, response: ServerResponse) => void;

/** An HTTP server on this machine that records requests and responds as a test specifies. */
export class LocalServer {
  readonly requests: ReceivedRequest[] = [];
  answer: Answering = (_request, response) => response.end('hello');
  private readonly server = createServer((request, response) => void this.receive(request, response));

  static async started(answer?: Answering): Promise<LocalServer> {
    const local = new LocalServer();
    if (answer) local.answer = answer;
    local.server.listen(0, '127.0.0.1');
    await once(local.server, 'listening');
    return local;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The host as in `ALLOWED_PRIVATE_HOSTS`. */
  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  get url(): string {
    return `http://${this.host}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { method = '', url = '', headers } = request;
    const received = { method, path: url, headers, body: Buffer.concat(pieces).toString('utf8') };
    this.requests.push(received);
    this.answer(received, response);
  }
}

export const answerJson = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

export const redirect = (response: ServerResponse, location: string, status = 302): void => {
  response.writeHead(status, { location }).end('elsewhere');
};
