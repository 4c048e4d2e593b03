import { ToolFailed } from '../toolbox/tool-kind.port.js';

/** A page on the web, as Markdown where it is one for people. */
export type WebPage = Readonly<{
  /** Where it came from in the end. */
  url: string;
  title: string;
  text: string;
  /** Its end was cut off. */
  isCut: boolean;
}>;

/** There is no page to be read. The message is for models and users; `mayPass`: it may be there later. */
export class PageFailed extends ToolFailed {
  constructor(
    message: string,
    readonly mayPass: boolean,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** Pages on the web, read without an account. */
export abstract class WebPages {
  /** @throws PageFailed */
  abstract read(url: URL, signal: AbortSignal): Promise<WebPage>;
}

/** An address as people and models write it: they leave the scheme out. Undefined: it is none of a page. */
export function pageAddress(given: string): URL | undefined {
  const text = given.trim();
  const url = URL.parse(/^[a-z][a-z\d+.-]*:/i.test(text) ? text : `https://${text}`);
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}
