import { Injectable } from '@nestjs/common';
import { CustomModelQueries } from '../../../../projections/custom-models/custom-models.queries.js';
import { PromptQueries } from '../../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { ToolQueries } from '../../../../projections/tools/tools.queries.js';
import { withoutUrlSecrets } from '../../tools/portable/portable-config.policy.js';
import type { AgentFile } from './format/agent-file.policy.js';
import type { OwnedThings } from './import-plan.policy.js';

/** Lists the resources of a user that files of agents may refer to. */
@Injectable()
export class OwnedThingsLookup {
  constructor(
    private readonly sources: SourceQueries,
    private readonly tools: ToolQueries,
    private readonly prompts: PromptQueries,
    private readonly models: CustomModelQueries,
  ) {}

  /** `prompt`: that of a file, which may be equal to own ones. */
  async of(ownerId: string, prompt: AgentFile['prompt']): Promise<OwnedThings> {
    const [sources, tools, prompts, models] = await Promise.all([
      this.sources.ownedBy(ownerId),
      this.tools.ownedBy(ownerId),
      'preset' in prompt ? [] : this.prompts.equalTo(ownerId, prompt),
      this.models.ownedBy(ownerId),
    ]);
    return {
      sources: sources.toReversed(),
      tools: tools.map(({ id, definition }) => ({
        id,
        type: definition.name,
        label: definition.customName || definition.displayName || definition.name,
      })),
      equalPrompts: prompts,
      models: models.map(({ id, definition: { displayName, upstreamModelId, baseUrl } }) => ({
        id,
        display_name: displayName,
        upstream_model_id: upstreamModelId,
        base_url: withoutUrlSecrets(baseUrl),
      })),
    };
  }
}
