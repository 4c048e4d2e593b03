import { createHash } from 'node:crypto';

/** No longer command is run. */
export const COMMAND_CHARACTERS_MAX = 16_384;

/** Programs whose first argument says what they do. */
const WITH_SUBCOMMAND: ReadonlySet<string> = new Set(
  [
    'apt apt-get brew cargo dnf docker git go gradle kubectl make mvn npm pip pnpm poetry rustc rustup service',
    'systemctl uv yarn yum',
  ].flatMap((line) => line.split(' ')),
);

/** Programs that run what their arguments say: a wildcard after one of them would allow everything. */
const RUNS_OTHERS: ReadonlySet<string> = new Set(
  [
    'awk bash busybox chroot command dash doas env eval exec find fish gawk ionice ksh lua nice node nohup parallel perl php',
    'powershell pwsh python python2 python3 ruby screen sed setsid sh source ssh stdbuf su sudo tclsh tee time timeout tmux vi vim',
    'watch xargs zsh .',
  ].flatMap((line) => line.split(' ')),
);

/** Words of a segment that are no more than words: nothing in them is substituted, redirected, or said to the shell otherwise. */
const PLAIN_WORD = /^[\w@%+=:,./^~*?[\]-]+$/;
/** Text in quotes in which nothing is substituted. */
const QUOTED = /'[^']*'|"[^"$`\\!]*"/g;
const ASSIGNMENT = /^\w+=/;

export const digestOfCommand = (command: string): string => createHash('sha256').update(command).digest('hex');

/** The commands of a compound one, as far as quotes let them be seen. */
export function segmentsOf(command: string): readonly string[] {
  const segments: string[] = [];
  let quote = '';
  let current = '';
  for (let at = 0; at < command.length; at++) {
    const character = command[at]!;
    if (character === '\\' && quote !== "'") {
      current += character + (command[++at] ?? '');
    } else if (quote !== '') {
      current += character;
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") {
      quote = character;
      current += character;
    } else if (isSeparator(command, at)) {
      segments.push(current);
      current = '';
    } else {
      current += character;
    }
  }
  return [...segments, current].map((segment) => segment.trim()).filter((segment) => segment !== '');
}

/** `&` is also a part of `2>&1` and `&>`, which redirect. */
function isSeparator(command: string, at: number): boolean {
  const character = command[at]!;
  if (character === ';' || character === '|' || character === '\n' || character === '\r') return true;
  return character === '&' && command[at - 1] !== '>' && command[at - 1] !== '<' && command[at + 1] !== '>';
}

/**
 * The normal form of a command, by which a pattern allows it: of each segment the program, for some also its sub-command, and
 * `*` for the rest. A segment that says more to a shell than words do, and one that runs other programs, stands there as it is: a
 * pattern allows exactly that. Undefined where there is nothing to run.
 */
export function normalForm(command: string): string | undefined {
  const segments = segmentsOf(command);
  return segments.length === 0 ? undefined : segments.map(normalSegment).join(' && ');
}

function normalSegment(segment: string): string {
  const words = segment.replaceAll(QUOTED, 'x').split(/[ \t]+/);
  const [head, subcommand] = words as [string, ...string[]];
  const [writtenHead, writtenSubcommand] = segment.split(/[ \t]+/);
  const isPlain = words.every((word) => PLAIN_WORD.test(word)) && !ASSIGNMENT.test(head) && head === writtenHead;
  if (!isPlain || RUNS_OTHERS.has(programOf(head))) return exactly(segment);
  if (words.length === 1) return head;
  if (!WITH_SUBCOMMAND.has(head)) return `${head} *`;
  // An option before the sub-command may change what it means: `git -c core.pager=… log`.
  if (subcommand!.startsWith('-') || subcommand !== writtenSubcommand) return exactly(segment);
  return words.length === 2 ? `${head} ${subcommand}` : `${head} ${subcommand} *`;
}

