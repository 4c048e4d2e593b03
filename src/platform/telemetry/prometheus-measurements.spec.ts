import { expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import type { Conditions } from '../../kernel/conditions.js';
import { EVENT_LOOP_SAMPLED_EVERY_MS, PrometheusMeasurements } from './prometheus-measurements.js';

it('the delay of the event loop is sampled every EVENT_LOOP_SAMPLED_EVERY_MS, so that each of many scrapes has a sample', async () => {
  const conditions: Conditions = { report: () => Promise.reject(new Error('The conditions are unknown.')) };
  const measurements = new PrometheusMeasurements(conditions);
  let leastMs = Infinity;
  // A scrape starts the samples anew, and `eventually` scrapes again before a tenth as many samples would have been taken.
  await eventually(async () => {
    const { body } = await measurements.text();
    const seconds = Number(/^nodejs_eventloop_lag_min_seconds (.*)$/m.exec(body)?.[1]);
    // Without a sample the histogram shows its greatest number.
    if (seconds > 0 && seconds < 1e6) leastMs = 1_000 * seconds;
    return leastMs < Infinity;
  }, 5_000);
  expect(leastMs).toBeGreaterThanOrEqual(EVENT_LOOP_SAMPLED_EVERY_MS / 2);
});
