/** The parts of `oidc-provider` that tests use. The package has no types. */
declare module 'oidc-provider' {
  import type { EventEmitter } from 'node:events';
  import type { IncomingMessage, ServerResponse } from 'node:http';

  type Interaction = Readonly<{ prompt: Readonly<{ name: string }>; params: Readonly<Record<string, unknown>> }>;

  type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> };

  export default class Provider extends EventEmitter {
    constructor(issuer: string, configuration: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
    Grant: {
      new (of: { accountId: string; clientId: string }): Grant;
      find(id: string): Promise<Grant | undefined>;
    };
  }
}
