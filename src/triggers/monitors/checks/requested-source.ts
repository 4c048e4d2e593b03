import { Injectable } from '@nestjs/common';
import { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Toolbox } from '../../../resources/tools/toolbox/toolbox.port.js';
import { pageAddress } from '../../../resources/tools/web/web-pages.port.js';
import { canonical } from '../monitor/content.policy.js';
import type { MonitorSource } from '../monitor/monitor.events.js';
import { ARGUMENTS_DEPTH_MAX } from '../monitor/placeholders.policy.js';
import { isJsonObject, type JsonObject } from '../../../resources/json-object.policy.js';

const URL_CHARACTERS_MAX = 2_000;
const WATCHED_ARGUMENTS_CHARACTERS_MAX = 8_000;

const refused = (text: string): Rejection => new Rejection('monitor-refused', text);
/** Resolves the source in a model's request to something that the user may read. */
@Injectable()
export class RequestedSource {
  constructor(
    private readonly toolbox: Toolbox,
    private readonly sources: SourceQueries,
  ) {}

  /** @throws Rejection monitor-refused */
  async resolve(asked: unknown, ownerId: string): Promise<MonitorSource> {
    if (!isJsonObject(asked)) throw refused('source must be an object with a type: webpage, tool or ingest');
    switch (asked['type']) {
      case 'webpage':
        return webpage(asked['url']);
      case 'tool':
        return this.call(asked, ownerId);
      case 'ingest':
        return this.ingestion(asked, ownerId);
      default:
        throw refused('source.type must be webpage, tool or ingest');
    }
  }

  private async call(asked: JsonObject, ownerId: string): Promise<MonitorSource> {
    const { tool: wantedTool, action: wantedAction, arguments: given = {} } = asked;
    if (typeof wantedAction !== 'string' || wantedAction === '') throw refused('source.action is required');
    if (!isJsonObject(given)) throw refused('source.arguments must be an object');
    if (canonical(given).length > WATCHED_ARGUMENTS_CHARACTERS_MAX || depthOf(given) > ARGUMENTS_DEPTH_MAX) {
      throw refused(
        `source.arguments must have at most ${WATCHED_ARGUMENTS_CHARACTERS_MAX} characters and ${ARGUMENTS_DEPTH_MAX} levels`,
      );
    }
    const pins = await this.toolbox.pin(ownerId, undefined);
    const { actions } = await this.toolbox.open({ pins, ownerId, agentId: null, agentType: 'classic', hasSources: false });
    const found = actions.filter(({ toolId, toolName, actionName }) => {
      const isAction = wantedAction === actionName || wantedAction === `${toolName}_${actionName}`;
      return isAction && (isLeftOut(wantedTool) || wantedTool === toolId || wantedTool === toolName);
    });
    const [action] = found;
    if (!action) throw refused('source: there is no such tool and action, or it is switched off');
    if (found.length > 1) {
      const ids = found.map(({ toolId }) => toolId).join(', ');
      throw refused(`source: several tools have this action; give source.tool as one of ${ids}`);
    }
    if (action.access !== 'read') throw refused('source: this action may change something; a monitor only reads');
    if (action.requiresApproval) throw refused('source: this action needs an approval each time, so a monitor cannot call it');
    const { toolId, toolName: name, actionName } = action;
    return { type: 'tool', toolId, name, actionName, arguments: given };
  }

  private async ingestion(asked: JsonObject, ownerId: string): Promise<MonitorSource> {
    const wanted = asked['source_id'] ?? asked['source'] ?? asked['name'];
    const own = await this.sources.ownedBy(ownerId);
    const found = own.find(({ id }) => id === wanted) ?? own.find(({ name }) => name === wanted);
    if (!found) throw refused('source.source_id must be the id or the name of a source of the user');
    return { type: 'ingest', sourceId: found.id, name: found.name };
  }
}

function webpage(given: unknown): MonitorSource {
  const url = typeof given === 'string' ? pageAddress(given) : undefined;
  if (!url || url.href.length > URL_CHARACTERS_MAX) {
    throw refused(`source.url must be an http or https address of at most ${URL_CHARACTERS_MAX} characters`);
  }
  if (url.username !== '' || url.password !== '') throw refused('source.url must not hold a user name or a password');
  return { type: 'webpage', url: url.href };
}

const isLeftOut = (value: unknown): boolean => value === undefined || value === null || value === '';

const depthOf = (value: unknown, depth = 0): number =>
  typeof value !== 'object' || value === null || depth > ARGUMENTS_DEPTH_MAX
    ? depth
    : Math.max(depth + 1, ...Object.values(value).map((each) => depthOf(each, depth + 1)));
