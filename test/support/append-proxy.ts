import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { SEPARATOR } from '../../src/platform/event-store/postgres/storable.js';
import { tie } from './severable-proxy.js';

/** `before` the database gets an append, or `after` it has committed it, but before the service learns that. */
type Moment = 'before' | 'after';

type Stop = Readonly<{ moment: Moment; eventType: string; stopped: () => void }>;

const APPEND = /event_store\.append(_bounded)?\(/;
/** The place of the event types among the arguments of an append. None before it is null. */
const TYPES_ARGUMENT = 6;

/**
 * A proxy to Postgres that finds the appends of a service in the wire protocol
 * (https://www.postgresql.org/docs/current/protocol-message-formats.html) and can stop at one of them: from then on the
 * connection of that append carries nothing.
 */
export class AppendProxy {
  private stop: Stop | undefined;
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((near) => this.join(near));

  private constructor(private readonly target: URL) {}

  static async to(url: string): Promise<AppendProxy> {
    const proxy = new AppendProxy(new URL(url));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get url(): string {
    const url = new URL(this.target);
    url.host = `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return url.href;
  }

  /** Stops at the next append of an event of this type, and calls `stopped` before anything else happens. */
  stopAt(stop: Stop): void {
    this.stop = stop;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(near: Socket): void {
    const far = connect(Number(this.target.port), this.target.hostname);
    tie(near, far, this.sockets);
    const session = new Session((eventTypes) => this.pass(eventTypes));
    const requests = messages({ firstIsUntyped: true });
    near.on('data', (data) => {
      for (const message of requests(data)) if (session.mayRequest(message)) far.write(message);
    });
    const responses = messages({ firstIsUntyped: false });
    far.on('data', (data) => {
      for (const message of responses(data)) if (session.mayRespond(message)) near.write(message);
    });
  }

  /** Returns where to stop if one of the appended events is meant. */
  private pass(eventTypes: readonly string[]): Stop | undefined {
    const { stop } = this;
    if (!stop || !eventTypes.includes(stop.eventType)) return undefined;
    this.stop = undefined;
    return stop;
  }
}

/** One connection of the service. Its statements may be pipelined, and the server answers them in order. */
class Session {
  private readonly appendStatements = new Set<string>();
  /** The number of `ReadyForQuery` messages that the server owes. The first one ends the start-up. */
  private owed = 1;
  /** Withholds the responses to the append that will be ready when this many messages more are ready. */
  private withheld: { readyIn: number; stop: Stop } | undefined;
  private isStopped = false;

  constructor(private readonly pass: (eventTypes: readonly string[]) => Stop | undefined) {}

  mayRequest(message: Buffer): boolean {
    const type = typeOf(message);
    if (type === 'Parse') this.parse(message);
    if (type === 'Sync' || type === 'Query') this.owed++;
    const eventTypes = type === 'Bind' ? this.eventTypesIn(message) : [];
    const stop = this.pass(eventTypes);
    if (stop?.moment === 'after') this.withheld = { readyIn: this.owed + 1, stop };
    if (stop?.moment === 'before') this.end(stop);
    return !this.isStopped;
  }

  mayRespond(message: Buffer): boolean {
    const isOfAppend = this.withheld?.readyIn === 1;
    if (typeOf(message) === 'ReadyForQuery') {
      this.owed--;
      if (this.withheld && --this.withheld.readyIn === 0) this.end(this.withheld.stop);
    }
    return !this.isStopped && !isOfAppend;
  }

  private end({ stopped }: Stop): void {
    if (this.isStopped) return;
    this.isStopped = true;
    stopped();
  }

  private parse(message: Buffer): void {
    const { text: name, end } = textAt(message, 5);
    if (APPEND.test(textAt(message, end).text)) this.appendStatements.add(name);
    else this.appendStatements.delete(name);
  }

  /** The types of the events that a statement appends. */
  private eventTypesIn(message: Buffer): readonly string[] {
    const { text: name, end } = textAt(message, textAt(message, 5).end);
    if (!this.appendStatements.has(name)) return [];
    let at = end + 2 + 2 * message.readInt16BE(end) + 2;
    for (let argument = 0; argument < TYPES_ARGUMENT; argument++) at += 4 + message.readInt32BE(at);
    return message.toString('utf8', at + 4, at + 4 + message.readInt32BE(at)).split(SEPARATOR);
  }
}

const MESSAGE_TYPES = { P: 'Parse', B: 'Bind', S: 'Sync', Q: 'Query', Z: 'ReadyForQuery' } as const;

const typeOf = (message: Buffer) => MESSAGE_TYPES[String.fromCharCode(message[0]!) as keyof typeof MESSAGE_TYPES];

/** Cuts what one side sends into messages. Only the first message of a client has no type. */
function messages({ firstIsUntyped }: { firstIsUntyped: boolean }): (data: Buffer) => Generator<Buffer> {
  let left = Buffer.alloc(0);
  let head = firstIsUntyped ? 0 : 1;
  return function* (data) {
    left = Buffer.concat([left, data]);
    while (left.length >= head + 4 && left.length >= head + left.readInt32BE(head)) {
      const size = head + left.readInt32BE(head);
      yield left.subarray(0, size);
      left = left.subarray(size);
      head = 1;
    }
  };
}

function textAt(message: Buffer, start: number): { text: string; end: number } {
  const zero = message.indexOf(0, start);
  return { text: message.toString('utf8', start, zero), end: zero + 1 };
}
