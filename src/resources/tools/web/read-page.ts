import { Injectable } from '@nestjs/common';
import { AddressRefused, OutgoingHttp, type OutgoingResponse } from '../../../platform/outgoing/outgoing-http.port.js';
import { ToolFailed } from '../toolbox/tool-kind.port.js';
import { PAGE_CHARACTERS_MAX, pageAsMarkdown, type PageText } from './page-markdown.js';
import { isText, textOf } from '../../../platform/outgoing/response-text.policy.js';
import { ask, failedStatus } from './web-call.js';
import { PageFailed, type WebPage, WebPages } from './web-pages.port.js';
import { cutText } from '../../../kernel/cut-text.js';

const ACCEPT = 'text/html, text/*;q=0.9, application/json;q=0.8, */*;q=0.1';

/** Reads a page. @throws PageFailed */
export async function readPage(http: OutgoingHttp, url: URL, signal: AbortSignal): Promise<WebPage> {
  const response = await ask(http, { service: 'The page', url, headers: { accept: ACCEPT }, signal }).catch((error: unknown) => {
    if (!(error instanceof ToolFailed)) throw error;
    throw new PageFailed(error.message, !(error.cause instanceof AddressRefused), { cause: error });
  });
  const { status } = response;
  if (status >= 400) throw new PageFailed(failedStatus('The page', response).message, mayPass(status));
  if (!isText(response)) {
    const type = response.headers['content-type']?.split(';', 1)[0] ?? 'unknown';
    throw new PageFailed(`The page is not text, but of type ${type}.`, false);
  }
  const { title, text, isCut } = await readable(response);
  return { url: response.url, title, text, isCut: isCut || response.truncated };
}

/** Whether a later request may succeed, because the server is overloaded, down or slow. */
const mayPass = (status: number): boolean => status >= 500 || status === 429 || status === 408 || status === 425;

async function readable(response: OutgoingResponse): Promise<PageText> {
  const text = textOf(response);
  const type = response.headers['content-type'] ?? '';
  const isPage = /html/i.test(type) || (type === '' && /^\s*<(!doctype|html|head|body)\b/i.test(text));
  if (isPage) return pageAsMarkdown(text, response.url);
  return { title: '', text: cutText(text, PAGE_CHARACTERS_MAX), isCut: text.length > PAGE_CHARACTERS_MAX };
}

@Injectable()
export class GuardedWebPages extends WebPages {
  constructor(private readonly http: OutgoingHttp) {
    super();
  }

  read(url: URL, signal: AbortSignal): Promise<WebPage> {
    return readPage(this.http, url, signal);
  }
}
