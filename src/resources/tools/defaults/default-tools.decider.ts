import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { defaultToolsCodec } from './default-tools.codec.js';
import type { DefaultToolsEvent } from './default-tools.events.js';

/** The default tools that one user has switched off. */
export type DefaultTools = Readonly<{ off: readonly string[] }>;

export const defaultTools: Aggregate<DefaultTools, DefaultToolsEvent> = {
  initial: { off: [] },
  evolve,
  codec: defaultToolsCodec,
};

function evolve({ off }: DefaultTools, { type, data }: DefaultToolsEvent): DefaultTools {
  const others = off.filter((name) => name !== data.name);
  switch (type) {
    case 'DefaultToolSwitchedOff':
      return { off: [...others, data.name] };
    case 'DefaultToolSwitchedOn':
      return { off: others };
  }
}

export const switchDefault =
  (userId: string, name: string, on: boolean): Decision<DefaultTools, DefaultToolsEvent> =>
  ({ off }) =>
    on === !off.includes(name) ? [] : [{ type: on ? 'DefaultToolSwitchedOn' : 'DefaultToolSwitchedOff', data: { userId, name } }];
