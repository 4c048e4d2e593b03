import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';

import { caughtUpMessage, checkpointMessage, confirmationMessage, fellBehindMessage, nameOf } from './messages.js';
import { type Answers, Ended } from './reads.js';
import { refusals } from './refusals.js';
import { since } from './visible.js';
import { checkpointInterval, wantedBy } from './wanted.js';

/** A subscriber this far behind is told that it fell behind, and later that it caught up again. */
const LIVE_BUFFER_EVENTS = 32;

/** Whether a subscriber is at the end of what it follows, and what it was told about it. */
class Liveness {
  private live = false;

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
      if (checkpoint !== undefined) await this.answers.send(checkpointMessage(checkpoint));
      await this.answers.send(caughtUpMessage());
    }
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
  let index = from.hasStart()
    ? 0
    : from.hasEnd()
      ? log.records.length
      : log.indexOf(BigInt(from.getPosition()!.getCommitPosition()) + 1n);
  let considered = 0;
  const liveness = new Liveness(answers);
  await answers.send(confirmationMessage(crypto.randomUUID()));
  for (;;) {
    const written = nextWrite(answers);
    await liveness.behind(log.records.length - index);
    for (; index < log.records.length; index++) {
      const record = log.records[index]!;
      if (wanted(record)) await answers.event(record);
      if (++considered % interval === 0) await answers.send(checkpointMessage(record.position));
    }
    await liveness.atTheEnd(filter ? log.records.at(-1)?.position : undefined);
    if (index === log.records.length) await written();
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
