type Schema = Readonly<Record<string, unknown>>;

/**
 * Objects nested deeper than this are left empty, so recursive schemas end. Below half of this depth, optional parts are left
 * out.
 */
const DEPTH_MAX = 8;
const ITEMS_MAX = 5;
/** Maximum number of filled schemas; the values of further ones are null. */
const SCHEMAS_FILLED_MAX = 5_000;
/** A larger `minLength` is not satisfied. */
const PADDED_CHARACTERS_MAX = 10_000;

type Filling = Readonly<{
  root: Schema;
  sentences: readonly string[];
  found: boolean;
  depth: number;
  /** The remaining number of schemas to fill, shared by the whole value. */
  budget: { left: number };
}>;

/**
 * A value of the schema's shape made from sentences: strings hold the first sentences, numbers the first number in them, lists
 * one sentence per item, and an enum the first value that the sentences mention.
 */
export function fillSchema(schema: object, sentences: readonly string[], found: boolean): unknown {
  const root = schema as Schema;
  return fill(root, { root, sentences, found, depth: 0, budget: { left: SCHEMAS_FILLED_MAX } });
}

function fill(schema: Schema, filling: Filling): unknown {
  const resolved = resolve(schema, filling);
  if ('const' in resolved) return resolved['const'];
  if (Array.isArray(resolved['enum'])) return choice(resolved['enum'], filling);
  const alternative = (resolved['anyOf'] ?? resolved['oneOf']) as readonly Schema[] | undefined;
  if (alternative?.length) return fill(alternative.find((each) => each['type'] !== 'null') ?? alternative[0]!, filling);
  switch (typeOf(resolved)) {
    case 'object':
      return object(resolved, filling);
    case 'array':
      return list(resolved, filling);
    case 'integer':
      return Math.round(number(resolved, filling, 1));
    case 'number':
      return number(resolved, filling, 0);
    case 'boolean':
      return filling.found;
    case 'null':
      return null;
    default:
      return string(resolved, filling);
  }
}

/** Resolves local references and merges `allOf` into one schema. */
function resolve(schema: Schema, filling: Filling, depth = 0): Schema {
  if (depth > DEPTH_MAX) return {};
  if (--filling.budget.left < 0) return { const: null };
  const reference = schema['$ref'];
  if (typeof reference === 'string' && reference.startsWith('#')) {
    const target = reference
      .split('/')
      .slice(1)
      .reduce<unknown>(
        (node, part) => (node as Schema | undefined)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')],
        filling.root,
      );
    return resolve((target ?? {}) as Schema, filling, depth + 1);
  }
  const all = schema['allOf'] as readonly Schema[] | undefined;
  if (!all?.length) return schema;
  return [schema, ...all.map((each) => resolve(each, filling, depth + 1))].reduce((merged, each) => ({
    ...merged,
    ...each,
    properties: { ...(merged['properties'] as object), ...(each['properties'] as object) },
    required: [...((merged['required'] as string[]) ?? []), ...((each['required'] as string[]) ?? [])],
  }));
}

function typeOf(schema: Schema): string {
  const type = schema['type'];
  if (Array.isArray(type)) return (type.find((each) => each !== 'null') ?? 'null') as string;
  if (typeof type === 'string') return type;
  if (schema['properties']) return 'object';
  return schema['items'] ? 'array' : 'string';
}

function object(schema: Schema, filling: Filling): unknown {
  const required = new Set((schema['required'] as string[] | undefined) ?? []);
  const properties = Object.entries((schema['properties'] as Record<string, Schema> | undefined) ?? {});
  const wanted = properties.filter(([name]) => required.has(name) || filling.depth < DEPTH_MAX / 2);
  if (filling.depth > DEPTH_MAX) return {};
  return Object.fromEntries(wanted.map(([name, each]) => [name, fill(each, { ...filling, depth: filling.depth + 1 })]));
}

function list(schema: Schema, filling: Filling): unknown {
  const itemsMin = (schema['minItems'] as number | undefined) ?? 0;
  const itemsMax = Math.min((schema['maxItems'] as number | undefined) ?? ITEMS_MAX, ITEMS_MAX);
  const count = filling.depth > DEPTH_MAX / 2 ? itemsMin : Math.max(itemsMin, Math.min(itemsMax, filling.sentences.length));
  return Array.from({ length: Math.min(count, Math.max(filling.budget.left, 0)) }, (_, index) => {
    const sentence = filling.sentences[index % filling.sentences.length]!;
    return fill((schema['items'] as Schema | undefined) ?? {}, { ...filling, sentences: [sentence], depth: filling.depth + 1 });
  });
}

function number(schema: Schema, { sentences }: Filling, step: number): number {
  const named = Number(/-?\d+(?:\.\d+)?/.exec(sentences.join(' '))?.[0] ?? 0);
  const lowest = (schema['minimum'] as number | undefined) ?? bound(schema['exclusiveMinimum'], step || Number.EPSILON);
  const highest = (schema['maximum'] as number | undefined) ?? bound(schema['exclusiveMaximum'], -(step || Number.EPSILON));
  const within = Math.min(Math.max(named, lowest ?? -Infinity), highest ?? Infinity);
  const multiple = schema['multipleOf'] as number | undefined;
  return multiple ? Math.ceil(within / multiple) * multiple : within;
}

const bound = (limit: unknown, inward: number) => (typeof limit === 'number' ? limit + inward : undefined);

const FORMATS: Readonly<Record<string, string>> = {
  date: '1970-01-01',
  time: '00:00:00Z',
  'date-time': '1970-01-01T00:00:00Z',
  email: 'unknown@example.org',
  uri: 'about:blank',
  uuid: '00000000-0000-0000-0000-000000000000',
  ipv4: '0.0.0.0',
};

function string(schema: Schema, { sentences }: Filling): string {
  const format = schema['format'];
  if (typeof format === 'string' && FORMATS[format]) return FORMATS[format];
  const longest = (schema['maxLength'] as number | undefined) ?? Infinity;
  const text = [...sentences.slice(0, 3).join(' ')].slice(0, longest).join('');
  return text.padEnd(Math.min((schema['minLength'] as number | undefined) ?? 0, PADDED_CHARACTERS_MAX), '.');
}

function choice(values: readonly unknown[], { sentences }: Filling): unknown {
  const text = sentences.join(' ').toLowerCase();
  return values.find((value) => typeof value === 'string' && text.includes(value.toLowerCase())) ?? values[0];
}
