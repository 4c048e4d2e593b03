import { createHash } from 'node:crypto';

/** Longer commands are refused. */
export const COMMAND_CHARACTERS_MAX = 16_384;

/** Programs whose first argument says what they do. */
const WITH_SUBCOMMAND: ReadonlySet<string> = new Set(
  [
    'apt apt-get brew cargo dnf docker git go gradle kubectl make mvn npm pip pnpm poetry rustc rustup service',
    'systemctl uv yarn yum',
  ].flatMap((line) => line.split(' ')),
);

/** Programs that run the program or code in their arguments: a wildcard after one of them would allow everything. */
const RUNS_OTHERS: ReadonlySet<string> = new Set(
  [
    'awk bash bun bunx busybox chroot chrt command csh dash deno doas ed emacs entr env eval exec expect find fish flock gawk gdb',
    'ionice java julia ksh less lua man mawk more nawk nice node nohup npx nsenter osascript parallel perl php pipx powershell pwsh',
    'python rlwrap rsync Rscript ruby runuser screen script sed setpriv setsid sh socat source ssh stdbuf strace su sudo tar',
    'taskset tclsh tcsh tee time timeout tmux tsx unshare uvx vi vim watch xargs zsh .',
  ].flatMap((line) => line.split(' ')),
);

/** Sub-commands that run the program or code in their arguments. */
const SUBCOMMANDS_RUN_OTHERS: ReadonlySet<string> = new Set([
  ...['docker exec', 'docker run', 'go run', 'kubectl debug', 'kubectl exec', 'kubectl run', 'npm exec', 'npm x'],
  ...['pnpm dlx', 'pnpm exec', 'poetry run', 'uv run', 'yarn dlx', 'yarn exec'],
]);

/** Words without special meaning to the shell: no substitution, redirection or other operator. */
const PLAIN_WORD = /^[\w@%+=:,./^~*?[\]-]+$/;
/** Quoted text in which the shell substitutes nothing. */
const QUOTED = /'[^']*'|"[^"$`\\!]*"/g;
const ASSIGNMENT = /^\w+=/;

export const digestOfCommand = (command: string): string => createHash('sha256').update(command).digest('hex');

/** The single commands of a compound command. Separators inside quotes do not count. */
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
 * The normal form of a command, to which patterns are compared: for each segment the program, for some programs also the
 * sub-command, and `*` for the rest. A segment with shell syntax other than words, or whose program runs other programs, is kept
 * unchanged, so a pattern allows exactly that text. Undefined if the command has no segments.
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
  if (!isPlain || runsOthers(head) || SUBCOMMANDS_RUN_OTHERS.has(`${head} ${subcommand}`)) return exactly(segment);
  if (words.length === 1) return head;
  if (!WITH_SUBCOMMAND.has(head)) return `${head} *`;
  // An option before the sub-command may change its meaning: `git -c core.pager=… log`.
  if (subcommand!.startsWith('-') || subcommand !== writtenSubcommand) return exactly(segment);
  return words.length === 2 ? `${head} ${subcommand}` : `${head} ${subcommand} *`;
}

/** The digest distinguishes an exact text from a form with a wildcard: `ls '*'` is not `ls *`. */
const exactly = (segment: string): string => `${segment} #${digestOfCommand(segment).slice(0, 16)}`;

/** Interpreters are also installed under names with a version, such as `python3.12`. */
const runsOthers = (head: string): boolean =>
  RUNS_OTHERS.has(programOf(head)) || RUNS_OTHERS.has(programOf(head).split(/[\d.-]/, 1)[0]!);

const programOf = (head: string): string => head.slice(head.lastIndexOf('/') + 1);

type Listed = Readonly<{ label: string; matches: (text: string) => boolean }>;

const HOME_OR_ROOT = /^(?:\/|~|\$HOME|\$\{HOME\})(?:\/?\.?\*?|\/\.)$/;
const ROOT_LABELS: readonly (readonly [RegExp, string])[] = [
  [/^\//, 'rm -rf /'],
  [/^~/, 'rm -rf ~'],
  [/^\$/, 'rm -rf $HOME'],
];

const says = (pattern: RegExp) => (text: string) => pattern.test(text);

/** Commands that always need an approval. If in doubt, a text matches. */
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

/**
 * The label of the denylist entry that matches; undefined if none does. Quotes, backslashes and nested shells do not hide a
 * match.
 */
export function denylistLabel(command: string): string | undefined {
  const text = command
    .replaceAll(/\\\r?\n/g, ' ')
    .replaceAll(/['"\\]/g, '')
    .replaceAll(/\$(?:\{IFS\}|IFS\b)/g, ' ')
    .replaceAll(/[ \t]+/g, ' ');
  return DENYLIST.find(({ matches }) => matches(text))?.label;
}

/** Characters that separate the commands in a shell text. */
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

/** Reduces `//`, `/./` and `/../` to `/`. */
const plainPath = (target: string): string => target.replaceAll(/\/(?:\.{0,2}\/)+/g, '/').replace(/\/\.{1,2}$/, '/');

function forcesPush(text: string): boolean {
  return commandsIn(text).some((words) => {
    const git = words.findIndex((word) => programOf(word) === 'git');
    const push = words.indexOf('push', git + 1);
    if (git === -1 || push === -1) return false;
    return words.slice(push + 1).some((word) => word.startsWith('--force') || /^-[A-Za-z]*f/.test(word) || word.startsWith('+'));
  });
}
