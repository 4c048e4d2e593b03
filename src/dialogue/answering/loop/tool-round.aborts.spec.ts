import { describe, expect, it } from '@jest/globals';
import { modelCall, scriptedRound } from '../../../../test/support/tool-rounds.js';
import { ToolFailed } from '../../../resources/tools/toolbox/tool-kind.port.js';
import { OUTCOME_UNKNOWN_TEXT } from '../../conversation/tool-call.policy.js';

describe('a round that is aborted', () => {
  const stopping = (reason: string) => {
    const aborting: ReturnType<typeof scriptedRound> = scriptedRound(({ name, context }) => {
      aborting.controller.abort(reason);
      if (context.signal.aborted) throw new ToolFailed('The call was stopped.');
      return `${name} done`;
    });
    return aborting;
  };
  it('by a stop ends reads, begins no further call, and waits for a started write', async () => {
    const reading = stopping('stopped');
    expect(await reading.run(modelCall('r1', 'read_a'), modelCall('w1', 'write_a'))).toMatchObject([
      { status: 'pending' },
      { call_id: 'r1', status: 'error' },
    ]);
    const writing = stopping('stopped');
    const records = await writing.run(modelCall('w1', 'write_a'), modelCall('w2', 'write_b'));
    expect(records).toMatchObject([{ status: 'pending' }, { call_id: 'w1', status: 'completed' }]);
    expect(writing.happened).toContain('finish w1 completed write_a done');
  });
  it('by the shutdown of the process abandons a write, whose outcome is then unknown', async () => {
    const { run, happened, toolRound } = stopping('interrupted');
    expect((await run(modelCall('w1', 'write_a')))[1]).toMatchObject({ status: 'error', error_type: 'outcome_unknown' });
    expect(happened.filter((each) => each.startsWith('finish'))).toEqual([]);
    expect(toolRound.results.get('w1')).toBe(OUTCOME_UNKNOWN_TEXT);
  });
  it('by the shutdown of the process records a write that still completed', async () => {
    const { run, controller }: ReturnType<typeof scriptedRound> = scriptedRound(() => {
      controller.abort('interrupted');
      return 'sent';
    });
    expect((await run(modelCall('w1', 'write_a')))[1]).toMatchObject({ status: 'completed', result: 'sent' });
  });
  it.each(['stopped', 'interrupted'])(
    'while the start of a write is being recorded (%s) does not run the write',
    async (reason) => {
      const aborting: ReturnType<typeof scriptedRound> = scriptedRound(undefined, {
        ledger: {
          begin: async () => aborting.controller.abort(reason),
          finish: async (callId, status) => void aborting.happened.push(`finish ${callId} ${status}`),
        },
      });
      const [, record] = await aborting.run(modelCall('w1', 'write_a'));
      expect(record).toMatchObject({ status: 'error', error: expect.stringContaining('before the call was run') as unknown });
      expect(aborting.tools.names).toEqual([]);
      expect(aborting.happened).toContain('finish w1 error');
    },
  );
  it('removes all its abort listeners', async () => {
    const { run, controller } = scriptedRound();
    const added = { count: 0 };
    const { signal } = controller;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...given: Parameters<typeof add>) => (added.count++, add(...given));
    signal.removeEventListener = (...given: Parameters<typeof remove>) => (added.count--, remove(...given));
    await run(modelCall('w1', 'write_a'), modelCall('w2', 'write_b'), modelCall('r1', 'read_a'));
    expect(added.count).toBe(0);
  });
});
