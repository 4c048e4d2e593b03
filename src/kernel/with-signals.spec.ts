import { once } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import { tracesIn } from '../../test/support/traces.js';
import { withSignals } from './with-signals.js';

const reasonOf = async (signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort');
  return String(signal.reason);
};

describe('work with several signals', () => {
  it.each([0, 1])('is aborted with the reason of signal %i', async (index) => {
    const sources = [new AbortController(), new AbortController()];
    const working = withSignals([...sources.map(({ signal }) => signal), undefined], reasonOf);
    sources[index]!.abort('reason');
    expect(await working).toBe('reason');
  });

  it('is aborted from the beginning if a signal is', async () => {
    const signals = [new AbortController().signal, AbortSignal.abort('before')];
    expect(await withSignals(signals, reasonOf)).toBe('before');
  });

  it('keeps the reason of the first of two aborts', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const reason = await withSignals([first.signal, second.signal], (signal) => {
      second.abort('sooner');
      first.abort('later');
      return reasonOf(signal);
    });
    expect(reason).toBe('sooner');
  });

  it('leaves nothing in signals that live longer, also when it fails', async () => {
    const { signal } = new AbortController();
    for (let call = 0; call < 100; call++) {
      await withSignals([signal, new AbortController().signal], () => Promise.resolve());
      await withSignals([signal, new AbortController().signal], () => Promise.reject(new Error('failed'))).catch(() => undefined);
      await withSignals([signal], () => {
        throw new Error('failed at once');
      }).catch(() => undefined);
    }
    expect(tracesIn(signal)).toBe(0);
  });

  it('may share a signal with much other work without a warning', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 20 }, () => withSignals([signal], () => Promise.resolve())));
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});
