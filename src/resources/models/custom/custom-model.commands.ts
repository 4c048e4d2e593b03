import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Outcome, Streams } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { CredentialVault } from '../../../platform/credentials/credential-vault.port.js';
import { OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import { API_KEY, checkedChanges, checkedModel, type UncheckedModel } from './custom-model.policy.js';
import { change, create, type CustomModel, customModel, remove } from './custom-model.decider.js';
import {
  type CustomModelDefinition,
  type CustomModelEvent,
  type CustomModelId,
  customModelStream,
} from './custom-model.events.js';
import { refuseUnsafe } from './unsafe-base-url.js';

/** A user adds a model of an endpoint. The id is given, so that whoever repeats the command makes one model. */
export class CreateCustomModel extends Command<bigint | undefined> {
  constructor(
    readonly modelId: CustomModelId,
    readonly ownerId: string,
    readonly wish: UncheckedModel,
    readonly cause: Cause,
  ) {
    super();
  }
}

/**
 * The key is kept before the model is stated: a crash in between leaves a sealed key that nothing refers to, never a model
 * without its key.
 */
@CommandHandler(CreateCustomModel)
export class CreateCustomModelHandler implements Handler<CreateCustomModel> {
  constructor(
    private readonly streams: Streams,
    private readonly vault: CredentialVault,
    private readonly outgoing: OutgoingHttp,
  ) {}

  /** @throws Rejection invalid-request, custom-model-not-found where the id is another user's */
  async execute({ modelId, ownerId, wish, cause }: CreateCustomModel): Promise<bigint | undefined> {
    const { apiKey, ...checked } = checkedModel(wish);
    await refuseUnsafe(this.outgoing, checked.baseUrl);
    const credentialsId = await this.vault.keep(ownerId, { [API_KEY]: apiKey });
    const definition = { ...checked, credentialsId };
    const stream = customModelStream(modelId);
    return unlessUnused(this.vault, ownerId, credentialsId, () =>
      this.streams.transact(stream, customModel, create(modelId, ownerId, definition), cause),
    );
  }
}

/** An import of an agent brings a model along that is checked and whose key is sealed. Repeated it does nothing. */
export class ImportCustomModel extends Command<bigint | undefined> {
  constructor(
    readonly modelId: CustomModelId,
    readonly ownerId: string,
    readonly definition: CustomModelDefinition,
    readonly importId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ImportCustomModel)
export class ImportCustomModelHandler implements Handler<ImportCustomModel> {
  constructor(private readonly streams: Streams) {}

  async execute({ modelId, ownerId, definition, importId, cause }: ImportCustomModel): Promise<bigint | undefined> {
    const decision = create(modelId, ownerId, definition, importId);
    return (await this.streams.transact(customModelStream(modelId), customModel, decision, cause)).position;
  }
}

/** A model's owner changes it, puts it away or takes it out again. What is left out stays; so does the key. */
export class ChangeCustomModel extends Command<bigint | undefined> {
  constructor(
    readonly modelId: CustomModelId,
    readonly ownerId: string,
    readonly changes: Partial<UncheckedModel>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ChangeCustomModel)
export class ChangeCustomModelHandler implements Handler<ChangeCustomModel> {
  constructor(
    private readonly streams: Streams,
    private readonly vault: CredentialVault,
    private readonly outgoing: OutgoingHttp,
  ) {}

  /** @throws Rejection invalid-request, custom-model-not-found */
  async execute({ modelId, ownerId, changes, cause }: ChangeCustomModel): Promise<bigint | undefined> {
    const { apiKey, ...checked } = checkedChanges(changes);
    if (checked.baseUrl !== undefined) await refuseUnsafe(this.outgoing, checked.baseUrl);
    const stream = customModelStream(modelId);
    const state = (wanted: Partial<CustomModelDefinition>) =>
      this.streams.transact(stream, customModel, change(ownerId, wanted), cause);
    if (apiKey === undefined) return (await state(checked)).position;
    const credentialsId = await this.vault.keep(ownerId, { [API_KEY]: apiKey });
    return unlessUnused(this.vault, ownerId, credentialsId, () => state({ ...checked, credentialsId }));
  }
}

/** A model's owner throws it away, with its key. Agents that still name it use the default model from then on. */
export class DeleteCustomModel extends Command<bigint | undefined> {
  constructor(
    readonly modelId: CustomModelId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(DeleteCustomModel)
export class DeleteCustomModelHandler implements Handler<DeleteCustomModel> {
  constructor(private readonly streams: Streams) {}

  async execute({ modelId, ownerId, cause }: DeleteCustomModel): Promise<bigint | undefined> {
    return (await this.streams.transact(customModelStream(modelId), customModel, remove(ownerId), cause)).position;
  }
}

/** States something with a new key, and forgets the key where no model has it: it was refused, or had been stated before. */
async function unlessUnused(
  vault: CredentialVault,
  ownerId: string,
  credentialsId: string,
  state: () => Promise<Outcome<CustomModel, CustomModelEvent>>,
): Promise<bigint | undefined> {
  const stated = await state().catch(async (error: unknown) => {
    // Of what was refused nothing was stored; of anything else that is not known.
    if (error instanceof Rejection) await vault.delete(ownerId, credentialsId);
    throw error;
  });
  if (stated.state.definition?.credentialsId !== credentialsId) await vault.delete(ownerId, credentialsId);
  return stated.position;
}
