import type { ErrorObject } from 'ajv/dist/2020.js';
import { compiledSchema, type SchemaErrors, SchemaWithoutEnd } from '../../models/model/compiled-schema.policy.js';
import { modelParameters } from './action.policy.js';
import type { ActionDefinition } from './tool.events.js';
import { isBeyondNumbers } from '../../exact-json.policy.js';
import { isJsonObject } from '../../json-object.policy.js';

export const PARAMETERS_DEPTH_MAX = 40;
/** The maximum number of converted values in one call. */
export const MENDED_MAX = 20;

type Schema = Readonly<Record<string, unknown>>;

/** Keywords that are not checked: regular expressions, which may take very long, and keywords about the schema itself. */
const UNCHECKED: ReadonlySet<string> = new Set(['pattern', 'patternProperties', 'format', '$schema', '$id', 'id']);
/** Forms of keywords from earlier drafts of JSON Schema and from OpenAPI 3.0, which cannot be compiled and are not checked either. */
const EARLIER: ReadonlyMap<string, (value: unknown, schema: Schema) => boolean> = new Map([
  ['items', Array.isArray],
  ['exclusiveMinimum', (value: unknown) => typeof value === 'boolean'],
  ['exclusiveMaximum', (value: unknown) => typeof value === 'boolean'],
  ['nullable', (_: unknown, { type }: Schema) => type === undefined],
]);
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required', 'dependentRequired']);
const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

/** The part of a schema that is checked here; the called service checks the rest. */
function checkable(node: unknown, depth = 0): unknown {
  if (depth > PARAMETERS_DEPTH_MAX) throw new RangeError(`They are nested deeper than ${PARAMETERS_DEPTH_MAX} levels.`);
  if (Array.isArray(node)) return node.map((each) => checkable(each, depth + 1));
  if (!isJsonObject(node)) return node;
  const kept = Object.entries(node).filter(([keyword, value]) => !UNCHECKED.has(keyword) && !EARLIER.get(keyword)?.(value, node));
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (DATA.has(keyword)) return [keyword, value];
      if (!SCHEMAS_BY_NAME.has(keyword) || !isJsonObject(value)) return [keyword, checkable(value, depth + 1)];
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, checkable(each, depth + 1)]))];
    }),
  );
}

/** The compiled schema of each definition. Definitions are immutable, so the entry is valid as long as its definition exists. */
const compiled = new WeakMap<ActionDefinition, SchemaErrors>();

function compiledOf(action: ActionDefinition): SchemaErrors {
  const known = compiled.get(action);
  if (known) return known;
  const errorsOf = compiledSchema(checkable(modelParameters(action)) as Schema, { validateSchema: false, verbose: true });
  compiled.set(action, errorsOf);
  return errorsOf;
}

/** The reason why the parameters of an action cannot be compiled to a check; undefined if they can. */
export function problemOfParameters(action: ActionDefinition): string | undefined {
  try {
    compiledOf(action);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Arguments that match the parameters of an action, or the problem in words that help the model to correct them. */
export type FittedArguments = Readonly<{ args: Schema } | { problem: string }>;

/**
 * Checks arguments. Models sometimes send null for a parameter that they leave out, or a number as text and the reverse. These
 * are converted; any other problem is reported to the model.
 */
export function fitted(action: ActionDefinition, given: Schema): FittedArguments {
  const errorsOf = compiledOf(action);
  const { required = [] } = modelParameters(action) as { required?: readonly string[] };
  const filled = Object.entries(given).filter(([name, value]) => value !== null || required.includes(name));
  const args = structuredClone(Object.fromEntries(filled));
  try {
    for (let mended = 0; ; mended++) {
      const problem = withoutExactNumbers(errorsOf(args))[0];
      if (!problem) return { args };
      if (mended === MENDED_MAX || !mend(args, problem)) return { problem: wordsFor(problem) };
    }
  } catch (error) {
    if (error instanceof SchemaWithoutEnd) return { problem: error.message };
    throw error;
  }
}

function wordsFor({ instancePath, message = 'is wrong', keyword, params }: ErrorObject): string {
  const what = instancePath === '' ? 'The arguments' : `The argument ${instancePath.slice(1).replaceAll('/', '.')}`;
  const { allowedValues, additionalProperty } = params as { allowedValues?: readonly unknown[]; additionalProperty?: string };
  const more = { enum: `: ${allowedValues?.map(String).join(', ')}`, additionalProperties: `: ${additionalProperty}` }[keyword];
  return `${what} ${message}${more ?? ''}.`;
}

/** Leaves out the problems of whole numbers that are text, because JavaScript would round them. */
function withoutExactNumbers(problems: readonly ErrorObject[]): readonly ErrorObject[] {
  const isExact = ({ keyword, params, data }: ErrorObject) =>
    keyword === 'type' &&
    [(params as { type: unknown }).type].flat().some((type) => type === 'integer' || type === 'number') &&
    typeof data === 'string' &&
    isBeyondNumbers(data);
  const paths = new Set(problems.filter(isExact).map(({ instancePath }) => instancePath));
  return problems.filter(({ instancePath }) => !paths.has(instancePath));
}

/** Replaces a value by the converted value. Returns false if it cannot be converted. */
function mend(args: Schema, { keyword, instancePath, params }: ErrorObject): boolean {
  const names = instancePath
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = names.pop();
  if (keyword !== 'type' || last === undefined) return false;
  const holder = names.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], args) as Record<string, unknown>;
  const meant = asType((params as { type: unknown }).type, holder[last]);
  if (meant === undefined) return false;
  holder[last] = meant;
  return true;
}

function asType(type: unknown, value: unknown): unknown {
  if (type === 'string') return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
  if (typeof value !== 'string') return undefined;
  if (type === 'boolean') return { true: true, false: false }[value.trim().toLowerCase()];
  const number = /^\s*-?\d[\d.eE+-]*\s*$/.test(value) ? Number(value) : Number.NaN;
  if (type === 'number') return Number.isFinite(number) ? number : undefined;
  return type === 'integer' && Number.isSafeInteger(number) ? number : undefined;
}
