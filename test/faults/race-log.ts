import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import type { ConversationEvent } from '../../src/dialogue/conversation/conversation.events.js';
import { type Codec, decode } from '../../src/kernel/event-sourcing/codec.js';
import { type EventStore, LOG_START, type StoredEvent } from '../../src/kernel/event-sourcing/event-store.js';
import type { Event } from '../../src/kernel/event-sourcing/events.js';
import { eventually } from '../support/eventually.js';
import { runCodec } from '../../src/background/runs/run.codec.js';
import type { RunEvent } from '../../src/background/runs/run.events.js';
import { TurnLog } from '../support/turn-log.js';

/** A racer has taken a stream, which only one may take. */
export type RaceTaken = Event<'RaceTaken', { by: string }>;

type Seen = RaceTaken | ConversationEvent | RunEvent;
const codec = { RaceTaken: [], ...conversationCodec, ...runCodec } as Codec<Seen>;

/** The outcomes of races, read from the whole log. */
export class RaceLog {
  /** The taker of each stream. */
  readonly takers = new Map<string, string>();
  /** The turn of each question. */
  readonly turns = new Map<string, string>();
  /** The task of each delivery. */
  readonly tasks = new Map<string, string>();
  /** The decision on the call of each question. */
  readonly decisions = new Map<string, string>();
  /** Events that may happen only once and happened again. */
  readonly doubled: string[] = [];
  private readonly once = new Set<string>();
  private readonly questions = new Map<string, string>();

  private constructor(private readonly turnLog: TurnLog) {}

  /** Waits until every turn is sealed and every run has ended. */
  static async atRest(store: Pick<EventStore, 'read' | 'readAll'>, boundMs: number): Promise<RaceLog> {
    let log: RaceLog | undefined;
    const isAtRest = async () => {
      log = new RaceLog(await new TurnLog(store).refresh());
      for await (const page of store.readAll({ after: LOG_START, filter: { categories: ['race', 'conversation', 'run'] } }))
        page.events.forEach((stored) => log!.note(stored));
      return log.turnLog.unsealed.length === 0 && [...log.tasks.values()].every((task) => log!.once.has(`end of run ${task}`));
    };
    await eventually(isAtRest, boundMs, 'every turn is sealed, and every run has ended');
    return log!;
  }

  journalOf(messageId: string): Promise<string> {
    return this.turnLog.journalOf(messageId);
  }

  private note(stored: StoredEvent): void {
    const event = decode<Seen>(codec, stored);
    switch (event?.type) {
      case 'RaceTaken':
        return this.happened(stored.stream, this.takers, stored.stream, event.data.by);
      case 'TurnAsked': {
        const { question, turnId } = event.data;
        this.questions.set(turnId, question);
        return this.happened(`question ${question}`, this.turns, question, turnId);
      }
      case 'ToolCallApproved':
      case 'ToolCallDenied': {
        const { turnId, callId } = event.data;
        const decision = event.type === 'ToolCallApproved' ? 'approved' : 'denied';
        return this.happened(`decision on ${turnId} ${callId}`, this.decisions, this.questions.get(turnId)!, decision);
      }
      case 'TurnAnswered':
      case 'TurnFailed':
      case 'TurnStopped':
        return this.mark(`outcome of ${event.data.turnId}`);
      case 'TurnSealed':
        return this.mark(`seal of ${event.data.turnId}`);
      case 'RunQueued': {
        const { key } = JSON.parse(event.data.input) as { key: string };
        return this.happened(`run of ${key}`, this.tasks, key, event.data.runId);
      }
      case 'RunFinished':
      case 'RunFailed':
      case 'RunRefused':
        return this.mark(`end of run ${event.data.runId}`);
      default:
    }
  }

  private happened(what: string, all: Map<string, string>, of: string, result: string): void {
    this.mark(what);
    all.set(of, result);
  }

  private mark(what: string): void {
    if (this.once.has(what)) this.doubled.push(what);
    this.once.add(what);
  }
}
