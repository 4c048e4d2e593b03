import { EPOCH_MS, type Simulation } from './simulation.js';

type Handle = Readonly<{ cancel: () => void; unref: () => Handle; ref: () => Handle }>;
type Callback = (...args: unknown[]) => void;

const handleOf = (cancel: () => void): Handle => {
  const handle: Handle = { cancel, unref: () => handle, ref: () => handle };
  return handle;
};

/**
 * Puts simulated time and chance in the place of the machine's for as long as a simulation runs, so that nothing of the machine
 * leaks into it: every timer belongs to the actor whose code asked for it, and dies with it. Returns how to undo it.
 */
export function virtualGlobals(simulation: Simulation): () => void {
  const random = simulation.random('globals');
  const later = (callback: Callback, ms = 0, ...args: unknown[]) =>
    handleOf(simulation.after(Math.max(1, ms), simulation.current, 'timer', () => callback(...args)));
  const repeatedly = (callback: Callback, ms = 1, ...args: unknown[]) => {
    const owner = simulation.current;
    let cancel = (): void => undefined;
    const again = () => {
      cancel = simulation.after(Math.max(1, ms), owner, 'interval', () => {
        again();
        callback(...args);
      });
    };
    again();
    return handleOf(() => cancel());
  };
  const call = (handle: Handle | undefined) => handle?.cancel();
  const RealDate = Date;
  class VirtualDate extends RealDate {
    constructor(...args: unknown[]) {
      super(...((args.length === 0 ? [VirtualDate.now()] : args) as [number]));
    }
    static override now = (): number => EPOCH_MS + Math.floor(simulation.nowMs);
  }
  const uuid = () => {
    const hex = (count: number) => Array.from({ length: count }, () => random.between(0, 15).toString(16)).join('');
    return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
  };
  const forbidden = (name: string) => () => {
    throw new Error(`${name} would leak the machine's time into the simulation.`);
  };
  const timeout = (ms: number) => {
    const controller = new AbortController();
    later(() => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms);
    return controller.signal;
  };
  const undo = [
    replaced(globalThis, 'setTimeout', later),
    replaced(globalThis, 'clearTimeout', call),
    replaced(globalThis, 'setInterval', repeatedly),
    replaced(globalThis, 'clearInterval', call),
    replaced(globalThis, 'setImmediate', forbidden('setImmediate')),
    replaced(globalThis, 'Date', VirtualDate),
    replaced(globalThis, 'performance', { now: () => simulation.nowMs }),
    replaced(globalThis, 'crypto', { randomUUID: uuid }),
    replaced(Math, 'random', () => random.next()),
    replaced(AbortSignal, 'timeout', timeout),
  ];
  return () => {
    for (const each of undo) each();
  };
}

function replaced(target: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return () => {
    if (before) Object.defineProperty(target, name, before);
    else Reflect.deleteProperty(target, name);
  };
}
