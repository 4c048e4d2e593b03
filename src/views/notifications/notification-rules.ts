import type { NotificationRule } from '../../kernel/event-sourcing/notifications.js';

/** What users are notified of when events of all rooms happen. */
export class NotificationRules {
  constructor(readonly all: readonly NotificationRule[]) {}
}
