import { IsBoolean, IsObject, IsOptional, IsString } from 'class-validator';

/** A custom model as clients send it; `custom-model.policy.ts` checks the values. */
export class NewCustomModel {
  @IsString() upstream_model_id!: string;
  @IsString() display_name!: string;
  @IsString() base_url!: string;
  @IsString() api_key!: string;
  @IsOptional() @IsString() description?: string | null;
  @IsOptional() @IsObject() capabilities?: Record<string, unknown> | null;
  @IsOptional() @IsBoolean() enabled?: boolean | null;
}

/** Omitted fields stay as they are; so does the key if `api_key` is empty. */
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

/** An omitted or empty field is taken from the saved model. */
export class SavedCustomModelTest {
  @IsOptional() @IsString() upstream_model_id?: string | null;
  @IsOptional() @IsString() base_url?: string | null;
  @IsOptional() @IsString() api_key?: string | null;
  @IsOptional() @IsObject() capabilities?: Record<string, unknown> | null;
}
