export type TemplateFailure = 'invalid' | 'out-of-time' | 'too-large' | 'busy';

/** A template gave no text. The message is for its author. */
export class TemplateFailed extends Error {
  override readonly name = 'TemplateFailed';
  constructor(
    readonly failure: TemplateFailure,
    message: string,
  ) {
    super(message);
  }
}

/** Renders Jinja templates of users: whatever they do, everything else goes on. */
export abstract class TemplateEngine {
  /** @throws TemplateFailed */
  abstract render(template: string, context: object): Promise<string>;
  /** Whether it can be read at all. @throws TemplateFailed */
  abstract check(template: string): Promise<void>;
}
