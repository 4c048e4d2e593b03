import { Type } from 'class-transformer';
import { IsISO8601, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { Integer } from '../../platform/http/documented.js';

export const PAGE_DEFAULT = 100;
export const PAGE_MAX = 1_000;
const TEXT_CHARACTERS_MAX = 500;

/** The filter and the page of events of the log. An event must meet all conditions. */
export class AuditEventsQuery {
  @IsOptional()
  @IsString()
  @MaxLength(TEXT_CHARACTERS_MAX)
  stream?: string;

  @IsOptional()
  @IsString()
  @MaxLength(TEXT_CHARACTERS_MAX)
  type?: string;

  /** `user:<id>`, `access-token:<id>`, `agent-key:<id>`, `webhook:<agent>`, `device:<id>`, `link:<id>` or `system:<name>`. */
  @IsOptional()
  @IsString()
  @MaxLength(TEXT_CHARACTERS_MAX)
  actor?: string;

  /** The id of the request that started the chain of events. */
  @IsOptional()
  @IsString()
  @MaxLength(TEXT_CHARACTERS_MAX)
  correlation?: string;

  /** Recorded at this time or later: a calendar date of ISO 8601, in UTC without an offset. */
  @IsOptional()
  @IsISO8601({ strict: true })
  from?: string;

  /** Recorded before this time. */
  @IsOptional()
  @IsISO8601({ strict: true })
  to?: string;

  /** Only events after this position of the log: the `next` of the previous page. */
  @IsOptional()
  @Matches(/^\d{1,19}$/, { message: 'after must be a position: a whole number' })
  after?: string;

  /** The maximum number of events. The default is 100 for a page and unlimited for NDJSON. A page of large events has fewer. */
  @IsOptional()
  @Type(() => Number)
  @Integer()
  @Min(1)
  @Max(PAGE_MAX)
  limit?: number;
}
