import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { modelCall, scriptedRound } from '../../../../test/support/tool-rounds.js';
import { offeredAction, ToolsForTests } from '../../../../test/support/tool-turns.js';
import { ToolFailed } from '../../../resources/tools/toolbox/tool-kind.port.js';
import type { ToolCallRecord } from '../../conversation/tool-call.policy.js';
import { OfferedTools, TOOL_NAME_CHARACTERS_MAX } from './offered-tools.js';
import { ARGUMENTS_BYTES_MAX, hasRoomForCalls, RECORDS_BYTES_MAX, UNKNOWN_TOOLS_MAX } from './tool-call-gate.js';
import { SHOWN_RESULT_BYTES_MAX, SHOWN_RESULT_CHARACTERS_MAX } from './tool-result.policy.js';
import { PARALLEL_READS_MAX } from './tool-round.js';

describe('calls that run', () => {
  it('are shown before and after they run, and the model reads their results', async () => {
    const { run, toolRound, tools } = scriptedRound(() => ({ sent: 1 }));
    const [pending, completed] = await run(modelCall('k1', 'read_a', '{"to":"bob"}'));
    const shown = { tool_name: 'api_tool', call_id: 'k1', action_name: 'read_a', arguments: { to: 'bob' } };
    expect(pending).toEqual({ ...shown, status: 'pending' });
    expect(completed).toEqual({ ...shown, status: 'completed', result: '{"sent":1}', artifact_id: null });
    expect(Object.fromEntries(toolRound.results)).toEqual({ k1: '{"sent":1}' });
    expect(tools.ran[0]).toMatchObject({ args: { to: 'bob' }, context: { callId: 'k1', userId: 'alice', turnId: 't1' } });
  });

  it('run in order, consecutive reads concurrently and writes alone, and writes are recorded before and after', async () => {
    const { run, happened } = scriptedRound();
    await run(
      modelCall('r1', 'read_a'),
      modelCall('r2', 'read_b'),
      modelCall('w1', 'write_a'),
      modelCall('w2', 'write_b'),
      modelCall('r3', 'read_a'),
    );
    expect(happened).toEqual([
      ...['pending r1', 'run read_a', 'pending r2', 'run read_b', 'completed r1', 'completed r2'],
      ...['pending w1', 'begin w1', 'run write_a', 'finish w1 completed write_a done', 'completed w1'],
      ...['pending w2', 'begin w2', 'run write_b', 'finish w2 completed write_b done', 'completed w2'],
      ...['pending r3', 'run read_a', 'completed r3'],
    ]);
  });

  it('are at most PARALLEL_READS_MAX concurrent reads', async () => {
    let running = 0;
    let most = 0;
    const { run } = scriptedRound(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
    });
    await run(...Array.from({ length: 2 * PARALLEL_READS_MAX + 1 }, (_, index) => modelCall(`k${index}`, 'read_a')));
    expect(most).toBe(PARALLEL_READS_MAX);
  });

  it('are reported to the model when they fail, and do not end the answer', async () => {
    const { run, toolRound, happened } = scriptedRound(() => {
      throw new ToolFailed('no card');
    });
    const records = await run(modelCall('r1', 'read_a'), modelCall('w1', 'write_a'));
    const error = 'Error executing tool: no card';
    expect(records.filter(({ status }) => status === 'error')).toMatchObject([{ error }, { error }]);
    expect([...toolRound.results.values()]).toEqual([error, error]);
    expect(happened).toContain(`finish w1 error ${error}`);
  });

  it('end the answer when one of several concurrent tools fails with an unexpected error', async () => {
    const { run, happened } = scriptedRound(async ({ context: { callId } }) => {
      if (callId === 'r1') await new Promise((resolve) => setImmediate(resolve));
      throw new Error(`a bug in ${callId}`);
    });
    await expect(run(modelCall('r1', 'read_a'), modelCall('r2', 'read_b'), modelCall('w1', 'write_a'))).rejects.toThrow(
      'a bug in r2',
    );
    expect(happened).not.toContain('begin w1');
  });

  it('cause no unhandled rejection when the consumer has stopped reading', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    const { toolRound } = scriptedRound(() => Promise.reject(new Error('a bug')));
    for await (const delta of toolRound.run([modelCall('r1', 'read_a'), modelCall('r2', 'read_b')])) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (delta.type === 'tool-call' && delta.record.call_id === 'r2') break;
    }
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('show the beginning of a long result to the reader and a longer part to the model', async () => {
    const { run, toolRound, happened } = scriptedRound(() => 'x'.repeat(10_000), { resultCharactersMax: 3_000 });
    const records = await run(modelCall('w1', 'write_a'));
    expect(records[1]!.result).toHaveLength(SHOWN_RESULT_CHARACTERS_MAX + 3);
    const told = toolRound.results.get('w1')!;
    expect(told.length).toBeLessThanOrEqual(3_000);
    expect(told).toContain('characters are left out here');
    expect(happened).toContain(`finish w1 completed ${told}`);
  });

  it('show a long failure shortened', async () => {
    const { run } = scriptedRound(() => {
      throw new ToolFailed('x'.repeat(1_000_000));
    });
    expect((await run(modelCall('r1', 'read_a')))[1]!.error!.length).toBeLessThanOrEqual(SHOWN_RESULT_BYTES_MAX);
  });

  it('add the sources that they find to the answer when they search', async () => {
    const search = offeredAction('search', { toolName: 'internal_search' });
    const sources = [{ text: 'Because.', title: 'Why', source: 's1', filename: 'why.md' }];
    const tools = new ToolsForTests([search], () => ({ sources }));
    const { run, deltas } = scriptedRound(undefined, { offered: new OfferedTools([search], []), tools });
    await run(modelCall('k1', 'search'));
    expect(deltas.map(({ type }) => type)).toEqual(['tool-call', 'found', 'tool-call']);
    expect(deltas[1]).toEqual({ type: 'found', sources });
  });
});

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('calls that do not run', () => {
  it.each([
    ['{', 'The arguments must be one JSON object.'],
    ['[1]', 'The arguments must be one JSON object.'],
    ['null', 'The arguments must be one JSON object.'],
    ['"text"', 'The arguments must be one JSON object.'],
    [`{"a":"${'x'.repeat(ARGUMENTS_BYTES_MAX)}"}`, 'The arguments are too long.'],
    [`{"a":"${'漢'.repeat(ARGUMENTS_BYTES_MAX / 3)}"}`, 'The arguments are too long.'],
    [`{"a":${nested(4_000)}}`, 'The object of arguments is nested deeper than 100 levels.'],
  ])('are refused for their arguments', async (args, problem) => {
    const { run, toolRound, tools } = scriptedRound();
    expect(await run(modelCall('k1', 'write_a', args))).toMatchObject([{ status: 'error', error: problem, arguments: {} }]);
    expect(toolRound.results.get('k1')).toBe(problem);
    expect(tools.names).toEqual([]);
  });

  it.each(['', '  ', '{}'])('do not include calls with empty arguments: %j', async (args) => {
    const { run, tools } = scriptedRound();
    await run(modelCall('k1', 'write_a', args));
    expect(tools.ran).toMatchObject([{ args: {} }]);
  });

  it('are of unknown tools, and after UNKNOWN_TOOLS_MAX of them the model is told to answer', async () => {
    const { run, toolRound } = scriptedRound();
    const asked = Array.from({ length: UNKNOWN_TOOLS_MAX + 1 }, (_, index) => modelCall(`k${index}`, 'guess'));
    const records = await run(...asked);
    expect(records).toMatchObject(asked.map(() => ({ tool_name: 'unknown', action_name: 'guess', status: 'error' })));
    expect([...toolRound.results.values()].map((text) => text.includes('answer with what you have'))).toEqual([
      ...Array.from({ length: UNKNOWN_TOOLS_MAX }, () => false),
      true,
    ]);
    expect(toolRound.unknownCalls).toBe(UNKNOWN_TOOLS_MAX + 1);
  });

  it('are shown with a truncated name if the model invented a long one', async () => {
    const { run } = scriptedRound();
    const [record] = await run(modelCall('k1', 'x'.repeat(10_000)));
    expect(record!.action_name).toHaveLength(TOOL_NAME_CHARACTERS_MAX);
    expect(JSON.stringify(record).length).toBeLessThan(1_000);
  });

  it('are skipped if their record does not fit, while later ones that fit run', async () => {
    const large = `{"a":"${'x'.repeat(ARGUMENTS_BYTES_MAX - 10)}"}`;
    const { run, toolRound, tools } = scriptedRound(undefined, { recordsBytes: RECORDS_BYTES_MAX - 48 * 1024 });
    const records = await run(modelCall('k1', 'write_a', large), modelCall('k2', 'write_a', large), modelCall('k3', 'write_b'));
    expect(records.map(({ call_id: id, status }) => `${id} ${status}`)).toEqual([
      ...['k1 pending', 'k1 completed', 'k2 skipped', 'k3 pending', 'k3 completed'],
    ]);
    expect(records[2]).toMatchObject({ tool_name: 'system', arguments: {} });
    expect(toolRound.results.get('k2')).toContain('too many tools');
    expect(tools.names).toEqual(['write_a', 'write_b']);
  });

  it('are no longer offered when the size limit of the records is near', () => {
    expect(hasRoomForCalls(2)).toBe(true);
    expect(hasRoomForCalls(RECORDS_BYTES_MAX - 1_000)).toBe(false);
  });

  it('wait for a decision or for the client, while other calls run', async () => {
    const { run, toolRound, tools } = scriptedRound();
    const records = await run(modelCall('k1', 'ask_first', '{"to":"bob"}'), modelCall('k2', 'pick'), modelCall('k3', 'read_a'));
    expect(records.map(({ call_id: id }) => id)).toEqual(['k3', 'k3']);
    const argumentsSha256 = createHash('sha256').update('{"to":"bob"}').digest('hex');
    expect(toolRound.pending).toMatchObject([
      { callId: 'k1', toolId: 'tool-1', actionName: 'ask_first', pauseType: 'awaiting_approval', argumentsSha256 },
      { callId: 'k2', toolId: '', toolName: 'pick', name: 'pick', pauseType: 'requires_client_execution' },
    ]);
    expect(tools.names).toEqual(['read_a']);
  });
});

