import type { CheckedInput } from '../../dialogue/conversation/conversation.events.js';
import type { Event } from '../../kernel/event-sourcing/events.js';

/**
 * An agent's webhook has accepted a delivery. The event alone holds all that is needed later: the key (by its stream), the
 * fingerprint of the content, and the id of the task.
 */
export type DeliveryAccepted = Event<
  'DeliveryAccepted',
  {
    agentId: string;
    ownerId: string;
    taskId: string;
    /** Distinguishes a repetition from a different delivery under the same key. */
    fingerprint: string;
    acceptedAt: string;
    /** The delivered value as JSON text, masked or withheld where guardrails require that. */
    input: string;
    /** The decisions of the guardrails about the delivered value. */
    checked?: CheckedInput;
  }
>;

/** The runs of all deliveries in the stream are purged, and so are the deliveries. */
export type DeliveriesPurged = Event<'DeliveriesPurged', { agentId: string; ownerId: string; purgedAt: string }>;

export type DeliveryEvent = DeliveryAccepted | DeliveriesPurged;

/** Deliveries under one key share a stream; a delivery without a key has a stream for itself. */
export const deliveryStream = (id: string): string => `delivery-${id}`;
