import { describe, expect, it } from '@jest/globals';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';
import { signalsContract } from './signals.contract.js';

describe('signals in one process', () => {
  signalsContract(async () => {
    const errors: unknown[] = [];
    const signals = new InProcessSignals((error) => errors.push(error));
    return { here: signals, there: signals, errors, settled: async () => undefined, close: async () => undefined };
  });

  it('are always healthy', () => expect(new InProcessSignals().healthy).toBe(true));
});
