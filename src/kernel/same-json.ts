/** Whether two values are equal as JSON: regardless of the order of fields, and with undefined fields left out. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((each, at) => sameJson(each, b[at]));
  }
  const [fields, others] = [fieldsOf(a), fieldsOf(b)];
  return (
    fields.length === others.length && fields.every(([name, value]) => Object.hasOwn(b, name) && sameJson(value, at(b, name)))
  );
}

const fieldsOf = (value: object): readonly (readonly [string, unknown])[] =>
  Object.entries(value).filter(([, each]) => each !== undefined);

const at = (value: object, name: string): unknown => (value as Readonly<Record<string, unknown>>)[name];
