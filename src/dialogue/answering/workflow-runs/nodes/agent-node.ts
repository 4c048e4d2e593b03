import { GrowingText } from '../../../../kernel/growing-text.js';
import { Injectable } from '@nestjs/common';
import type { AgentNodeConfig } from '../../../../resources/workflows/node-config.policy.js';
import { isForOwnersOnly } from '../../../../resources/tools/defaults/default-tools.policy.js';
import type { TurnSettings } from '../../../conversation/conversation.events.js';
import type { Frame } from '../../../journal/message.events.js';
import { ResearchAnswers } from '../../research/research-answers.js';
import { AgentAnswers } from '../../loop/agent-answers.js';
import type { Run } from '../../loop/agent-loop.js';
import type { AnswerDelta } from '../../loop/answer-delta.js';
import { AnswerFailed } from '../../loop/answer-failed.js';
import { structuredAnswer } from '../../loop/structured-answer.policy.js';
import { textOf } from '../../loop/tool-result.policy.js';
import type { Transcript } from '../../loop/transcript.js';
import type { RunStep } from '../run/workflow-run.decider.js';
import { researchIdOf } from '../run/workflow-run.events.js';
import { type NodeContext, setOutput } from './node-context.js';
import { NodeFiles } from './node-files.js';
import { NodeTemplates } from './node-templates.js';
import { stepLedger } from './step-ledger.js';

/** Maximum size of the text of one node. */
const NODE_OUTPUT_BYTES_MAX = 256 * 1024;
const DEFAULT_PROMPT = 'You are a helpful assistant.';

/** Runs an agent as one step of a workflow run. */
@Injectable()
export class AgentNode {
  constructor(
    private readonly agents: AgentAnswers,
    private readonly research: ResearchAnswers,
    private readonly templates: NodeTemplates,
    private readonly files: NodeFiles,
  ) {}

  /** A pause's continuation is that of the node's loop, with the text written so far. @throws AnswerFailed, ModelFailed */
  async *run(config: AgentNodeConfig, context: NodeContext): AsyncGenerator<AnswerDelta> {
    const { run, step, transcript, resumedAfter } = context;
    const { question, notices } = await this.task(config, context);
    if (resumedAfter === undefined) for (const text of notices) yield { type: 'notice', text };
    const doesResearch = config.agentType === 'research';
    const shown = doesResearch ? shownOfStep(step, run.shown) : [];
    const ofNode: Run = { ...run, ledger: stepLedger(run.ledger, step.step, transcript), shown };
    const answers = doesResearch ? this.research : this.agents;
    const speaks = config.streamToUser;
    const isHeld = config.jsonSchema !== null;
    let said = new GrowingText(resumedAfter);
    let bytes = Buffer.byteLength(said.text);
    for await (const delta of answers.deltas(question, ofNode)) {
      switch (delta.type) {
        case 'text':
          said.add(delta.text);
          bytes += Buffer.byteLength(delta.text);
          if (bytes > NODE_OUTPUT_BYTES_MAX)
            throw new AnswerFailed('answer-too-long', 'The node exceeded the maximum length of its text.');
          if (speaks && !isHeld) yield delta;
          break;
        case 'thought':
          if (speaks) yield delta;
          break;
        case 'sources':
        case 'found':
          if (speaks) yield { type: 'found', sources: delta.sources };
          break;
        case 'progress':
          if (speaks) yield delta;
          break;
        case 'round-over':
          // For a structured answer only the text of the last round counts.
          if (isHeld) said = new GrowingText();
          break;
        case 'pause':
          yield {
            ...delta,
            continuation: JSON.stringify({
              ...(JSON.parse(delta.continuation) as object),
              text: run.guard?.masked(said.text) ?? said.text,
            }),
          };
          return;
        default:
          yield delta;
      }
    }
    if (run.signal.aborted) return;
    setOutput(context, config.outputVariable, isHeld ? valueOf(said.text, config.jsonSchema) : said.text.trim());
    if (isHeld && speaks) yield { type: 'text', text: JSON.stringify(context.result.output) };
  }

  /** The transcript for the node's question, with the node's settings. */
  private async task(config: AgentNodeConfig, context: NodeContext) {
    const { transcript, state, tools, resumedAfter, workflowRunId, step } = context;
    const { origin: _, ...asked } = transcript.asked;
    const documents = state.documents(config.inputDocuments);
    const files = await this.files.forAgent(documents, transcript.ownerId);
    const { workflow: __, sampling: ___, ...inherited } = asked.settings;
    const settings: TurnSettings = {
      ...inherited,
      agentType: config.agentType,
      modelId: config.modelId || inherited.modelId,
      promptId: '',
      sources: config.sources.map((id) => ({ id })),
      chunks: config.chunks,
      retriever: config.retriever,
      responseSchema: config.jsonSchema,
      tools: tools.filter(({ toolId }) => config.tools.includes(toolId) && this.isAllowed(toolId, inherited)),
      clientTools: [],
      attachments: files.attachments,
    };
    const written = config.promptTemplate === '' ? undefined : await this.templates.render(config.promptTemplate, context);
    const question: Transcript = {
      ...transcript,
      asked: { ...asked, question: `${written?.text ?? textOf(state.get('query'))}${files.text}`, settings },
      resumption: resumedAfter === undefined ? null : transcript.resumption,
      ...(config.agentType === 'research' && { researchId: researchIdOf(workflowRunId, step.step) }),
      systemPrompt: (found) => this.templates.render(config.systemPrompt || DEFAULT_PROMPT, context, found),
    };
    return { question, notices: [...actsOtherwise(config, documents.length > 0), ...files.notices] };
  }

  private isAllowed(toolId: string, { writeAllowlist = null }: TurnSettings): boolean {
    return writeAllowlist === null || !isForOwnersOnly(toolId);
  }
}

/** The notice for a `file_passing` setting that this service treats as "auto". */
const actsOtherwise = ({ filePassing }: AgentNodeConfig, hasDocuments: boolean): readonly string[] =>
  hasDocuments && filePassing !== 'auto'
    ? [`The model decides how it is given files: file_passing "${filePassing}" acts as "auto".`]
    : [];

/** The frames that a former producer has shown of a step that is run again. */
function shownOfStep({ attempt, nodeId }: RunStep, shown: readonly Frame[]): readonly Frame[] {
  const began = shown.findLastIndex(({ type }) => type === 'workflow_step');
  const frame = shown[began];
  const isOwn = frame?.type !== 'workflow_step' || (frame.status === 'running' && frame.node_id === nodeId);
  return attempt > 1 && isOwn ? shown.slice(began + 1) : [];
}

/** @throws AnswerFailed */
function valueOf(text: string, schema: AgentNodeConfig['jsonSchema']): unknown {
  const read = structuredAnswer(text, schema!);
  if ('answer' in read) return JSON.parse(read.answer);
  throw new AnswerFailed(
    'invalid-structured-answer',
    `The model gave an answer that does not fit the schema of this node. ${read.problem}`,
  );
}
