import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { codePolicy } from '../../../../test/support/guardrails.js';
import { text, toolCall } from '../../../../test/support/tool-turns.js';
import { requestStop } from '../../conversation/turn.decider.js';
import { SECRET, DECISION, BLOCKED_INPUT, GuardedTurn, types, answerIn } from '../../../../test/support/guarded-turns.js';

Logger.overrideLogger(false);

describe('an answer that a guardrail blocks', () => {
  const rounds = [[text('Well. '), toolCall('k1', 'look')], [...'The code is CODE-1234.'].map(text)];

  it('is retracted, and the reader and the conversation get the block message', async () => {
    const turn = new GuardedTurn(rounds);
    await turn.ask(codePolicy({ output: 'block' }));
    await turn.process().run();
    const frames = await turn.frames();
    const notice = { stage: 'output', categories: ['CODE'], checks: ['secrets'] };
    expect(frames.slice(-4)).toEqual([
      { type: 'guardrail', guardrail: notice, retract: true },
      { type: 'error', error: 'I cannot say that.', code: 'guardrail' },
      { type: 'id', id: 'c1' },
      { type: 'end' },
    ]);
    expect(types(frames)).not.toContain('source');
    expect(types(frames)).not.toContain('tool_calls');
    expect('Well. The code is ').toContain(answerIn(frames));
    expect(await turn.outcome()).toMatchObject({
      type: 'TurnFailed',
      answer: 'I cannot say that.',
      error: 'I cannot say that.',
      code: 'guardrail',
      guardrail: notice,
      thought: '',
      sources: [],
      toolCalls: [{ call_id: 'k1', status: 'completed' }],
    });
    expect(await turn.decisions()).toMatchObject([{ stage: 'output', check: 'secrets', action: 'block', matchCount: 1 }]);
    expect(await turn.stored()).not.toMatch(SECRET);
  });

  it('ends with the block message at whichever append its process dies', async () => {
    for (let appends = 1; ; appends++) {
      const turn = new GuardedTurn(rounds);
      await turn.ask(codePolicy({ output: 'block' }));
      const first = turn.process(appends);
      await first.run();
      const shown = await turn.frames();
      const next = turn.process();
      await next.sweep();
      await next.sweep();
      const frames = await turn.frames();
      expect(frames.slice(0, shown.length)).toEqual(shown);
      const { type, code, answer, error } = await turn.outcome();
      expect(type).toBe('TurnFailed');
      if (types(shown).includes('guardrail') || code === 'guardrail') {
        expect(types(frames.slice(-4))).toEqual(['guardrail', 'error', 'id', 'end']);
        expect([answer, error, code]).toEqual(['I cannot say that.', 'I cannot say that.', 'guardrail']);
      } else expect(types(frames.slice(-3))).toEqual(['error', 'id', 'end']);
      expect(await turn.stored()).not.toMatch(SECRET);
      if (!first.isDead) break;
    }
  });

  it('never replaces the text of an answer that was already to be stopped', async () => {
    for (let appends = 1; ; appends++) {
      const turn = new GuardedTurn(rounds);
      await turn.ask(codePolicy({ output: 'block' }));
      const first = turn.process(appends);
      await first.run();
      if (!first.isDead) break;
      await turn.decide(requestStop('t1')).catch(() => undefined);
      await turn.process().sweep();
      const { type, answer } = await turn.outcome();
      expect(type === 'TurnStopped' ? answer : '').not.toBe('I cannot say that.');
    }
  });
});

describe('a question that a guardrail blocks', () => {
  it('ends its turn with the block message and without a model call, at whichever append a process dies', async () => {
    for (let appends = 1; ; appends++) {
      const turn = new GuardedTurn([[text('Never said.')]]);
      await turn.ask(codePolicy({ input: 'block' }), BLOCKED_INPUT);
      const first = turn.process(appends);
      await first.run();
      const next = turn.process();
      await next.sweep();
      await next.sweep();
      expect(turn.models.requests).toEqual([]);
      const frames = await turn.frames();
      expect(frames.slice(1)).toEqual([
        { type: 'guardrail', guardrail: { stage: 'input', categories: ['CODE'], checks: ['secrets'] }, retract: true },
        { type: 'error', error: 'I cannot say that.', code: 'guardrail' },
        { type: 'id', id: 'c1' },
        { type: 'end' },
      ]);
      expect(await turn.outcome()).toMatchObject({ type: 'TurnFailed', code: 'guardrail', answer: 'I cannot say that.' });
      if (first.isDead) continue;
      expect(await turn.decisions()).toEqual([DECISION]);
      break;
    }
  });
});
