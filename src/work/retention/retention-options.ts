/** What retention needs to know of the configuration. */
export class RetentionOptions {
  constructor(readonly everyMs: number) {}
}
