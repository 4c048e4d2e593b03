import { describe, expect, it } from '@jest/globals';
import { inRounds, LOOP_ACTIONS, MESSAGES, PICK, runLoop } from '../../../../test/support/agent-loops.js';
import {
  MODEL,
  offeredAction,
  resultsIn,
  roundOf,
  ScriptedModels,
  text,
  ToolboxForTests,
  toolCall,
  ToolsForTests,
} from '../../../../test/support/tool-turns.js';
import { turnSettings } from '../../../../test/support/turn-settings.js';
import { systemIds } from '../../../platform/system-ids.js';
import type { ModelDescription } from '../../../resources/models/model/language-model.port.js';
import type { TurnSettings } from '../../conversation/conversation.events.js';
import { recordOf } from '../../conversation/tool-call.policy.js';
import { AgentLoop, CALL_ID_CHARACTERS_MAX, CALLS_PER_ROUND_MAX, RESULT_CHARACTERS_MIN, TOOL_ROUNDS_MAX } from './agent-loop.js';
import { WAITING } from './background-calls.port.js';
import { interactive } from './execution-mode.policy.js';
import { FUNCTIONS_MAX } from './offered-tools.js';
import { RECORDS_BYTES_MAX } from './tool-call-gate.js';
import type { Transcript } from './transcript.js';

describe('the loop of model and tools', () => {
  it('notifies the user once if not every function is offered', async () => {
    const actions = Array.from({ length: FUNCTIONS_MAX + 2 }, (_, index) => offeredAction(`look_${index}`));
    const { deltas, requests } = await runLoop(inRounds([toolCall('k1', 'look_0')], [text('Because.')]), { actions });
    const notices = deltas.flatMap((delta) => (delta.type === 'notice' ? [delta.text] : []));
    expect(notices).toEqual(['The model is offered the first 128 of 130 functions; the others were left out.']);
    expect(requests[0]!.tools).toHaveLength(FUNCTIONS_MAX);
  });

  it.each([
    ['length', 'The model reached its limit of tokens, so the answer is cut off.'],
    ['content-filter', "A content filter of the model's provider ended the answer."],
  ] as const)('notifies the user of an answer that ended early: %s', async (reason, notice) => {
    const { deltas } = await runLoop(inRounds([text('It is'), { type: 'finish', reason }]));
    expect(deltas.slice(-2)).toEqual([text('It is'), { type: 'notice', text: notice }]);
  });

  it('alternates between model and tools until the model answers', async () => {
    const usage = { type: 'usage', promptTokens: 3, completionTokens: 4 } as const;
    const { types, requests } = await runLoop(
      inRounds([text('Hm. '), toolCall('k1', 'read_it', { a: 1 }), usage], [text('Because.'), usage]),
    );
    expect(types).toEqual(['text', 'usage', 'round-over', 'tool-call', 'tool-call', 'text', 'usage']);
    expect(requests[0]!.tools!.map(({ name }) => name)).toEqual(['read_it', 'write_it', 'ask_first']);
    expect(requests[1]!.messages).toEqual([
      ...MESSAGES,
      { role: 'assistant', content: 'Hm. ', toolCalls: [{ id: 'k1', name: 'read_it', arguments: '{"a":1}' }] },
      { role: 'tool', toolCallId: 'k1', content: 'read_it is done' },
    ]);
  });

  it('offers no tools if the model cannot call them or the agent has none', async () => {
    const models = new ScriptedModels(() => []);
    const loop = new AgentLoop(models, new ToolboxForTests(new ToolsForTests(LOOP_ACTIONS)), systemIds);
    const transcript = (settings: Partial<TurnSettings>) =>
      ({ asked: { settings: turnSettings(settings) } }) as unknown as Transcript;
    const pins = [{ toolId: 'tool-1', revision: 0 }];
    const offered = async (settings: Partial<TurnSettings>, model?: ModelDescription) =>
      (await loop.open(transcript(settings), model)).actions.length;
    expect(await offered({ tools: pins }, MODEL)).toBe(LOOP_ACTIONS.length);
    expect(await offered({ tools: [], agentType: 'agentic' }, MODEL)).toBe(LOOP_ACTIONS.length);
    expect(await offered({}, MODEL)).toBe(0);
    expect(await offered({ tools: pins }, { ...MODEL, tools: false })).toBe(0);
    expect(await offered({ tools: pins })).toBe(0);
    const { requests } = await runLoop(() => [text('Because.')], {
      actions: [],
      model: { tools: false },
      settings: { clientTools: [PICK] },
    });
    expect(requests.map((request) => 'tools' in request)).toEqual([false]);
  });

  it('offers no tools after TOOL_ROUNDS_MAX rounds', async () => {
    const { requests, ended, types } = await runLoop((request) => [text('.'), toolCall(`k${roundOf(request)}`, 'read_it')]);
    expect(ended).toHaveLength(TOOL_ROUNDS_MAX);
    expect(requests).toHaveLength(TOOL_ROUNDS_MAX + 1);
    expect(requests.map(({ tools }) => tools !== undefined)).toEqual([...Array<boolean>(TOOL_ROUNDS_MAX).fill(true), false]);
    expect(types.at(-1)).toBe('text');
  });

  it('drops calls beyond CALLS_PER_ROUND_MAX in a round', async () => {
    const calls = Array.from({ length: CALLS_PER_ROUND_MAX + 1 }, (_, index) => toolCall(`k${index}`, 'read_it'));
    const { ended, requests } = await runLoop(inRounds(calls, [text('Done.')]), { does: () => 'x'.repeat(10_000) });
    expect(ended.map(({ status }) => status)).toEqual(Array(CALLS_PER_ROUND_MAX).fill('completed'));
    expect(Object.keys(resultsIn(requests[1]!))).toHaveLength(CALLS_PER_ROUND_MAX);
  });

  it('offers no tools when the records of the calls have no room left', async () => {
    const large = { a: 'x'.repeat(30_000) };
    const { requests, ended } = await runLoop((request) =>
      request.tools ? Array.from({ length: 40 }, (_, index) => toolCall(`k${index}`, 'write_it', large)) : [text('Done.')],
    );
    expect(requests.at(-1)!.tools).toBeUndefined();
    expect(requests.length).toBeLessThan(5);
    const bytes = Buffer.byteLength(JSON.stringify(ended));
    expect(bytes).toBeLessThan(RECORDS_BYTES_MAX + 40 * 1024);
  });

  it('replaces missing, repeated and unusable call ids', async () => {
    const ids = ['', 'k1', 'k1', 'x'.repeat(CALL_ID_CHARACTERS_MAX + 1), 'über', 'a"b', 'asked before', 'k0', 'ok-1'];
    const { requests, ended } = await runLoop(
      inRounds(
        ids.map((id) => toolCall(id, 'read_it')),
        [text('Done.')],
      ),
      { records: [{ call_id: 'k0', status: 'completed' }], transcript: { waited: new Set(['asked before']) } },
    );
    const given = Object.keys(resultsIn(requests[1]!));
    expect(new Set(given).size).toBe(ids.length);
    expect(ended.map(({ call_id: id }) => id)).toEqual(given);
    expect(given.filter((id) => ids.includes(id))).toEqual(['k1', 'ok-1']);
    for (const id of given) expect(id).toMatch(/^[\w-]+$/);
  });

  it('limits all results of a round together to half of the free context window', async () => {
    const calls = Array.from({ length: 10 }, (_, index) => toolCall(`k${index}`, 'read_it'));
    const window = async (contextWindow: number) => {
      const { requests } = await runLoop(inRounds(calls, [text('Done.')]), {
        model: { contextWindow },
        does: () => 'x'.repeat(200_000),
      });
      return Object.values(resultsIn(requests[1]!)).reduce((sum, told) => sum + told.length, 0);
    };
    const characters = await window(100_000);
    expect(characters).toBeLessThanOrEqual(100_000 * 3.5 * 0.5);
    expect(characters).toBeGreaterThan(100_000 * 3.5 * 0.4);
    expect(await window(1_000)).toBeLessThanOrEqual(10 * RESULT_CHARACTERS_MIN);
  });

  it('refuses calls and hides tools as its execution mode decides', async () => {
    const scheduler = offeredAction('schedule', { toolName: 'scheduler' });
    const { pause, ended, requests } = await runLoop(inRounds([toolCall('k1', 'ask_first')], [text('Done.')]), {
      executionMode: {
        ...interactive(WAITING),
        offers: (toolName) => toolName !== 'scheduler',
        refusalOf: (called) => ({ record: recordOf(called, { status: 'denied' }), text: 'Nobody is there.' }),
      },
      actions: [...LOOP_ACTIONS, scheduler],
    });
    expect(pause).toBeUndefined();
    expect(ended).toMatchObject([{ call_id: 'k1', status: 'denied' }]);
    expect(requests[0]!.tools!.map(({ name }) => name)).not.toContain('schedule');
  });
});

