import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { type CustomModelRecord, CustomModelQueries } from '../../../../projections/custom-models/custom-models.queries.js';
import { Commands } from '../../../kernel/commands.js';
import { isId, newId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Access } from '../../../platform/http/access.js';
import { DocumentedBody } from '../../../platform/http/documented.js';
import type { SignedInUser } from '../../identity/caller.js';
import { reached } from '../../identity/access.policy.js';
import { CurrentUser } from '../../identity/identity.http.js';
import { ChangeCustomModel, CreateCustomModel, DeleteCustomModel } from './custom-model.commands.js';
import { CustomModelTests, type TestOutcome } from './custom-model-tests.js';
import { customModelNotFound } from './custom-model.decider.js';
import {
  capabilitiesIn,
  checkedBaseUrl,
  checkedKey,
  CUSTOM_MODELS_PER_USER_MAX,
  type UncheckedModel,
} from './custom-model.policy.js';
import { CustomModelEdit, CustomModelTest, NewCustomModel, SavedCustomModelTest } from './custom-models.dto.js';
import { StoredModelKeys } from './stored-model-keys.js';
import type { FastifyReply } from 'fastify';
import { type Confirm, Confirms } from '../../confirmed-writes.http.js';
import { inPath } from '../../../kernel/access.js';

const NEW_MODEL = {
  display_name: 'Our model',
  description: 'Runs in the cellar.',
  upstream_model_id: 'llama-3.3-70b',
  base_url: 'https://models.example.com/v1',
  api_key: 'sk-secret',
  capabilities: { supports_tools: true, supports_structured_output: false, attachments: ['image'], context_window: 32000 },
  enabled: true,
};
const { upstream_model_id, base_url, api_key } = NEW_MODEL;

/** The custom models of a user, each at an endpoint that implements OpenAI's chat completions. Responses never contain the key. */
@ApiTags('Models')
@Controller('api/user/models')
export class CustomModelsController {
  constructor(
    private readonly commands: Commands,
    private readonly models: CustomModelQueries,
    private readonly tests: CustomModelTests,
    private readonly keys: StoredModelKeys,
  ) {}

  @ApiOperation({ summary: 'The user’s own models' })
  @Access({ for: 'user', action: 'list', of: 'models', scopes: ['models:read'] })
  @Get()
  async list(@CurrentUser() user: SignedInUser) {
    return { models: (await this.models.ownedBy(user.userId)).map(customModelRecord) };
  }

  @ApiOperation({ summary: 'Adds a model at an OpenAI-compatible endpoint' })
  @DocumentedBody({ type: NewCustomModel }, NEW_MODEL)
  @Access({ for: 'user', action: 'create', of: 'models', scopes: ['models:write'] })
  @Post()
  @HttpCode(201)
  async create(@CurrentUser() user: SignedInUser, @Confirms('custom-models') confirm: Confirm, @Body() body: NewCustomModel) {
    if ((await this.models.countOf(user.userId)) >= CUSTOM_MODELS_PER_USER_MAX)
      throw new Rejection('too-many-custom-models', `There can be at most ${CUSTOM_MODELS_PER_USER_MAX} custom models.`);
    const id = newId();
    const { upstream_model_id: upstreamModelId, display_name: displayName, base_url: baseUrl, api_key: apiKey } = body;
    const { description, capabilities, enabled } = body;
    const wish = {
      ...{ upstreamModelId, displayName, baseUrl, apiKey },
      ...{ description: description ?? '', capabilities: capabilities ?? {}, enabled: enabled ?? true },
    };
    await confirm(await this.commands.execute(new CreateCustomModel(id, user.userId, wish, user.cause)));
    return this.shown(id, user);
  }

  @ApiOperation({ summary: 'Tests a model that is not saved' })
  @DocumentedBody({ type: CustomModelTest }, { upstream_model_id, base_url, api_key })
  @Access({ for: 'user', action: 'read', of: 'models', scopes: ['models:write'] })
  @Post('test')
  @HttpCode(200)
  async test(
    @CurrentUser() _: SignedInUser,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: CustomModelTest,
  ): Promise<TestAnswer> {
    capabilitiesIn(body.capabilities ?? {});
    const tested = {
      baseUrl: checkedBaseUrl(body.base_url),
      apiKey: checkedKey(body.api_key),
      upstreamModelId: body.upstream_model_id,
    };
    const outcome = await this.tests.test(tested);
    if (isUnsafe(outcome)) reply.code(400);
    return answerOf(outcome);
  }

