import { createHash } from 'node:crypto';
import { CommandHandler } from '@nestjs/cqrs';
import { AUDITED, auditEventOf, auditLine } from '../../../projections/audit-log/audit-event.js';
import { Command, type Handler } from '../../kernel/commands.js';
import {
  APPEND_BYTES_MAX,
  EventStore,
  type ExpectedRevision,
  type StoredEvent,
} from '../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { jsonBytes } from '../../kernel/own-blobs.js';
import { logSeals, sealEvents, type Sealable } from './log-seals.decider.js';
import { LOG_SEALS_STREAM, type SealedEvent } from './log-seals.events.js';

/** The size of the events of a seal as JSON: half of what an append may have. */
const SEALED_BYTES_MAX = APPEND_BYTES_MAX / 2;

const POSITION = /^(-1|\d+)$/;

/** Somebody has changed the newest seal in the store. */
class SealChanged extends Error {
  override readonly name = 'SealChanged';
  constructor(revision: ExpectedRevision) {
    super(
      `The newest seal, event ${revision} of ${LOG_SEALS_STREAM}, was changed: it names no position before its own up to which it seals the log. No further event is sealed.`,
    );
  }
}

/** Appends a seal of the audited events after the last one. It returns whether the seal is full, so that more may follow it. */
export class SealLog extends Command<boolean> {
  constructor(readonly cause: Cause) {
    super();
  }
}

@CommandHandler(SealLog)
export class SealLogHandler implements Handler<SealLog> {
  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
  ) {}

  async execute({ cause }: SealLog): Promise<boolean> {
    const { state, revision, position } = await this.streams.foldOnwards(LOG_SEALS_STREAM, logSeals);
    const { upTo } = state;
    // After a later position nothing would be sealed until the log has grown past it.
    if (!POSITION.test(upTo) || (position !== undefined && BigInt(upTo) >= position)) throw new SealChanged(revision);
    const { isFull, ...sealable } = await this.sealableAfter(upTo);
    // A seal of nothing but the last seal would be followed by a seal of itself, for ever.
    if (sealable.events.every(([stream]) => stream === LOG_SEALS_STREAM)) return false;
    await this.streams.transact(LOG_SEALS_STREAM, logSeals, sealEvents(sealable), cause);
    return isFull;
  }

  private async sealableAfter(after: string): Promise<Sealable & { isFull: boolean }> {
    const events: SealedEvent[] = [];
    let upTo = after;
    let bytes = 0;
    for await (const page of this.store.readAll({ after: BigInt(after), filter: AUDITED })) {
      for (const stored of page.events) {
        const event = sealedEvent(stored);
        bytes += jsonBytes(event) + 1;
        if (bytes > SEALED_BYTES_MAX) return { after, upTo, events, isFull: true };
        events.push(event);
        upTo = String(stored.position);
      }
    }
    return { after, upTo, events, isFull: false };
  }
}

function sealedEvent(stored: StoredEvent): SealedEvent {
  const line = auditLine(auditEventOf(stored));
  return [stored.stream, stored.revision, createHash('sha256').update(line).digest('hex')];
}
