import { beforeEach, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { cause } from '../../../../test/support/turns.js';
import type { ScheduleQueries } from '../../../../projections/schedules/schedules.queries.js';
import { ReadModelsBehind } from '../../../kernel/event-sourcing/freshness.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { ScheduleRules } from '../schedule/schedule-rules.js';
import { AdmitSchedule, AdmitScheduleHandler } from './allowance.commands.js';
import { ADMISSION_MS } from './allowance.decider.js';

let now: Date;
let open: string[];
let isBehind: boolean;
let handler: AdmitScheduleHandler;

beforeEach(() => {
  [now, open, isBehind] = [new Date('2026-01-01T00:00:00Z'), [], false];
  const store = new InMemoryEventStore();
  const schedules = { openOf: async () => open } as unknown as ScheduleQueries;
  const rules = { perUserMax: 2 } as ScheduleRules;
  const freshness = { reached: async () => !isBehind };
  handler = new AdmitScheduleHandler(new Streams(store, systemTiming), { now: () => now }, rules, schedules, freshness, store);
});

const admit = (scheduleId: string) => handler.execute(new AdmitSchedule('ann', scheduleId, cause));
const later = () => void (now = new Date(now.getTime() + ADMISSION_MS));

it('the place of a schedule that has ended goes to another one', async () => {
  await admit('s1');
  await admit('s2');
  open = ['s1', 's2'];
  later();
  await expect(admit('s3')).rejects.toThrow(Rejection);
  open = ['s1'];
  await admit('s3');
});

it('a read model that is behind gives no place away', async () => {
  isBehind = true;
  await admit('s1');
  await admit('s2');
  later();
  await expect(admit('s3')).rejects.toThrow(ReadModelsBehind);
  isBehind = false;
  open = ['s1', 's2'];
  await expect(admit('s3')).rejects.toThrow(Rejection);
});
