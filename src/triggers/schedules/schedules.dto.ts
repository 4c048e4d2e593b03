import { Allow } from 'class-validator';
import type { DefinitionRequest } from './schedule/definition.policy.js';

/** The fields are not typed here: `definition.policy.ts` checks them, with the error messages that existing clients expect. */
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
