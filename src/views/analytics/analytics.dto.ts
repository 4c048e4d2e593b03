import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { FILTER_OPTIONS } from './buckets.policy.js';

const ID_CHARACTERS_MAX = 200;
const SEARCH_CHARACTERS_MAX = 500;

export const GROUPINGS = ['none', 'model', 'agent', 'source'] as const;
export const LOG_LEVELS = ['info', 'error', 'warning'] as const;
export const LOG_EVENT_TYPES = ['chat', 'schedule', 'webhook', 'workflow', 'system'] as const;

class OfAgent {
  @ApiProperty({ required: false, description: 'The id of one of the caller’s agents. Default: everything of the caller' })
  @IsOptional()
  @IsString()
  @MaxLength(ID_CHARACTERS_MAX)
  api_key_id?: string | null;
}

/** The period of the numbers, and the agent. */
export class AnalyticsRequest extends OfAgent {
  @ApiProperty({ required: false, enum: FILTER_OPTIONS, default: 'last_30_days' })
  @IsOptional()
  filter_option?: unknown;
}

export class TokenAnalyticsRequest extends AnalyticsRequest {
  @ApiProperty({ required: false, enum: GROUPINGS, default: 'none' })
  @IsOptional()
  group_by?: unknown;

  @ApiProperty({
    required: false,
    type: Boolean,
    default: true,
    description: 'Include the tokens that evaluate the conditions of monitors',
  })
  @IsOptional()
  include_side_channel?: unknown;
}

/** The filter and the page of log entries. */
export class UserLogsRequest extends OfAgent {
  @ApiProperty({ required: false, type: Number, default: 1 })
  @IsOptional()
  page?: unknown;

  @ApiProperty({ required: false, type: Number, default: 10, description: 'More than 100 has the effect of 100' })
  @IsOptional()
  page_size?: unknown;

  @ApiProperty({ required: false, enum: LOG_LEVELS })
  @IsOptional()
  level?: unknown;

  @ApiProperty({ required: false, enum: LOG_EVENT_TYPES })
  @IsOptional()
  event_type?: unknown;

  @ApiProperty({ required: false, description: 'A part of the question or the name' })
  @IsOptional()
  @IsString()
  @MaxLength(SEARCH_CHARACTERS_MAX)
  search?: string | null;
}
