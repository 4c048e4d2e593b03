import { Injectable } from '@nestjs/common';
import { type CallArguments, filledAction, textArgument, unknownAction } from '../toolbox/call-arguments.policy.js';
import { OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import type { ActionDefinition } from '../toolbox/tool.events.js';
import { type CallContext, ToolFailed, ToolKind, type UsedTool } from '../toolbox/tool-kind.port.js';
import { readPage } from './read-page.js';
import { pageAddress } from './web-pages.port.js';

const READ = filledAction('read_webpage', 'Reads a page on the web and gives its text as Markdown.', 'read', {
  url: { type: 'string', description: 'The address of the page, such as https://example.com/page.' },
});

/** Reads web pages by their addresses. */
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
    const { url, title, text, isCut } = await readPage(this.http, addressIn(args), signal);
    return {
      url,
      ...(title !== '' && { title }),
      content: text,
      ...(isCut && { note: 'The page is longer than this; its end was cut off.' }),
    };
  }
}

function addressIn(args: CallArguments): URL {
  const url = pageAddress(textArgument(args, 'url'));
  if (!url) throw new ToolFailed('The argument `url` must be an http or https URL.');
  return url;
}
