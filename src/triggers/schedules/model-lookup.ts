import { Injectable } from '@nestjs/common';
import { Rejection } from '../../kernel/rejection.js';
import { LanguageModels } from '../../resources/models/model/language-model.port.js';
import { TEXT_CHARACTERS_MAX } from './schedule/definition.policy.js';

/** Whether what a schedule is to be run by is there when that is said. */
@Injectable()
export class ModelLookup {
  constructor(private readonly models: LanguageModels) {}

  /** What it is by now is not asked about again. What is no text is told by the definition. @throws Rejection invalid-schedule */
  async require(modelId: unknown, ownerId: string, before: string | null = null): Promise<void> {
    if (typeof modelId !== 'string' || modelId === '' || modelId.length > TEXT_CHARACTERS_MAX || modelId === before) return;
    if (!(await this.models.has(modelId, ownerId))) {
      throw new Rejection('invalid-schedule', `model_id names no model of this service: ${modelId}`);
    }
  }
}
