import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { commandsOver } from '../../../../test/support/commands-over.js';
import { guardrails } from '../../../../test/support/configured-guardrails.js';
import { codePolicy, CodeGuardrails, JudgingGuardrails } from '../../../../test/support/guardrails.js';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import {
  composerOver,
  offeredAction,
  resultsIn,
  roundOf,
  ScriptedModels,
  text,
  toolCall,
  ToolsForTests,
  WITH_TOOLS,
} from '../../../../test/support/tool-turns.js';
import { askedTurn, bringFurther, cause, eventsOf, framesOf, workerOver } from '../../../../test/support/turns.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { requestStop } from '../../conversation/turn.decider.js';
import { type CheckedInput, conversationStream } from '../../conversation/conversation.events.js';
import type { Decide } from '../../conversation/turn.policy.js';
import { resume } from '../../conversation/pause.decider.js';
import { LOG_START } from '../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { Guardrails } from '../../../resources/guardrails/guardrails.port.js';
import type { GuardrailPolicy } from '../../../resources/guardrails/guardrail.policy.js';
import { RecordGuardrailDecisionsHandler } from '../../../resources/guardrails/guardrail-record.commands.js';
import { guardrailStream } from '../../../resources/guardrails/guardrail-record.events.js';
import type { ModelChunk } from '../../../resources/models/model/language-model.port.js';
import type { OfferedAction } from '../../../resources/tools/toolbox/toolbox.port.js';
import { AnswerGuards } from '../guardrails/answer-guards.js';

Logger.overrideLogger(false);

const SECRET = /CODE-[0-9]{4}/;
const ACTIONS = [
  offeredAction('look'),
  offeredAction('send', { access: 'write' }),
  offeredAction('ask', { requiresApproval: true }),
];
const DECISION = {
  stage: 'input',
  check: 'secrets',
  detector: 'pattern',
  action: 'block',
  outcome: 'triggered',
  category: 'CODE',
  score: null,
  matchCount: 1,
} as const;
const used = (promptTokens: number): ModelChunk => ({ type: 'usage', promptTokens, completionTokens: 1 });

const BLOCKED_INPUT: CheckedInput = { decisions: [DECISION], blockMessage: 'I cannot say that.' };

/** A guarded turn in a log that several processes share, with a model that follows a script of rounds. */
class GuardedTurn {
  readonly log = new InMemoryEventStore();
  readonly blobs = new InMemoryBlobs();
  readonly models: ScriptedModels;
  readonly ran: unknown[] = [];

  constructor(
    rounds: readonly (readonly ModelChunk[])[],
    private readonly does: (name: string) => unknown = () => 'done',
    private readonly actions: readonly OfferedAction[] = ACTIONS,
    private readonly guardrails: Guardrails = new CodeGuardrails(),
  ) {
    this.models = new ScriptedModels((request) => rounds[roundOf(request)] ?? []);
  }

  ask = (guardrails: GuardrailPolicy, checked?: CheckedInput) =>
    askedTurn(this.log, 'c1', 't1', { ...WITH_TOOLS, guardrails }, checked);

  process(appends = Infinity) {
    const store = new MortalStore(this.log, appends);
    const tools = new ToolsForTests(this.actions, ({ name, args }) => {
      this.ran.push(args);
      return this.does(name);
    });
    const streams = new Streams(store, systemTiming);
    const commands = commandsOver(new RecordGuardrailDecisionsHandler(streams, { now: () => new Date() }));
    const guards = new AnswerGuards(this.guardrails, commands);
    const composer = composerOver(this.models, tools, this.blobs, undefined, undefined, guards);
    const { runner } = workerOver(store, new InProcessSignals(), composer, this.blobs);
    return {
      run: () => runner.run('c1', 't1').catch(() => undefined),
      sweep: async () => {
        await runner.run('c1', 't1').catch(() => undefined);
        await bringFurther(runner, 'c1', 't1').catch(() => undefined);
      },
      get isDead() {
        return store.isDead;
      },
    };
  }

  decide = (decision: Decide) =>
    new Streams(this.log, systemTiming).transact(conversationStream('c1'), conversation, decision, cause);

  frames = () => framesOf(this.log, 't1');
  async outcome(): Promise<Record<string, unknown>> {
    const events = await eventsOf(this.log, conversationStream('c1'));
    const ends = events.filter(({ type }) => /^Turn(?:Answered|Failed|Stopped)$/.test(type));
    expect(ends).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'TurnSealed')).toHaveLength(1);
    return { type: ends[0]!.type, ...(JSON.parse(ends[0]!.data) as object) };
  }

  async decisions(): Promise<unknown[]> {
    return (await eventsOf(this.log, guardrailStream('t1'))).flatMap(
      ({ data }) => (JSON.parse(data) as { decisions: unknown[] }).decisions,
    );
  }

  /** The text of all events and of all blobs. */
  async stored(): Promise<string> {
    let all = this.blobs.text();
    for await (const page of this.log.readAll({ after: LOG_START }))
      all += page.events.map(({ data, metadata }) => data + metadata).join('\n');
    return all;
  }
}

const types = (frames: readonly Record<string, unknown>[]) => frames.map(({ type }) => type);
const answerIn = (frames: readonly Record<string, unknown>[]) => frames.map(({ answer = '' }) => answer as string).join('');

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
