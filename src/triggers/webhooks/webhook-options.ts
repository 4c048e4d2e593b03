import type { KeyRules } from './delivery.decider.js';

/** What webhooks need to know of the configuration. */
export class WebhookOptions {
  constructor(
    /** No larger body is accepted: it goes into the log, and to a model. */
    readonly bodyBytesMax: number,
    readonly keyRules: KeyRules,
  ) {}
}
