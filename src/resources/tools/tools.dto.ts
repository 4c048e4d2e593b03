import { IsArray, IsBoolean, IsNotEmpty, IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { TOOL_DESCRIPTION_CHARACTERS_MAX, TOOL_NAME_CHARACTERS_MAX } from './toolbox/definition.policy.js';

export class NewTool {
  @IsString() @IsNotEmpty() @MaxLength(TOOL_NAME_CHARACTERS_MAX) name!: string;
  @IsString() @IsNotEmpty() @MaxLength(TOOL_NAME_CHARACTERS_MAX) displayName!: string;
  @IsString() @MaxLength(TOOL_DESCRIPTION_CHARACTERS_MAX) description!: string;
  @IsObject() config!: Record<string, unknown>;
  @IsBoolean() status!: boolean;
  @IsOptional() @IsString() @MaxLength(TOOL_NAME_CHARACTERS_MAX) customName?: string | null;
}

export class ToolEdit {
  @IsString() @IsNotEmpty() id!: string;
  @IsOptional() @IsString() @IsNotEmpty() @MaxLength(TOOL_NAME_CHARACTERS_MAX) displayName?: string | null;
  @IsOptional() @IsString() @MaxLength(TOOL_NAME_CHARACTERS_MAX) customName?: string | null;
  @IsOptional() @IsString() @MaxLength(TOOL_DESCRIPTION_CHARACTERS_MAX) description?: string | null;
  @IsOptional() @IsArray() actions?: unknown[] | null;
  @IsOptional() @IsObject() config?: Record<string, unknown> | null;
  @IsOptional() @IsBoolean() status?: boolean | null;
}

export class ToolConfigEdit {
  @IsString() @IsNotEmpty() id!: string;
  @IsObject() config!: Record<string, unknown>;
}

export class ToolActionsEdit {
  @IsString() @IsNotEmpty() id!: string;
  @IsArray() actions!: unknown[];
}

export class ToolStatusEdit {
  @IsString() @IsNotEmpty() id!: string;
  @IsBoolean() status!: boolean;
}

export class ToolIdOnly {
  @IsString() @IsNotEmpty() id!: string;
}
