import type { SipRequest } from '../../message/message.ts';
import { parseText } from '../../message/parse.ts';
import { refusalOf } from '../applicationMessage.ts';
import type { Core } from '../core.ts';
import type { Command } from '../protocol/connection.ts';
import { formatNok } from '../protocol/messages.ts';
import { extendAnswerTimeout, removeIncomingRequest, respondWith } from '../uas/receive.ts';
import { type ProxiedDialogs, prepareForwarding } from './recordRoute.ts';
import { MAX_BRANCHES, type ProxyOptions, ResponseContext } from './responseContext.ts';

/** Runs the `proxy` command: forwards the request to its targets and reports each final response. */
export function proxy(core: Core, proxied: ProxiedDialogs, command: Command): void {
  const transactionId = command.fields[2] ?? '';
  const incoming = core.incomingRequests.byId(transactionId);
  const refuse = (why: string) => command.reply(formatNok(core.ids.uuid(), command.id, why));
  if (!incoming || incoming.proxy) {
    refuse(`Unknown transaction id: ${transactionId}`);
    return;
  }
  const options = readOptions(command.fields);
  if (options.destinations.length === 0) {
    refuse('there is no destination');
    return;
  }
  if (!prepareForwarding(core, incoming.transaction.request)) {
    respondWith(core, incoming.transaction, 483, { toTag: incoming.toTag });
    removeIncomingRequest(core, incoming);
    refuse('too many hops');
    return;
  }
  const additions = readAdditions(command);
  if (typeof additions === 'string') {
    refuse(additions);
    return;
  }
  const run = new ResponseContext({ core, proxied, command }, { incoming, options, additions });
  incoming.proxy = run;
  extendAnswerTimeout(core, incoming);
  run.next();
}

function readOptions(fields: readonly string[]): ProxyOptions {
  const [, , , remain, , follow, forking, provisional, final, ...destinations] = fields;
  return {
    recordRoute: remain === 'remainInDialog',
    followRedirects: follow === 'followRedirects',
    simultaneous: forking === 'simultaneous',
    provisionalMs: readDuration(provisional),
    finalMs: readDuration(final),
    destinations: destinations.filter((destination) => destination !== '').slice(0, MAX_BRANCHES),
  };
}

/** @returns The request with the headers to add, or the reason of a refusal. */
function readAdditions(command: Command): SipRequest | string {
  try {
    const sparse = parseText(command.sip);
    return sparse.kind === 'request' ? sparse : 'a proxy command needs a request';
  } catch (error) {
    return refusalOf(error);
  }
}

/** Reads `2s` or `1500ms`. */
function readDuration(text: string | undefined): number | undefined {
  const match = /^(\d{1,6})\s*(ms|s)$/.exec(text ?? '');
  return match ? Number(match[1]) * (match[2] === 's' ? 1000 : 1) : undefined;
}
