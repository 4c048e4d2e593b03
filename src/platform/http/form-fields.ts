import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { Rejection } from '../../kernel/rejection.js';

/** The reader of forms puts this for bytes that are no UTF-8. A client that sends it itself has text that was damaged before. */
const REPLACEMENT_CHARACTER = '\uFFFD';

/** @throws Rejection invalid-request for a field of a form that was not valid UTF-8 */
export function refuseUnreadableField(name: string, value: unknown): void {
  if (![name, value].some((text) => JSON.stringify(text)?.includes(REPLACEMENT_CHARACTER))) return;
  throw new Rejection('invalid-request', `The form field ${JSON.stringify(name)} is not valid UTF-8.`);
}

/** Refuses a form whose fields were not valid UTF-8, once another interceptor has read it. */
export class ReadableFormFields implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<{ isMultipart: () => boolean; body: unknown }>();
    if (request.isMultipart()) {
      for (const [name, value] of Object.entries(request.body ?? {})) refuseUnreadableField(name, value);
    }
    return next.handle();
  }
}
