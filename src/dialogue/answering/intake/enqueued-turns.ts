import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Timing } from '../../../kernel/timing.js';
import type { TurnToRun } from '../../journal/message.events.js';
import { AnsweringOptions } from '../loop/answering-options.js';

/** Maximum number of turns that are kept, about 300 bytes each. */
export const ENQUEUED_TURNS_MAX = 10_000;

/**
 * The turns that this process has enqueued lately. Their readers are told if no worker takes them, also while no projector is
 * alive: then no read model has them.
 */
@Injectable()
export class EnqueuedTurns {
  private readonly turns: LRUCache<string, TurnToRun>;

  constructor(timing: Timing, { settings }: AnsweringOptions) {
    this.turns = new LRUCache({
      max: ENQUEUED_TURNS_MAX,
      // A turn that no worker takes is over earlier.
      ttl: 2 * (settings.staleProducerMs + settings.noWorkerTurnMs),
      ttlResolution: 0,
      perf: { now: () => timing.elapsedMs() },
    });
  }

  get all(): readonly TurnToRun[] {
    return [...this.turns.values()];
  }

  note({ conversationId, turnId }: TurnToRun): void {
    this.turns.set(turnId, { conversationId, turnId });
  }

  forget(turnId: string): void {
    this.turns.delete(turnId);
  }
}
