import type { CheckedInput } from '../../dialogue/conversation/conversation.events.js';
import type { Event } from '../../kernel/event-sourcing/events.js';

/**
 * Somebody has set an agent to work. The one append that accepts a delivery says everything: under which key it came (its
 * stream), what it was (the fingerprint), and which task it becomes.
 */
export type DeliveryAccepted = Event<
  'DeliveryAccepted',
  {
    agentId: string;
    ownerId: string;
    taskId: string;
    /** Distinguishes a repetition from another delivery under the same key. */
    fingerprint: string;
    acceptedAt: string;
    /** What was delivered, as JSON text: masked, or withheld, where guardrails require that. */
    input: string;
    /** What guardrails found in it. */
    checked?: CheckedInput;
  }
>;

export type DeliveryEvent = DeliveryAccepted;

/** Deliveries under one key share a stream; one without a key has its own. */
export const deliveryStream = (id: string): string => `delivery-${id}`;
