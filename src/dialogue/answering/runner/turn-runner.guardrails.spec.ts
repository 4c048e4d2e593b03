import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { guardrails } from '../../../../test/support/configured-guardrails.js';
import { codePolicy, JudgingGuardrails } from '../../../../test/support/guardrails.js';
import { resultsIn, text, toolCall } from '../../../../test/support/tool-turns.js';
import { resume } from '../../conversation/pause.decider.js';
import { SECRET, ACTIONS, used, GuardedTurn, answerIn } from '../../../../test/support/guarded-turns.js';

Logger.overrideLogger(false);

describe('a guarded turn', () => {
  it('masks results of tools before the model, a reader or the log gets them', async () => {
    const rounds = [[toolCall('k1', 'look'), toolCall('k2', 'send')], [text('Done.')]];
    const turn = new GuardedTurn(rounds, (name) => ({ [name]: ['It is CODE-1234'], n: 7 }));
    await turn.ask(codePolicy({ tool_result: 'redact' }));
    await turn.process().run();
    expect(resultsIn(turn.models.requests[1]!)).toEqual({
      k1: '{"look":["It is [CODE]"],"n":7}',
      k2: '{"send":["It is [CODE]"],"n":7}',
    });
    expect(await turn.decisions()).toMatchObject([{ stage: 'tool_result', action: 'redact', matchCount: 2 }]);
    expect(await turn.stored()).not.toMatch(SECRET);
  });

  it('replaces a blocked result by a note and continues', async () => {
    const turn = new GuardedTurn([[toolCall('k1', 'look')], [text('Done.')]], () => 'CODE-1234');
    await turn.ask(codePolicy({ tool_result: 'block' }));
    await turn.process().run();
    expect(resultsIn(turn.models.requests[1]!)['k1']).toContain('withheld by a content policy');
    expect(await turn.outcome()).toMatchObject({ type: 'TurnAnswered', answer: 'Done.' });
    expect(await turn.stored()).not.toMatch(SECRET);
  });

  it('calls tools with the masked arguments that it shows, also after a pause', async () => {
    const turn = new GuardedTurn([
      [text('I ask with CODE-'), text('1234. '), toolCall('k1', 'ask', { code: 'CODE-1234' })],
      [text('It is CO')],
    ]);
    await turn.ask(codePolicy({ output: 'redact' }));
    await turn.process().run();
    expect(await turn.stored()).not.toMatch(SECRET);
    await turn.decide(resume([{ callId: 'k1', decision: 'approved' }], { userId: 'alice' }, new Date()));
    await turn.process().run();
    expect(turn.ran).toEqual([{ code: '[CODE]' }]);
    expect(await turn.outcome()).toMatchObject({ type: 'TurnAnswered', answer: 'I ask with [CODE]. It is CO' });
    expect(await turn.stored()).not.toMatch(SECRET);
  });

  it('stores no secret that a model writes into the name or the id of a call', async () => {
    const turn = new GuardedTurn([[toolCall('CODE-1234', 'CODE-5678')], [text('Done.')]]);
    await turn.ask(codePolicy({ output: 'redact' }));
    await turn.process().run();
    expect(await turn.outcome()).toMatchObject({ type: 'TurnAnswered', toolCalls: [{ action_name: '[CODE]', status: 'error' }] });
    expect(await turn.stored()).not.toMatch(SECRET);
  });

  it('masks the rest of a match that began before a pause', async () => {
    const turn = new GuardedTurn([[text('It is CODE-12'), toolCall('k1', 'ask')], [text('34.')]]);
    await turn.ask(codePolicy({ output: 'redact' }));
    await turn.process().run();
    await turn.decide(resume([{ callId: 'k1', decision: 'approved' }], { userId: 'alice' }, new Date()));
    await turn.process().run();
    expect(answerIn(await turn.frames())).toBe('It is CODE-12[CODE].');
  });

  it('masks the lines of a private key after each pause in it, also if another process dies before them', async () => {
    const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\n';
    const turn = new GuardedTurn(
      [
        [text(`The key:\n-----BEGIN PRIVATE KEY-----\n${line}`), toolCall('k1', 'ask')],
        [toolCall('k2', 'ask')],
        [text(line), toolCall('k3', 'look')],
        [text(line), toolCall('k4', 'ask')],
        [text(`${line}-----END PRIVATE KEY-----\nIt ends.`)],
      ],
      undefined,
      ACTIONS,
      guardrails,
    );
    const masking = { ...codePolicy({ output: 'redact' }), timeoutMs: 10_000 };
    await turn.ask(masking);
    await turn.process().run();
    for (const callId of ['k1', 'k2', 'k4']) {
      await turn.decide(resume([{ callId, decision: 'approved' }], { userId: 'alice' }, new Date()));
      await turn.process(1).run();
      await turn.process().sweep();
      await turn.process().sweep();
    }
    expect(answerIn(await turn.frames())).toBe('The key:\n[REDACTED]\nIt ends.');
    expect(await turn.outcome()).toMatchObject({ type: 'TurnAnswered', answer: 'The key:\n[REDACTED]\nIt ends.' });
    expect(await turn.stored()).not.toContain(line.trim());
  });
});

