import { relative } from 'node:path';
import ts from 'typescript';

export type Schema = Readonly<Record<string, unknown>> | true;
type Fields = Record<string, unknown>;

const FOLDERS = /^(src|projections)\//;
const NOTHING = ts.TypeFlags.Undefined | ts.TypeFlags.Void | ts.TypeFlags.Never;
const ANYTHING = ts.TypeFlags.Unknown | ts.TypeFlags.Any | ts.TypeFlags.NonPrimitive | ts.TypeFlags.TypeParameter;

/** JSON Schemas of the service's types as they are sent. A named type is described once and referenced. */
export class TypeSchemas {
  readonly named: Record<string, Schema> = {};
  private readonly names = new Map<ts.Type, string>();
  private readonly open = new Set<ts.Type>();

  constructor(private readonly checker: ts.TypeChecker) {}

  /** The schema of a type. Undefined if nothing is sent. */
  of(type: ts.Type): Schema | undefined {
    if (type.flags & NOTHING) return undefined;
    const name = this.nameOf(type);
    if (name !== undefined && (name in this.named || this.open.has(type))) return refTo(name);
    this.open.add(type);
    const schema = this.spelt(type);
    this.open.delete(type);
    // An unnamed type gets a name if it contains itself.
    const given = this.names.get(type);
    if (given === undefined) return schema;
    this.named[given] = schema;
    return refTo(given);
  }

  private nameOf(type: ts.Type): string | undefined {
    const known = this.names.get(type);
    if (known !== undefined || !this.isStructured(type)) return known;
    const symbol = type.aliasTypeArguments
      ? undefined
      : (type.aliasSymbol ?? (type.isClassOrInterface() ? type.symbol : undefined));
    const isOurs = symbol && FOLDERS.test(relative('.', symbol.declarations![0]!.getSourceFile().fileName));
    if (isOurs) return this.give(type, symbol.name);
    return this.open.has(type) ? this.give(type, 'Nested') : undefined;
  }

  private give(type: ts.Type, wanted: string): string {
    const taken = [...this.names.values()].filter((each) => each.replace(/\d+$/, '') === wanted).length;
    const name = taken === 0 ? wanted : `${wanted}${taken + 1}`;
    this.names.set(type, name);
    return name;
  }

  private isStructured(type: ts.Type): boolean {
    if (type.isUnion()) return type.types.some((each) => this.isStructured(each));
    return (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0 && !this.checker.isArrayLikeType(type);
  }

  private spelt(type: ts.Type): Schema {
    if (type.flags & ANYTHING) return {};
    if (type.isUnion()) return this.union(type);
    if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value };
    if (type.flags & ts.TypeFlags.BooleanLiteral) return { const: this.checker.typeToString(type) === 'true' };
    if (type.flags & ts.TypeFlags.StringLike) return { type: 'string' };
    if (type.flags & ts.TypeFlags.NumberLike) return { type: 'number' };
    if (type.flags & ts.TypeFlags.BooleanLike) return { type: 'boolean' };
    if (type.flags & ts.TypeFlags.Null) return { type: 'null' };
    if (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) return this.object(type);
    throw new Error(`No JSON is known of ${this.checker.typeToString(type)}`);
  }

  private union({ types }: ts.UnionType): Schema {
    const sent = types.filter(({ flags }) => !(flags & NOTHING));
    const literals = sent.flatMap((each) => (each.isStringLiteral() || each.isNumberLiteral() ? [each] : []));
    const isBoolean = sent.filter(({ flags }) => flags & ts.TypeFlags.BooleanLiteral).length === 2;
    const others = sent.filter(
      (each) => !literals.some((literal) => literal === each) && !(isBoolean && each.flags & ts.TypeFlags.BooleanLiteral),
    );
    const choices: Schema[] = [
      ...(literals.length > 1 ? [{ enum: literals.map(({ value }) => value).sort() }] : literals.map((each) => this.of(each)!)),
      ...(isBoolean ? [{ type: 'boolean' }] : []),
      ...others.map((each) => this.of(each)!),
    ];
    return anyOf(merged(choices));
  }

