import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { session, state } from './session.decider.js';
import { type SessionEvent, sessionStream } from './session.events.js';

/** Records for auditors that a session started or ended, or that a sign-in was refused. */
export class StateSessionFact extends Command<void> {
  constructor(
    readonly fact: SessionEvent,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(StateSessionFact)
export class StateSessionFactHandler implements Handler<StateSessionFact> {
  constructor(private readonly streams: Streams) {}

  async execute({ fact, cause }: StateSessionFact): Promise<void> {
    const id = fact.type === 'SignInRefused' ? fact.data.attemptId : fact.data.sessionId;
    await this.streams.transact(sessionStream(id), session, state(fact), cause);
  }
}
