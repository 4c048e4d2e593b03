import { beforeEach, describe, expect, it } from '@jest/globals';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import {
  composerOver,
  offeredAction,
  type Ran,
  roundOf,
  ScriptedModels,
  text,
  resultsIn,
  toolCall,
  ToolsForTests,
  WITH_TOOLS,
} from '../../../../test/support/tool-turns.js';
import { codePolicy, CodeGuardrails } from '../../../../test/support/guardrails.js';
import type { RecordGuardrailDecisions } from '../../../resources/guardrails/guardrail-record.commands.js';
import { AnswerGuards } from '../guardrails/answer-guards.js';
import { turnSettings } from '../../../../test/support/turn-settings.js';
import { cause } from '../../../../test/support/turns.js';
import { conversation } from '../../conversation/conversation.decider.js';
import {
  type ConversationEvent,
  conversationStream,
  type TurnSettings,
  type Usage,
} from '../../conversation/conversation.events.js';
import type { Commands } from '../../../kernel/commands.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { type ModelChunk, ModelFailed } from '../../../resources/models/model/language-model.port.js';
import { SignInRequired } from '../../../resources/tools/toolbox/tool-kind.port.js';
import type { QuestionResolver } from '../intake/resolve-question.js';
import { HeadlessAnswers } from './headless-answers.js';
import type { RecordedEffect, HeadlessWork } from './headless-answering.port.js';
import { systemTiming } from '../../../platform/system-timing.js';

const APPROVAL = "This tool requires approval and is not in the run's tool_allowlist.";
const SIGN_IN = 'The connection of this tool needs signing in again, which is not possible in headless / scheduled runs.';
const CLIENT = 'Client-side tools cannot run in headless / scheduled runs.';

let store: InMemoryEventStore;
let models: ScriptedModels;
let tools: ToolsForTests;
let ledger: string[];
let known: RecordedEffect | undefined;
let usage: Usage | null;
/** The decisions of guardrails that were recorded, in the order of recording. */
let noted: unknown[];
beforeEach(() => {
  store = new InMemoryEventStore();
  ledger = [];
  known = undefined;
  usage = null;
  noted = [];
});

/** An agent whose model follows a script of rounds, with the given actions. */
function agentOf(
  rounds: readonly (readonly ModelChunk[])[],
  actions: ToolsForTests['actions'] = [],
  does?: (ran: Ran) => unknown,
): HeadlessAnswers {
  const execute = async ({ decisions }: RecordGuardrailDecisions) => void noted.push(decisions);
  models = new ScriptedModels((request) => rounds[roundOf(request)]!);
  tools = new ToolsForTests(actions, does);
  return new HeadlessAnswers(
    {} as QuestionResolver,
    composerOver(
      models,
      tools,
      new InMemoryBlobs(),
      undefined,
      undefined,
      new AnswerGuards(new CodeGuardrails(), { execute } as unknown as Commands),
    ),
    new Streams(store, systemTiming),
  );
}
const work = (settings: Partial<TurnSettings> = {}, more: Partial<HeadlessWork> = {}): HeadlessWork => ({
  runId: 'r1',
  attempt: 1,
  ownerId: 'alice',
  input: '{"n":1}',
  settings: turnSettings({ modelId: 'scripted', writeAllowlist: null, ...WITH_TOOLS, ...settings }),
  cause,
  ledger: {
    begin: async ({ callId }) => {
      ledger.push(`begin ${callId}`);
      return known;
    },
    finish: async (callId, status) => void ledger.push(`${status} ${callId}`),
  },
  callIdsTaken: new Set(),
  used: (all) => (usage = all),
  signal: new AbortController().signal,
  ...more,
});
const statuses = (calls: readonly Readonly<Record<string, unknown>>[]) =>
  calls.map(({ status, error, error_type: type }) => [status, error, type]);

const answered = (turnId: string, index: number, question: string, answer: string): readonly ConversationEvent[] => {
  const parts = { answer, thought: '', sources: [], toolCalls: [], structured: false };
  const about = { conversationId: 'c1', turnId };
  return [
    { type: 'TurnAsked', data: { ...about, index, question, requestId: 'r1', settings: turnSettings() } },
    { type: 'TurnAnswered', data: { ...about, ...parts, modelId: 'm', usage: null } },
  ];
};