describe('the usage of a guarded turn', () => {
  const total = async (turn: GuardedTurn) => (await turn.outcome())['usage'];

  it("includes the usage of the question's check once, although the turn was resumed twice", async () => {
    const turn = new GuardedTurn([
      [toolCall('k1', 'ask'), used(5)],
      [toolCall('k2', 'ask'), used(6)],
      [text('Done.'), used(7)],
    ]);
    await turn.ask(codePolicy({}), { decisions: [], usage: { promptTokens: 1_000, completionTokens: 100 } });
    await turn.process().run();
    for (const callId of ['k1', 'k2']) {
      await turn.decide(resume([{ callId, decision: 'approved' }], { userId: 'alice' }, new Date()));
      await turn.process().run();
    }
    expect(await total(turn)).toEqual({ promptTokens: 1_018, completionTokens: 103 });
  });

  it('includes the usage of the checks of the answers to calls, each once', async () => {
    const turn = new GuardedTurn([
      [toolCall('k1', 'ask'), used(5)],
      [toolCall('k2', 'ask'), used(6)],
      [text('Done.'), used(7)],
    ]);
    await turn.ask(codePolicy({}));
    await turn.process().run();
    for (const [callId, promptTokens] of [
      ['k1', 1_000],
      ['k2', 2_000],
    ] as const) {
      const answers = [{ callId, decision: 'denied', comment: 'No.' }] as const;
      const checkUsage = { promptTokens, completionTokens: 100 };
      await turn.decide(resume(answers, { userId: 'alice' }, new Date(), { checkUsage }));
      await turn.process().run();
    }
    expect(await total(turn)).toEqual({ promptTokens: 3_018, completionTokens: 203 });
  });

  it('includes the usage of a model whose call is blocked', async () => {
    const turn = new GuardedTurn([[toolCall('k1', 'look', { code: 'CODE-1234' }), used(5)]]);
    await turn.ask(codePolicy({ output: 'block' }));
    await turn.process().run();
    expect(await turn.outcome()).toMatchObject({ type: 'TurnFailed', code: 'guardrail' });
    expect(await total(turn)).toEqual({ promptTokens: 5, completionTokens: 1 });
  });

  it('includes the usage of the check that blocked the answer', async () => {
    const turn = new GuardedTurn([[text('It is so because it is.'), used(5)]], undefined, [], new JudgingGuardrails());
    const settings = { min_overlap: 0.2, min_words: 0, require_retrieval: false };
    const grounded = { stage: 'output', check: 'groundedness', action: 'block', settings } as const;
    await turn.ask(codePolicy({}, { controls: [grounded] }));
    await turn.process().run();
    expect(await turn.outcome()).toMatchObject({ type: 'TurnFailed', code: 'guardrail' });
    expect(await total(turn)).toEqual({ promptTokens: 105, completionTokens: 11 });
  });
});
