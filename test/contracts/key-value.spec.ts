import { describe, expect, it } from '@jest/globals';
import { InProcessKeyValue } from '../../src/platform/messaging/key-value/in-process-key-value.js';
import { keyValueContract } from './key-value.contract.js';

describe('key-value in one process', () => {
  keyValueContract(async () => {
    let now = 0;
    const keyValue = new InProcessKeyValue(() => now);
    return { here: keyValue, there: keyValue, ahead: (ms) => void (now = ms), close: async () => undefined };
  });

  it('drops expired values that no caller reads again', async () => {
    let now = 0;
    const keyValue = new InProcessKeyValue(() => now);
    for (let n = 0; n < 100_000; n++) {
      now += 1;
      await keyValue.put(`window.${n}`, 'x', { ttlMs: 100 });
    }
    expect(keyValue.size).toBeLessThan(2_048);
  });

  it('drops large expired values before many of them have added up', async () => {
    let now = 0;
    const keyValue = new InProcessKeyValue(() => now);
    const value = 'x'.repeat(100_000);
    for (let n = 0; n < 500; n++) {
      now += 1;
      await keyValue.put(`transcript.${n}`, value, { ttlMs: 2 });
    }
    expect(keyValue.size).toBeLessThan(20);
  });

  it('sweeps rarely while nothing expires', async () => {
    let readings = 0;
    const keyValue = new InProcessKeyValue(() => ++readings);
    for (let n = 0; n < 100_000; n++) await keyValue.put(`window.${n}`, 'x');
    expect([keyValue.size, readings < 500_000]).toEqual([100_000, true]);
  });
});
