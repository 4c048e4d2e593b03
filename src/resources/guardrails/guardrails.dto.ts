import { Type } from 'class-transformer';
import { IsOptional, IsString, Max, Min } from 'class-validator';
import { Integer } from '../../platform/http/documented.js';

export const EVENTS_PER_PAGE = 100;
export const EVENTS_PER_PAGE_MAX = 500;
export const SUMMARY_DAYS = 30;
export const SUMMARY_DAYS_MAX = 365;

/** Selects the decisions to list. */
export class GuardrailEventsQuery {
  @IsOptional() @IsString() agent_id?: string;
  @IsOptional() @Type(() => Number) @Integer() @Min(1) @Max(EVENTS_PER_PAGE_MAX) limit?: number;
  @IsOptional() @Type(() => Number) @Integer() @Min(0) @Max(Number.MAX_SAFE_INTEGER) offset?: number;
}

/** Selects the decisions to count. */
export class GuardrailSummaryQuery {
  @IsOptional() @IsString() agent_id?: string;
  @IsOptional() @Type(() => Number) @Integer() @Min(1) @Max(SUMMARY_DAYS_MAX) days?: number;
}
