import type { SipRequest } from '../message/message.ts';
import { readSparse, reasonOf } from './complete.ts';
import type { Hub } from './hub.ts';
import { answer, dropPending, extendPending } from './incoming.ts';
import { nokLine } from './lines.ts';
import { type ProxyBook, readyToForward } from './proxyDialogs.ts';
import { MAX_BRANCHES, type ProxyOptions, ProxyRun } from './proxyRun.ts';
import type { Command } from './session.ts';

/** Carries out the `proxy` command: asks the targets in the caller's name, and reports what each one said. */
export function proxy(hub: Hub, book: ProxyBook, command: Command): void {
  const transactionId = command.fields[2] ?? '';
  const pending = hub.pending.byId(transactionId);
  const refuse = (why: string) => command.reply(nokLine(hub.ids.uuid(), command.id, why));
  if (!pending || pending.proxy) {
    refuse(`Unknown transaction id: ${transactionId}`);
    return;
  }
  const options = readOptions(command.fields);
  if (options.destinations.length === 0) {
    refuse('there is no destination');
    return;
  }
  if (!readyToForward(hub, pending.transaction.request)) {
    answer(hub, pending.transaction, 483, { toTag: pending.toTag });
    dropPending(hub, pending);
    refuse('too many hops');
    return;
  }
  const additions = readAdditions(command);
  if (typeof additions === 'string') {
    refuse(additions);
    return;
  }
  const run = new ProxyRun({ hub, book, command }, { pending, options, additions });
  pending.proxy = run;
  extendPending(hub, pending);
  run.next();
}

export function readOptions(fields: readonly string[]): ProxyOptions {
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

/** @returns The request whose headers are added, or why there is none. */
function readAdditions(command: Command): SipRequest | string {
  try {
    const sparse = readSparse(command.sip);
    return sparse.kind === 'request' ? sparse : 'a proxy command needs a request';
  } catch (error) {
    return reasonOf(error);
  }
}

/** `2s`, `1500ms`, or nothing. */
function readDuration(text: string | undefined): number | undefined {
  const match = /^(\d{1,6})\s*(ms|s)$/.exec(text ?? '');
  return match ? Number(match[1]) * (match[2] === 's' ? 1000 : 1) : undefined;
}
