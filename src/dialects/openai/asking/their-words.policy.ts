import { Rejection } from '../../../kernel/rejection.js';

/** The names of fields in requests of this dialect, by the service's own names. */
export type TheirNames = Readonly<Record<string, string>>;

/** Throws a rejection again with the codes and field names of the dialect. @throws Rejection */
export const inTheirWords =
  (names: TheirNames) =>
  (error: unknown): never => {
    if (!(error instanceof Rejection)) throw error;
    if (error.code === 'conversation-not-found') throw new Rejection('openai-conversation-not-found', error.message);
    if (error.code === 'invalid-json-schema')
      throw withParam(error, names['json_schema']!, `${names['json_schema']}: ${error.message}`);
    const [, sampled, whySampled] = /^llm_params\.(\w+)\b(.*)$/s.exec(error.message) ?? [];
    if (sampled !== undefined) {
      const param = names[sampled] ?? sampled;
      throw withParam(error, param, `${param}${whySampled}`);
    }
    const [, ours, why] = /^(\w+)\b(.*)$/s.exec(error.message) ?? [];
    const param = ours !== undefined && Object.hasOwn(names, ours) ? names[ours]! : undefined;
    throw param === undefined ? error : withParam(error, param, `${param}${why}`);
  };

const withParam = ({ code }: Rejection, param: string, message: string): Rejection => new Rejection(code, message, { param });
