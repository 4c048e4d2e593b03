import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Fingerprints } from '../../kernel/event-sourcing/fingerprints.js';
import type { CheckedInput } from '../../dialogue/conversation/conversation.events.js';
import { nothingYet, Streams } from '../../kernel/event-sourcing/streams.js';
import { Ids } from '../../kernel/ids.js';
import { accept, deliveries, purge } from './delivery.decider.js';
import { deliveryStream } from './delivery.events.js';
import { WebhookOptions } from './webhook-options.js';

/** `replayed`: the delivery was accepted before, and `taskId` is the task of the first one. */
export type Accepted = Readonly<{ taskId: string; replayed: boolean; position: bigint | undefined }>;

export type Delivery = Readonly<{
  agentId: string;
  ownerId: string;
  key: string | undefined;
  /** The JSON text to store, derived from `value`. */
  input: string;
  /** The decisions of the guardrails about `value`. */
  checked?: CheckedInput;
  value: unknown;
}>;

/** Accepts a delivery from a caller that presented the token of an agent's webhook. */
export class AcceptDelivery extends Command<Accepted> {
  constructor(
    readonly delivery: Delivery,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(AcceptDelivery)
export class AcceptDeliveryHandler implements Handler<AcceptDelivery> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly options: WebhookOptions,
    private readonly fingerprints: Fingerprints,
  ) {}

  /** @throws Rejection idempotency-key-reused if the settings refuse another delivery under a used key */
  async execute({ delivery: { agentId, ownerId, key, input, checked, value }, cause }: AcceptDelivery): Promise<Accepted> {
    const taskId = this.ids.next();
    const stream = deliveryStream(key === undefined ? taskId : this.fingerprints.of(agentId, key));
    const acceptedAt = this.clock.now().toISOString();
    const data = {
      agentId,
      ownerId,
      taskId,
      fingerprint: this.fingerprints.of(value),
      acceptedAt,
      input,
      ...(checked && { checked }),
    };
    const decide = accept(data, this.options.keyRules);
    // Most keys are new, so the stream is assumed to be empty. For a used key the append fails, and the stream is read then.
    const { state, position } = await this.streams.transact(stream, deliveries, decide, cause, nothingYet(deliveries));
    const accepted = state.last!;
    return { taskId: accepted.taskId, replayed: accepted.taskId !== taskId, position };
  }
}

/** Records that all deliveries in a stream are purged. The last of them was that of the task. */
export class PurgeDeliveries extends Command<void> {
  constructor(
    readonly stream: string,
    readonly taskId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(PurgeDeliveries)
export class PurgeDeliveriesHandler implements Handler<PurgeDeliveries> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ stream, taskId, cause }: PurgeDeliveries): Promise<void> {
    await this.streams.transact(stream, deliveries, purge(taskId, this.clock.now()), cause);
  }
}
