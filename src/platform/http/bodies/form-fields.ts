import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { refuseUnreadableField } from '../../../kernel/form-refusals.js';

/** Refuses a form with fields of invalid UTF-8, after another interceptor has read it. */
export class ReadableFormFields implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<{ isMultipart: () => boolean; body: unknown }>();
    if (request.isMultipart()) {
      for (const [name, value] of Object.entries(request.body ?? {})) refuseUnreadableField(name, value);
    }
    return next.handle();
  }
}
