import { isIP } from 'node:net';
import { parseNameAddr } from '../../message/fields/nameAddr.ts';
import { parseRoutableUri, unbracketed } from '../../message/fields/uri.ts';
import { parseVia } from '../../message/fields/via.ts';
import type { SipRequest } from '../../message/message.ts';
import type { ClientTransactionUser } from '../../transaction/client.ts';
import type { Target } from '../../transport/resolver.ts';
import type { Flow } from '../../transport/types.ts';
import type { Core, Dialog } from '../core.ts';

/**
 * Remembers the peer's actual address where its Contact is wrong: behind a NAT, or after its address changed.
 *
 * Only without a proxy in between, and when the peer's own Via differs from its source address.
 */
export function updateNatFlow(dialog: Dialog, request: SipRequest, flow: Flow): void {
  dialog.lastFlow = flow;
  const vias = request.headers.list('via');
  if (dialog.state.routeSet.length > 0 || vias.length !== 1) return;
  const top = parseVia(vias[0] ?? '');
  const host = unbracketed(top.host);
  const port = top.port ?? (top.transport === 'TLS' ? 5061 : 5060);
  const isMistaken =
    isIP(host) > 0 && (host !== flow.remote.address || (!flow.reliable && port !== flow.remote.port));
  dialog.natFlow = isMistaken ? flow : undefined;
}

/** A private Contact in a response from a public address is unreachable. */
export function updateCalleeNatFlow(dialog: Dialog, flow: Flow): void {
  if (dialog.state.routeSet.length > 0) return;
  const { host } = parseRoutableUri(dialog.state.remoteTarget);
  if (PRIVATE.test(host) && !PRIVATE.test(flow.remote.address)) dialog.natFlow = flow;
}

/** @see RFC 1918, RFC 6598 */
const PRIVATE =
  /^(?:10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;

/** The target of the next request in a dialog: the NAT address, the first route or the remote target. */
export function resolveDialogTarget(core: Core, dialog: Dialog): Target[] | Promise<Target[]> {
  if (dialog.natFlow) return [dialog.natFlow.remote];
  const [route] = dialog.state.routeSet;
  const uri = route === undefined ? dialog.state.remoteTarget : parseNameAddr(route).uri;
  const found = core.resolve(parseRoutableUri(uri));
  // The peer's connection is open, while its Contact may name a port that is not listening.
  if (!dialog.lastFlow.reliable || route !== undefined || !core.transport.isConnected(dialog.lastFlow.remote))
    return found;
  const connected: Target = dialog.lastFlow.remote;
  return Array.isArray(found) ? [connected, ...found] : found.then((targets) => [connected, ...targets]);
}

/**
 * Acts on resolved targets, in the order of the calls for one dialog; synchronously where no DNS is needed.
 *
 * @param onFailure - The name cannot be resolved, or `act` threw.
 */
export function runInOrder(
  dialog: Dialog | undefined,
  find: () => Target[] | Promise<Target[]>,
  act: (targets: Target[]) => void,
  onFailure: (error: unknown) => void,
): void {
  const attempt = (): void | Promise<void> => {
    const targets = find();
    return Array.isArray(targets) ? act(targets) : targets.then(act);
  };
  if (dialog?.sending === undefined) {
    try {
      const outcome = attempt();
      if (outcome && dialog) follow(dialog, outcome.catch(onFailure));
      else if (outcome) outcome.catch(onFailure);
    } catch (error) {
      onFailure(error);
    }
    return;
  }
  follow(dialog, dialog.sending.then(attempt).catch(onFailure));
}

function follow(dialog: Dialog, work: Promise<void>): void {
  dialog.sending = work;
  work.then(() => {
    if (dialog.sending === work) dialog.sending = undefined;
  });
}

/** Sends a request that the server generates, inside a dialog. */
export function sendServerRequest(
  core: Core,
  dialog: Dialog,
  request: SipRequest,
  user: Partial<ClientTransactionUser> = {},
): void {
  runInOrder(
    dialog,
    () => resolveDialogTarget(core, dialog),
    ([target]) => {
      if (!target) return;
      core.transactions.request(request, core.transport.flowTo(target), {
        onResponse: (response, received) => user.onResponse?.(response, received),
        onTimeout: () => user.onTimeout?.(),
        onTransportError: (error) => user.onTransportError?.(error),
      });
    },
    () => core.counters.count('requests.unroutable'),
  );
}
