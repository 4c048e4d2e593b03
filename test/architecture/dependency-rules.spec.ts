import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { oncePerState } from '../support/once-per-state.js';

type Violation = Readonly<{ rule: { name: string }; from: string; to: string }>;
type Judgement = Readonly<{
  violations: readonly Violation[];
  totalCruised: number;
  totalDependenciesCruised: number;
  /** Every import of one of our files by another, without specs. */
  imports: readonly Readonly<{ from: string; to: string }>[];
}>;
type Cruised = Readonly<{
  summary: Omit<Judgement, 'imports'>;
  modules: readonly Readonly<{ source: string; dependencies: readonly Readonly<{ resolved: string }>[] }>[];
}>;

const root = process.cwd();
const rules = join(root, 'test/architecture/dependency-rules.cjs');
const cruiser = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
/** What a cruise of the service reads. */
const READ = ['src', 'projections', 'test', 'tsconfig.json'];
/** It takes seconds of CPU time, which other suites use too. */
const CRUISED_MS_MAX = 600_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Applies the rules to a folder. They check what the service imports. Test helpers are read only because its specs use them. */
async function judge(folder: string): Promise<string> {
  const run = [cruiser, 'src', 'projections', '--config', rules, '--output-type', 'json', '--no-cache'];
  const { stdout } = await promisify(execFile)(process.execPath, run, { cwd: folder, maxBuffer: OUTPUT_BYTES_MAX });
  const { summary, modules } = JSON.parse(stdout) as Cruised;
  const imports = modules
    .filter(({ source }) => !source.endsWith('.spec.ts'))
    .flatMap(({ source, dependencies }) => dependencies.map(({ resolved }) => ({ from: source, to: resolved })));
  const { violations, totalCruised, totalDependenciesCruised } = summary;
  return JSON.stringify({ violations, totalCruised, totalDependenciesCruised, imports } satisfies Judgement);
}

/** Files that stand for the parts of the service. Probes import them. */
const places = [
  'src/app/main.ts',
  'src/kernel/event-sourcing/event-store.ts',
  'src/kernel/ids.ts',
  'src/kernel/event-sourcing/events.ts',
  'src/dialogue/conversation/conversation.events.ts',
  'src/dialogue/conversation/conversation.codec.ts',
  'src/dialogue/conversation/conversation.policy.ts',
  'src/dialogue/conversation/conversation.port.ts',
  'src/dialogue/conversation/conversation.decider.ts',
  'src/dialogue/conversation/conversation.module.ts',
  'src/dialogue/conversation/conversations.http.ts',
  'src/dialogue/conversation/conversation.commands.ts',
  'src/dialogue/conversation/clean-up.reaction.ts',
  'src/dialogue/conversation/private.ts',
  'src/kernel/messaging/lease.ts',
  'src/resources/identity/caller.ts',
  'src/resources/identity/identity.http.ts',
  'src/resources/prompts/prompt.events.ts',
  'src/resources/prompts/prompt.codec.ts',
  'src/resources/prompts/prompt.policy.ts',
  'src/resources/prompts/prompt.port.ts',
  'src/resources/prompts/prompt.decider.ts',
  'src/resources/prompts/prompt.commands.ts',
  'src/resources/prompts/prompts.module.ts',
  'src/resources/prompts/private.ts',
  'src/work/tasks/task.events.ts',
  'src/background/runs/run.events.ts',
  'src/triggers/webhooks/delivery.events.ts',
  'src/dialects/v1/v1.http.ts',
  'src/views/audit/audit.http.ts',
  'src/platform/http/errors.ts',
  'src/platform/http/sse.ts',
  'src/platform/outgoing/outgoing.port.ts',
  'src/platform/messaging/signals/in-process-signals.ts',
  'src/platform/projections/projection-runner.ts',
  'projections/projection.ts',
  'projections/catalogue.ts',
  'projections/conversations/conversations.projection.ts',
  'projections/conversations/conversations.queries.ts',
  'test/support/given.ts',
  'src/dialogue/conversation/conversation.decider.spec.ts',
];

