import { Allow } from 'class-validator';
import type { DefinitionRequest } from './schedule/definition.policy.js';

/** The rules of the definition check each field, in the words that clients know. */
export class ScheduleBody implements DefinitionRequest {
  @Allow() name?: unknown;
  @Allow() instruction?: unknown;
  @Allow() trigger_type?: unknown;
  @Allow() timezone?: unknown;
  @Allow() cron?: unknown;
  @Allow() run_at?: unknown;
  @Allow() end_at?: unknown;
  @Allow() tool_allowlist?: unknown;
  @Allow() model_id?: unknown;
  @Allow() token_budget?: unknown;
}

export class ScheduleAction {
  @Allow() action?: unknown;
  @Allow() run_at?: unknown;
}
