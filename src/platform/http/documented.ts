import { applyDecorators } from '@nestjs/common';
import { ApiBody, type ApiBodyOptions, ApiHeader, ApiQuery } from '@nestjs/swagger';

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
