import { expect, it } from '@jest/globals';
import type { Timing } from '../../../kernel/timing.js';
import { LiveSessions } from './live-sessions.js';
import type { LiveSession, Sessions } from './sessions.port.js';

const SESSION = { sessionId: 's1', userId: 'alice' } as LiveSession;

it('reads a session at most once a second, and so refuses one that another process has ended a second later', async () => {
  let elapsedMs = 0;
  let stored: LiveSession | undefined = SESSION;
  let reads = 0;
  const sessions = { find: async () => (reads++, stored) } as unknown as Sessions;
  const live = new LiveSessions(sessions, { elapsedMs: () => elapsedMs } as Timing);
  expect(await live.find('s1')).toBe(SESSION);
  stored = undefined;
  elapsedMs = 999;
  expect([await live.find('s1'), reads]).toEqual([SESSION, 1]);
  elapsedMs = 1_000;
  expect([await live.find('s1'), reads]).toEqual([undefined, 2]);
});
