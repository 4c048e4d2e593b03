import {
  type PausedTurn,
  type UnsealedTurn,
  UnsealedTurnQueries,
} from '../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { conversationCodec } from '../../../src/dialogue/conversation/conversation.codec.js';
import type { ConversationEvent } from '../../../src/dialogue/conversation/conversation.events.js';
import { decode } from '../../../src/kernel/event-sourcing/codec.js';
import type { StoredEvent } from '../../../src/kernel/event-sourcing/event-store.js';

type Row = { turnId: string; conversationId: string; producer: string | null; expiresAt: Date | null; since: Date };

const inOrder = (one: Row, other: Row): number =>
  one.since.getTime() - other.since.getTime() || (one.turnId < other.turnId ? -1 : 1);

const byExpiry = (one: PausedTurn, other: PausedTurn): number =>
  one.pausedUntil.getTime() - other.pausedUntil.getTime() || (one.turnId < other.turnId ? -1 : Number(one.turnId > other.turnId));

/** The read model of incomplete turns, in memory. */
export class UnsealedTurnsTwin extends UnsealedTurnQueries {
  private readonly rows = new Map<string, Row>();

  constructor() {
    super(undefined as never);
  }

  apply(stored: StoredEvent): void {
    const event = decode<ConversationEvent>(conversationCodec, stored);
    if (event) this.note(event, stored.at);
  }

  override async untaken(limit: number): Promise<readonly UnsealedTurn[]> {
    const rows = this.sorted().filter((row) => !row.producer && !row.expiresAt);
    return rows.slice(0, limit).map(ids);
  }

  override async taken(limit: number, after?: PausedTurn) {
    const isAfter = (pause: PausedTurn) => !after || byExpiry(pause, after) > 0;
    const paused = this.sorted().flatMap((row) =>
      row.expiresAt === null ? [] : { ...ids(row), producer: row.producer!, pausedUntil: row.expiresAt },
    );
    return {
      producers: [...new Set(this.sorted().flatMap(({ producer, expiresAt }) => (expiresAt ? [] : (producer ?? []))))],
      paused: paused.filter(isAfter).sort(byExpiry).slice(0, limit),
    };
  }

  override async takenBy(
    producers: readonly string[],
    running: readonly string[],
    limit: number,
  ): Promise<readonly UnsealedTurn[]> {
    const rows = this.sorted().filter(
      ({ turnId, producer, expiresAt }) =>
        expiresAt === null && producer !== null && producers.includes(producer) && !running.includes(turnId),
    );
    return rows.slice(0, limit).map(ids);
  }

  override async conversationsUnderWay(conversationIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = this.sorted().filter((row) => row.expiresAt === null && conversationIds.includes(row.conversationId));
    return new Set(rows.map(({ conversationId }) => conversationId));
  }

  override async expired(now: Date, limit: number): Promise<readonly UnsealedTurn[]> {
    const rows = this.sorted().filter(({ expiresAt }) => expiresAt !== null && expiresAt <= now);
    rows.sort((one, other) => one.expiresAt!.getTime() - other.expiresAt!.getTime() || (one.turnId < other.turnId ? -1 : 1));
    return rows.slice(0, limit).map(ids);
  }

  private sorted(): Row[] {
    return [...this.rows.values()].sort(inOrder);
  }

  private note(event: ConversationEvent, at: Date): void {
    switch (event.type) {
      case 'TurnAsked': {
        const { turnId, conversationId } = event.data;
        this.rows.set(turnId, { turnId, conversationId, producer: null, expiresAt: null, since: at });
        break;
      }
      case 'TurnStarted':
        this.change(event.data.turnId, { producer: event.data.producer, since: at });
        break;
      case 'TurnPaused':
        this.change(event.data.turnId, { expiresAt: new Date(event.data.expiresAt) });
        break;
      case 'ToolCallDenied':
        if (event.data.notRun !== 'expired' && event.data.notRun !== 'moved_on') break;
        this.change(event.data.turnId, { producer: null, expiresAt: null, since: at });
        break;
      case 'TurnResumed':
      case 'TurnRequeued':
        this.change(event.data.turnId, { producer: null, expiresAt: null, since: at });
        break;
      case 'TurnAnswered':
      case 'TurnFailed':
      case 'TurnStopped':
        this.change(event.data.turnId, { expiresAt: null });
        break;
      case 'ConversationDeleted':
        for (const row of this.rows.values()) {
          if (row.conversationId !== event.data.conversationId || !row.expiresAt) continue;
          Object.assign(row, { producer: null, expiresAt: null, since: at });
        }
        break;
      case 'TurnSealed':
        this.rows.delete(event.data.turnId);
        break;
      default:
    }
  }

  private change(turnId: string, values: Partial<Row>): void {
    const row = this.rows.get(turnId);
    if (row) Object.assign(row, values);
  }
}

const ids = ({ turnId, conversationId }: Row): UnsealedTurn => ({ turnId, conversationId });
