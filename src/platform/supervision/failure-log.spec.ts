import { describe, expect, it } from '@jest/globals';
import { LogEndsEarlier, StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { openLog } from '../telemetry/log.js';
import { logFailure, FAILURE_LOGGED_EVERY_MS } from './failure-log.js';
import { LeadershipLost } from './leadership.js';

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

function opened() {
  const entries: Record<string, unknown>[] = [];
  const write = (line: string) => void entries.push(JSON.parse(line) as Record<string, unknown>);
  const timing = new VirtualTiming();
  const parts = { log: openLog({ level: 'info', format: 'json', destination: { write } }), timing };
  const fail = (err: unknown, name: string) => logFailure(parts, 'error', { err, name }, `${name} failed`);
  return { entries, timing, fail };
}

describe('the log of failures', () => {
  it('has one line per minute for an outage, however many followers it stops, and no stack', async () => {
    const { entries, timing, fail } = opened();
    for (let n = 0; n < 100; n++) fail(refused(), `follower-${n}`);
    expect(entries).toMatchObject([{ level: 'warn', name: 'follower-0' }]);
    expect(entries[0]!['msg']).toMatch(/^follower-0 failed \(connect ECONNREFUSED\)/);
    expect(JSON.stringify(entries)).not.toContain('stack');
    await timing.pause(FAILURE_LOGGED_EVERY_MS);
    for (let n = 0; n < 100; n++) fail(refused(), `follower-${n}`);
    expect(entries).toHaveLength(2);
  });

  it('has a line for each kind of outage', () => {
    const { entries, fail } = opened();
    const outages = [refused(), new StoreUnavailable('away'), new LogEndsEarlier(), new LeadershipLost('lost')];
    for (const error of [...outages, ...outages]) fail(error, 'usage');
    expect(entries).toHaveLength(outages.length);
  });

  it('has every fault with its stack', () => {
    const { entries, fail } = opened();
    for (let n = 0; n < 3; n++) fail(new TypeError('a bug'), 'usage');
    expect(entries).toMatchObject(Array(3).fill({ level: 'error', name: 'usage', err: { message: 'a bug' } }));
    expect(JSON.stringify(entries[0])).toContain('stack');
  });
});
