import { type CallArguments, isLeftOut, numberArgument, textArgument } from '../toolbox/call-arguments.policy.js';
import { ToolFailed } from '../toolbox/tool-kind.port.js';

export const QUERY_CHARACTERS_MAX = 1000;
export const RESULTS_MAX = 20;
export const RESULTS = 5;

/** A non-empty text of limited length. @throws ToolFailed */
export function givenText(args: CallArguments, name: string, charactersMax: number): string {
  const text = textArgument(args, name).trim();
  if (text === '' || text.length > charactersMax) {
    throw new ToolFailed(`The argument \`${name}\` must have 1 to ${charactersMax} characters.`);
  }
  return text;
}

export const optionalText = (args: CallArguments, name: string, charactersMax = 100): string | undefined =>
  isLeftOut(args[name]) || args[name] === '' ? undefined : givenText(args, name, charactersMax);

/** The wanted number of results, within the limits. */
export const resultCount = (args: CallArguments, name: string): number =>
  isLeftOut(args[name]) ? RESULTS : Math.min(Math.max(numberArgument(args, name), 1), RESULTS_MAX);

export const oneOfTexts = <T extends string>(args: CallArguments, name: string, allowed: readonly T[]): T | undefined => {
  const given = optionalText(args, name);
  if (given === undefined) return undefined;
  const found = allowed.find((option) => option === given.toLowerCase());
  if (found === undefined) throw new ToolFailed(`The argument \`${name}\` must be one of ${allowed.join(', ')}.`);
  return found;
};
