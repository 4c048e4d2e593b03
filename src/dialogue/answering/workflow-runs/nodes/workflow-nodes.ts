import { Injectable } from '@nestjs/common';
import { nodeConfigOf } from '../../../../resources/workflows/node-config.policy.js';
import type { WorkflowNode } from '../../../../resources/workflows/workflow-graph.policy.js';
import type { AnswerDelta } from '../../loop/answer-delta.js';
import { AnswerFailed } from '../../loop/answer-failed.js';
import { AgentNode } from './agent-node.js';
import { CodeNode } from './code-node.js';
import type { NodeContext } from './node-context.js';
import { PlainNodes } from './plain-nodes.js';

/** Runs a node by its type. */
@Injectable()
export class WorkflowNodes {
  constructor(
    private readonly agents: AgentNode,
    private readonly plain: PlainNodes,
    private readonly code: CodeNode,
  ) {}

  /** @throws AnswerFailed, ModelFailed, Rejection if the node fails */
  async *run(node: WorkflowNode, context: NodeContext): AsyncGenerator<AnswerDelta> {
    const config = nodeConfigOf(node);
    switch (config?.type) {
      case 'start':
      case 'note':
        return;
      case 'end':
        yield* this.plain.end(config, context);
        return;
      case 'agent':
        yield* this.agents.run(config, context);
        return;
      case 'state':
        await this.plain.state(config, context);
        return;
      case 'condition':
        await this.plain.condition(config, context);
        return;
      case 'code':
        await this.code.run(config, context);
        return;
      default:
        throw new AnswerFailed('unknown-node-type', `This service has no nodes of the type ${node.type}.`);
    }
  }
}
