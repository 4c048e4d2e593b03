import { Injectable } from '@nestjs/common';
import { type CallArguments, filledAction, unknownAction } from '../toolbox/call-arguments.policy.js';
import { OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import type { ActionDefinition } from '../toolbox/tool.events.js';
import { type CallContext, ToolFailed, ToolKind, type UsedTool } from '../toolbox/tool-kind.port.js';
import { givenText } from './web-arguments.policy.js';
import { addressOf, askForJson } from './web-call.js';
import { WebEndpoints } from './web-endpoints.js';

const GET = filledAction('cryptoprice_get', 'Gives the price of a cryptocurrency now.', 'read', {
  symbol: { type: 'string', description: 'The symbol of the cryptocurrency, such as BTC.' },
  currency: { type: 'string', description: 'The currency of the price, such as USD.' },
});

/** Prices of cryptocurrencies from CryptoCompare, which needs no key. */
@Injectable()
export class CryptoPriceTool extends ToolKind {
  readonly name = 'cryptoprice';
  readonly displayName = 'CryptoPrice';
  readonly description = 'Gives the price of a cryptocurrency. Needs no key.';
  readonly configFields = {};
  readonly actions = [GET];

  constructor(
    private readonly http: OutgoingHttp,
    private readonly endpoints: WebEndpoints,
  ) {
    super();
  }

  async run({ name }: ActionDefinition, args: CallArguments, _tool: UsedTool, { signal }: CallContext): Promise<object> {
    if (name !== GET.name) throw unknownAction(name);
    const symbol = givenText(args, 'symbol', 30).toUpperCase();
    const currency = givenText(args, 'currency', 30).toUpperCase();
    const url = addressOf(this.endpoints.cryptoPrice, '/data/price', { fsym: symbol, tsyms: currency });
    const prices = await askForJson(this.http, { service: 'CryptoCompare', url, signal });
    const price = Object.hasOwn(prices, currency) ? prices[currency] : undefined;
    if (typeof price !== 'number') throw new ToolFailed(`There is no price of ${symbol} in ${currency}.`);
    return { symbol, currency, price };
  }
}
