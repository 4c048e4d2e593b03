import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { clientGone } from '../../../platform/http/connections/client-gone.js';
import { identityOf } from '../../../resources/identity/identity.http.js';
import { OlderForm } from './older-form.port.js';

type Asked = FastifyRequest & Readonly<{ body: Readonly<Record<string, unknown>> }>;

/** Lets a route be asked in the form of older clients. It runs before the body is validated, which this form does not pass. */
@Injectable()
export class InOlderForm implements NestInterceptor {
  constructor(private readonly modules: ModuleRef) {}

  intercept(context: ExecutionContext, next: CallHandler<Readonly<{ answer: string }>>): Observable<object> {
    const request = context.switchToHttp().getRequest<Asked>();
    const gone = () => clientGone(context.switchToHttp().getResponse<FastifyReply>());
    const asked = { request, body: request.body, user: identityOf(context).user, gone };
    const answer = this.modules.get(OlderForm, { strict: false }).answer(asked, () => lastValueFrom(next.handle()));
    return answer ? from(answer) : next.handle();
  }
}
