import { expect, it } from '@jest/globals';
import { commandsOver } from '../../../../../test/support/commands-over.js';
import { turnSettings } from '../../../../../test/support/turn-settings.js';
import { cause } from '../../../../../test/support/turns.js';
import type { AttachmentShelf } from '../../../../resources/attachments/attachment-shelf.port.js';
import { type StoreArtifact, StoreArtifactHandler } from '../../../../resources/artifacts/artifact.commands.js';
import type { ArtifactContents } from '../../../../resources/artifacts/artifact-contents.port.js';
import type { CodeJob, CodeResult, CodeRunner } from '../../../../resources/code/code-runner.port.js';
import type { CodeNodeConfig } from '../../../../resources/workflows/node-config.policy.js';
import { CodeNode } from './code-node.js';
import { type NodeContext, NodeResult } from './node-context.js';
import { NodeFiles } from './node-files.js';
import { inputDocuments, RunState } from './run-state.js';

const CONFIG: CodeNodeConfig = { code: 'print(1)', inputs: ['*'], outputVariable: 'out', timeoutSeconds: 5, jsonSchema: null };
const NOTHING: CodeResult = { stdout: '', stderr: '', files: [], failure: null };
const file = (name: string) => ({ name, content: Buffer.from(name) });

/** Runs a code node whose interpreter returns the given result. */
async function ran(said: Partial<CodeResult>, config: Partial<CodeNodeConfig> = {}, values: Record<string, unknown> = {}) {
  const jobs: CodeJob[] = [];
  const stored: StoreArtifact['artifact'][] = [];
  const runner = {
    run: async (_: string, prepare: () => Promise<CodeJob>) => (jobs.push(await prepare()), { ...NOTHING, ...said }),
  } as unknown as CodeRunner;
  const shelf = {
    recall: async (ids: readonly string[]) => ids.map((id) => ({ filename: `${id}/x.csv`, blob: { size: 3 } })),
    bytesOf: async () => Buffer.from('1,2'),
  } as unknown as AttachmentShelf;
  const artifacts = { newest: async () => undefined } as unknown as ArtifactContents;
  const handler = Object.assign(Object.create(StoreArtifactHandler.prototype) as StoreArtifactHandler, {
    execute: async ({ artifact }: StoreArtifact) => (
      stored.push(artifact),
      { artifactId: artifact.artifactId, version: 1, position: 1n }
    ),
  });
  const attachments = [{ id: 'file-1', filename: 'x.csv', mimeType: 'text/csv' }];
  const context = {
    workflowRunId: 'w1',
    step: { step: 3, nodeId: 'n3' },
    transcript: {
      ownerId: 'alice',
      cause,
      asked: { conversationId: 'c1', turnId: 't1', settings: turnSettings({ attachments }) },
    },
    run: { signal: new AbortController().signal },
    state: new RunState({ query: 'Why?', input_documents: inputDocuments(attachments), ...values }, async () => [], attachments),
    result: new NodeResult(),
  } as unknown as NodeContext;
  await new CodeNode(runner, new NodeFiles(shelf, artifacts), commandsOver(handler)).run({ ...CONFIG, ...config }, context);
  return { job: jobs[0]!, stored, result: context.result };
}

it('a code node reads the variables and the files of the run, under safe file names', async () => {
  const { job } = await ran({});
  expect(job).toMatchObject({ code: 'print(1)', state: { query: 'Why?' }, timeoutMs: 5_000 });
  expect(job.inputs).toEqual([{ name: 'file-1_x.csv', content: Buffer.from('1,2') }]);
});

it('a code node reads only attachments of the question, although variables name others', async () => {
  const other = { attachment_id: 'file-2', filename: 'x.csv', mime_type: 'text/csv', ref: 'A2' };
  const made = { ...other, artifact_id: 'artifact-1', version: 1 };
  const { job } = await ran({}, { inputs: ['*', 'other', 'made', 'file-2'] }, { other, made });
  expect(job.inputs.map(({ name }) => name)).toEqual(['file-1_x.csv']);
});

it('a code node stores its files as artifacts with derived ids, and the first one is its output', async () => {
  const { stored, result } = await ran({ files: [file('a.csv'), file('b.png')], stdout: 'done' });
  expect(stored.map(({ filename, mimeType, ownerId, parent }) => ({ filename, mimeType, ownerId, parent }))).toEqual([
    {
      filename: 'a.csv',
      mimeType: 'text/csv',
      ownerId: 'alice',
      parent: { workflowRunId: 'w1', conversationId: 'c1', messageId: 't1' },
    },
    {
      filename: 'b.png',
      mimeType: 'image/png',
      ownerId: 'alice',
      parent: { workflowRunId: 'w1', conversationId: 'c1', messageId: 't1' },
    },
  ]);
  expect((await ran({ files: [file('a.csv')] })).stored[0]!.artifactId).toBe(stored[0]!.artifactId);
  expect(result.output).toEqual({ artifact_id: stored[0]!.artifactId, version: 1, mime_type: 'text/csv', filename: 'a.csv' });
  expect(result.delta).toEqual({ node_n3_output: result.output, out: result.output });
  expect(result.artifactIds).toEqual(stored.map(({ artifactId }) => artifactId));
});

it('a code node outputs its printed text if it left no file, and the printed value if it has a schema', async () => {
  expect((await ran({ stdout: 'done\n' })).result.output).toBe('done');
  const jsonSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  expect((await ran({ stdout: '{"n": 1}', files: [file('a.csv')] }, { jsonSchema })).result.output).toEqual({ n: 1 });
  await expect(ran({ stdout: '{"n": "one"}' }, { jsonSchema })).rejects.toThrow('does not fit the schema of this node');
});

it.each([
  ['error', 'Traceback: it broke', 'The code failed: Traceback: it broke'],
  ['timeout', '', 'The code exceeded its time limit.'],
  ['memory', '', 'The code exceeded its memory limit.'],
] as const)('a code node that ends with %s fails with the reason', async (kind, text, said) => {
  await expect(ran({ failure: { kind, text } })).rejects.toMatchObject({ code: 'code-failed', message: said });
});