/** A rule that no longer matches looks like clean code, so each rule is tested with imports that break it. */
const broken: readonly [rule: string, file: string, imported: string][] = [
  ['kernel-knows-no-floor-above', 'src/kernel/platform.ts', '../platform/http/errors.js'],
  ['platform-knows-no-floor-above', 'src/platform/tasks.ts', '../work/tasks/task.events.js'],
  ['work-knows-no-floor-above', 'src/work/tasks/prompts.ts', '../../resources/prompts/prompt.events.js'],
  ['resources-knows-no-floor-above', 'src/resources/agents/talk.ts', '../../dialogue/conversation/conversation.events.js'],
  ['dialogue-knows-no-floor-above', 'src/dialogue/answering/runs.ts', '../../background/runs/run.events.js'],
  ['background-knows-no-floor-above', 'src/background/jobs/deliveries.ts', '../../triggers/webhooks/delivery.events.js'],
  ['triggers-knows-no-floor-above', 'src/triggers/monitors/dialect.ts', '../../dialects/v1/v1.http.js'],
  ['dialects-knows-no-floor-above', 'src/dialects/v1/audit.ts', '../../views/audit/audit.http.js'],
  ['views-knows-no-floor-above', 'src/views/audit/main.ts', '../../app/main.js'],
  ['stands-on-a-floor', 'src/app/lost.ts', '../cellar/lost.js'],
  ['no-circular', 'src/kernel/cycle-back.ts', './cycle.js'],
  ['nothing-unresolved', 'src/resources/agents/lost.ts', './nowhere.js'],
  ['runs-on-its-dependencies', 'src/platform/tools.ts', 'fast-check'],
  ['knows-no-test', 'src/resources/agents/tested.ts', '../../../test/support/given.js'],
  ['knows-no-test', 'src/dialogue/journal/tested-too.ts', '../conversation/conversation.decider.spec.js'],
  ['kernel-imports-nothing', 'src/kernel/nest.ts', '@nestjs/common'],
  ['kernel-imports-nothing', 'src/kernel/features.ts', '../dialogue/conversation/conversation.events.js'],
  ['kernel-does-no-io', 'src/kernel/files.ts', 'node:fs/promises'],
  ['kernel-does-no-io', 'src/kernel/bare.ts', 'http'],
  ['core-is-pure', 'src/resources/agents/nest.decider.ts', '@nestjs/common'],
  ['core-is-pure', 'src/resources/agents/files.policy.ts', 'node:fs'],
  ['core-is-pure', 'src/resources/agents/adapter.events.ts', '../../platform/messaging/signals/in-process-signals.js'],
  ['core-is-pure', 'src/resources/agents/queries.codec.ts', '../../../projections/conversations/conversations.queries.js'],
  ['core-is-pure', 'src/resources/agents/command.port.ts', '../prompts/prompt.commands.js'],
  ['deciders-only-decide', 'src/resources/agents/store.decider.ts', '../../kernel/event-sourcing/event-store.js'],
  ['deciders-only-decide', 'src/resources/agents/ids.decider.ts', '../../kernel/ids.js'],
  ['deciders-only-decide', 'src/resources/agents/messaging.decider.ts', '../../kernel/messaging/lease.js'],
  ['deciders-only-decide', 'src/resources/agents/random.decider.ts', 'node:crypto'],
  ['deciders-only-decide', 'src/resources/agents/port.decider.ts', '../prompts/prompt.port.js'],
  ['features-meet-in-the-core', 'src/resources/agents/agent.commands.ts', '../prompts/prompt.decider.js'],
  ['features-meet-in-the-core', 'src/resources/agents/private.reaction.ts', '../prompts/private.js'],
  ['features-meet-in-the-core', 'src/resources/agents/controller.ts', '../identity/identity.http.js'],
  ['core-is-pure', 'src/resources/agents/agent.notifications.ts', '../prompts/prompt.commands.js'],
  ['core-is-pure', 'src/resources/agents/agent.purges.ts', '@nestjs/common'],
  ['publishers-know-no-room', 'src/views/notifications/rooms.reaction.ts', '../../dialogue/conversation/conversation.events.js'],
  ['publishers-know-no-room', 'src/views/notifications/rooms.module.ts', '../../resources/prompts/prompts.module.js'],
  ['publishers-know-no-room', 'src/work/retention/rooms.reaction.ts', '../tasks/task.events.js'],
  ['answers-decide-on-conversations', 'src/dialogue/answering/private.ts', '../conversation/private.js'],
  ['controllers-meet-in-the-core', 'src/resources/agents/private.http.ts', '../prompts/private.js'],
  ['controllers-meet-in-the-core', 'src/dialogue/journal/decider.http.ts', '../conversation/conversation.decider.js'],
  ['controllers-of-answers-read-journals', 'src/dialogue/answering/decider.http.ts', '../conversation/conversation.decider.js'],
  ['modules-import-modules', 'src/resources/agents/command.module.ts', '../prompts/private.js'],
  [
    'features-know-no-adapter',
    'src/resources/agents/adapter.commands.ts',
    '../../platform/messaging/signals/in-process-signals.js',
  ],
  ['features-know-no-adapter', 'src/resources/agents/http.reaction.ts', '../../platform/http/errors.js'],
  [
    'controllers-know-http-only',
    'src/resources/agents/adapter.http.ts',
    '../../platform/messaging/signals/in-process-signals.js',
  ],
  ['drivers-stay-in-adapters', 'src/resources/agents/driver.commands.ts', 'postgres'],
  ['drivers-stay-in-adapters', 'src/resources/agents/driver.http.ts', '@nats-io/transport-node'],
  ['platform-serves-ports', 'src/platform/feature.ts', '../resources/prompts/private.js'],
  ['commands-meet-in-events', 'src/dialogue/conversation/chain.commands.ts', './conversation.commands.js'],
  ['commands-meet-in-events', 'src/dialogue/conversation/react.commands.ts', './clean-up.reaction.js'],
  [
    'a-projection-is-events-and-sql',
    'projections/probe/decider.projection.ts',
    '../../src/dialogue/conversation/conversation.decider.js',
  ],
  ['a-projection-is-events-and-sql', 'projections/probe/nest.projection.ts', '@nestjs/common'],
  [
    'projections-send-no-command',
    'projections/probe/command.queries.ts',
    '../../src/dialogue/conversation/conversation.commands.js',
  ],
  ['projections-send-no-command', 'projections/probe/platform.ts', '../../src/platform/projections/projection-runner.js'],
  ['projections-stand-apart', 'projections/probe/other.ts', '../conversations/conversations.queries.js'],
  ['projections-stand-apart', 'projections/probe/other.projection.ts', '../conversations/conversations.projection.js'],
  ['queries-read-no-stream', 'projections/probe/store.queries.ts', '../../src/kernel/event-sourcing/event-store.js'],
  [
    'nobody-writes-read-models',
    'src/resources/agents/writing.reaction.ts',
    '../../../projections/conversations/conversations.projection.js',
  ],
  ['nobody-writes-read-models', 'src/resources/agents/all.commands.ts', '../../../projections/catalogue.js'],
  ['parsers-stay-in-their-process', 'src/app/service.ts', '../resources/documents/formats/word.js'],
];

