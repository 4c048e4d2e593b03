import { applyDecorators } from '@nestjs/common';
import { ApiBody, type ApiBodyOptions, ApiConsumes, ApiExtension, ApiHeader, ApiQuery } from '@nestjs/swagger';

/** Returned by handlers that send a body of this type by themselves, or something else where they are asked for that. */
export type Sent<Body, Else = void> = Body extends unknown ? Else : never;

/** Returned by handlers that send Server-Sent Events. Each `data` of theirs is the JSON of one of this type. */
export type Streamed<Data> = Data extends unknown ? void : never;

/** Returned by handlers that send the JSON of one of this type a line. */
export type Lines<Line> = Line extends unknown ? void : never;

/** Query parameters that a request may leave out, as the reference shows them. */
export const OptionalQuery = (...names: readonly string[]): MethodDecorator =>
  applyDecorators(...names.map((name) => ApiQuery({ name, required: false, type: String })));

/** Query parameters without which a request is refused. */
export const RequiredQuery = (...names: readonly string[]): MethodDecorator =>
  applyDecorators(...names.map((name) => ApiQuery({ name, required: true, type: String })));

/** Headers that a request may leave out. */
export const OptionalHeader = (...names: readonly string[]): MethodDecorator =>
  applyDecorators(...names.map((name) => ApiHeader({ name, required: false })));

/** The body of a request in the reference, with an example that the service takes as it stands. */
export const DocumentedBody = (options: ApiBodyOptions, example: object): MethodDecorator =>
  ApiBody({ ...options, examples: { example: { value: example } } });

/** Under this name stand bodies of several types until the reference is written. */
export const BODIES = 'x-bodies';

type DocumentedType = Readonly<{ schema: object; example: unknown }>;

/** A body in the reference that is another one in each of its types, each with an example that the service takes as it stands. */
export function DocumentedBodies(types: Readonly<Record<string, DocumentedType>>): MethodDecorator {
  const content = Object.entries(types).map(([type, { schema, example }]) => [
    type,
    { schema, examples: { example: { value: example } } },
  ]);
  return applyDecorators(
    ApiConsumes(...Object.keys(types)),
    ApiBody({ schema: {} }),
    ApiExtension(BODIES, Object.fromEntries(content)),
  );
}