describe('in headless mode', () => {
  it('a call that needs a decision is refused, and the model continues with the refusal', async () => {
    const clientTools = [{ name: 'look', description: '', parameters: {} }];
    const actions = [offeredAction('send', { access: 'write', requiresApproval: true, ownerCredentials: true })];
    const agent = agentOf([[toolCall('c1', 'send'), toolCall('c2', 'look')], [text('Then not.')]], actions);
    const { parts, error } = await agent.answer(work({ clientTools }));
    expect([parts.answer, error, tools.names, ledger]).toEqual(['Then not.', null, [], []]);
    expect(statuses(parts.toolCalls)).toEqual([
      ['denied', APPROVAL, 'tool_not_allowed'],
      ['denied', CLIENT, 'tool_not_allowed'],
    ]);
    expect(resultsIn(models.requests.at(-1)!)).toEqual({
      c1: `Tool denied (headless): ${APPROVAL}`,
      c2: `Tool denied (headless): ${CLIENT}`,
    });
  });

  it('a call of a tool whose connection needs a new sign-in is denied, and the model continues with the denial', async () => {
    const signedOut = () => Promise.reject(new SignInRequired('The tool server asks for a new sign-in.'));
    const actions = [offeredAction('look'), offeredAction('send', { access: 'write' })];
    const calls = [toolCall('c1', 'look'), toolCall('c2', 'send')];
    const agent = agentOf([calls, [text('Then not.')]], actions, signedOut);
    const { parts, error } = await agent.answer(work());
    expect([parts.answer, error, ledger]).toEqual(['Then not.', null, ['begin c2', 'denied c2']]);
    expect(statuses(parts.toolCalls)).toEqual([
      ['denied', SIGN_IN, 'connection_required'],
      ['denied', SIGN_IN, 'connection_required'],
    ]);
    const denial = `Tool denied (headless): ${SIGN_IN}`;
    expect(resultsIn(models.requests.at(-1)!)).toEqual({ c1: denial, c2: denial });
    known = { end: { status: 'denied', result: denial } };
    const again = await agentOf([calls.slice(1), [text('Then not.')]], actions, signedOut).answer(work());
    expect(statuses(again.parts.toolCalls)).toEqual([['denied', SIGN_IN, 'connection_required']]);
  });

  it('write actions with the owner’s credentials run, and each call is recorded before and after', async () => {
    const agent = agentOf(
      [[toolCall('c1', 'send')], [text('Sent.')]],
      [offeredAction('send', { access: 'write', ownerCredentials: true })],
    );
    const { parts } = await agent.answer(work());
    expect([parts.answer, tools.names, ledger]).toEqual(['Sent.', ['send'], ['begin c1', 'completed c1']]);
  });

  it('tools that create schedules or monitors are not offered', async () => {
    const actions = [
      offeredAction('schedule_task', { toolName: 'scheduler' }),
      offeredAction('monitor_create', { toolName: 'monitor' }),
      offeredAction('look'),
    ];
    await agentOf([[text('Hello.')]], actions).answer(work());
    expect(models.requests[0]!.tools?.map(({ name }) => name)).toEqual(['look']);
  });

  it('a call of an earlier attempt does not run again and gets its recorded result', async () => {
    known = { end: { status: 'completed', result: '{"posted":true}' } };
    const agent = agentOf([[toolCall('c1', 'send')], [text('Sent.')]], [offeredAction('send', { access: 'write' })]);
    const { parts } = await agent.answer(work());
    expect(tools.names).toEqual([]);
    expect(parts.toolCalls).toMatchObject([{ call_id: 'c1', status: 'completed', result: '{"posted":true}' }]);
    expect(resultsIn(models.requests.at(-1)!)).toEqual({ c1: '{"posted":true}' });
  });

  it('a call with an unknown outcome does not run again', async () => {
    known = { end: null };
    const agent = agentOf([[toolCall('c1', 'send')], [text('Who knows.')]], [offeredAction('send', { access: 'write' })]);
    const { parts } = await agent.answer(work());
    expect(tools.names).toEqual([]);
    expect(parts.toolCalls).toMatchObject([{ call_id: 'c1', status: 'error', error_type: 'outcome_unknown' }]);
  });

  it('a failing model leaves the answer so far and an error, and its usage is reported', async () => {
    function* failing(): Generator<ModelChunk> {
      yield text('Half');
      yield { type: 'usage', promptTokens: 7, completionTokens: 1 };
      throw new ModelFailed('unavailable', 'The model is gone.', true);
    }
    models = new ScriptedModels(failing);
    const agent = new HeadlessAnswers(
      {} as QuestionResolver,
      composerOver(models, new ToolsForTests([]), new InMemoryBlobs()),
      new Streams(store, systemTiming),
    );
    const { parts, error } = await agent.answer(work());
    expect([parts.answer, error]).toEqual(['Half', { text: 'The model is gone.', code: 'unavailable' }]);
    expect(usage).toEqual({ promptTokens: 7, completionTokens: 1 });
  });

  it('the model reads the history up to the pinned revision, and only the owner of an existing conversation can pin it', async () => {
    const streams = new Streams(store, systemTiming);
    const said = (...events: readonly ConversationEvent[]) =>
      streams.transact(conversationStream('c1'), conversation, () => events, cause);
    const started = { conversationId: 'c1', ownerId: 'alice', agentId: null, name: 'Hi', visibility: 'listed' } as const;
    const brought = [{ prompt: 'Before?', response: 'Before.' }];
    await said({ type: 'ConversationStarted', data: { ...started, sharedUsage: false, history: brought } });
    await said(...answered('t1', 0, 'First?', 'First.'));
    models = new ScriptedModels(() => [text('Hello.')]);
    const composer = composerOver(models, new ToolsForTests([]), new InMemoryBlobs());
    const agent = new HeadlessAnswers({} as QuestionResolver, composer, streams);
    const history = await agent.historyOf('c1', 'alice');
    expect(history).toEqual({ conversationId: 'c1', revision: 2 });
    await said(...answered('t2', 1, 'Second?', 'Second.'));
    await agent.answer(work({}, { history: history! }));
    expect(models.requests[0]!.messages.map(({ content }) => content).filter((content) => content !== '')).toEqual([
      'Before?',
      'Before.',
      'First?',
      'First.',
      '{"n":1}',
    ]);
    expect([await agent.historyOf('c1', 'bob'), await agent.historyOf('c9', 'alice')]).toEqual([undefined, undefined]);
    await said({ type: 'ConversationDeleted', data: { conversationId: 'c1' } });
    expect(await agent.historyOf('c1', 'alice')).toBeUndefined();
  });

  it('all other errors and the abort reason are thrown', async () => {
    const broken = agentOf([[toolCall('c1', 'send')]], [offeredAction('send', { access: 'write' })]);
    const begin = () => Promise.reject(new Error('The store is gone.'));
    await expect(broken.answer(work({}, { ledger: { ...work().ledger, begin } }))).rejects.toThrow('The store is gone.');
    const ended = AbortSignal.abort(new Error('The worker stops.'));
    await expect(agentOf([[text('Hello.')]]).answer(work({}, { signal: ended }))).rejects.toThrow('The worker stops.');
  });
});

