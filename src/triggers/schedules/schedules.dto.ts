import { ApiProperty } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import {
  type DefinitionRequest,
  INSTRUCTION_CHARACTERS_MAX,
  SCHEDULE_NAME_CHARACTERS_MAX,
  TEXT_CHARACTERS_MAX,
  TOOL_ALLOWLIST_ENTRIES_MAX,
} from './schedule/definition.policy.js';

const Text = (maxLength?: number, more: object = {}): PropertyDecorator =>
  ApiProperty({ required: false, type: String, nullable: true, ...(maxLength !== undefined && { maxLength }), ...more });

/** The fields have no rules here: `definition.policy.ts` checks them, with the error messages that existing clients expect. */
export class ScheduleBody implements DefinitionRequest {
  @Text(SCHEDULE_NAME_CHARACTERS_MAX)
  @Allow()
  name?: unknown;

  @ApiProperty({ required: false, type: String, maxLength: INSTRUCTION_CHARACTERS_MAX, pattern: '\\S' })
  @Allow()
  instruction?: unknown;

  @ApiProperty({
    required: false,
    type: String,
    enum: ['recurring', 'once'],
    default: 'recurring',
    description: 'Ignored when a schedule is changed',
  })
  @Allow()
  trigger_type?: unknown;

  @ApiProperty({ required: false, type: String, maxLength: TEXT_CHARACTERS_MAX, default: 'UTC', description: 'An IANA zone' })
  @Allow()
  timezone?: unknown;

  @Text(undefined, { description: 'Only for recurring schedules' })
  @Allow()
  cron?: unknown;

  @Text(undefined, { description: 'Only for one-time schedules' })
  @Allow()
  run_at?: unknown;

  @Text(undefined, { description: 'Only for recurring schedules' })
  @Allow()
  end_at?: unknown;

  @ApiProperty({ required: false, type: [String], maxItems: TOOL_ALLOWLIST_ENTRIES_MAX })
  @Allow()
  tool_allowlist?: unknown;

  @Text(TEXT_CHARACTERS_MAX)
  @Allow()
  model_id?: unknown;

  @ApiProperty({ required: false, type: 'integer', nullable: true, minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
  @Allow()
  token_budget?: unknown;
}

export class ScheduleAction {
  @ApiProperty({ required: true, type: String, enum: ['pause', 'resume'] })
  @Allow()
  action?: unknown;

  @Text(undefined, { description: 'With `resume`: the new time of a one-time schedule' })
  @Allow()
  run_at?: unknown;
}
