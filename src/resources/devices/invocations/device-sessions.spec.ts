import { expect, it } from '@jest/globals';
import { tracesIn } from '../../../../test/support/traces.js';
import { VirtualTiming } from '../../../../test/support/virtual-timing.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import type { SseStream } from '../../../platform/http/reader-stream.js';
import type { DeviceCaller } from '../../identity/caller.js';
import { DeviceSessions } from './device-sessions.js';

it('a session that waits for commands leaves nothing of each wait in the signal of its reader', async () => {
  const timing = new VirtualTiming();
  const sessions = new DeviceSessions(
    { waitingFor: () => Promise.resolve([]) } as never,
    {} as never,
    {} as never,
    new InProcessSignals(),
    { now: () => new Date(timing.elapsedMs()) },
    timing,
    { next: () => 's1' },
    { settings: { sessionIdleMs: 60_000, keepaliveMs: 15_000 } } as never,
  );
  const { signal } = new AbortController();
  const written: string[] = [];
  const write = (text: string) => Promise.resolve(void written.push(text));
  await sessions.serve(
    { deviceId: 'd1' } as unknown as DeviceCaller,
    { signal, write, comment: write, end: () => undefined } as unknown as SseStream,
  );
  expect(timing.pauses.length).toBeGreaterThan(10);
  expect(written.at(-1)).toContain('session_end');
  expect(tracesIn(signal)).toBe(0);
});