/** Told apart from every form with a wildcard by a digest: `ls '*'` is no `ls *`. */
const exactly = (segment: string): string => `${segment} #${digestOfCommand(segment).slice(0, 16)}`;

const programOf = (head: string): string => head.slice(head.lastIndexOf('/') + 1);

type Listed = Readonly<{ label: string; matches: (text: string) => boolean }>;

const HOME_OR_ROOT = /^(?:\/|~|\$HOME|\$\{HOME\})(?:\/?\.?\*?|\/\.)$/;
const ROOT_LABELS: readonly (readonly [RegExp, string])[] = [
  [/^\//, 'rm -rf /'],
  [/^~/, 'rm -rf ~'],
  [/^\$/, 'rm -rf $HOME'],
];

const says = (pattern: RegExp) => (text: string) => pattern.test(text);

/** What always needs a question. Better to ask about what only looks like it. */
const DENYLIST: readonly Listed[] = [
  ...ROOT_LABELS.map(([root, label]) => ({ label, matches: (text: string) => removesAll(text, root) })),
  {
    label: 'fork bomb',
    matches: (text) => /:\(\)\{/.test(text.replaceAll(' ', '')) || /\b(\w{1,40})\(\)\{\1\|\1&/.test(text.replaceAll(' ', '')),
  },
  { label: 'dd to block device', matches: (text) => /\bdd /.test(text) && /\bof=\/dev\//.test(text) },
  { label: 'mkfs', matches: says(/\bmkfs(?:\.\w+)?\b/) },
  { label: 'shutdown', matches: says(/\b(?:shutdown|reboot)\b/) },
  { label: 'halt', matches: says(/\bhalt\b/) },
  { label: 'poweroff', matches: says(/\bpoweroff\b/) },
  { label: 'init 0/6', matches: says(/\b(?:tel)?init [06]\b/) },
  { label: 'git push --force', matches: forcesPush },
];

/** The label of what is on the denylist; undefined: nothing is. Quotes and backslashes hide nothing, and neither does a shell in a shell. */
export function denylistLabel(command: string): string | undefined {
  const text = command
    .replaceAll(/\\\r?\n/g, ' ')
    .replaceAll(/['"\\]/g, '')
    .replaceAll(/\$(?:\{IFS\}|IFS\b)/g, ' ')
    .replaceAll(/[ \t]+/g, ' ');
  return DENYLIST.find(({ matches }) => matches(text))?.label;
}

/** Between these a shell runs a command of its own. */
const COMMAND_BREAKS = /[;&|\n\r`(){}]/;
const HOME_BRACES = /\$\{HOME\}/g;

function commandsIn(text: string): readonly (readonly string[])[] {
  const withoutBraces = text.replaceAll(HOME_BRACES, '$HOME');
  return withoutBraces.split(COMMAND_BREAKS).map((part) => part.split(/[ <>]/).filter((word) => word !== ''));
}

function removesAll(text: string, root: RegExp): boolean {
  return commandsIn(text).some((words) => {
    const at = words.findIndex((word) => programOf(word) === 'rm');
    if (at === -1) return false;
    const rest = words.slice(at + 1);
    const isRecursive = rest.some((word) => word === '--recursive' || /^-[A-Za-z]*[rR]/.test(word));
    const targets = rest.filter((word) => !word.startsWith('-'));
    return isRecursive && targets.some((target) => root.test(target) && HOME_OR_ROOT.test(plainPath(target)));
  });
}

/** `//`, `/./` and `/../` are `/`. */
const plainPath = (target: string): string => target.replaceAll(/\/(?:\.{0,2}\/)+/g, '/').replace(/\/\.{1,2}$/, '/');

function forcesPush(text: string): boolean {
  return commandsIn(text).some((words) => {
    const git = words.findIndex((word) => programOf(word) === 'git');
    const push = words.indexOf('push', git + 1);
    if (git === -1 || push === -1) return false;
    return words.slice(push + 1).some((word) => word.startsWith('--force') || /^-[A-Za-z]*f/.test(word) || word.startsWith('+'));
  });
}
