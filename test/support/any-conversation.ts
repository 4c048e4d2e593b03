import { askAutomatically, conclude, seal, startTurn, requeue } from '../../src/dialogue/conversation/turn.decider.js';
import { append, noteWork } from '../../src/dialogue/conversation/additions.decider.js';
import { ask, conversation, open, remove } from '../../src/dialogue/conversation/conversation.decider.js';
import type { ConversationEvent, PauseType } from '../../src/dialogue/conversation/conversation.events.js';
import { expire, pause, resume } from '../../src/dialogue/conversation/pause.decider.js';
import type { Conversation, Decide } from '../../src/dialogue/conversation/turn.policy.js';
import { Rejection } from '../../src/kernel/rejection.js';
import { turnPaused, waitingCall } from './pauses.js';
import type { Seeded } from './seeded.js';
import { turnSettings } from './turn-settings.js';

const ELSEWHERE = {
  ...{ modelId: 'm', lastId: 5, frames: 6, sha256: 'ab' },
  origin: { kind: 'schedule', scheduleId: 's', runId: 'r', scheduledFor: '2026-01-01T00:00:00.000Z' },
} as const;
const [BEFORE, AFTER] = [new Date('2026-01-01'), new Date('2027-01-01')];

/** A conversation that takes random steps in any order that its rules allow. */
export class AnyConversation {
  state: Conversation = conversation.initial;
  private readonly turnIds: string[] = [];

  constructor(
    readonly id: string,
    private readonly random: Seeded,
  ) {}

  /** Tries a random decision. Returns its events, or none if the rules reject it. */
  step(): readonly ConversationEvent[] {
    const decide = this.anything();
    let events: readonly ConversationEvent[];
    try {
      events = decide(this.state);
    } catch (error) {
      if (error instanceof Rejection) return [];
      throw error;
    }
    this.state = events.reduce(conversation.evolve, this.state);
    return events;
  }

  private anything(): Decide {
    const { random } = this;
    if (this.turnIds.length === 0) return this.question(null);
    const turnId = this.turnIds[random.between(0, this.turnIds.length - 1)]!;
    const about = { conversationId: this.id, turnId };
    const parts = { answer: 'So.', thought: '', sources: [], toolCalls: [], structured: false };
    const choices: readonly (() => Decide)[] = [
      () => this.question(null),
      () => this.question(random.between(0, this.state.nextIndex)),
      () => open,
      () => startTurn(turnId, 'p'),
      () => startTurn(turnId, 'p'),
      () => pause(turnPaused(about, this.calls()).data, 'p'),
      () => pause(turnPaused(about, this.calls()).data, 'p'),
      () => pause(turnPaused(about, this.calls()).data, 'p'),
      () => resume([{ callId: 'k0', decision: 'denied', comment: null }], { userId: 'carol' }, BEFORE),
      () => requeue(turnId, 'p'),
      () => expire(turnId, random.oneIn(2) ? BEFORE : AFTER),
      () => conclude({ type: 'TurnAnswered', data: { ...about, ...parts, modelId: 'm', usage: null } }),
      () => conclude({ type: 'TurnFailed', data: { ...about, ...parts, error: 'No.', code: null } }),
      () => conclude({ type: 'TurnStopped', data: { ...about, ...parts } }),
      () =>
        askAutomatically(
          { ...this.asking(this.newTurn()), origin: { kind: 'follow-up', source: 'job', refId: 'j', dedupeKey: 'd' } },
          'carol',
        ),
      () => conclude({ type: 'TurnAnswered', data: { ...about, ...parts, answer: '', modelId: 'm', usage: null } }),
      () => append({ ...this.asking(this.newTurn()), ...parts, ...ELSEWHERE }, 'carol'),
      () => seal({ ...about, lastId: 5, frames: 6, sha256: 'ab' }),
      () => seal({ ...about, lastId: 5, frames: 6, sha256: 'ab' }),
      () => this.work(),
      () => this.work(),
      () => (random.oneIn(10) ? remove : open),
    ];
    return choices[random.between(0, choices.length - 1)]!();
  }

  private question(index: number | null): Decide {
    const started = {
      conversationId: this.id,
      ownerId: 'carol',
      agentId: null,
      name: 'Any',
      visibility: 'listed',
      sharedUsage: false,
      history: [],
    } as const;
    return ask({ ...this.asking(this.newTurn()), index }, started);
  }

  private newTurn(): string {
    const turnId = `${this.id}-${this.turnIds.length}`;
    this.turnIds.push(turnId);
    return turnId;
  }

  private asking(turnId: string) {
    return { conversationId: this.id, turnId, question: 'Why?', requestId: 'r', settings: turnSettings() };
  }

  private work(): Decide {
    const kind = this.random.oneIn(2) ? 'job' : 'monitor';
    const id = `${kind} ${this.random.between(0, 1)} of ${this.id}`;
    const statuses = kind === 'job' ? (['active', 'over', 'failed'] as const) : (['active', 'over', 'over'] as const);
    const status = statuses[this.random.between(0, 2)]!;
    const asOf = (this.state.works.get(id)?.asOf ?? -1) + 1;
    return noteWork({ conversationId: this.id, work: { kind, id }, status, asOf });
  }

  private calls() {
    const types: readonly PauseType[] = ['awaiting_approval', 'requires_client_execution'];
    return Array.from({ length: this.random.between(1, 2) }, (_, at) => waitingCall(`k${at}`, types[this.random.between(0, 1)]));
  }
}
