import { isUtf8 } from 'node:buffer';
import { Injectable } from '@nestjs/common';
import { Commands } from '../../../../kernel/commands.js';
import { deterministicId } from '../../../../kernel/ids.js';
import { StoreArtifact } from '../../../../resources/artifacts/artifact.commands.js';
import { type CodeFailure, type CodeFile, CodeRunner } from '../../../../resources/code/code-runner.port.js';
import type { CodeNodeConfig } from '../../../../resources/workflows/node-config.policy.js';
import type { TurnGuard } from '../../loop/turn-guard.js';
import { AnswerFailed } from '../../loop/answer-failed.js';
import { structuredAnswer } from '../../loop/structured-answer.policy.js';
import { mimeTypeOf } from './file-types.policy.js';
import { type NodeContext, setOutput } from './node-context.js';
import { NodeFiles } from './node-files.js';
import type { RunDocument } from './run-state.js';

const TIMEOUT_SECONDS_DEFAULT = 60;
/** Maximum length of the failing code's error output in the error message. */
const FAILURE_CHARACTERS_MAX = 4_000;

const FAILURES: Readonly<Record<CodeFailure['kind'], string>> = {
  error: 'The code failed:',
  timeout: 'The code exceeded its time limit.',
  memory: 'The code exceeded its memory limit.',
  output: 'The code exceeded its output limit.',
  unavailable: 'No interpreter is available for the code.',
};

/**
 * Runs Python code as one step of a workflow run. Stores the files that the code leaves in its folder as artifacts of the run.
 */
@Injectable()
export class CodeNode {
  constructor(
    private readonly runner: CodeRunner,
    private readonly files: NodeFiles,
    private readonly commands: Commands,
  ) {}

  /** @throws AnswerFailed; Rejection artifact-quota-exceeded, code-disabled */
  async run(config: CodeNodeConfig, context: NodeContext): Promise<void> {
    const { state, run } = context;
    const prepare = async () => ({
      code: config.code,
      state: state.variables,
      inputs: await this.files.forCode(state.documents(config.inputs), context.transcript.ownerId),
      timeoutMs: (config.timeoutSeconds ?? TIMEOUT_SECONDS_DEFAULT) * 1_000,
    });
    const { stdout, files, failure } = await this.runner.run(context.transcript.ownerId, prepare, run.signal);
    if (failure) throw new AnswerFailed('code-failed', failureText(failure));
    const kept: RunDocument[] = [];
    for (const file of files) kept.push(await this.keep(file, context));
    setOutput(context, config.outputVariable, outputOf(config, stdout, kept));
  }

  /** Stores a file as an artifact. Its id is derived from run, step and name, so a repeated step stores the file only once. */
  private async keep(
    { name, content }: CodeFile,
    { workflowRunId, step, transcript, result, run }: NodeContext,
  ): Promise<RunDocument> {
    const { conversationId, turnId } = transcript.asked;
    const isHeadless = conversationId === turnId;
    const mimeType = mimeTypeOf(name);
    const artifactId = deterministicId('artifact', workflowRunId, step.step, name);
    const filename = run.guard?.masked(name) ?? name;
    const { version } = await this.commands.execute(
      new StoreArtifact(
        {
          artifactId,
          ownerId: transcript.ownerId,
          parent: { workflowRunId, ...(!isHeadless && { conversationId, messageId: turnId }) },
          kind: 'file',
          title: filename,
          filename,
          mimeType,
          content: run.guard ? await guardedContent(run.guard, content) : content,
          producedBy: { kind: 'workflow-node', workflow_run_id: workflowRunId, node_id: step.nodeId, step: step.step },
        },
        transcript.cause,
      ),
    );
    result.artifactIds.push(artifactId);
    return { artifact_id: artifactId, version, mime_type: mimeType, filename };
  }
}

/** Masks the content of a text file. Other content is returned unchanged. @throws GuardrailBlock */
const guardedContent = async (guard: TurnGuard, content: Uint8Array): Promise<Uint8Array> =>
  isUtf8(content) ? Buffer.from(await guard.text('output', Buffer.from(content).toString())) : content;

const failureText = ({ kind, text }: CodeFailure): string =>
  text === '' ? FAILURES[kind] : `${FAILURES[kind]} ${text.slice(-FAILURE_CHARACTERS_MAX).toWellFormed()}`;

/**
 * The output of the code: the printed JSON if the node has a schema, otherwise the first file, otherwise the printed text.
 * @throws AnswerFailed
 */
function outputOf({ jsonSchema }: CodeNodeConfig, stdout: string, files: readonly RunDocument[]): unknown {
  if (!jsonSchema) return files[0] ?? stdout.trim();
  const read = structuredAnswer(stdout, jsonSchema);
  if ('answer' in read) return JSON.parse(read.answer);
  throw new AnswerFailed(
    'invalid-structured-answer',
    `What the code printed does not fit the schema of this node. ${read.problem}`,
  );
}
