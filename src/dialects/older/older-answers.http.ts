import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, map, type Observable } from 'rxjs';
import { identityOf } from '../../resources/identity/identity.http.js';
import { unauthenticated } from '../../resources/identity/identity.js';
import { olderQuestionIn } from './older-question.policy.js';
import { ProviderAnswers } from './provider-answers.js';
import { ProviderKeys } from './provider-keys.js';

type Answer = Readonly<{ answer: string }>;
type Asked = FastifyRequest & Readonly<{ body: Readonly<Record<string, unknown>> }>;

/**
 * `POST /api/answer` for older clients, which send an `embeddings_key`. Their response also has `query` and `result`. If the
 * request has the key of a model provider instead of an agent's key, that key is used to generate the answer.
 */
@Injectable()
export class OlderAnswers implements NestInterceptor {
  constructor(
    private readonly keys: ProviderKeys,
    private readonly answers: ProviderAnswers,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler<Answer>): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Asked>();
    const older = this.keys.of(request);
    if (!older) return next.handle();
    const query = request.body['question'] ?? '';
    const answered = older.key === undefined ? next.handle() : from(this.answered(context, request, older.key));
    return answered.pipe(map((answer) => ({ ...answer, query, result: answer.answer })));
  }

  private async answered(context: ExecutionContext, request: Asked, key: string): Promise<Answer> {
    const { user } = identityOf(context);
    if (!user) throw unauthenticated();
    const gone = new AbortController();
    context
      .switchToHttp()
      .getResponse<FastifyReply>()
      .raw.once('close', () => gone.abort());
    return { answer: await this.answers.answer(user, key, olderQuestionIn(request.body), gone.signal) };
  }
}
