import { describe, it } from '@jest/globals';
import { given } from '../../../test/support/given.js';
import { logSeals, sealEvents } from './log-seals.decider.js';
import type { LogSealed } from './log-seals.events.js';

const sealable = (after: string, upTo: string) => ({ after, upTo, events: [['agent-1', 0, 'ab']] }) as const;
const sealed = (number: number, after: string, upTo: string): LogSealed => ({
  type: 'LogSealed',
  data: { number, ...sealable(after, upTo) },
});

describe('a seal', () => {
  it('begins with the log', () => given(logSeals, []).when(sealEvents(sealable('-1', '7'))).then([sealed(1, '-1', '7')])); // oxfmt-ignore

  it('continues where the last one ends', () => {
    const past = [sealed(1, '-1', '7'), sealed(2, '7', '21')];
    given(logSeals, past).when(sealEvents(sealable('21', '28'))).then([sealed(3, '21', '28')]); // oxfmt-ignore
  });

  it('is not repeated after another process has sealed the same events', () =>
    given(logSeals, [sealed(1, '-1', '7')])
      .when(sealEvents(sealable('-1', '7')))
      .thenNothing());
});
