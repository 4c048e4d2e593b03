import { Injectable } from '@nestjs/common';
import { Rejection } from '../../kernel/rejection.js';
import { LanguageModels } from '../../resources/models/model/language-model.port.js';
import { TEXT_CHARACTERS_MAX } from './schedule/definition.policy.js';

/** Checks that a schedule's model exists when the schedule is created or changed. */
@Injectable()
export class ModelLookup {
  constructor(private readonly models: LanguageModels) {}

  /**
   * Does not check an unchanged model (`before`) again. Invalid texts are left to `definition.policy.ts`. @throws Rejection
   * invalid-schedule
   */
  async require(modelId: unknown, ownerId: string, before: string | null = null): Promise<void> {
    if (typeof modelId !== 'string' || modelId === '' || modelId.length > TEXT_CHARACTERS_MAX || modelId === before) return;
    if (!(await this.models.has(modelId, ownerId))) {
      throw new Rejection('invalid-schedule', `model_id names no model of this service: ${modelId}`);
    }
  }
}
