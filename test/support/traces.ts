import { getEventListeners } from 'node:events';

/** The number of listeners of a signal and of signals that `AbortSignal.any` has made of it and that it still keeps. */
export function tracesIn(signal: AbortSignal): number {
  const key = Object.getOwnPropertySymbols(signal).find(({ description }) => description === 'kDependantSignals');
  const dependants = key && (signal as unknown as Record<symbol, Set<unknown> | undefined>)[key];
  return getEventListeners(signal, 'abort').length + (dependants?.size ?? 0);
}
