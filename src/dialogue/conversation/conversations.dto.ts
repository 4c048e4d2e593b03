import { IsOptional, IsString, Matches, Min, MaxLength } from 'class-validator';
import { Integer } from '../../platform/http/documented.js';

const CONVERSATION_NAME_CHARACTERS_MAX = 500;
const FEEDBACK_CHARACTERS_MAX = 2_000;

export class ConversationName {
  @IsString()
  id!: string;

  @IsString()
  @Matches(/\S/, { message: 'name must not be blank' })
  @MaxLength(CONVERSATION_NAME_CHARACTERS_MAX)
  name!: string;
}

export class Feedback {
  /** `like`, `dislike` or a text. Null removes an earlier rating. */
  @IsOptional()
  @IsString()
  @MaxLength(FEEDBACK_CHARACTERS_MAX)
  feedback?: string | null;

  @IsString()
  conversation_id!: string;

  @Integer()
  @Min(0)
  question_index!: number;
}
