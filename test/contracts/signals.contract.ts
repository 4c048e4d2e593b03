import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { SIGNAL_BYTES_MAX, type Signals } from '../../src/kernel/messaging/signals.js';
import { eventually } from '../support/eventually.js';

/** `here` and `there` are two parts of the service, in two processes if the adapter spans processes. */
export type SignalsUnderTest = Readonly<{
  here: Signals;
  there: Signals & { readonly subjects: number };
  errors: readonly unknown[];
  /** Resolves once all earlier subscriptions are effective everywhere. */
  settled: () => Promise<void>;
  close: () => Promise<void>;
}>;

export function signalsContract(setUp: () => Promise<SignalsUnderTest>): void {
  let signals: SignalsUnderTest;
  beforeAll(async () => (signals = await setUp()));
  afterAll(() => signals.close());

  /** Collects the payloads that arrive at `there` for a subject, in order. */
  async function listen(subject: string): Promise<{ heard: string[]; leave: () => void }> {
    const heard: string[] = [];
    const leave = signals.there.subscribe(subject, (payload) => void heard.push(payload));
    await signals.settled();
    return { heard, leave };
  }

  it('deliver every payload to each listener of the subject, in order, and to no other listener', async () => {
    const one = await listen('message.1');
    const two = await listen('message.1');
    const other = await listen('message.2');
    for (let n = 0; n < 100; n++) signals.here.publish('message.1', `${n}`);
    await eventually(() => one.heard.length === 100 && two.heard.length === 100);
    const all = Array.from({ length: 100 }, (_, n) => `${n}`);
    expect([one.heard, two.heard, other.heard]).toEqual([all, all, []]);
    for (const { leave } of [one, two, other]) leave();
  });

  it('do not call a listener after it has unsubscribed, but still call the others', async () => {
    const leaver = await listen('left');
    const stayer = await listen('left');
    leaver.leave();
    leaver.leave();
    signals.here.publish('left', 'x');
    await eventually(() => stayer.heard.length === 1);
    expect(leaver.heard).toEqual([]);
    stayer.leave();
  });

  it('let a listener unsubscribe, and another subscribe, during a call', async () => {
    const heard: string[] = [];
    const again = () => signals.there.subscribe('turnstile', (payload) => void heard.push(`second ${payload}`));
    let second: (() => void) | undefined;
    const first = signals.there.subscribe('turnstile', (payload) => {
      heard.push(`first ${payload}`);
      first();
      second = again();
    });
    await signals.settled();
    signals.here.publish('turnstile', 'a');
    await eventually(() => second !== undefined);
    await signals.settled();
    signals.here.publish('turnstile', 'b');
    await eventually(() => heard.length === 2);
    expect(heard).toEqual(['first a', 'second b']);
    second?.();
  });

  it('return from publishing before any listener runs', async () => {
    const { heard, leave } = await listen('later');
    signals.here.publish('later', 'x');
    expect(heard).toEqual([]);
    await eventually(() => heard.length === 1);
    leave();
  });

  it('protect the publisher and other listeners from a listener that throws', async () => {
    const fail = signals.there.subscribe('failing', () => {
      throw new Error('A listener failed.');
    });
    const { heard, leave } = await listen('failing');
    signals.here.publish('failing', 'x');
    signals.here.publish('failing', 'y');
    await eventually(() => heard.length === 2);
    expect(signals.errors).toHaveLength(2);
    fail();
    leave();
  });

  it.each(['with space', 'a..b', '.', 'wild.*.card', 'all.>', 'ünï.cödé', 'user@example.org', 'x'.repeat(10_000), ''])(
    'accept any text as a subject: %p',
    async (subject) => {
      const { heard, leave } = await listen(subject);
      const similar = await listen(`${subject}x`);
      signals.here.publish(subject, 'ünï\u0000\n"{}"');
      await eventually(() => heard.length === 1);
      expect(heard).toEqual(['ünï\u0000\n"{}"']);
      expect(similar.heard).toEqual([]);
      leave();
      similar.leave();
    },
  );

  it('silently drop a payload over the limit, and deliver one at the limit', async () => {
    const { heard, leave } = await listen('large');
    signals.here.publish('large', 'x'.repeat(SIGNAL_BYTES_MAX + 1));
    signals.here.publish('large', 'x'.repeat(SIGNAL_BYTES_MAX));
    await eventually(() => heard.length === 1);
    expect(heard[0]).toHaveLength(SIGNAL_BYTES_MAX);
    leave();
  });

  it('keep nothing of a listener that has unsubscribed', async () => {
    for (let n = 0; n < 1_000; n++) signals.there.subscribe(`coming-and-going.${n % 10}`, () => undefined)();
    expect(signals.there.subjects).toBe(0);
  });
}
