import { describe, it } from '@jest/globals';
import { given } from '../../../../test/support/given.js';
import {
  about,
  at,
  checked,
  created,
  iso,
  LEASE_MS,
  paused,
  requested,
  started,
} from '../../../../test/support/monitor-events.js';
import { attend, cancel, cancelWith, monitor, pause, resume } from './monitor.decider.js';
import type { MonitorEvent } from './monitor.events.js';

describe('an owner', () => {
  it('pauses, resumes and cancels a monitor; a resumed monitor is checked at once', () => {
    given(monitor, [created()])
      .when(pause('ann', at(5)))
      .then([paused(null, 5)]);
    given(monitor, [created(), paused(null, 5)])
      .when(attend(at(20), LEASE_MS))
      .thenNothing();
    const resumed: MonitorEvent = { type: 'MonitorResumed', data: { ...about, resumedAt: iso(20), nextCheckAt: iso(20) } };
    given(monitor, [created(), paused(null, 5)])
      .when(resume('ann', at(20)))
      .then([resumed]);
    given(monitor, [created(), paused(null, 5), resumed])
      .when(attend(at(20), LEASE_MS))
      .then([started(1, 20)]);
    const off = { ...about, by: 'owner', cancelledAt: iso(5) } as const;
    given(monitor, [created()])
      .when(cancel('ann', at(5)))
      .then([{ type: 'MonitorCancelled', data: off }]);
  });

  it('cannot change a monitor that has ended', () => {
    const over = [created({ followUpsMax: 1 }), started(1, 15), checked(1, 15), requested(1, 15)];
    const done: MonitorEvent = {
      type: 'MonitorCompleted',
      data: { ...about, reason: 'follow_ups_used', isNews: false, completedAt: iso(15) },
    };
    for (const decide of [pause, resume, cancel])
      given(monitor, [...over, done])
        .when(decide('ann', at(20)))
        .thenRejected('monitor-over');
    given(monitor, [created(), paused(null, 5)])
      .when(resume('ann', at(600)))
      .thenRejected('monitor-over');
    given(monitor, [...over, done])
      .when(cancelWith('conversation', at(20)))
      .thenNothing();
  });

  it('is the only one who can change a monitor; other users get the error for an unknown monitor', () => {
    for (const decide of [pause, resume, cancel]) {
      given(monitor, [created()])
        .when(decide('bob', at(5)))
        .thenRejected('monitor-not-found');
      given(monitor, [])
        .when(decide('ann', at(5)))
        .thenRejected('monitor-not-found');
    }
  });
});
