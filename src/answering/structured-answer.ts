import { Injectable } from '@nestjs/common';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** Compiled schemas are kept for so many agents; the oldest goes first. */
export const SCHEMAS_MAX = 100;

/** Judges a structured answer by the schema of its agent, which was checked when the agent was saved. */
@Injectable()
export class StructuredAnswers {
  private readonly compiled = new Map<string, ValidateFunction>();

  isValid(schema: object, answer: string): boolean {
    try {
      return this.validatorOf(schema)(JSON.parse(answer));
    } catch {
      // Not JSON, hence not an answer in the schema.
      return false;
    }
  }

  private validatorOf(schema: object): ValidateFunction {
    const key = JSON.stringify(schema);
    let validate = this.compiled.get(key);
    if (!validate) {
      const ajv = new Ajv2020({ strict: false });
      addFormats.default(ajv);
      validate = ajv.compile(schema);
      if (this.compiled.size >= SCHEMAS_MAX) this.compiled.delete(this.compiled.keys().next().value!);
      this.compiled.set(key, validate);
    }
    return validate;
  }
}
