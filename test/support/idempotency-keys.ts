import type { Clock } from '../../src/kernel/clock.js';
import { Fingerprints } from '../../src/kernel/event-sourcing/fingerprints.js';
import { IdempotencyKeys } from '../../src/kernel/event-sourcing/idempotency.js';
import type { Streams } from '../../src/kernel/event-sourcing/streams.js';

/** Fingerprints under a secret that stays: stored samples were made with it. */
export const testFingerprints = new Fingerprints('another secret for tests, long enough');

export const idempotencyKeys = (streams: Streams, clock: Clock = { now: () => new Date() }): IdempotencyKeys =>
  new IdempotencyKeys(streams, clock, testFingerprints);
