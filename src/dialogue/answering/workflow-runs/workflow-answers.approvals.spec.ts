import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { answerIn, approve, asked, effectsWorkflow } from '../../../../test/support/effects-workflow.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import { framesOf } from '../../../../test/support/turns.js';
import { expire, resume } from '../../conversation/pause.decider.js';

Logger.overrideLogger(false);

it('a step is recorded as completed after its text is journaled, and an end node before its text is', async () => {
  const turn = effectsWorkflow();
  await turn.begin();
  const shownBefore: string[] = [];
  const slow = new MortalStore(turn.log, Infinity, async (stream, types) => {
    if (stream.startsWith('message-')) await new Promise((resolve) => setTimeout(resolve, 5));
    if (types.includes('NodeCompleted')) shownBefore.push(answerIn(await framesOf(turn.log, 't1')));
  });
  await turn.process(slow).run('c1', 't1');
  expect(shownBefore).toEqual(['', 'one ', 'one acted ', 'one acted two ', 'one acted two ']);
});

describe('a call that needs approval inside a node', () => {
  it('pauses the turn, and another process continues within the node after the decision', async () => {
    const turn = effectsWorkflow({ requiresApproval: true });
    await turn.begin();
    await turn.process().run('c1', 't1');
    const paused = await turn.course();
    expect(paused.run.steps.at(-1)).toMatchObject({ nodeId: 'act', status: 'waiting' });
    expect([paused.run.status, turn.sent, paused.frames.at(-3)!['type']]).toEqual(['running', [], 'tool_calls_pending']);
    await turn.decide(approve);
    await turn.process().run('c1', 't1');
    const { frames, run, outcomes, completed } = await turn.course();
    expect([turn.sent, run.status, completed]).toEqual([['send'], 'completed', [1, 2, 3, 4, 5]]);
    expect(answerIn(frames)).toBe('one acted two \n\nThe end.');
    expect(outcomes.map(({ type, data }) => [type, (JSON.parse(data) as { answer: string }).answer])).toEqual([
      ['TurnAnswered', 'one acted two \n\nThe end.'],
    ]);
    expect(asked(turn.models, 'one')).toBe(1);
    const after = frames.slice(paused.frames.length);
    expect(after.map(({ type, node_id: id, status }) => (id ? `${id as string} ${status as string}` : type))).toEqual([
      ...['message_id', 'tool_call', 'tool_call', 'answer', 'act completed', 'two running', 'answer', 'two completed'],
      ...['end running', 'answer', 'end completed', 'source', 'tool_calls', 'id', 'end'],
    ]);
  });

  it('is not run if it is denied, and the run continues', async () => {
    const turn = effectsWorkflow({ requiresApproval: true });
    await turn.begin();
    await turn.process().run('c1', 't1');
    await turn.decide(resume([{ callId: 'k1', decision: 'denied', comment: null }], { userId: 'alice' }, new Date()));
    await turn.process().run('c1', 't1');
    const { run } = await turn.course();
    expect([turn.sent, run.status]).toEqual([[], 'completed']);
    expect(run.steps[2]!.ended!.toolCalls).toMatchObject([{ status: 'denied' }]);
  });

  it('leads to no further step if it expires', async () => {
    const turn = effectsWorkflow({ requiresApproval: true });
    await turn.begin();
    await turn.process().run('c1', 't1');
    await turn.decide(expire('t1', new Date('2100-01-01')));
    await turn.sweep();
    const { completed, frames } = await turn.course();
    expect([turn.sent, completed, frames.at(-1)!['type']]).toEqual([[], [1, 2], 'end']);
  });
});
