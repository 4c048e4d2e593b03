import type { MonitorRecord } from '../../../../projections/monitors/monitors.queries.js';
import { durationText } from './durations.policy.js';
import type { MonitorCheck } from './monitor.events.js';
import { targetText, watchingText } from './monitor-words.policy.js';

/** A monitor in the form that clients and models receive. */
export type MonitorView = ReturnType<typeof monitorView>;

export function monitorView({ definition, ...monitor }: MonitorRecord) {
  const { source, intervalSeconds, followUpsMax } = definition;
  return {
    monitor_id: monitor.id,
    description: definition.description,
    status: monitor.status,
    source_type: source.type,
    watching: watchingText(source),
    target: targetText(source),
    check: checkView(definition.check),
    condition: definition.condition,
    on_match: definition.onMatch,
    interval: durationText(intervalSeconds),
    interval_seconds: intervalSeconds,
    conversation_id: monitor.conversationId,
    agent_id: monitor.agentId,
    created_at: monitor.createdAt.toISOString(),
    expires_at: monitor.expiresAt.toISOString(),
    next_check_at: text(monitor.nextCheckAt),
    last_checked_at: text(monitor.lastCheckedAt),
    last_changed_at: text(monitor.lastChangedAt),
    last_woken_at: text(monitor.lastFollowUpAt),
    check_count: monitor.checkCount,
    wake_count: monitor.followUpCount,
    max_wakes: followUpsMax,
    wakes_left: Math.max(0, followUpsMax - monitor.followUpCount),
    last_error: monitor.lastError,
    paused_reason: monitor.pausedReason,
    approval_required: false,
    links: [],
  };
}

const text = (date: Date | null): string | null => date?.toISOString() ?? null;

/** The check with the field names of the request; fields that are not set are left out. */
function checkView(check: MonitorCheck): object {
  switch (check.type) {
    case 'changed':
      return check;
    case 'new_items':
      return { type: check.type, ...given('items_path', check.itemsPath), ...given('id_field', check.idField) };
    case 'regex':
      return check;
    case 'threshold': {
      const { type, valuePath, op, value } = check;
      return { type, ...given('value_path', valuePath), op, value };
    }
    case 'status':
      return { type: check.type, ...given('value_path', check.valuePath), terminal: check.terminal };
  }
}

const given = (name: string, value: string | null): object => (value === null ? {} : { [name]: value });
