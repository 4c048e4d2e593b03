import { load } from 'js-yaml';
import { Rejection } from '../../../kernel/rejection.js';
import { isJsonObject } from '../../json-object.policy.js';

export type Json = Readonly<Record<string, unknown>>;

const SPEC_NESTING_MAX = 100;
/** An alias of YAML may stand for a list of aliases, so an unlimited number could expand to a huge document. */
const SPEC_ALIASES_MAX = 100;

const refused = (text: string) => new Rejection('invalid-request', text);

/** Parses an API description in JSON or YAML. @throws Rejection invalid-request */
export function specDocument(text: string): Json {
  const document = /^\s*\{/.test(text) ? (asJson(text) ?? asYaml(text)) : asYaml(text);
  if (!isJsonObject(document)) throw refused('The specification must be an object.');
  const version = document['openapi'] ?? document['swagger'];
  if (typeof version !== 'string' || !/^(3\.[01]|2\.0)/.test(version)) {
    throw refused('The specification must be OpenAPI 3.0 or 3.1, or Swagger 2.0.');
  }
  return document;
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function asYaml(text: string): unknown {
  try {
    return load(text, { maxDepth: SPEC_NESTING_MAX, maxAliases: SPEC_ALIASES_MAX });
  } catch (error) {
    throw refused(`The specification is neither JSON nor YAML: ${(error as Error).message.split('\n', 1)[0]}`);
  }
}
