import { ToolFailed } from '../toolbox/tool-kind.port.js';

/** The text of a web page, converted to Markdown if it is HTML. */
export type WebPage = Readonly<{
  /** The address after redirects. */
  url: string;
  title: string;
  text: string;
  /** Whether the end was cut off. */
  isCut: boolean;
}>;

/** A page cannot be read. The message is for models and users. `mayPass`: a later attempt may succeed. */
export class PageFailed extends ToolFailed {
  constructor(
    message: string,
    readonly mayPass: boolean,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** Reads web pages without signing in. */
export abstract class WebPages {
  /** @throws PageFailed */
  abstract read(url: URL, signal: AbortSignal): Promise<WebPage>;
}

/** The URL in an address, which people and models often write without a scheme. Undefined if it is not an http or https URL. */
export function pageAddress(given: string): URL | undefined {
  const text = given.trim();
  const url = URL.parse(/^[a-z][a-z\d+.-]*:/i.test(text) ? text : `https://${text}`);
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}
