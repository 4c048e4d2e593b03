import { Injectable } from '@nestjs/common';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Signals } from '../../../kernel/signals.js';
import { Timing } from '../../../kernel/timing.js';
import { responseDeletedSubject } from './response.commands.js';
import { storedResponse } from './response.decider.js';
import { responseStream } from './response.events.js';

/** A signal may be lost: so often the reader of a response looks whether it is still there. */
export const LOOKED_EVERY_MS = 750;

/** Tells those who read a response that it was deleted. */
@Injectable()
export class DeletedResponses {
  constructor(
    private readonly streams: Streams,
    private readonly signals: Signals,
    private readonly timing: Timing,
  ) {}

  /** Calls back once the response is deleted, until the returned function is called. */
  watch(responseId: string, gone: () => void): () => void {
    const look = async () => {
      const { state } = await this.streams.fold(responseStream(responseId), storedResponse);
      if (state.status === 'deleted') gone();
    };
    // A look that fails is made again.
    const lookQuietly = () => void look().catch(() => undefined);
    const unsubscribe = this.signals.subscribe(responseDeletedSubject(responseId), lookQuietly);
    const stopLooking = this.timing.every(LOOKED_EVERY_MS, lookQuietly);
    return () => {
      stopLooking();
      unsubscribe();
    };
  }
}