describe('for a caller who is not the owner', () => {
  const ids = (records: readonly ToolCallRecord[]) => records.map(({ call_id: id, status }) => `${id} ${status}`);
  const all = [
    modelCall('k1', 'as_owner'),
    modelCall('k2', 'read_as_owner'),
    modelCall('k3', 'ask_first'),
    modelCall('k4', 'write_a'),
  ];

  it('write actions with the owner’s credentials are denied and other calls run', async () => {
    const { run, toolRound, tools } = scriptedRound(undefined, {
      writeAllowlist: ['tool-1:write_a', 'as_owner', 'tool-2:as_owner'],
    });
    const records = await run(...all);
    expect(records[0]).toMatchObject({ call_id: 'k1', status: 'denied', error_type: 'tool_not_allowed' });
    expect(toolRound.results.get('k1')).toContain('has not allowed');
    expect(tools.names).toEqual(['read_as_owner', 'write_a']);
    expect(toolRound.pending).toMatchObject([{ callId: 'k3' }]);
  });
  it('write actions on the owner’s allowlist run without an approval', async () => {
    const { run, toolRound } = scriptedRound(undefined, { writeAllowlist: ['tool-1:as_owner'] });
    expect(ids(await run(all[0]!))).toEqual(['k1 pending', 'k1 completed']);
    expect(toolRound.pending).toEqual([]);
  });
  it('a write action of the owner waits for approval as usual', async () => {
    const { run, toolRound } = scriptedRound();
    await run(all[0]!);
    expect(toolRound.pending).toMatchObject([{ callId: 'k1', pauseType: 'awaiting_approval' }]);
  });
});