/** Allowed imports, so that no rule forbids more than it states. */
const kept: readonly [file: string, imported: string][] = [
  ['src/kernel/digest.ts', 'node:crypto'],
  ['src/dialogue/journal/good.decider.ts', '../conversation/conversation.events.js'],
  ['src/resources/agents/good.policy.ts', 'ajv'],
  ['src/resources/agents/good.commands.ts', '../prompts/prompt.policy.js'],
  ['src/resources/agents/sends.reaction.ts', '../prompts/prompt.commands.js'],
  ['src/resources/agents/query.commands.ts', '../../../projections/conversations/conversations.queries.js'],
  ['src/resources/agents/caller.commands.ts', '../identity/caller.js'],
  ['src/resources/agents/good.http.ts', '../../platform/http/errors.js'],
  ['src/resources/agents/port.reaction.ts', '../../platform/outgoing/outgoing.port.js'],
  ['src/resources/agents/caller.http.ts', '../identity/identity.http.js'],
  ['src/resources/agents/query.http.ts', '../../../projections/conversations/conversations.queries.js'],
  ['src/resources/agents/good.module.ts', '../../platform/messaging/signals/in-process-signals.js'],
  ['src/resources/agents/imports.module.ts', '../prompts/prompts.module.js'],
  ['src/resources/agents/good.notifications.ts', '../../work/tasks/task.events.js'],
  ['src/views/notifications/good.http.ts', '../../resources/identity/identity.http.js'],
  ['src/resources/agents/any.spec.ts', '../prompts/private.js'],
  ['src/resources/models/openai/adapter.ts', 'openai'],
  ['src/dialogue/answering/turns.ts', '../conversation/conversation.decider.js'],
  ['src/dialogue/journal/frames.ts', '../../platform/http/sse.js'],
  ['src/dialogue/answering/reading.http.ts', '../journal/frames.js'],
  ['src/platform/driver.ts', 'postgres'],
  ['src/triggers/webhooks/runs.reaction.ts', '../../background/runs/run.events.js'],
  ['src/dialects/v1/new.http.ts', '../../dialogue/conversation/conversation.events.js'],
  ['src/app/dialects.module.ts', '../dialects/v1/v1.http.js'],
  ['projections/probe/good.projection.ts', '../../src/dialogue/conversation/conversation.codec.js'],
  ['projections/probe/sql.projection.ts', 'postgres'],
  ['projections/probe/good.queries.ts', '@nestjs/common'],
];

