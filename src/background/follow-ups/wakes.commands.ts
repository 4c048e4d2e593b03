import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../kernel/event-sourcing/streams.js';
import { gather, request, settle, type Settlement, wakes, type WakesOfConversation } from './wakes.decider.js';
import { type WakeRequested, type WakesGathered, wakesStream } from './wakes.events.js';

/** Something has happened that a conversation waits for. Said again, it is said once. */
export class RequestWake extends Command<void> {
  constructor(
    readonly wake: WakeRequested['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RequestWake)
export class RequestWakeHandler implements Handler<RequestWake> {
  constructor(private readonly streams: Streams) {}

  async execute({ wake, cause }: RequestWake): Promise<void> {
    await this.streams.transact(wakesStream(wake.conversationId), wakes, request(wake), cause);
  }
}

/** What waits in a conversation is to be told in one turn. Answers how its wakes stand then: others may be gathered already. */
export class GatherWakes extends Command<Folded<WakesOfConversation>> {
  constructor(
    readonly gathered: WakesGathered['data'],
    readonly known: Folded<WakesOfConversation>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(GatherWakes)
export class GatherWakesHandler implements Handler<GatherWakes> {
  constructor(private readonly streams: Streams) {}

  execute({ gathered, known, cause }: GatherWakes): Promise<Folded<WakesOfConversation>> {
    return this.streams.transact(wakesStream(gathered.conversationId), wakes, gather(gathered), cause, known);
  }
}

/** A conversation has made something of the wakes that were gathered for a turn. */
export class SettleWakes extends Command<void> {
  constructor(
    readonly gathered: WakesGathered['data'],
    readonly settlement: Settlement,
    readonly known: Folded<WakesOfConversation>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(SettleWakes)
export class SettleWakesHandler implements Handler<SettleWakes> {
  constructor(private readonly streams: Streams) {}

  async execute({ gathered: { conversationId, turnId }, settlement, known, cause }: SettleWakes): Promise<void> {
    await this.streams.record(wakesStream(conversationId), wakes, settle(turnId, settlement), cause, known);
  }
}
