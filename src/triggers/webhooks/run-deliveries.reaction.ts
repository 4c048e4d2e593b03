import { Injectable } from '@nestjs/common';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { Runs } from '../../background/runs/runs.port.js';
import { deliveryCodec } from './delivery.codec.js';
import type { DeliveryAccepted } from './delivery.events.js';

/** Deliveries arrive in bursts, and the store combines concurrent appends into fewer writes. */
const SIDE_BY_SIDE_MAX = 64;

/**
 * Queues a run of the agent for each delivery. A crash before the checkpoint queues the same run again, which has no effect
 * because the delivery determines the run's id.
 */
@Injectable()
export class RunDeliveries implements Reaction<DeliveryAccepted> {
  readonly name = 'run-deliveries';
  readonly categories = ['delivery'];
  readonly concurrency = SIDE_BY_SIDE_MAX;
  readonly codec: Codec<DeliveryAccepted> = deliveryCodec;
  readonly on = { DeliveryAccepted: (event: Recorded<DeliveryAccepted>) => this.run(event) };

  constructor(private readonly runs: Runs) {}

  private run(event: Recorded<DeliveryAccepted>): Promise<void> {
    const { taskId: runId, ownerId, agentId, input, checked } = event.data;
    const run = { runId, ownerId, agentId, trigger: 'webhook', input, ...(checked && { checked }) } as const;
    return this.runs.queue(run, causedBy(event, `system:${this.name}`));
  }
}
