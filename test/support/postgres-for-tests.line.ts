import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

type Mode = 'open' | 'cut' | 'frozen' | 'answers-lost';

/**
 * A proxy in front of a Postgres server. It can be cut (connections end and new ones are refused), frozen (connections stay, but
 * no bytes pass), or lose the server's responses while requests still arrive and are executed.
 */
export class PostgresLine {
  private mode: Mode = 'open';
  private readonly pairs = new Set<{ client: Socket; server: Socket }>();
  /** The number of bytes that the server has sent to its clients. */
  bytesFromServer = 0;

  private constructor(
    private readonly listener: Server,
    /** The URL of the database behind the proxy. */
    readonly url: string,
  ) {}

  static async to(url: string): Promise<PostgresLine> {
    const { hostname, port } = new URL(url);
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const here = new URL(url);
    here.hostname = '127.0.0.1';
    here.port = String((listener.address() as AddressInfo).port);
    const line = new PostgresLine(listener, here.href);
    listener.on('connection', (client) => line.connect(client, connect(Number(port), hostname)));
    return line;
  }

  cut(): void {
    this.mode = 'cut';
    this.drop();
  }

  freeze(): void {
    this.mode = 'frozen';
    for (const { client, server } of this.pairs) {
      client.pause();
      server.pause();
    }
  }

  loseAnswers(): void {
    this.mode = 'answers-lost';
  }

  /**
   * Restores the connection. Frozen connections continue. Those that lost responses are closed, because their clients would wait
   * for ever.
   */
  mend(): void {
    if (this.mode === 'answers-lost') this.drop();
    this.mode = 'open';
    for (const { client, server } of this.pairs) {
      client.resume();
      server.resume();
    }
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.listener.close(resolve));
  }

  private drop(): void {
    for (const { client, server } of this.pairs) {
      client.destroy();
      server.destroy();
    }
  }

  private connect(client: Socket, server: Socket): void {
    // Errors of either socket are ignored, even after it was destroyed: the client under test has to handle the failure.
    client.on('error', () => undefined);
    server.on('error', () => undefined);
    if (this.mode === 'cut') {
      client.destroy();
      server.destroy();
      return;
    }
    const pair = { client, server };
    this.pairs.add(pair);
    client.on('data', (data) => server.write(data));
    server.on('data', (data) => {
      if (this.mode === 'answers-lost') return;
      this.bytesFromServer += data.length;
      client.write(data);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.setNoDelay(true);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.pairs.delete(pair);
        other.destroy();
      });
      if (this.mode === 'frozen') one.pause();
    }
  }
}
