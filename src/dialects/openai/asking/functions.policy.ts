import { isAbsent, refused } from './refusals.policy.js';
import { isJsonObject, type JsonObject } from '../../../resources/json-object.policy.js';

/** A function of the caller. `strict` has no effect: the service does not check that arguments match the schema. */
export type CallersFunction = Readonly<{ declared: JsonObject; ignored: readonly string[] }>;

/** The function that is declared at `place` in the request. @throws Rejection invalid-request, which names the wrong field */
export function functionOf({ name, description, parameters, strict }: JsonObject, place: string): CallersFunction {
  if (typeof name !== 'string' || name === '') throw refused(`${place}.name`, 'must be a string.');
  if (!isAbsent(description) && typeof description !== 'string') throw refused(`${place}.description`, 'must be a string.');
  if (!isAbsent(parameters) && !isJsonObject(parameters)) throw refused(`${place}.parameters`, 'must be an object.');
  if (!isAbsent(strict) && typeof strict !== 'boolean') throw refused(`${place}.strict`, 'must be a boolean.');
  return {
    declared: { name, ...(description && { description }), ...(parameters && { parameters }) },
    ignored: strict === true ? [`${place}.strict`] : [],
  };
}
