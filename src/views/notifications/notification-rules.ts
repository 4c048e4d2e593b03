import type { NotificationRule } from '../../kernel/event-sourcing/notifications.js';

/** The notification rules of all modules. */
export class NotificationRules {
  constructor(readonly all: readonly NotificationRule[]) {}
}
