import { connect, type ConnectionOptions, type NatsConnection as Client, type Status } from '@nats-io/transport-node';
import { checkNatsPrefix, natsTarget } from './nats-target.js';

export type NatsOptions = Readonly<{
  /** As for `natsTarget`. */
  url: string;
  /** The prefix of all names on the server, so that several installations can share it. Letters, digits, `-`, `_`. */
  prefix?: string;
  /** The number of replicas of each stream in a cluster: 1, 3 or 5. */
  replicas?: number;
  /** How long a request may take, including a reconnection. */
  deadlineMs?: number;
  /** The client name that the server shows. */
  name?: string;
}>;

const DEADLINE_MS = 2_000;
const RECONNECT_MS = 250;
const CONNECT_TIMEOUT_MS = 2_000;
/** A server that leaves two pings unanswered counts as lost, even if the socket is open. */
const PING_MS = 2_000;
const PINGS_OUT_MAX = 2;

/** No connection was available within the deadline. */
class NatsAway extends Error {
  override readonly name = 'NatsAway';
}

/**
 * The connection of this process to NATS. It retries without a limit, at the start and after each loss. Callers wait for it until
 * the deadline, counted from the loss; after that, they fail at once. Nothing is passed to the client while the server is
 * unavailable, because the client's buffer is unbounded.
 */
export class NatsConnection {
  readonly prefix: string;
  readonly replicas: number;
  readonly deadlineMs: number;
  private readonly closing = new AbortController();
  private readonly waiting = new Set<() => void>();
  private readonly watchers = new Set<(client: Client) => void>();
  private client: Client | undefined;
  private isUp = false;
  private downSince = performance.now();
  /** Why the connection is down. */
  private reason = 'no answer yet';
  private readonly seeking: Promise<void>;

  constructor(options: NatsOptions) {
    this.prefix = options.prefix ?? 'verbatim';
    this.replicas = options.replicas ?? 1;
    this.deadlineMs = options.deadlineMs ?? DEADLINE_MS;
    checkNatsPrefix(this.prefix);
    const settings = connectionOptions(options);
    this.seeking = this.seek(settings);
  }

  /** Whether the connection is up. A silent loss is noticed after some seconds. */
  get connected(): boolean {
    return this.isUp;
  }

  /** The client, if it is connected now. */
  get current(): Client | undefined {
    return this.isUp ? this.client : undefined;
  }

  /** The client, from the first connection until closing, also while disconnected. */
  get established(): Client | undefined {
    return this.closed.aborted ? undefined : this.client;
  }

  /** Aborts when this object is closed. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  /** Waits for the connected client until the deadline. @throws NatsAway */
  async ready(): Promise<Client> {
    const patienceMs = this.downSince + this.deadlineMs - performance.now();
    if (!this.current && !this.closed.aborted && patienceMs > 0) await this.comesUp(patienceMs);
    if (!this.current) throw new NatsAway(this.closed.aborted ? 'The connection is closed.' : `NATS is away: ${this.reason}.`);
    return this.current;
  }

  /** Calls back with the client after the first connection. */
  onFirstConnection(watcher: (client: Client) => void): void {
    if (this.client) watcher(this.client);
    else this.watchers.add(watcher);
  }

  async close(): Promise<void> {
    if (this.closed.aborted) return;
    this.closing.abort();
    this.wakeWaiting();
    await this.seeking;
    await this.flush();
    this.goesDown();
    await this.client?.close();
  }

  /** Sends published messages, unless the server is unavailable or too slow. */
  private async flush(): Promise<void> {
    const flushed = new AbortController();
    const flush = this.current?.flush().catch(() => undefined) ?? Promise.resolve();
    await Promise.race([flush.finally(() => flushed.abort()), pause(this.deadlineMs, flushed.signal)]);
  }

  private async seek(settings: ConnectionOptions): Promise<void> {
    while (!this.closed.aborted) {
      try {
        const client = await connect(settings);
        this.client = client;
        void this.watch(client.status());
        this.goesUp();
        for (const watcher of this.watchers) watcher(client);
        this.watchers.clear();
        return;
      } catch (error) {
        this.reason = (error as Error).message;
        await pause(RECONNECT_MS, this.closed);
      }
    }
  }

  private async watch(statuses: AsyncIterable<Status>): Promise<void> {
    for await (const status of statuses) {
      const { type } = status;
      if (type === 'disconnect' || type === 'staleConnection' || type === 'close') this.goesDown();
      if (type === 'reconnect') this.goesUp();
      if (type === 'error' && !this.isUp) this.reason = status.error.message;
    }
  }

  private goesUp(): void {
    this.isUp = true;
    this.wakeWaiting();
  }

  private goesDown(): void {
    if (this.isUp) {
      this.downSince = performance.now();
      this.reason = 'the connection was lost';
    }
    this.isUp = false;
  }

  private async comesUp(patienceMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, patienceMs);
      this.waiting.add(wake);
    });
  }

  private wakeWaiting(): void {
    for (const wake of [...this.waiting]) wake();
  }
}

/** Waits, and resolves early when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}

function connectionOptions({ url, name }: NatsOptions): ConnectionOptions {
  const { servers, tls, credentials } = natsTarget(url);
  return {
    servers: [...servers],
    name: name ?? 'verbatim',
    ...credentials,
    ...(tls ? { tls: {} } : {}),
    timeout: CONNECT_TIMEOUT_MS,
    pingInterval: PING_MS,
    maxPingOut: PINGS_OUT_MAX,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    ignoreAuthErrorAbort: true,
    noEcho: true,
    noAsyncTraces: true,
  };
}
