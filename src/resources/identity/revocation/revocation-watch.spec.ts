import { beforeEach, describe, expect, it } from '@jest/globals';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { VirtualTiming } from '../../../../test/support/virtual-timing.js';
import { CHECKED_EVERY_MS, RevocationWatch } from './revocation-watch.js';

let signals: InProcessSignals;
let timing: VirtualTiming;
let watch: RevocationWatch;
let stands: boolean | Error;
let asked: number;
let closed: string[];

const credential = (id: string) => ({
  id,
  subject: 'credential.t1',
  isValid: async () => {
    asked++;
    if (stands instanceof Error) throw stands;
    return id.endsWith('new') || stands;
  },
});
const reading = (name: string, id = 't1') => watch.watch(credential(id), () => closed.push(name));
/** A timer of the watch keeps nothing alive: it is due only while the test waits for something else. */
const aCheckLater = () => timing.pause(CHECKED_EVERY_MS + 1);

beforeEach(() => {
  signals = new InProcessSignals();
  timing = new VirtualTiming();
  watch = new RevocationWatch(signals, timing);
  [stands, asked, closed] = [true, 0, []];
});

describe('what is read with a credential', () => {
  it('is closed once the signal comes that it has ended', async () => {
    reading('one');
    stands = false;
    signals.publish('credential.t1', '');
    await new Promise(setImmediate);
    expect(closed).toEqual(['one']);
  });

  it('is closed without a signal, once the stores say so', async () => {
    reading('one');
    reading('two');
    await aCheckLater();
    expect(closed).toEqual([]);
    stands = false;
    await aCheckLater();
    await new Promise(setImmediate);
    expect(closed).toEqual(['one', 'two']);
  });

  it('goes on while the stores say nothing, and is closed when they do', async () => {
    reading('one');
    stands = new Error('away');
    await aCheckLater();
    await new Promise(setImmediate);
    expect(closed).toEqual([]);
    stands = false;
    await aCheckLater();
    await new Promise(setImmediate);
    expect(closed).toEqual(['one']);
  });

  it('with another secret of the same token goes on', async () => {
    reading('old', 't1.1');
    reading('fresh', 't1.new');
    stands = false;
    signals.publish('credential.t1', '');
    await new Promise(setImmediate);
    expect(closed).toEqual(['old']);
  });

  it('costs one question however many read with it, and none once all are gone', async () => {
    const leave = ['one', 'two', 'three'].map((name) => reading(name));
    signals.publish('credential.t1', '');
    await new Promise(setImmediate);
    expect(asked).toBe(1);
    for (const each of leave) each();
    signals.publish('credential.t1', '');
    await aCheckLater();
    expect([asked, closed]).toEqual([1, []]);
  });

  it('is watched again when a reader comes after all others have gone', async () => {
    reading('one')();
    reading('two');
    stands = false;
    signals.publish('credential.t1', '');
    await new Promise(setImmediate);
    expect(closed).toEqual(['two']);
  });
});
