import type { Clock } from '../../src/kernel/clock.js';
import { Fingerprints } from '../../src/kernel/event-sourcing/fingerprints.js';
import { IdempotencyKeys } from '../../src/kernel/event-sourcing/idempotency.js';
import type { Streams } from '../../src/kernel/event-sourcing/streams.js';

/** Fingerprints with a fixed secret, with which the stored samples were made. */
export const testFingerprints = new Fingerprints('another secret for tests, long enough');

export const idempotencyKeys = (streams: Streams, clock: Clock = { now: () => new Date() }): IdempotencyKeys =>
  new IdempotencyKeys(streams, clock, testFingerprints);
