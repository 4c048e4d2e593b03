import { Injectable } from '@nestjs/common';
import { type CallArguments, filledAction, textArgument, unknownAction } from '../builtin/call-arguments.policy.js';
import { OutgoingHttp, type OutgoingResponse } from '../outgoing-http.port.js';
import type { ActionDefinition } from '../tool.events.js';
import { type CallContext, ToolFailed, ToolKind, type UsedTool } from '../tool-kind.port.js';
import { isText, textOf } from './response-text.policy.js';
import { ask, failedStatus } from './web-call.js';
import { PAGE_CHARACTERS_MAX, pageAsMarkdown, type PageText } from './page-markdown.js';

const READ = filledAction('read_webpage', 'Reads a page on the web and gives its text as Markdown.', 'read', {
  url: { type: 'string', description: 'The address of the page, such as https://example.com/page.' },
});

/** Reads pages whose addresses models come across. */
@Injectable()
export class ReadWebpageTool extends ToolKind {
  readonly name = 'read_webpage';
  readonly displayName = 'Read Webpage';
  readonly description = 'Reads pages on the web as Markdown.';
  readonly configFields = {};
  readonly actions = [READ];

  constructor(private readonly http: OutgoingHttp) {
    super();
  }

  async run({ name }: ActionDefinition, args: CallArguments, _tool: UsedTool, { signal }: CallContext): Promise<object> {
    if (name !== READ.name) throw unknownAction(name);
    const headers = { accept: 'text/html, text/*;q=0.9, application/json;q=0.8, */*;q=0.1' };
    const response = await ask(this.http, { service: 'The page', url: addressIn(args), headers, signal });
    if (response.status >= 400) throw failedStatus('The page', response);
    if (!isText(response)) {
      throw new ToolFailed(
        `The page is no text, but of type ${response.headers['content-type']?.split(';', 1)[0] ?? 'unknown'}.`,
      );
    }
    const { title, text, isCut } = readable(response);
    return {
      url: response.url,
      ...(title !== '' && { title }),
      content: text,
      ...((isCut || response.truncated) && { note: 'The page is longer than this; its end was cut off.' }),
    };
  }
}

/** Models leave the scheme out, as people do. */
function addressIn(args: CallArguments): URL {
  const given = textArgument(args, 'url').trim();
  const url = URL.parse(/^[a-z][a-z\d+.-]*:/i.test(given) ? given : `https://${given}`);
  if (!url || !/^https?:$/.test(url.protocol)) throw new ToolFailed('The argument `url` must be an http or https URL.');
  return url;
}

function readable(response: OutgoingResponse): PageText {
  const text = textOf(response);
  const type = response.headers['content-type'] ?? '';
  const isPage = /html/i.test(type) || (type === '' && /^\s*<(!doctype|html|head|body)\b/i.test(text));
  if (isPage) return pageAsMarkdown(text, response.url);
  return { title: '', text: text.slice(0, PAGE_CHARACTERS_MAX), isCut: text.length > PAGE_CHARACTERS_MAX };
}
