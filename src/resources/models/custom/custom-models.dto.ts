import { IsBoolean, IsObject, IsOptional, IsString } from 'class-validator';

/** A custom model in the words of clients; the room's policy says what each field may hold. */
export class NewCustomModel {
  @IsString() upstream_model_id!: string;
  @IsString() display_name!: string;
  @IsString() base_url!: string;
  @IsString() api_key!: string;
  @IsOptional() @IsString() description?: string | null;
  @IsOptional() @IsObject() capabilities?: Record<string, unknown> | null;
  @IsOptional() @IsBoolean() enabled?: boolean | null;
}

/** What is left out stays as it is; so does the key where it is empty. */
export class CustomModelEdit {
  @IsOptional() @IsString() upstream_model_id?: string | null;
  @IsOptional() @IsString() display_name?: string | null;
  @IsOptional() @IsString() base_url?: string | null;
  @IsOptional() @IsString() api_key?: string | null;
  @IsOptional() @IsString() description?: string | null;
  @IsOptional() @IsObject() capabilities?: Record<string, unknown> | null;
  @IsOptional() @IsBoolean() enabled?: boolean | null;
}

export class CustomModelTest {
  @IsString() upstream_model_id!: string;
  @IsString() base_url!: string;
  @IsString() api_key!: string;
  @IsOptional() @IsObject() capabilities?: Record<string, unknown> | null;
}

/** What is left out or empty is as it is stored. */
export class SavedCustomModelTest {
  @IsOptional() @IsString() upstream_model_id?: string | null;
  @IsOptional() @IsString() base_url?: string | null;
  @IsOptional() @IsString() api_key?: string | null;
  @IsOptional() @IsObject() capabilities?: Record<string, unknown> | null;
}