/** Folders that import each other although their files form no cycle. */
const knots: readonly [file: string, imported: string][] = [
  ['src/resources/agents/knot/first.ts', '../../prompts/knot/second.js'],
  ['src/resources/prompts/knot/second.ts', '../../../kernel/ids.js'],
  ['src/resources/prompts/knot/third.ts', '../../agents/knot/fourth.js'],
  ['src/resources/agents/knot/fourth.ts', '../../../kernel/ids.js'],
];

let folder: string;
let judgement: Judgement;

const plant = (file: string, source: string): void => {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), source);
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dependency-rules-'));
  for (const name of ['node_modules', 'tsconfig.json', 'package.json']) symlinkSync(join(root, name), join(folder, name));
  for (const place of places) plant(place, 'export const here = 1;\n');
  plant('src/kernel/cycle.ts', `export * from './cycle-back.js';\n`);
  plant('src/cellar/lost.ts', 'export const here = 1;\n');
  plant('src/resources/documents/formats/word.ts', `export * from 'mammoth';\n`);
  for (const [, file, imported] of broken) plant(file, `export * from '${imported}';\n`);
  for (const [file, imported] of [...kept, ...knots]) plant(file, `export * from '${imported}';\n`);
  const inputs = [rules, import.meta.filename, join(root, 'tsconfig.json')];
  judgement = JSON.parse(await oncePerState('planted-dependencies', inputs, () => judge(folder))) as Judgement;
}, CRUISED_MS_MAX);
afterAll(() => rmSync(folder, { recursive: true }));

it.each(broken)('%s: %s may not import %s', (rule, file) => {
  expect(judgement.violations.filter(({ from }) => from === file).map((each) => each.rule.name)).toContain(rule);
});

it.each(kept)('%s may import %s', (file) => {
  expect(judgement.violations.filter(({ from }) => from === file).map((each) => each.rule.name)).toEqual([]);
});

it('tests every rule with an import that breaks it', async () => {
  const { default: config } = (await import(pathToFileURL(rules).href)) as {
    default: { forbidden: readonly { name: string }[] };
  };
  expect(new Set(broken.map(([rule]) => rule))).toEqual(new Set(config.forbidden.map(({ name }) => name)));
});

/** Folders of the service that depend on themselves through others. Read models are excluded: events go in, queries come out. */
function knotted({ imports }: Judgement): readonly string[] {
  const next = new Map<string, Set<string>>();
  for (const [from, to] of imports.map((each) => [dirname(each.from), dirname(each.to)] as const))
    if (from !== to && [from, to].every((each) => each.startsWith('src/'))) next.set(from, (next.get(from) ?? new Set()).add(to));
  const reaches = (from: string): ReadonlySet<string> => {
    const seen = new Set<string>();
    for (const open = [from]; open.length > 0;)
      for (const to of next.get(open.pop()!) ?? []) if (!seen.has(to)) open.push((seen.add(to), to));
    return seen;
  };
  return [...next.keys()].filter((folder) => reaches(folder).has(folder)).sort();
}

/** The maximum number of files in a folder, without specs, so that it remains easy to survey. */
const FILES_IN_A_FOLDER_MAX = 25;

/** Folders of the real tree with more files. */
function tooMany(): readonly string[] {
  const files = ['src', 'projections'].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((file) => join(top, file)),
  );
  const counts = new Map<string, number>();
  for (const file of files)
    if (file.endsWith('.ts') && !file.endsWith('.spec.ts')) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > FILES_IN_A_FOLDER_MAX).map(([folder, count]) => `${folder}: ${count}`);
}

it('detects folders that import each other', () => {
  expect(knotted(judgement)).toEqual(expect.arrayContaining(['src/resources/agents/knot', 'src/resources/prompts/knot']));
});

it(
  'finds no violation in the service, and covers all of it',
  async () => {
    const inputs = READ.map((name) => join(root, name));
    const judged = await oncePerState('dependency-rules', inputs, () => judge(root));
    const service = JSON.parse(judged) as Judgement;
    expect(service.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
    expect(knotted(service)).toEqual([]);
    expect(tooMany()).toEqual([]);
    expect(service.totalCruised).toBeGreaterThan(200);
    expect(service.totalDependenciesCruised).toBeGreaterThan(700);
  },
  CRUISED_MS_MAX,
);
