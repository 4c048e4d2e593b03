import { Injectable } from '@nestjs/common';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Signals } from '../../../kernel/messaging/signals.js';
import { Timing } from '../../../kernel/timing.js';
import { responseDeletedSubject } from './response.commands.js';
import { storedResponse } from './response.decider.js';
import { responseStream } from './response.events.js';

/** The interval at which a reader of a response checks that it still exists, because a signal may be lost. */
export const POLL_MS = 750;

/** Notifies the readers of a response of its deletion. */
@Injectable()
export class DeletedResponses {
  constructor(
    private readonly streams: Streams,
    private readonly signals: Signals,
    private readonly timing: Timing,
  ) {}

  /** Calls `gone` after the response is deleted. The returned function ends the watch. */
  watch(responseId: string, gone: () => void): () => void {
    const poll = async () => {
      const { state } = await this.streams.fold(responseStream(responseId), storedResponse);
      if (state.status === 'deleted') gone();
    };
    // After a failed check, the next one follows.
    const pollQuietly = () => void poll().catch(() => undefined);
    const unsubscribe = this.signals.subscribe(responseDeletedSubject(responseId), pollQuietly);
    const stopPolling = this.timing.every(POLL_MS, pollQuietly);
    return () => {
      stopPolling();
      unsubscribe();
    };
  }
}
