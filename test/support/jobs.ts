import type { JobStarted } from '../../src/background/jobs/job.events.js';

/** The start of one of Alice's jobs, with the test's fields. */
export const jobStarted = (more: Partial<JobStarted['data']> = {}): JobStarted => ({
  type: 'JobStarted',
  data: {
    jobId: 'j1',
    conversationId: 'c0',
    ownerId: 'alice',
    turnId: 't1',
    callId: 'k1',
    agentId: null,
    toolId: 'tool-1',
    toolName: 'api_tool',
    actionName: 'build',
    arguments: {},
    hasEffects: false,
    runner: 'process-1',
    begunAt: '2026-01-01T00:00:00.000Z',
    deadlineAt: '2026-01-01T00:16:40.000Z',
    autoResume: true,
    ...more,
  },
});
