import type { KeyRules } from './delivery.decider.js';

/** The settings of webhooks, for injection. */
export class WebhookOptions {
  constructor(
    /** Maximum size of a body, which is stored in the log and sent to a model. */
    readonly bodyBytesMax: number,
    readonly keyRules: KeyRules,
  ) {}
}