  @ApiOperation({ summary: 'One of the user’s own models' })
  @Access({ for: 'user', action: 'read', of: 'models', scopes: ['models:read'], at: inPath('id') })
  @Get(':id')
  one(@CurrentUser() user: SignedInUser, @Param('id') id: string) {
    return this.shown(id, user);
  }

  @ApiOperation({ summary: 'Changes a model; omitted fields stay as they are' })
  @DocumentedBody({ type: CustomModelEdit }, { display_name: NEW_MODEL.display_name, enabled: false })
  @Access({ for: 'user', action: 'change', of: 'models', scopes: ['models:write'], at: inPath('id') })
  @Patch(':id')
  async change(
    @CurrentUser() user: SignedInUser,
    @Confirms('custom-models') confirm: Confirm,
    @Param('id') id: string,
    @Body() body: CustomModelEdit,
  ) {
    await this.own(id, user);
    const changes = changesIn(body);
    if (Object.keys(changes).length === 0) throw new Rejection('invalid-request', 'no updatable fields');
    await confirm(await this.commands.execute(new ChangeCustomModel(id, user.userId, changes, user.cause)));
    return this.shown(id, user);
  }

  @ApiOperation({ summary: 'Deletes a model' })
  @Access({ for: 'user', action: 'delete', of: 'models', scopes: ['models:write'], at: inPath('id') })
  @Delete(':id')
  async delete(@CurrentUser() user: SignedInUser, @Confirms('custom-models') confirm: Confirm, @Param('id') id: string) {
    await this.own(id, user);
    await confirm(await this.commands.execute(new DeleteCustomModel(id, user.userId, user.cause)));
    return { success: true };
  }

  @ApiOperation({ summary: 'Tests a saved model; the sent fields replace the saved ones' })
  @DocumentedBody({ type: SavedCustomModelTest }, { upstream_model_id })
  @Access({ for: 'user', action: 'read', of: 'models', scopes: ['models:write'], at: inPath('id') })
  @Post(':id/test')
  @HttpCode(200)
  async testSaved(
    @CurrentUser() user: SignedInUser,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') id: string,
    @Body() body: SavedCustomModelTest,
  ): Promise<TestAnswer> {
    const { definition } = await this.own(id, user);
    capabilitiesIn(body.capabilities ?? {});
    const given = body.api_key?.trim() ? checkedKey(body.api_key) : undefined;
    const baseUrl = body.base_url?.trim() ? checkedBaseUrl(body.base_url) : definition.baseUrl;
    if (given === undefined && baseUrl !== definition.baseUrl)
      throw new Rejection('invalid-request', 'A test with another base_url needs the api_key for it');
    const apiKey = given ?? (await this.keys.reveal(user.userId, definition.credentialsId));
    if (apiKey === undefined) throw new Rejection('invalid-request', 'The stored API key cannot be read. Please enter it again.');
    const tested = {
      baseUrl,
      apiKey,
      upstreamModelId: body.upstream_model_id?.trim() || definition.upstreamModelId,
    };
    const outcome = await this.tests.test(tested);
    if (isUnsafe(outcome)) reply.code(400);
    return answerOf(outcome);
  }

  private async own(id: string, user: SignedInUser): Promise<CustomModelRecord> {
    return reached(user, isId(id) ? await this.models.byId(id) : undefined, customModelNotFound);
  }

  private async shown(id: string, user: SignedInUser) {
    return customModelRecord(await this.own(id, user));
  }
}

type TestAnswer = Readonly<{ ok: boolean; error?: string }>;

/** A refusal by the endpoint is the result of the test (status 200); an unsafe address is an error of the caller (status 400). */
const isUnsafe = (outcome: TestOutcome): boolean => !outcome.ok && outcome.unsafe === true;

const answerOf = (outcome: TestOutcome): TestAnswer => (outcome.ok ? { ok: true } : { ok: false, error: outcome.error });

/** An empty key means no change, because the form of the web client sends it empty. */
function changesIn(body: CustomModelEdit): Partial<UncheckedModel> {
  const changes = {
    upstreamModelId: body.upstream_model_id,
    displayName: body.display_name,
    description: body.description,
    baseUrl: body.base_url,
    apiKey: body.api_key?.trim() || undefined,
    capabilities: body.capabilities,
    enabled: body.enabled,
  };
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined && value !== null));
}

const customModelRecord = ({ id, definition }: CustomModelRecord) => ({
  id,
  upstream_model_id: definition.upstreamModelId,
  display_name: definition.displayName,
  description: definition.description,
  base_url: definition.baseUrl,
  capabilities: definition.capabilities,
  enabled: definition.enabled,
  source: 'user',
});
