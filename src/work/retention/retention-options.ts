/** The configuration of the retention. */
export class RetentionOptions {
  constructor(readonly everyMs: number) {}
}
