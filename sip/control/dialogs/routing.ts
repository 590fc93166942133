import { isIP } from 'node:net';
import { contactUri } from '../../dialog/dialogState.ts';
import { SipParseError } from '../../message/errors.ts';
import { parseNameAddr } from '../../message/fields/nameAddr.ts';
import { parseRoutableUri, parseUri, unbracketed } from '../../message/fields/uri.ts';
import { parseVia } from '../../message/fields/via.ts';
import type { SipRequest, SipResponse } from '../../message/message.ts';
import type { ClientTransactionUser } from '../../transaction/client.ts';
import type { Target } from '../../transport/resolver.ts';
import type { Flow } from '../../transport/types.ts';
import type { Core, Dialog } from '../core.ts';

/**
 * Remembers the peer's actual address where its Contact is wrong: behind a NAT, or after its address changed.
 *
 * The NAT flow is used only without a proxy in between, and when the peer's own Via differs from its source address.
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

/**
 * A response without the Contact of a host is answered where it came from, as is a private Contact from a public
 * address.
 */
export function updateCalleeNatFlow(dialog: Dialog, response: SipResponse, flow: Flow): void {
  if (dialog.state.routeSet.length > 0) return;
  const contact = contactUri(response);
  const target = contact === undefined ? undefined : parseUri(contact);
  const host = target !== undefined && 'host' in target ? target.host : undefined;
  const isHidden = host !== undefined && PRIVATE.test(host) && !PRIVATE.test(flow.remote.address);
  dialog.natFlow = host === undefined || isHidden ? flow : undefined;
}

/** @see RFC 1918, RFC 6598 */
const PRIVATE =
  /^(?:10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;

/**
 * The target of the next request in a dialog: the NAT address, the first route or the remote target. Where that names no
 * host that can be reached, it is the neighbor that sent the peer's last message: a call whose ACK or BYE is never sent
 * would leave the peer in silence.
 */
export function resolveDialogTarget(core: Core, dialog: Dialog): Target[] | Promise<Target[]> {
  if (dialog.natFlow) return [dialog.natFlow.remote];
  const { lastFlow, state } = dialog;
  const [route] = state.routeSet;
  // The peer's connection is open, while its Contact may name a port that is not listening.
  const isConnected = lastFlow.reliable && route === undefined && core.transport.isConnected(lastFlow.remote);
  const orNeighbor = (found: Target[]): Target[] => {
    if (isConnected) return [lastFlow.remote, ...found];
    const reachable = found.filter((target) => core.transport.canReach(target));
    if (reachable.length > 0) return reachable;
    dialog.natFlow = lastFlow;
    return [lastFlow.remote];
  };
  try {
    const uri = route === undefined ? state.remoteTarget : parseNameAddr(route).uri;
    const found = core.resolve(parseRoutableUri(uri));
    return Array.isArray(found) ? orNeighbor(found) : found.then(orNeighbor, () => orNeighbor([]));
  } catch (error) {
    if (error instanceof SipParseError) return orNeighbor([]);
    throw error;
  }
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
