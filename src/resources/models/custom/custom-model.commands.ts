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

/** A user adds a model of an endpoint. The caller chooses the id, so a repeated command creates one model. */
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
 * Stores the key before it appends the event. A crash in between leaves an unused encrypted key, never a model without its key.
 */
@CommandHandler(CreateCustomModel)
export class CreateCustomModelHandler implements Handler<CreateCustomModel> {
  constructor(
    private readonly streams: Streams,
    private readonly vault: CredentialVault,
    private readonly outgoing: OutgoingHttp,
  ) {}

  /** @throws Rejection invalid-request, custom-model-not-found if the id belongs to another user */
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

/** An import of an agent adds a model that is already checked and whose key is already stored. Repeating it has no effect. */
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
class ImportCustomModelHandler implements Handler<ImportCustomModel> {
  constructor(private readonly streams: Streams) {}

  async execute({ modelId, ownerId, definition, importId, cause }: ImportCustomModel): Promise<bigint | undefined> {
    const decision = create(modelId, ownerId, definition, importId);
    return (await this.streams.transact(customModelStream(modelId), customModel, decision, cause)).position;
  }
}

/** The owner changes a model, or enables or disables it. Omitted fields and an omitted key stay as they are. */
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

/** The owner deletes a model and its key. Agents that still name it use the default model from then on. */
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

/** Appends an event that refers to a new key. Deletes the key if no event uses it: the command was refused or is a repetition. */
async function unlessUnused(
  vault: CredentialVault,
  ownerId: string,
  credentialsId: string,
  state: () => Promise<Outcome<CustomModel, CustomModelEvent>>,
): Promise<bigint | undefined> {
  const stated = await state().catch(async (error: unknown) => {
    // A rejected command has stored nothing. After any other error the event may have been stored, so the key is kept.
    if (error instanceof Rejection) await vault.delete(ownerId, credentialsId);
    throw error;
  });
  if (stated.state.definition?.credentialsId !== credentialsId) await vault.delete(ownerId, credentialsId);
  return stated.position;
}

export const customModelHandlers = [
  ChangeCustomModelHandler,
  CreateCustomModelHandler,
  DeleteCustomModelHandler,
  ImportCustomModelHandler,
];
