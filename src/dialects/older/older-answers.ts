import { Injectable } from '@nestjs/common';
import { type AnswerRequest, OlderForm } from '../../dialogue/answering/intake/older-form.port.js';
import { unauthenticated } from '../../resources/identity/identity.js';
import { olderQuestionIn } from './older-question.policy.js';
import { ProviderAnswers } from './provider-answers.js';
import { ProviderKeys } from './provider-keys.js';

type Answer = Readonly<{ answer: string }>;

/**
 * `POST /api/answer` for older clients, which send an `embeddings_key`. Their response also has `query` and `result`. If the
 * request has the key of a model provider instead of an agent's key, that key is used to generate the answer.
 */
@Injectable()
export class OlderAnswers extends OlderForm {
  constructor(
    private readonly keys: ProviderKeys,
    private readonly answers: ProviderAnswers,
  ) {
    super();
  }

  answer(asked: AnswerRequest, usual: () => Promise<Answer>): Promise<object> | undefined {
    const older = this.keys.of(asked.request);
    if (!older) return undefined;
    const { key } = older;
    const query = asked.body['question'] ?? '';
    const answered = key === undefined ? usual() : this.answered(asked, key);
    return answered.then((answer) => ({ ...answer, query, result: answer.answer }));
  }

  private async answered({ user, body, gone }: AnswerRequest, key: string): Promise<Answer> {
    if (!user) throw unauthenticated();
    return { answer: await this.answers.answer(user, key, olderQuestionIn(body), gone()) };
  }
}
