export type TemplateFailure = 'invalid' | 'out-of-time' | 'too-large' | 'busy';

/** A template could not be rendered. The message is shown to its author. */
export class TemplateFailed extends Error {
  override readonly name = 'TemplateFailed';
  constructor(
    readonly failure: TemplateFailure,
    message: string,
  ) {
    super(message);
  }
}

/** Renders users' Jinja templates in isolation, so that a faulty template does not affect the service. */
export abstract class TemplateEngine {
  /** @throws TemplateFailed */
  abstract render(template: string, context: object): Promise<string>;
  /** Parses the template without rendering it. @throws TemplateFailed */
  abstract check(template: string): Promise<void>;
}
