import { Injectable } from '@nestjs/common';
import { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import { InputChecks } from '../../../dialogue/answering/guardrails/input-checks.port.js';

type Texts = Readonly<{ name?: unknown; instruction?: unknown }>;

/** Checks the texts of schedules by the current guardrails of their agent before they are stored. */
@Injectable()
export class DefinitionGuard {
  constructor(
    private readonly agents: AgentQueries,
    private readonly inputs: InputChecks,
  ) {}

  /** Returns the definition, with its texts masked if the guardrails require that. @throws Rejection guardrail-blocked */
  async checked<T extends Texts>(agentId: string | null, asked: T): Promise<T> {
    const agent = agentId === null ? undefined : await this.agents.byId(agentId);
    const policy = this.inputs.policyFor(agent?.configuration.config.guardrails);
    if (!policy) return asked;
    const { name, instruction } = asked;
    const [checkedName, checkedInstruction] = await this.inputs.required<readonly unknown[]>(policy, [name, instruction]);
    return {
      ...asked,
      ...(name !== undefined && { name: checkedName }),
      ...(instruction !== undefined && { instruction: checkedInstruction }),
    };
  }
}
