import type { SignedInUser } from '../../../resources/identity/caller.js';

/** A request to `POST /api/answer`, which has passed the access guard. `gone` makes a signal that aborts when the client leaves. */
export type AnswerRequest = Readonly<{
  request: object;
  body: Readonly<Record<string, unknown>>;
  user: SignedInUser | undefined;
  gone: () => AbortSignal;
}>;

/** The form of older clients, which send and read other fields. */
export abstract class OlderForm {
  /** The answer to a request in this form. `usual` answers it as usual. Undefined if the request is not in this form. */
  abstract answer(asked: AnswerRequest, usual: () => Promise<Readonly<{ answer: string }>>): Promise<object> | undefined;
}
