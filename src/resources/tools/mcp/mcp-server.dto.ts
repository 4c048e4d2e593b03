import { IsBoolean, IsNotEmpty, IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { TOOL_NAME_CHARACTERS_MAX } from '../toolbox/definition.policy.js';

export class McpServerTrial {
  /** The id of an existing tool, whose stored secrets replace missing ones. */
  @IsOptional() @IsString() id?: string | null;
  @IsObject() config!: Record<string, unknown>;
}

export class McpServerWish extends McpServerTrial {
  @IsString() @IsNotEmpty() @MaxLength(TOOL_NAME_CHARACTERS_MAX) displayName!: string;
  @IsOptional() @IsBoolean() status?: boolean | null;
}

export class SignInReply {
  @IsOptional() @IsString() @MaxLength(4096) code?: string;
  @IsOptional() @IsString() @MaxLength(512) state?: string;
  @IsOptional() @IsString() @MaxLength(2048) iss?: string;
  @IsOptional() @IsString() @MaxLength(2048) error?: string;
}
