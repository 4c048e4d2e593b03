import { Socket } from 'node:net';

/** The traffic of this process with Postgres so far. */
export type Traffic = Readonly<{
  /** Statements that Postgres has completed, including BEGIN, COMMIT and each statement of a multi-statement message. */
  statements: number;
  /** System calls that write to a connection. */
  writes: number;
  /** How often each text was sent. */
  texts: Readonly<Record<string, number>>;
}>;

/**
 * Loaded into a service (`--import`), it counts the traffic over all connections to Postgres, and answers each message of its
 * parent with the counts.
 */
const counts = { statements: 0, writes: 0, texts: {} as Record<string, number> };

type Handle = Record<string, unknown>;
type Write = (this: Handle, request: unknown, data: unknown, ...rest: unknown[]) => unknown;
type Watched = Socket & { _handle: Handle; push(bytes: Buffer | null): boolean };

const WRITES = ['writeBuffer', 'writev', 'writeUtf8String', 'writeLatin1String', 'writeAsciiString', 'writeUcs2String'];
/** The first message of a connection has the protocol version and no type letter. */
const PROTOCOL = 0x0003_0000;
const HEAD_BYTES = 5;

const sockets = Socket.prototype as { connect: (this: Socket, ...args: unknown[]) => Socket };
const { connect } = sockets;
sockets.connect = function (...args) {
  this.prependOnceListener('connect', () => watch(this as Watched));
  return connect.apply(this, args);
};

function watch(socket: Watched): void {
  const handle = socket._handle;
  const sent = sentCounter();
  let isPostgres: boolean | undefined;
  for (const name of WRITES) {
    const original = handle[name] as Write | undefined;
    if (!original) continue;
    const counting: Write = function (request, data, ...rest) {
      if (isPostgres === undefined) {
        isPostgres = Buffer.isBuffer(data) && data.length >= 8 && data.readInt32BE(4) === PROTOCOL;
        if (isPostgres) countReceived(socket);
      } else if (isPostgres) {
        sent(name === 'writev' ? bytesOf(data as unknown[], rest[0] === true) : Buffer.from(data as string));
      }
      if (isPostgres) counts.writes++;
      return original.call(handle, request, data, ...rest);
    };
    handle[name] = counting;
  }
}

/** The chunks of a writev call: only buffers, or each chunk followed by its encoding. */
function bytesOf(chunks: readonly unknown[], areBuffers: boolean): Buffer {
  const parts = areBuffers ? chunks : chunks.filter((_, index) => index % 2 === 0);
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

const textFrom = (bytes: Buffer, from: number): string => bytes.toString('utf8', from, bytes.indexOf(0, from));

/** Calls back for each complete message. An incomplete one waits for the rest. */
function messages(each: (letter: string, body: Buffer) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    let all = rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes;
    while (all.length >= HEAD_BYTES && all.length > all.readInt32BE(1)) {
      const end = 1 + all.readInt32BE(1);
      each(String.fromCharCode(all[0]!), all.subarray(HEAD_BYTES, end));
      all = all.subarray(end);
    }
    rest = Buffer.from(all);
  };
}

/** Counts the texts that are sent, directly or as a prepared statement. */
function sentCounter(): (bytes: Buffer) => void {
  const prepared = new Map<string, string>();
  const count = (text: string): void => void (counts.texts[text] = (counts.texts[text] ?? 0) + 1);
  return messages((letter, body) => {
    if (letter === 'Q') count(textFrom(body, 0));
    if (letter === 'P') prepared.set(textFrom(body, 0), textFrom(body, body.indexOf(0) + 1));
    if (letter === 'B') count(prepared.get(textFrom(body, body.indexOf(0) + 1)) ?? '');
  });
}

function countReceived(socket: Watched): void {
  const push = socket.push.bind(socket);
  const received = messages((letter) => void (letter === 'C' && counts.statements++));
  socket.push = (bytes: Buffer | null) => {
    if (bytes) received(bytes);
    return push(bytes);
  };
}

process.on('message', () => process.send?.(counts satisfies Traffic));
process.channel?.unref();