describe('a headless answer that is guarded', () => {
  const blocked = { text: 'I cannot say that.', code: 'guardrail' };

  it('has no text if it is blocked, but keeps the calls that were made', async () => {
    const agent = agentOf([[toolCall('k1', 'look')], [text('It is CODE-12'), text('34.')]], [offeredAction('look')]);
    const { parts, error } = await agent.answer(work({ guardrails: codePolicy({ output: 'block' }) }));
    expect(error).toEqual(blocked);
    expect(parts).toMatchObject({ answer: '', thought: '', sources: [], toolCalls: [{ call_id: 'k1' }] });
  });

  it('is masked', async () => {
    const agent = agentOf([[text('It is CODE-12'), text('34.')]]);
    const { parts, error } = await agent.answer(work({ guardrails: codePolicy({ output: 'redact' }) }));
    expect([parts.answer, error]).toEqual(['It is [CODE].', null]);
  });

  it('makes no model call if its input was blocked on acceptance or is blocked by the current policy', async () => {
    const guardrails = codePolicy({ input: 'block' });
    const checked = { decisions: [], blockMessage: 'I cannot say that.' };
    expect((await agentOf([]).answer(work({ guardrails }, { checked }))).error).toEqual(blocked);
    expect((await agentOf([]).answer(work({ guardrails }, { input: '"CODE-1234"' }))).error).toEqual(blocked);
    expect(models.requests).toEqual([]);
  });

  it('counts once what both checks of its input find', async () => {
    const found = { stage: 'input', check: 'secrets', detector: 'pattern', outcome: 'triggered', category: 'CODE' } as const;
    const checkedAs = (action: 'flag' | 'redact', matchCount: number, input: string) => {
      const checked = { decisions: [{ ...found, action, matchCount, score: null }] };
      return agentOf([[text('Done.')]]).answer(work({ guardrails: codePolicy({ input: action }) }, { input, checked }));
    };
    await checkedAs('flag', 1, '"CODE-1234"');
    await checkedAs('redact', 2, '"[CODE] [CODE]"');
    expect(noted).toEqual([
      [expect.objectContaining({ action: 'flag', matchCount: 1 })],
      [expect.objectContaining({ action: 'redact', matchCount: 2 })],
    ]);
  });

  it('passes the masked input to the model', async () => {
    const agent = agentOf([[text('Done.')]]);
    await agent.answer(work({ guardrails: codePolicy({ input: 'redact' }) }, { input: '"CODE-1234"' }));
    expect(JSON.stringify(models.requests[0]!.messages)).toContain('[CODE]');
    expect(JSON.stringify(models.requests)).not.toContain('CODE-1234');
  });
});
