import { IsIn, IsNotEmpty, IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import type { GrantLevel } from '../identity/teams/team.events.js';

const ID_CHARACTERS_MAX = 256;

const LEVELS: readonly GrantLevel[] = ['viewer', 'editor'];
/** The resource types in requests, one for each family. */
export const RESOURCE_TYPES = ['agent', 'source', 'prompt', 'tool', 'workflow'] as const;

export type ResourceType = (typeof RESOURCE_TYPES)[number];

export class GrantBody {
  @IsIn(RESOURCE_TYPES, { message: 'invalid resource' }) resource_type!: ResourceType;
  @IsString({ message: 'invalid resource' }) @IsNotEmpty({ message: 'invalid resource' }) resource_id!: string;
  @IsOptional() @IsIn(LEVELS, { message: 'invalid access_level' }) access_level?: GrantLevel;
  @IsOptional() @IsString() @MaxLength(ID_CHARACTERS_MAX) target_user_id?: string | null;
}

/** The switches to change, by their names. */
export class ResourceSettingsBody {
  @IsIn(RESOURCE_TYPES, { message: 'invalid resource' }) resource_type!: ResourceType;
  @IsString({ message: 'invalid resource' }) @IsNotEmpty({ message: 'invalid resource' }) resource_id!: string;
  @IsObject() settings!: Record<string, unknown>;
}
