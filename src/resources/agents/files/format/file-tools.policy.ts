import { TEXT_CHARACTERS_MAX } from '../../agent.policy.js';
import { isJsonObject } from '../../../json-object.policy.js';
import { type Fields, fileRefused } from './file-fields.policy.js';
import type { PortableChoice, PortableTool } from '../../../tools/portable/portable-tools.port.js';

const FILE_ACTIONS_MAX = 100;

/** A tool that every user has. */
type FileBuiltinTool = Readonly<{ builtin: true; type: string; ref: string }>;

/** A tool that its owner set up, without its secrets. */
export type FileOwnTool = PortableTool & Readonly<{ builtin: false; ref: string }>;

export type FileTool = FileBuiltinTool | FileOwnTool;

/** The tool that a mapping describes. @throws Rejection invalid-request, which names the faulty field */
export function toolIn(tool: Fields): FileTool {
  const type = tool.name('type');
  if (type === '') throw tool.wrong('type', 'is required');
  const ref = tool.name('ref');
  if (tool.flag('builtin')) {
    tool.end();
    return { builtin: true, type, ref };
  }
  const config = tool.record('config');
  const actions = config['actions'];
  if (type === 'api_tool' && isJsonObject(actions) && Object.keys(actions).length > FILE_ACTIONS_MAX) {
    throw fileRefused(`Too many api_tool actions (max ${FILE_ACTIONS_MAX})`);
  }
  const secrets = tool.raw('requires_secrets') === undefined ? undefined : tool.list('requires_secrets');
  if (secrets?.some((each) => typeof each !== 'string')) throw tool.wrong('requires_secrets', 'must be a list of names');
  const read: FileOwnTool = {
    builtin: false,
    type,
    name: tool.name('name'),
    display_name: tool.name('display_name'),
    description: tool.text('description', TEXT_CHARACTERS_MAX),
    config,
    actions: choicesIn(tool),
    requires_secrets: secrets as readonly string[] | undefined,
    ref,
  };
  tool.end();
  return read;
}

/**
 * The owner's settings for the actions that a kind of tool has. The definitions of actions, which only some kinds have, are in
 * `config`.
 */
function choicesIn(tool: Fields): readonly PortableChoice[] {
  if (tool.list('actions').length > 2 * FILE_ACTIONS_MAX)
    throw tool.wrong('actions', `must have at most ${2 * FILE_ACTIONS_MAX} entries`);
  return tool.records('actions').map((choice): PortableChoice => {
    const name = choice.name('name');
    if (name === '') throw choice.wrong('name', 'is required');
    const [active, approval, access] = [choice.flag('active'), choice.flag('require_approval'), choice.raw('access')];
    if (access !== undefined && access !== 'read' && access !== 'write') throw choice.wrong('access', 'must be read or write');
    const parameters = parametersIn(choice);
    choice.end();
    return {
      name,
      ...(active !== undefined && { active }),
      ...(approval !== undefined && { require_approval: approval }),
      ...(access !== undefined && { access }),
      ...(Object.keys(parameters).length > 0 && { parameters }),
    };
  });
}

const GROUPS = ['parameters', 'query_params', 'headers', 'body'] as const;

/** Tools that describe HTTP requests group their parameters. The settings have the same form in each group. */
function parametersIn(choice: Fields): NonNullable<PortableChoice['parameters']> {
  const named = GROUPS.flatMap((group) =>
    Object.entries(choice.record(group)).map(([name, given]) => {
      if (!isJsonObject(given)) throw choice.wrong(`${group}.${name}`, 'must be a mapping');
      const { filled_by_llm: filled, value } = given;
      if (filled !== undefined && typeof filled !== 'boolean') throw choice.wrong(`${group}.${name}`, 'must say true or false');
      return [
        name,
        { ...(filled !== undefined && { filled_by_llm: filled }), ...(value !== undefined && value !== null && { value }) },
      ] as const;
    }),
  );
  return Object.fromEntries(named);
}
