/** Acts because time has passed: asks a read model what is due and sends ordinary commands, which make doubles harmless. */
export type Ticker = Readonly<{
  name: string;
  everyMs: number;
  tick(now: Date): Promise<void>;
}>;
