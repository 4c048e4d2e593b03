import { once } from 'node:events';

import type { ServerWritableStream } from '@grpc/grpc-js';
import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';

import type { ReadFault } from './faults.js';
import type { LogRecord } from './log.js';
import { encodedEvent, nameOf, notFoundMessage, streamEndMessage } from './messages.js';
import { refusals, refusedAtOnce } from './refusals.js';
import type { ServerState } from './server-state.js';
import { subscribeToAll } from './subscriptions.js';
import { since, upTo } from './visible.js';
import { wantedBy } from './wanted.js';

/** How far a follower lags. It may answer a read that does not require the leader. */
const FOLLOWER_LAG_MS = 300;

const BACKWARDS: streamsPb.ReadReq.Options.ReadDirection = 1;

export type ReadCall = ServerWritableStream<streamsPb.ReadReq, streamsPb.ReadResp | Buffer>;

/** Thrown to end a call on purpose. The client has already been sent its response. */
export class Ended extends Error {}

/** The output of one read: paced by the client, counted, and ended early by faults. */
export class Answers {
  /** Resolves when the client has disconnected. */
  readonly closed: Promise<void>;
  private given = 0;

  constructor(
    readonly server: ServerState,
    private readonly call: ReadCall,
    private readonly fault: ReadFault | undefined,
  ) {
    this.closed = new Promise((resolve) => {
      call.once('cancelled', resolve);
      call.once('close', resolve);
    });
  }

  get ended(): boolean {
    return this.call.cancelled || this.call.destroyed || !this.call.writable;
  }

  async event(record: LogRecord): Promise<void> {
    await this.send(encodedEvent(record));
    this.server.delivered += 1;
  }

  async send(message: streamsPb.ReadResp | Buffer): Promise<void> {
    if (this.fault && this.given++ >= this.fault.after) await this.break(this.fault.then);
    if (this.ended) throw new Ended();
    if (!this.call.write(message)) await Promise.race([once(this.call, 'drain'), this.closed]);
  }

  private async break(how: ReadFault['then']): Promise<void> {
    if (how === 'nothing') await this.closed;
    else if (how === 'disconnect') this.server.dropConnections();
    else if (how === 'end') this.call.end();
    else if (how === 'too-slow') this.call.emit('error', refusals.tooSlow());
    else if (how === 'not-leader') this.call.emit('error', refusals.notLeader(this.server.faults));
    else this.call.emit('error', refusals.unavailable());
    throw new Ended();
  }
}

/** Reads of a stream or of the whole log, and subscriptions to the log. */
export async function read(server: ServerState, call: ReadCall): Promise<void> {
  const refused = refusedAtOnce(server.faults, call.metadata);
  const options = call.request.getOptions();
  if (refused || !options) return void call.emit('error', refused ?? refusals.invalid('The options are missing.'));
  const stream = options.hasStream() ? nameOf(options.getStream()!.getStreamIdentifier()) : undefined;
  const answers = new Answers(server, call, server.faults.onRead?.(stream, options.hasSubscription()));
  call.on('error', () => undefined);
  server.readers += 1;
  try {
    await server.faults.delay();
    if (options.hasSubscription()) await subscribeToAll(answers, options);
    else if (stream === undefined) await readAll(answers, options);
    else await readStream(answers, options, call.metadata.get('requires-leader')[0] === 'true' ? 0 : FOLLOWER_LAG_MS);
    call.end();
  } catch (error) {
    if (error instanceof Ended) return;
    call.emit('error', 'code' in (error as object) ? error : refusals.invalid(String(error)));
  } finally {
    server.readers -= 1;
  }
}

async function readStream(answers: Answers, options: streamsPb.ReadReq.Options, lagMs: number): Promise<void> {
  const from = options.getStream()!;
  const name = nameOf(from.getStreamIdentifier());
  const visible = answers.server.log.visible(name, lagMs);
  if (visible === 'deleted') throw refusals.streamDeleted(name) as Error;
  if (!visible) return answers.send(notFoundMessage(name));
  const backwards = options.getReadDirection() === BACKWARDS;
  const revision = from.hasStart() ? 0 : from.hasEnd() ? Infinity : Number(from.getRevision());
  const count = Number(options.getCount());
  const chosen = backwards ? upTo(visible, revision, count) : since(visible, revision).slice(0, count);
  const { log } = answers.server;
  const lastRevision = log.lastRevision(name);
  for (const record of chosen) await answers.event(record);
  if ((options.getControlOption()?.getCompatibility() ?? 0) >= 1) await answers.send(streamEndMessage(lastRevision));
}

/** Reads the whole log. The start position is inclusive forwards and exclusive backwards. */
async function readAll(answers: Answers, options: streamsPb.ReadReq.Options): Promise<void> {
  const { log } = answers.server;
  const wanted = wantedBy(options.getFilter());
  const from = options.getAll()!;
  const backwards = options.getReadDirection() === BACKWARDS;
  const step = backwards ? -1 : 1;
  const position = from.hasPosition() ? BigInt(from.getPosition()!.getCommitPosition()) : undefined;
  if (position !== undefined && !log.isPlace(position)) throw refusals.invalidPosition(false) as Error;
  const start = position !== undefined ? log.indexOf(position) : from.hasEnd() ? log.records.length : 0;
  let left = Number(options.getCount());
  for (let index = backwards ? start - 1 : start; left > 0 && index >= 0 && index < log.records.length; index += step) {
    const record = log.records[index]!;
    if (!wanted(record)) continue;
    left -= 1;
    await answers.event(record);
  }
}
