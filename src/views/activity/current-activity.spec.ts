import { expect, it } from '@jest/globals';
import {
  APPROVALS_MAX,
  CurrentActivity,
  MARKED_CHATS_MAX,
  PAUSED_SCHEDULES_MAX,
  RUNNING_MAX,
  UP_NEXT_MAX,
} from './current-activity.js';

const NOW = new Date('2026-01-01T09:00:00Z');
const at = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000);
const none = { runs: 0, failed: 0 };

/** The requested number of rows, the newest or the next first. */
const rows = <T>(limit: number, row: (index: number) => T) => Array.from({ length: limit }, (_, index) => row(index));
const asked: Record<string, number> = {};
const noted = (what: string, limit: number) => (asked[what] = limit);

const schedules = {
  openRuns: async (_: string, limit: number) => rows(limit, (index) => ({ runId: `r${index}`, scheduledFor: at(-2 * index) })),
  paused: async (_: string, limit: number) => (noted('paused', limit), []),
  comingNext: async (_owner: string, _now: Date, limit: number) =>
    rows(limit, (index) => ({ scheduleId: `s${index}`, at: at(2 * index) })),
  counts: async () => none,
};
const chats = {
  answersUnderWay: async (_: string, limit: number) =>
    rows(limit, (index) => ({ messageId: `m${index}`, askedAt: at(-2 * index - 1) })),
  approvalsAwaited: async (_owner: string, _now: Date, limit: number) => (noted('approvals', limit), []),
};
const monitor = (index: number) => ({ id: `w${index}`, definition: { description: '' }, nextCheckAt: at(2 * index + 1) });
const nothing = { underWay: async () => [], counts: async () => none };
let titlesAsked = 0;
/** The activity with these running workflow runs. */
const activityOf = (workflowRuns: object) =>
  new CurrentActivity(
    ...([
      chats,
      { needingAttention: async (_: string, limit: number) => (noted('chats', limit), []) },
      schedules,
      nothing,
      nothing,
      { activeOf: async () => rows(UP_NEXT_MAX, monitor) },
      nothing,
      workflowRuns,
      nothing,
      { titlesOf: async () => (titlesAsked++, { of: () => 'Guide', agents: new Map() }) },
    ] as unknown as ConstructorParameters<typeof CurrentActivity>),
  );

it('shows the most important items of each list, up to its limit', async () => {
  const { running, up_next: next } = await activityOf(nothing).of('ann', NOW);
  expect(running.slice(0, 4).map(({ id }) => id)).toEqual(['r0', 'm0', 'r1', 'm1']);
  expect(running).toHaveLength(RUNNING_MAX);
  expect(next.slice(0, 4).map((each) => ('schedule_id' in each ? each.schedule_id : each.monitor_id))).toEqual(['s0', 'w0', 's1', 'w1']); // oxfmt-ignore
  expect(next).toHaveLength(UP_NEXT_MAX);
  expect(asked).toEqual({ paused: PAUSED_SCHEDULES_MAX, approvals: APPROVALS_MAX, chats: MARKED_CHATS_MAX });
});

it('reads the names of agents and workflows once, and only if a running item needs them', async () => {
  const run = { id: 'run', agentId: 'a', workflowId: null, turnId: null, startedAt: at(1) };
  await activityOf(nothing).of('ann', NOW);
  expect(titlesAsked).toBe(0);
  const { running } = await activityOf({ underWay: async () => [run] }).of('ann', NOW);
  expect([running[0], titlesAsked]).toMatchObject([{ id: 'run', title: 'Guide' }, 1]);
});
