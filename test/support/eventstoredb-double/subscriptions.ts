import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';

import { caughtUpMessage, checkpointMessage, confirmationMessage, fellBehindMessage, NO_POSITION } from './messages.js';
import { type Answers, Ended } from './reads.js';
import { refusals } from './refusals.js';
import { checkpointInterval, wantedBy } from './wanted.js';

/** A subscriber that lags this many events behind is notified that it fell behind, and later that it caught up. */
const LIVE_BUFFER_EVENTS = 32;

/** Tracks whether a subscriber is at the end of the log, and notifies it of changes. */
class Liveness {
  private live = false;
  private last = -1n;

  constructor(private readonly answers: Answers) {}

  async behind(by: number): Promise<void> {
    if (!this.live || by <= LIVE_BUFFER_EVENTS) return;
    this.live = false;
    await this.answers.send(fellBehindMessage());
  }

  /** At the end: notifies the subscriber if it has just caught up, then waits for the next write. */
  async atTheEnd(checkpoint: bigint | undefined): Promise<void> {
    if (!this.live) {
      this.live = true;
      if (checkpoint !== undefined) await this.checkpoint(checkpoint);
      await this.answers.send(caughtUpMessage());
    }
  }

  /** Reports a checkpoint unless it is not past the last one. After `NO_POSITION` it never reports another. */
  async checkpoint(position: bigint): Promise<void> {
    if (position <= this.last) return;
    this.last = position;
    await this.answers.send(checkpointMessage(position));
  }
}

/** Sends the events of the log after a position that pass the filter, then new ones, with checkpoints in between. */
export async function subscribeToAll(answers: Answers, options: streamsPb.ReadReq.Options): Promise<void> {
  const { log } = answers.server;
  const from = options.getAll();
  if (!from) throw refusals.invalid('Only the log has subscriptions here.') as Error;
  const filter = options.getFilter();
  const wanted = wantedBy(filter);
  const interval = filter ? checkpointInterval(filter) : Infinity;
  let position = from.hasPosition() ? BigInt(from.getPosition()!.getCommitPosition()) : undefined;
  if (position !== undefined && !log.isPlace(position)) throw refusals.invalidPosition(true) as Error;
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
    // The reported position is that of the last event sent or of the last checkpoint, not the end of the log. Before the first it
    // is `NO_POSITION`.
    await liveness.atTheEnd(filter ? (checkpoint ?? NO_POSITION) : undefined);
    if (next() === log.records.length) await written();
  }
}

/** Listens from now on. The returned function waits for the next write, or throws when the client has disconnected. */
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
