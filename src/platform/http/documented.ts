import { applyDecorators } from '@nestjs/common';
import { ApiBody, type ApiBodyOptions, ApiConsumes, ApiExtension, ApiHeader, ApiProperty, ApiQuery } from '@nestjs/swagger';
import { IsInt } from 'class-validator';

/** The return type of handlers that send a body of this type themselves, or something else on request. */
export type Sent<Body, Else = void> = Body extends unknown ? Else : never;

/** The return type of handlers that send Server-Sent Events. Each `data` is JSON of this type. */
export type Streamed<Data> = Data extends unknown ? void : never;

/** The return type of handlers that send one JSON value of this type per line. */
export type Lines<Line> = Line extends unknown ? void : never;

export const OptionalQuery = (...names: readonly string[]): MethodDecorator =>
  applyDecorators(...names.map((name) => ApiQuery({ name, required: false, type: String })));

/** Documents required query parameters. */
export const RequiredQuery = (...names: readonly string[]): MethodDecorator =>
  applyDecorators(...names.map((name) => ApiQuery({ name, required: true, type: String })));

export const OptionalHeader = (...names: readonly string[]): MethodDecorator =>
  applyDecorators(...names.map((name) => ApiHeader({ name, required: false })));

/** A field that must be an integer. Without a description Nest documents the TypeScript type, a number. */
export const Integer = (): PropertyDecorator => applyDecorators(IsInt(), ApiProperty({ type: 'integer' }));

/** Documents a request body, with an example that the service accepts unchanged. */
export const DocumentedBody = (options: ApiBodyOptions, example: object | string): MethodDecorator =>
  ApiBody({ ...options, examples: { example: { value: example } } });

/** The extension that holds bodies of several content types until the reference is written. */
export const BODIES = 'x-bodies';

type DocumentedType = Readonly<{ schema: object; example: unknown }>;

/** Documents a body with a different schema for each content type, each with an example that the service accepts unchanged. */
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
