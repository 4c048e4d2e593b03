import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

type Violation = Readonly<{ rule: { name: string }; from: string; to: string }>;
type Judgement = Readonly<{ violations: readonly Violation[]; totalCruised: number; totalDependenciesCruised: number }>;

const root = process.cwd();
const rules = join(root, 'test/architecture/dependency-rules.cjs');
const cruiser = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** What the rules say about the `src` and `projections` of a folder. */
async function judge(folder: string): Promise<Judgement> {
  const run = [cruiser, 'src', 'projections', '--config', rules, '--output-type', 'json', '--no-cache'];
  const { stdout } = await promisify(execFile)(process.execPath, run, { cwd: folder, maxBuffer: OUTPUT_BYTES_MAX });
  return (JSON.parse(stdout) as { summary: Judgement }).summary;
}

/** Files that stand for the parts of the service. Probes import them. */
const places = [
  'src/app/main.ts',
  'src/kernel/event-sourcing/event-store.ts',
  'src/kernel/ids.ts',
  'src/kernel/event-sourcing/events.ts',
  'src/dialogue/conversation/conversation.events.ts',
  'src/dialogue/conversation/conversation.codec.ts',
  'src/conversation/conversation.policy.ts',
  'src/conversation/conversation.port.ts',
  'src/dialogue/conversation/conversation.decider.ts',
  'src/dialogue/conversation/conversation.module.ts',
  'src/dialogue/conversation/conversations.http.ts',
  'src/conversation/rename.command.ts',
  'src/conversation/clean-up.reaction.ts',
  'src/conversation/private.ts',
  'src/resources/identity/caller.ts',
  'src/resources/identity/identity.http.ts',
  'src/platform/http/errors.ts',
  'src/platform/http/sse.ts',
  'src/platform/messaging/signals/in-process-signals.ts',
  'src/platform/projections/projection-runner.ts',
  'src/legacy/old.http.ts',
  'projections/projection.ts',
  'projections/catalogue.ts',
  'projections/conversations/conversations.projection.ts',
  'projections/conversations/conversations.queries.ts',
  'test/support/given.ts',
  'src/dialogue/conversation/conversation.decider.spec.ts',
];

/** A rule that no longer fires looks just like a clean tree, so each is shown imports that break it. */
const broken: readonly [rule: string, file: string, imported: string][] = [
  ['no-circular', 'src/kernel/cycle-back.ts', './cycle.js'],
  ['nothing-unresolved', 'src/agents/lost.ts', './nowhere.js'],
  ['runs-on-its-dependencies', 'src/platform/tools.ts', 'fast-check'],
  ['knows-no-test', 'src/agents/tested.ts', '../support/given.js'],
  ['knows-no-test', 'src/agents/tested-too.ts', '../conversation/conversation.decider.spec.js'],
  ['kernel-imports-nothing', 'src/kernel/nest.ts', '@nestjs/common'],
  ['kernel-imports-nothing', 'src/kernel/features.ts', '../conversation/conversation.events.js'],
  ['kernel-does-no-io', 'src/kernel/files.ts', 'node:fs/promises'],
  ['kernel-does-no-io', 'src/kernel/bare.ts', 'http'],
  ['core-is-pure', 'src/agents/nest.decider.ts', '@nestjs/common'],
  ['core-is-pure', 'src/agents/files.policy.ts', 'node:fs'],
  ['core-is-pure', 'src/agents/adapter.events.ts', '../platform/signals/in-process-signals.js'],
  ['core-is-pure', 'src/agents/queries.codec.ts', '../../projections/conversations/conversations.queries.js'],
  ['core-is-pure', 'src/agents/command.port.ts', '../conversation/rename.command.js'],
  ['deciders-only-decide', 'src/agents/store.decider.ts', '../kernel/event-store.js'],
  ['deciders-only-decide', 'src/agents/ids.decider.ts', '../kernel/ids.js'],
  ['deciders-only-decide', 'src/agents/random.decider.ts', 'node:crypto'],
  ['deciders-only-decide', 'src/agents/port.decider.ts', '../conversation/conversation.port.js'],
  ['features-meet-in-the-core', 'src/agents/decider.command.ts', '../conversation/conversation.decider.js'],
  ['features-meet-in-the-core', 'src/agents/command.command.ts', '../conversation/rename.command.js'],
  ['features-meet-in-the-core', 'src/agents/private.reaction.ts', '../conversation/private.js'],
  ['features-meet-in-the-core', 'src/agents/controller.ts', '../identity/identity.http.js'],
  ['answers-decide-on-conversations', 'src/answering/command.ts', '../conversation/rename.command.js'],
  ['controllers-meet-in-the-core', 'src/agents/private.http.ts', '../conversation/private.js'],
  ['controllers-meet-in-the-core', 'src/answering/command.http.ts', '../conversation/rename.command.js'],
  ['modules-import-modules', 'src/agents/command.module.ts', '../conversation/rename.command.js'],
  ['features-know-no-adapter', 'src/agents/adapter.command.ts', '../platform/signals/in-process-signals.js'],
  ['features-know-no-adapter', 'src/agents/http.reaction.ts', '../platform/http/errors.js'],
  ['controllers-know-http-only', 'src/agents/adapter.http.ts', '../platform/signals/in-process-signals.js'],
  ['drivers-stay-in-adapters', 'src/agents/driver.command.ts', 'postgres'],
  ['drivers-stay-in-adapters', 'src/agents/driver.http.ts', '@nats-io/transport-node'],
  ['platform-serves-ports', 'src/platform/feature.ts', '../conversation/rename.command.js'],
  ['commands-meet-in-events', 'src/conversation/chain.command.ts', './rename.command.js'],
  ['commands-meet-in-events', 'src/conversation/react.command.ts', './clean-up.reaction.js'],
  [
    'a-projection-is-events-and-sql',
    'projections/probe/decider.projection.ts',
    '../../src/dialogue/conversation/conversation.decider.js',
  ],
  ['a-projection-is-events-and-sql', 'projections/probe/nest.projection.ts', '@nestjs/common'],
  ['projections-send-no-command', 'projections/probe/command.queries.ts', '../../src/conversation/rename.command.js'],
  ['projections-send-no-command', 'projections/probe/platform.ts', '../../src/platform/projections/projection-runner.js'],
  ['projections-stand-apart', 'projections/probe/other.ts', '../conversations/conversations.queries.js'],
  ['projections-stand-apart', 'projections/probe/other.projection.ts', '../conversations/conversations.projection.js'],
  ['queries-read-no-stream', 'projections/probe/store.queries.ts', '../../src/kernel/event-sourcing/event-store.js'],
  ['nobody-writes-read-models', 'src/agents/writing.reaction.ts', '../../projections/conversations/conversations.projection.js'],
  ['nobody-writes-read-models', 'src/agents/all.command.ts', '../../projections/catalogue.js'],
  ['parsers-stay-in-their-process', 'src/app/service.ts', './platform/parsers/word.js'],
  ['nobody-imports-legacy', 'src/agents/legacy.http.ts', '../legacy/old.http.js'],
  ['nobody-imports-legacy', 'src/main-too.ts', './legacy/old.http.js'],
];

