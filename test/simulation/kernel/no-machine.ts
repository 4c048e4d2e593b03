import { Cron } from 'croner';

type Replacement = readonly [target: object, name: string, value: unknown];

/**
 * Forbids the machine's time and randomness during a simulation, for libraries too. The returned function ends that.
 * @throws Error from that function if something was taken from the machine, even if the first error was caught
 */
export function withoutMachine(): () => void {
  const taken = new Set<string>();
  const forbidden = (name: string) => (): never => {
    taken.add(name);
    throw new Error(`${name} would leak the machine's time or chance into the simulation.`);
  };
  const noNow = forbidden('new Date()');
  class GivenDate extends Date {
    constructor(...args: unknown[]) {
      if (args.length === 0) noNow();
      super(...(args as [number]));
    }
    static override now = forbidden('Date.now');
  }
  const replacements: readonly Replacement[] = [
    ...['setTimeout', 'setInterval', 'setImmediate'].map((name): Replacement => [globalThis, name, forbidden(name)]),
    [globalThis, 'Date', GivenDate],
    [globalThis, 'performance', { now: forbidden('performance.now') }],
    [globalThis, 'crypto', { randomUUID: forbidden('crypto.randomUUID') }],
    [Math, 'random', forbidden('Math.random')],
    [AbortSignal, 'timeout', forbidden('AbortSignal.timeout')],
    [Cron.prototype, 'nextRun', nextRunAfter],
  ];
  const undo = replacements.map(replaced);
  return () => {
    for (const each of undo) each();
    if (taken.size > 0) throw new Error(`The simulation took of the machine: ${[...taken].join(', ')}.`);
  };
}

/**
 * The library's own function for a given time. It reads the machine's time in each call without using it, so that call is
 * replaced.
 */
function nextRunAfter(this: Cron, after: Date): Date | null {
  const nextTarget = Reflect.get(this, '_nextTarget') as (after: Date, now: Date) => Date | null;
  return nextTarget.call(this, after, after);
}

function replaced([target, name, value]: Replacement): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return () => {
    if (before) Object.defineProperty(target, name, before);
    else Reflect.deleteProperty(target, name);
  };
}