describe('an answer that has to fit a schema', () => {
  const SCHEMA = { type: 'object', properties: { why: { type: 'string' } }, required: ['why'] };
  const settings = { responseSchema: SCHEMA };

  it('is requested once more with its problem and without tools, and its earlier text is discarded', async () => {
    const { types, requests } = await runLoop(inRounds([text('{"why":1}')], [text('{"why":"so"}')]), { settings });
    expect(types).toEqual(['text', 'round-over', 'text']);
    expect(requests.map(({ tools }) => tools !== undefined)).toEqual([true, false]);
    expect(requests[1]!.messages).toEqual([
      ...MESSAGES,
      { role: 'assistant', content: '{"why":1}' },
      { role: 'user', content: expect.stringContaining('/why must be string') },
    ]);
  });

  it('is not requested a third time', async () => {
    const { types, requests } = await runLoop(() => [text('Because.')], { settings });
    expect(requests).toHaveLength(2);
    expect(types).toEqual(['text', 'round-over', 'text']);
  });

  it('is requested once more if it is empty, without an empty message in the request', async () => {
    const { requests } = await runLoop((request) => (request.messages.length === 1 ? [] : [text('{"why":"so"}')]), { settings });
    expect(requests[1]!.messages).toEqual([...MESSAGES, { role: 'user', content: expect.stringContaining('JSON') }]);
  });

  it.each(['{"why":"so"}', '```json\n{"why":"so"}\n```', 'Here it is:\n```\n{"why":"so"}\n```'])(
    'is requested only once if it fits: %j',
    async (answer) => {
      const { requests } = await runLoop(() => [text(answer)], { settings });
      expect(requests).toHaveLength(1);
    },
  );

  it('is requested once more after tool calls too', async () => {
    const { types, requests } = await runLoop(inRounds([toolCall('k1', 'read_it')], [text('Hm.')], [text('{"why":"so"}')]), {
      settings,
    });
    expect(types).toEqual(['round-over', 'tool-call', 'tool-call', 'text', 'round-over', 'text']);
    expect(requests).toHaveLength(3);
  });

  it('is not requested again without a schema', async () => {
    expect((await runLoop(() => [text('Because.')])).requests).toHaveLength(1);
  });
});
