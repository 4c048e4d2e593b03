import { describe, expect, it } from '@jest/globals';
import { inRounds, LOOP_ACTIONS, type LoopSetup, MESSAGES, PICK, runLoop } from '../../../../test/support/agent-loops.js';
import { turnPaused, waitingCall } from '../../../../test/support/pauses.js';
import { offeredAction, resultsIn, text, toolCall } from '../../../../test/support/tool-turns.js';
import { type LoopState, TOOL_ROUNDS_MAX } from './agent-loop.js';
import type { Resumption, Transcript } from './transcript.js';

describe('a pause', () => {
  const asking = [text('Hm. '), toolCall('k1', 'ask_first', { to: 'bob' }), toolCall('k2', 'read_it'), toolCall('k3', 'pick')];
  const paused = () => runLoop(inRounds(asking, [text('Done.')]), { settings: { clientTools: [PICK] } });

  /** Resumes the loop of a paused turn with the decisions. */
  async function resumed(decisions: Resumption['decisions'], given: LoopSetup = {}) {
    const { pause } = await paused();
    if (pause?.type !== 'pause') throw new Error('It did not pause.');
    const state = JSON.parse(pause.continuation) as LoopState;
    const resumption: Resumption = {
      paused: turnPaused({ conversationId: 'c1', turnId: 't1' }, pause.calls).data,
      decisions,
      checkUsage: null,
    };
    const transcript = { resumption, ...given.transcript } as Partial<Transcript>;
    return runLoop(inRounds([], [text('Done.')]), { ...given, settings: { clientTools: [PICK] }, state, transcript });
  }
  const about = { conversationId: 'c1', turnId: 't1' };
  type Decided = readonly [string, Resumption['decisions'] extends ReadonlyMap<string, infer D> ? D : never];
  const approved = (callId: string): Decided => [callId, { type: 'ToolCallApproved', data: { ...about, callId } }];
  const answered = (callId: string, result: string): Decided => [
    callId,
    { type: 'ToolCallAnswered', data: { ...about, callId, result } },
  ];

  it('contains the calls that need a decision, and the other calls have run', async () => {
    const { pause, tools, types } = await paused();
    expect(pause).toMatchObject({ calls: [{ callId: 'k1', arguments: { to: 'bob' } }, { callId: 'k3' }] });
    expect(types.at(-1)).toBe('pause');
    expect(tools.names).toEqual(['read_it']);
  });

  it('is resumed with the decided calls, whose results the model reads in order', async () => {
    const { requests, tools, begun, ended } = await resumed(new Map([approved('k1'), answered('k3', '"red"')]));
    expect(tools.ran).toMatchObject([{ name: 'ask_first', args: { to: 'bob' } }]);
    expect(begun).toEqual(['k1']);
    expect(requests).toHaveLength(1);
    expect(requests[0]!.messages.slice(-4)).toMatchObject([
      { role: 'assistant', content: 'Hm. ' },
      { role: 'tool', toolCallId: 'k1', content: 'ask_first is done' },
      { role: 'tool', toolCallId: 'k2', content: 'read_it is done' },
      { role: 'tool', toolCallId: 'k3', content: 'red' },
    ]);
    expect(ended).toMatchObject([
      { call_id: 'k1', status: 'completed' },
      { call_id: 'k3', status: 'completed', result: 'red' },
    ]);
  });

  it('is resumed with denials for denied calls and for calls without a decision', async () => {
    const denied = { type: 'ToolCallDenied', data: { ...about, callId: 'k1', comment: 'too long', notRun: null } } as const;
    const { requests, tools, ended } = await resumed(new Map([['k1', denied]]));
    expect(tools.names).toEqual([]);
    expect(resultsIn(requests[0]!)).toMatchObject({ k1: 'Tool execution denied by user. Reason: too long' });
    expect(ended).toMatchObject([
      { call_id: 'k1', status: 'denied', comment: 'too long' },
      { call_id: 'k3', status: 'denied' },
    ]);
  });

  it('is resumed without running a started call again, whose recorded end is used if there is one', async () => {
    const calls = { started: new Map([['k1', waitingCall('k1')]]), finished: new Map() };
    const unknown = await resumed(new Map([approved('k1')]), { transcript: { calls } });
    expect(unknown.ended[0]).toMatchObject({ call_id: 'k1', error_type: 'outcome_unknown' });
    const end = { ...about, callId: 'k1', status: 'completed', result: '{"sent":1}' } as const;
    const known = await resumed(new Map([approved('k1')]), {
      transcript: { calls: { ...calls, finished: new Map([['k1', end]]) } },
    });
    expect(known.ended[0]).toMatchObject({ call_id: 'k1', status: 'completed', result: '{"sent":1}' });
    expect(resultsIn(known.requests[0]!)).toMatchObject({ k1: '{"sent":1}' });
    expect([...unknown.tools.names, ...known.tools.names]).toEqual([]);
  });

  it('is resumed with another run of a started call if its action is idempotent', async () => {
    const calls = { started: new Map([['k1', waitingCall('k1')]]), finished: new Map() };
    const actions = LOOP_ACTIONS.map((action) => ({ ...action, idempotent: true }));
    const { tools, ended } = await resumed(new Map([approved('k1')]), { transcript: { calls }, actions });
    expect(tools.names).toEqual(['ask_first']);
    expect(ended[0]).toMatchObject({ call_id: 'k1', status: 'completed' });
  });

  it('is resumed with an error for an approved call whose tool is gone', async () => {
    const { tools, ended, requests } = await resumed(new Map([approved('k1')]), { actions: [offeredAction('read_it')] });
    expect(tools.names).toEqual([]);
    expect(ended[0]).toMatchObject({ call_id: 'k1', status: 'error', error: expect.stringContaining('no longer') as unknown });
    expect(resultsIn(requests[0]!)['k1']).toContain('no longer available');
  });

  it('keeps the number of rounds and of unknown calls', async () => {
    const state: LoopState = { messages: MESSAGES, round: TOOL_ROUNDS_MAX - 1, unknownCalls: 2, results: {} };
    const resumption: Resumption = { paused: turnPaused(about, []).data, decisions: new Map(), checkUsage: null };
    const { requests } = await runLoop(() => [text('Done.'), toolCall('k9', 'read_it')], { state, transcript: { resumption } });
    expect(requests.map(({ tools }) => tools)).toEqual([undefined]);
    const guessing = await runLoop(inRounds([toolCall('k9', 'guess')], [text('Done.')]), { state: { ...state, round: 0 } });
    expect(resultsIn(guessing.requests[1]!)['k9']).toContain('answer with what you have');
  });
});
