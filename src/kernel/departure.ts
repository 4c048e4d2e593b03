/** The part of `AbortSignal` that waiting code needs. It reports that a reader has disconnected, and takes little memory for each reader. */
export type Departure = Readonly<{
  aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}>;
