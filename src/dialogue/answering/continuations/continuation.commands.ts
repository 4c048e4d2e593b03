import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { continuations, dropContinuation } from './continuation.decider.js';
import { continuationStream } from './continuation.events.js';

/** Records that the continuation of a paused turn was deleted. */
export class DropContinuation extends Command {
  constructor(
    readonly turnId: string,
    readonly sha256: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(DropContinuation)
export class DropContinuationHandler implements Handler<DropContinuation> {
  constructor(private readonly streams: Streams) {}

  async execute({ turnId, sha256, cause }: DropContinuation): Promise<void> {
    await this.streams.transact(continuationStream(turnId), continuations, dropContinuation(turnId, sha256), cause);
  }
}
