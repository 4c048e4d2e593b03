/** Says that somebody has gone, as much like an `AbortSignal` as those need who wait. Each of many readers has one: it is made of little. */
export type Departure = Readonly<{
  aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}>;