  private object(type: ts.Type): Schema {
    const { checker } = this;
    if (checker.isTupleType(type)) {
      const items = checker.getTypeArguments(type as ts.TypeReference).map((each) => this.of(each) ?? {});
      return { type: 'array', prefixItems: items, minItems: items.length, items: false };
    }
    if (checker.isArrayType(type)) {
      const [item] = checker.getTypeArguments(type as ts.TypeReference);
      return { type: 'array', items: this.of(item!) ?? {} };
    }
    if (type.symbol?.name === 'Date') return { type: 'string', format: 'date-time' };
    if (type.getCallSignatures().length > 0) throw new Error(`${checker.typeToString(type)} is no JSON`);
    const toJson = type.getProperty('toJSON');
    if (toJson) return this.of(checker.getTypeOfSymbol(toJson).getCallSignatures()[0]!.getReturnType()) ?? {};
    return this.fields(type);
  }

  private fields(type: ts.Type): Schema {
    const { checker } = this;
    const properties: Fields = {};
    const required: string[] = [];
    for (const field of checker.getPropertiesOfType(type)) {
      if (field.name.startsWith('__')) continue;
      const fieldType = checker.getTypeOfSymbol(field);
      const schema = this.of(fieldType);
      if (schema === undefined) continue;
      properties[field.name] = described(schema, ts.displayPartsToString(field.getDocumentationComment(checker)));
      const mayBeMissing =
        field.flags & ts.SymbolFlags.Optional || (fieldType.isUnion() && fieldType.types.some(({ flags }) => flags & NOTHING));
      if (!mayBeMissing) required.push(field.name);
    }
    const others = checker.getIndexInfoOfType(type, ts.IndexKind.String);
    return {
      type: 'object',
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(required.length > 0 && { required }),
      ...(others && { additionalProperties: this.of(others.type) ?? {} }),
    };
  }
}

const refTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const described = (schema: Schema, description: string): Schema =>
  description === '' || schema === true ? schema : { ...schema, description };

/** Merges unnamed objects that no field distinguishes into one whose fields may be missing or of several types. */
function merged(choices: readonly Schema[]): readonly Schema[] {
  const objects = choices.flatMap((each) => (each !== true && isPlain(each) ? [each] : []));
  if (objects.length < 2 || objects.some((one, index) => objects.some((other, at) => at > index && areToldApart(one, other))))
    return choices;
  const names = [...new Set(objects.flatMap(({ properties }) => Object.keys(properties)))];
  const ofName = (name: string): Schema => {
    const kinds = objects.flatMap(({ properties: { [name]: kind } }): readonly Schema[] => (kind === undefined ? [] : [kind]));
    const different = [...new Map(kinds.map((kind): [string, Schema] => [JSON.stringify(kind), kind])).values()];
    return different.length === 1 ? different[0]! : anyOf(merged(different));
  };
  const required = names.filter((name) => objects.every((each) => each.required?.includes(name)));
  const whole = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, ofName(name)])),
    ...(required.length > 0 && { required }),
  };
  return [...choices.filter((each) => !objects.some((object) => object === each)), whole];
}

type PlainObject = Readonly<{ type: 'object'; properties: Readonly<Record<string, Schema>>; required?: readonly string[] }>;

const isPlain = (schema: Fields): schema is PlainObject =>
  schema['type'] === 'object' && 'properties' in schema && !('additionalProperties' in schema);

/** Whether a field with a constant in each of two objects distinguishes them. */
const areToldApart = (one: PlainObject, other: PlainObject): boolean =>
  Object.entries(one.properties).some(([name, value]) => {
    const counterpart = other.properties[name];
    return (
      typeof value === 'object' &&
      typeof counterpart === 'object' &&
      'const' in value &&
      'const' in counterpart &&
      value['const'] !== counterpart['const'] &&
      typeof value['const'] === 'string'
    );
  });

/** A schema of several choices. If one is null and the other a plain type, both types are listed. */
function anyOf(choices: readonly Schema[]): Schema {
  if (choices.length === 1) return choices[0]!;
  const [one, other] = choices as readonly Fields[];
  if (choices.length === 2) {
    const [nothing, some] = one!['type'] === 'null' ? [one!, other!] : [other!, one!];
    if (nothing['type'] === 'null' && typeof some['type'] === 'string') return { ...some, type: [some['type'], 'null'] };
    if (nothing['type'] === 'null' && Array.isArray(some['enum'])) return { enum: [...(some['enum'] as unknown[]), null] };
  }
  return { anyOf: [...choices].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)) };
}
