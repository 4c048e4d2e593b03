import { describe, expect, it } from '@jest/globals';
import { offeredAction } from '../../../../test/support/tool-turns.js';
import type { ApprovalNeed } from '../../../resources/tools/toolbox/tool-kind.port.js';
import { WAITING } from './background-calls.port.js';
import { headless, interactive, overDialect } from './execution-mode.policy.js';
import { OfferedTools } from './offered-tools.js';
import { ToolCallGate } from './tool-call-gate.js';

it('a call has whole numbers that JavaScript would round as text', async () => {
  const action = offeredAction('get_card');
  const gate = new ToolCallGate({
    offered: new OfferedTools([action], []),
    writeAllowlist: null,
    executionMode: interactive(WAITING),
    ...{ recordsBytes: 0, recordsCount: 0, unknownCalls: 0 },
  });
  const [step] = await gate.stepsFor({ id: 'c1', name: 'get_card', arguments: '{"id":1234567890123456789}' });
  expect(step!.call.arguments).toEqual({ id: '1234567890123456789' });
});

/** The outcome of one call of an action whose arguments determine whether it needs an approval. */
async function outcome(
  need: ApprovalNeed,
  mode: 'interactive' | 'over a dialect' | 'headless' | 'allowed headless',
  allowlist: string[] | null = null,
) {
  const action = {
    ...offeredAction('run_command', { access: 'write', ownerCredentials: true }),
    deviceId: 'dev_1',
    approvalOf: ({ command }: Readonly<Record<string, unknown>>) => Promise.resolve(command as ApprovalNeed),
  };
  const executionMode = {
    interactive: interactive(WAITING),
    'over a dialect': overDialect,
    headless: headless(),
    'allowed headless': headless([action.toolId]),
  }[mode];
  const gate = new ToolCallGate({
    offered: new OfferedTools([action], []),
    writeAllowlist: allowlist && allowlist.map((name) => `${action.toolId}:${name}`),
    executionMode,
    recordsBytes: 0,
    recordsCount: 0,
    unknownCalls: 0,
  });
  const [step] = await gate.stepsFor({ id: 'c1', name: 'run_command', arguments: JSON.stringify({ command: need }) });
  if (!step) return `waits for ${gate.pending[0]!.deviceId}`;
  return 'record' in step ? step.record.status : `runs, approved by ${step.approval ?? 'none'}`;
}

describe('a call whose arguments determine whether it needs an approval', () => {
  it.each([
    ['none', 'interactive', null, 'runs, approved by none'],
    ['needed', 'interactive', null, 'waits for dev_1'],
    ['always', 'interactive', null, 'waits for dev_1'],
    ['none', 'over a dialect', null, 'runs, approved by none'],
    ['needed', 'over a dialect', null, 'denied'],
    ['needed', 'over a dialect', ['run_command'], 'runs, approved by allowlist'],
    ['none', 'headless', null, 'runs, approved by none'],
    ['needed', 'headless', null, 'denied'],
    ['needed', 'allowed headless', null, 'runs, approved by allowlist'],
    ['always', 'allowed headless', null, 'denied'],
    ['none', 'interactive', [], 'denied'],
    ['needed', 'interactive', ['run_command'], 'runs, approved by allowlist'],
    ['always', 'interactive', ['run_command'], 'denied'],
    ['always', 'allowed headless', ['run_command'], 'denied'],
  ] as const)('that is %s, %s, with the allowlist %j: %s', async (need, mode, allowlist, expected) => {
    expect(await outcome(need, mode, allowlist && [...allowlist])).toBe(expected);
  });
});
