import { IsEmail, IsIn, IsNotEmpty, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import type { TeamRole } from './team.events.js';

const NAME_CHARACTERS_MAX = 200;
const DESCRIPTION_CHARACTERS_MAX = 2_000;
const ID_CHARACTERS_MAX = 256;

const ROLES: readonly TeamRole[] = ['team_admin', 'team_member'];

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
