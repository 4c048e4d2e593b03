import { Rejection } from '../../../kernel/rejection.js';
import type { JsonObject } from '../../../resources/json-object.policy.js';

/** The rejection of a request because of one of its fields. */
export const refused = (param: string, why: string): Rejection => new Rejection('invalid-request', `${param} ${why}`, { param });

export const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

/** Unsupported options, each with a check for the values that are accepted because they change nothing in this request. */
export type OnlyValues = Readonly<Record<string, (value: unknown, body: JsonObject) => boolean>>;

const isName = (value: unknown): boolean => typeof value === 'string';
const hasNoTools = ({ tools }: JsonObject): boolean => isAbsent(tools) || (Array.isArray(tools) && tools.length === 0);

/**
 * The unsupported options of all requests. Identifiers for the caller's own records and hints for caches do not change an answer,
 * and options of tools change nothing in a request without tools.
 */
export const ONLY_VALUES: OnlyValues = {
  parallel_tool_calls: (value, body) => value === true || (value === false && hasNoTools(body)),
  prompt_cache_key: isName,
  prompt_cache_retention: isName,
  safety_identifier: isName,
  service_tier: (value) => value === 'auto' || value === 'default',
  tool_choice: (value, body) => value === 'auto' || (value === 'none' && hasNoTools(body)),
  top_logprobs: (value) => value === 0,
  user: isName,
};

/** @throws Rejection for the first field that is neither read nor has a value that changes nothing */
export function refuseUnread(body: JsonObject, read: readonly string[], only: OnlyValues): void {
  for (const [field, value] of Object.entries(body)) {
    if (read.includes(field) || isAbsent(value)) continue;
    if (!(Object.hasOwn(only, field) && only[field]!(value, body)))
      throw refused(field, 'is not supported, or not with this value.');
  }
}