/** What the design allows, so that no rule forbids more than it says. */
const kept: readonly [file: string, imported: string][] = [
  ['src/kernel/digest.ts', 'node:crypto'],
  ['src/agents/good.decider.ts', '../conversation/conversation.events.js'],
  ['src/agents/good.policy.ts', 'ajv'],
  ['src/agents/good.command.ts', '../conversation/conversation.policy.js'],
  ['src/agents/query.command.ts', '../../projections/conversations/conversations.queries.js'],
  ['src/agents/caller.command.ts', '../identity/caller.js'],
  ['src/agents/good.http.ts', '../platform/http/errors.js'],
  ['src/agents/caller.http.ts', '../identity/identity.http.js'],
  ['src/agents/query.http.ts', '../../projections/conversations/conversations.queries.js'],
  ['src/agents/good.module.ts', '../platform/signals/in-process-signals.js'],
  ['src/agents/imports.module.ts', '../conversation/conversation.module.js'],
  ['src/agents/any.spec.ts', '../conversation/rename.command.js'],
  ['src/answering/turns.ts', '../conversation/conversation.decider.js'],
  ['src/realtime/frames.ts', '../platform/http/sse.js'],
  ['src/platform/adapter.ts', '../conversation/conversation.port.js'],
  ['src/platform/driver.ts', 'postgres'],
  ['src/legacy/new.http.ts', '../conversation/conversation.events.js'],
  ['projections/probe/good.projection.ts', '../../src/dialogue/conversation/conversation.codec.js'],
  ['projections/probe/sql.projection.ts', 'postgres'],
  ['projections/probe/good.queries.ts', '@nestjs/common'],
  ['src/app/app.module.ts', './legacy/old.http.js'],
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
  plant('src/resources/documents/formats/word.ts', `export * from 'mammoth';\n`);
  for (const [, file, imported] of broken) plant(file, `export * from '${imported}';\n`);
  for (const [file, imported] of kept) plant(file, `export * from '${imported}';\n`);
  judgement = await judge(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each(broken)('%s: %s may not import %s', (rule, file) => {
  expect(judgement.violations.filter(({ from }) => from === file).map((each) => each.rule.name)).toContain(rule);
});

it.each(kept)('%s may import %s', (file) => {
  expect(judgement.violations.filter(({ from }) => from === file).map((each) => each.rule.name)).toEqual([]);
});

it('has an import that breaks it for every rule', async () => {
  const { default: config } = (await import(rules)) as { default: { forbidden: readonly { name: string }[] } };
  expect(new Set(broken.map(([rule]) => rule))).toEqual(new Set(config.forbidden.map(({ name }) => name)));
});

it('finds no violation in the service, and sees the service', async () => {
  const service = await judge(root);
  expect(service.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  expect(service.totalCruised).toBeGreaterThan(200);
  expect(service.totalDependenciesCruised).toBeGreaterThan(700);
});
