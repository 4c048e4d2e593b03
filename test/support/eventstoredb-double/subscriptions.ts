import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';

import { caughtUpMessage, checkpointMessage, confirmationMessage, fellBehindMessage, nameOf, NO_POSITION } from './messages.js';
import { type Answers, Ended } from './reads.js';
import { refusals } from './refusals.js';
import { since } from './visible.js';
import { checkpointInterval, wantedBy } from './wanted.js';

/** A subscriber this far behind is told that it fell behind, and later that it caught up again. */
const LIVE_BUFFER_EVENTS = 32;

/** Whether a subscriber is at the end of what it follows, and what it was told about it. */
class Liveness {
  private live = false;
  private last = -1n;

  constructor(private readonly answers: Answers) {}

  async behind(by: number): Promise<void> {
    if (!this.live || by <= LIVE_BUFFER_EVENTS) return;
    this.live = false;
    await this.answers.send(fellBehindMessage());
  }

  /** At the end: says so when it is news, then waits for the next write. */
  async atTheEnd(checkpoint: bigint | undefined): Promise<void> {
    if (!this.live) {
      this.live = true;
      if (checkpoint !== undefined) await this.checkpoint(checkpoint);
      await this.answers.send(caughtUpMessage());
    }
  }

  /** Says how far the log was considered, unless it has said as much; after the largest number there is it never does. */
  async checkpoint(position: bigint): Promise<void> {
    if (position <= this.last) return;
    this.last = position;
    await this.answers.send(checkpointMessage(position));
  }
}

/** After a revision: what is visible of the stream, then what comes. A stream that is not there yet is waited for. */
export async function subscribeToStream(answers: Answers, options: streamsPb.ReadReq.Options): Promise<void> {
  const { log } = answers.server;
  const from = options.getStream()!;
  const name = nameOf(from.getStreamIdentifier());
  let next = from.hasStart() ? 0 : from.hasEnd() ? Infinity : Number(from.getRevision()) + 1;
  const liveness = new Liveness(answers);
  await answers.send(confirmationMessage(crypto.randomUUID()));
  for (;;) {
    const written = nextWrite(answers);
    const visible = log.visible(name);
    if (visible === 'deleted') throw refusals.streamDeleted(name) as Error;
    if (next === Infinity) next = (visible?.at(-1)?.revision ?? -1) + 1;
    const coming = since(visible ?? [], next);
    await liveness.behind(coming.length);
    for (const record of coming) {
      await answers.event(record);
      next = record.revision + 1;
    }
    if (coming.length > 0) continue;
    if (visible) await liveness.atTheEnd(undefined);
    await written();
  }
}

/** After a position: what of the log passes the filter, then what comes, with checkpoints on the way. */
export async function subscribeToAll(answers: Answers, options: streamsPb.ReadReq.Options): Promise<void> {
  const { log } = answers.server;
  const from = options.getAll()!;
  const filter = options.getFilter();
  const wanted = wantedBy(filter);
  const interval = filter ? checkpointInterval(filter) : Infinity;
  let position = from.hasPosition() ? BigInt(from.getPosition()!.getCommitPosition()) : undefined;
  if (from.hasEnd()) position = log.records.at(-1)?.position;
  let checkpoint = position;
  let considered = 0;
  const liveness = new Liveness(answers);
  await answers.send(confirmationMessage(crypto.randomUUID()));
  for (;;) {
    const written = nextWrite(answers);
    const next = () => (position === undefined ? 0 : log.indexOf(position + 1n));
    await liveness.behind(log.records.length - next());
    for (let index = next(); index < log.records.length; index = next()) {
      const record = log.records[index]!;
      position = record.position;
      if (wanted(record)) {
        await answers.event(record);
        checkpoint = position;
      }
      if (++considered % interval !== 0) continue;
      checkpoint = position;
      await liveness.checkpoint(checkpoint);
    }
    // The end is known by what was given to the client, not by where the log ends; before the first of that it is nowhere.
    await liveness.atTheEnd(filter ? (checkpoint ?? NO_POSITION) : undefined);
    if (next() === log.records.length) await written();
  }
}

/** Listens from now on; the returned function waits for a write since then, or throws when the client has gone. */
function nextWrite(answers: Answers): () => Promise<void> {
  let wake = () => {};
  const written = new Promise<void>((resolve) => (wake = resolve));
  const forget = answers.server.log.onNextWrite(wake);
  return async () => {
    await Promise.race([written, answers.closed]);
    forget();
    if (answers.ended) throw new Ended();
  };
}
