import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../kernel/event-sourcing/streams.js';
import { conversation } from './conversation.decider.js';
import {
  type CalledTool,
  conversationStream,
  type ToolCallFinished,
  type TurnId,
  type TurnPaused,
} from './conversation.events.js';
import { expire, finishCall, pause, startCall } from './pause.decider.js';
import type { Conversation } from './turn.policy.js';

/** Records the start of a tool call with effects. After that it is never repeated. */
export class StartToolCall extends Command<Folded<Conversation>> {
  constructor(
    readonly conversationId: string,
    readonly turnId: TurnId,
    readonly producer: string,
    readonly call: CalledTool,
    readonly cause: Cause,
    readonly known: Folded<Conversation>,
  ) {
    super();
  }
}

@CommandHandler(StartToolCall)
class StartToolCallHandler implements Handler<StartToolCall> {
  constructor(private readonly streams: Streams) {}

  /** @throws Rejection turn-taken, turn-stopping */
  execute({ conversationId, turnId, producer, call, cause, known }: StartToolCall): Promise<Folded<Conversation>> {
    const stream = conversationStream(conversationId);
    return this.streams.record(stream, conversation, startCall(turnId, producer, call), cause, known);
  }
}

/** Records the result of a tool call with effects. */
export class FinishToolCall extends Command<Folded<Conversation>> {
  constructor(
    readonly finished: ToolCallFinished['data'],
    readonly cause: Cause,
    readonly known: Folded<Conversation>,
  ) {
    super();
  }
}

@CommandHandler(FinishToolCall)
class FinishToolCallHandler implements Handler<FinishToolCall> {
  constructor(private readonly streams: Streams) {}

  execute({ finished, cause, known }: FinishToolCall): Promise<Folded<Conversation>> {
    return this.streams.record(conversationStream(finished.conversationId), conversation, finishCall(finished), cause, known);
  }
}

/** Ends a run and pauses its turn until its calls are decided. If a stop was accepted, the turn is stopped instead. */
export class PauseTurn extends Command<Folded<Conversation>> {
  constructor(
    readonly paused: TurnPaused['data'],
    readonly producer: string,
    readonly cause: Cause,
    readonly known: Folded<Conversation>,
  ) {
    super();
  }
}

@CommandHandler(PauseTurn)
class PauseTurnHandler implements Handler<PauseTurn> {
  constructor(private readonly streams: Streams) {}

  /** @throws Rejection turn-taken */
  execute({ paused, producer, cause, known }: PauseTurn): Promise<Folded<Conversation>> {
    const stream = conversationStream(paused.conversationId);
    return this.streams.record(stream, conversation, pause(paused, producer), cause, known);
  }
}

/** Ends a paused turn whose time is over. Its calls are not run. */
export class ExpirePause extends Command<boolean> {
  constructor(
    readonly conversationId: string,
    readonly turnId: TurnId,
    readonly now: Date,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ExpirePause)
class ExpirePauseHandler implements Handler<ExpirePause> {
  constructor(private readonly streams: Streams) {}

  /** Returns whether this command has expired the pause. */
  async execute({ conversationId, turnId, now, cause }: ExpirePause): Promise<boolean> {
    const stream = conversationStream(conversationId);
    return (await this.streams.transact(stream, conversation, expire(turnId, now), cause)).events.length > 0;
  }
}

export const pauseHandlers = [StartToolCallHandler, FinishToolCallHandler, PauseTurnHandler, ExpirePauseHandler] as const;
