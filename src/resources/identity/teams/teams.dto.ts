import { Type } from 'class-transformer';
import { IsEmail, IsIn, IsISO8601, IsNotEmpty, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { Integer } from '../../../platform/http/documented.js';
import type { TeamRole } from './team.events.js';

const NAME_CHARACTERS_MAX = 200;
const DESCRIPTION_CHARACTERS_MAX = 2_000;
const ID_CHARACTERS_MAX = 256;

const ROLES: readonly TeamRole[] = ['team_admin', 'team_member'];

const TEAMS_PER_PAGE_MAX = 1_000;

/** The page of all teams. */
export class TeamsQuery {
  /** The maximum number of teams. Without it, all teams are listed. */
  @IsOptional() @Type(() => Number) @Integer() @Min(1) @Max(TEAMS_PER_PAGE_MAX) limit?: number;
  /** Only teams after this one: the `created_at` of the last team of the previous page. */
  @IsOptional() @IsISO8601({ strict: true }) after?: string;
  /** The `id` of that team. */
  @IsOptional() @IsString() @MaxLength(ID_CHARACTERS_MAX) after_id?: string;
}

export class NewTeamBody {
  @IsString() @Matches(/\S/, { message: 'name required' }) @MaxLength(NAME_CHARACTERS_MAX) name!: string;
  @IsOptional() @IsString() @MaxLength(DESCRIPTION_CHARACTERS_MAX) description?: string | null;
}

export class TeamEdit {
  @IsOptional() @IsString() @Matches(/\S/, { message: 'name must not be blank' }) @MaxLength(NAME_CHARACTERS_MAX) name?:
    | string
    | null;
  @IsOptional() @IsString() @MaxLength(DESCRIPTION_CHARACTERS_MAX) description?: string | null;
}

export class NewMember {
  @IsOptional() @IsEmail() @MaxLength(ID_CHARACTERS_MAX) email?: string | null;
  @IsOptional() @IsString() @IsNotEmpty() @MaxLength(ID_CHARACTERS_MAX) user_id?: string | null;
  @IsOptional() @IsIn(ROLES, { message: 'invalid role' }) role?: TeamRole | null;
}

export class MemberRole {
  @IsIn(ROLES, { message: 'invalid role' }) role!: TeamRole;
}

export class NewOwner {
  @IsString() @IsNotEmpty() @MaxLength(ID_CHARACTERS_MAX) user_id!: string;
}
