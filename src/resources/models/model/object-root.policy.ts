type Schema = Readonly<Record<string, unknown>>;

/** The property of the object that stands for a value of another type. */
const VALUE = 'value';

/** Whether a schema allows objects alone at its root. Many endpoints take no other response schemas. */
export const hasObjectRoot = (schema: object): boolean => (schema as Schema)['type'] === 'object';

/** A response schema as an endpoint takes it that wants objects: any other is that of the one property of an object. */
export function withObjectRoot(schema: object): object {
  if (hasObjectRoot(schema)) return schema;
  const { $schema, $id: _, $defs, definitions, ...root } = moved(schema) as Schema;
  return {
    ...($schema !== undefined && { $schema }),
    type: 'object',
    properties: { [VALUE]: root },
    required: [VALUE],
    additionalProperties: false,
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

/** What the object stands for that a model wrote for such a schema; undefined where it wrote something else. */
export function valueInObjectRoot(written: unknown): Readonly<{ value: unknown }> | undefined {
  if (typeof written !== 'object' || written === null || Array.isArray(written)) return undefined;
  const keys = Object.keys(written);
  return keys.length === 1 && keys[0] === VALUE ? { value: (written as Schema)[VALUE] } : undefined;
}

/** A schema whose references to its root find it where it is now. */
function moved(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(moved);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([keyword, value]) =>
      keyword === '$ref' && value === '#' ? [keyword, `#/properties/${VALUE}`] : [keyword, moved(value)],
    ),
  );
}
