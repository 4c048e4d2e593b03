import { describe, expect, it } from '@jest/globals';
import { WAITING } from './background-calls.port.js';
import { headless, interactive, overDialect, withoutJobs } from './execution-mode.policy.js';

const call = {
  toolId: 't1',
  toolName: 'shop',
  callId: 'c1',
  actionName: 'order',
  name: 'order',
  arguments: {},
  argumentsSha256: 'aa',
};

describe('a run without a user', () => {
  it.each(['scheduler', 'monitor', 'check_job'])('does not offer %s', (toolName) =>
    expect(headless().offers(toolName)).toBe(false),
  );
  it('offers other tools', () => expect(headless().offers('shop')).toBe(true));
  it('may make the calls of the listed tools only', () => {
    expect(headless(['t1']).isApproved(call)).toBe(true);
    expect(headless(['t2']).isApproved(call)).toBe(false);
  });
});

it('a turn with a user offers all tools, and no call is approved beforehand', () => {
  for (const mode of [interactive(WAITING), overDialect])
    expect([mode.offers('scheduler'), mode.isApproved(call)]).toEqual([true, false]);
});

it('only a call that needs an approval is refused where nobody can approve it', () => {
  const { refusalOf } = overDialect;
  expect(refusalOf(call, 'awaiting_approval')).toMatchObject({ record: { status: 'denied' } });
  expect(refusalOf(call, 'requires_client_execution')).toBeUndefined();
});

it('a turn without jobs does not offer to check them', () => {
  for (const mode of [withoutJobs(interactive(WAITING)), overDialect])
    expect(['check_job', 'scheduler', 'shop'].map(mode.offers)).toEqual([false, true, true]);
  expect(withoutJobs(headless()).offers('scheduler')).toBe(false);
});
