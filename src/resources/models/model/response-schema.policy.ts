import formats from 'ajv-formats';
import { LRUCache } from 'lru-cache';
import { Rejection } from '../../../kernel/rejection.js';
import { compiledSchema, type SchemaErrors, SchemaWithoutEnd } from './compiled-schema.policy.js';
import { isJsonObject } from '../../json-object.policy.js';

const SCHEMA_CHARACTERS_MAX = 64 * 1024;
const SCHEMA_DEPTH_MAX = 40;
const COMPILED_SCHEMAS_MAX = 100;
const PROBLEMS_MAX = 10;

type Schema = Readonly<Record<string, unknown>>;

const refused = (problem: string) => new Rejection('invalid-json-schema', `Invalid JSON schema: ${problem}`);

/**
 * A response schema in its stored form: the schema itself, also if it was sent wrapped as `{ schema: … }`. Regular expressions
 * are refused because a single one can take unbounded time. @throws Rejection invalid-json-schema
 */
export function normalSchema(value: unknown): Schema | null {
  if (value === null || value === '') return null;
  const schema = unwrapped(value);
  if (JSON.stringify(schema).length > SCHEMA_CHARACTERS_MAX)
    throw refused(`it is longer than ${SCHEMA_CHARACTERS_MAX} characters.`);
  refuseUnbounded(schema, 0);
  try {
    compiled.memo(JSON.stringify(schema));
  } catch (error) {
    throw refused(error instanceof Error ? error.message : 'it cannot be read.');
  }
  return schema;
}

function unwrapped(value: unknown): Schema {
  if (!isJsonObject(value)) throw refused('it must be an object.');
  if ('type' in value) return value;
  if (isJsonObject(value['schema'])) return value['schema'];
  throw refused('it needs a type.');
}

/** Regular expressions, and references that cannot be resolved statically. */
const UNSUPPORTED = new Set(['pattern', 'patternProperties', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$anchor']);
/** The only references allowed. Their targets are checked as schemas; a target inside data (`const`, `enum`) would not be. */
const LOCAL_DEFINITION = /^#(\/(\$defs|definitions)\/[^/~%]+)?$/;

/** Keywords whose values are data or names, not schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'required', 'dependentRequired']);
const SCHEMAS_BY_NAME = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

function refuseUnbounded(node: unknown, depth: number): void {
  if (depth > SCHEMA_DEPTH_MAX) throw refused(`it is nested deeper than ${SCHEMA_DEPTH_MAX} levels.`);
  if (Array.isArray(node)) return node.forEach((each) => refuseUnbounded(each, depth + 1));
  if (!isJsonObject(node)) return;
  for (const [keyword, value] of Object.entries(node)) {
    if (UNSUPPORTED.has(keyword)) throw refused(`${keyword} is not supported.`);
    if (keyword === '$ref' && !(typeof value === 'string' && LOCAL_DEFINITION.test(value))) {
      throw refused('$ref must name a definition of the schema, as in #/$defs/name.');
    }
    if (keyword === '$id' || keyword === '$schema' || DATA.has(keyword)) continue;
    if (SCHEMAS_BY_NAME.has(keyword) && isJsonObject(value))
      Object.values(value).forEach((each) => refuseUnbounded(each, depth + 1));
    else refuseUnbounded(value, depth + 1);
  }
}

/** Drops `$id`, so that two schemas may have the same one. */
const compile = ({ $id: _, $schema: __, ...schema }: Schema): SchemaErrors =>
  compiledSchema(schema, {}, (ajv) => formats.default(ajv, { mode: 'fast' }));

const compiled = new LRUCache<string, SchemaErrors>({
  max: COMPILED_SCHEMAS_MAX,
  memoMethod: (text) => compile(JSON.parse(text) as Schema),
});

/** The reasons why a value is invalid against a stored schema, each with its path. An empty list means that the value is valid. */
export function problemsWith(value: unknown, schema: Schema): readonly string[] {
  try {
    return compiled
      .memo(JSON.stringify(schema))(value)
      .slice(0, PROBLEMS_MAX)
      .map((error) => `${error.instancePath || 'The answer'} ${error.message ?? 'is wrong'}`);
  } catch (error) {
    if (error instanceof SchemaWithoutEnd) return [error.message];
    throw error;
  }
}
