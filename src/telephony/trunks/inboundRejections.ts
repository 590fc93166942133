import type { SipRequest } from '../../../sip/message/message.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import { parseCarrierNumber } from '../../base/values/e164.ts';
import type { CallMetrics } from '../../calls/callMetrics.ts';
import { maskNumber } from '../../calls/numbers/number.ts';
import type {
  RejectionReason,
  ReportedRejection,
  SipRejectionStore,
} from '../../calls/trunks/sipRejection.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import { asLine } from '../../calls/trunks/trunkHeaders.ts';
import type { RefusedInvite } from '../control/sipServer.ts';
import { readAddress, userOf } from '../sip/headerValues.ts';
import type { TrunkDirectory } from './directory.ts';
import { type InboundRouteDeps, takesCalls } from './inboundRoute.ts';

export interface InboundRejectionsDeps extends InboundRouteDeps {
  readonly directory: TrunkDirectory;
  readonly store: SipRejectionStore;
  readonly metrics: CallMetrics;
  readonly clock: Clock;
  readonly log: (fields: object, message: string) => void;
  readonly onError: (error: unknown, what: string) => void;
}

/** Log lines and writes come this far apart at most. */
const WINDOW_MS = 1000;
/**
 * The most rejections of one project, or of unknown sources, that are kept within a window. A scanner thus leaves room
 * for others.
 */
const MAX_KEPT = 5;
const MAX_CHARACTERS = 64;
/** A peer that sends both gets no challenge: it is known by its address. */
const CREDENTIALS = ['authorization', 'proxy-authorization'];
/**
 * Responses of the SIP server to calls that go on: another copy of the INVITE, or a second try with a longer interval.
 */
const NOT_REFUSED = new Set([482, 422]);

/** Reports refused inbound calls: one log line and one write a second at most, however many there are. */
export class InboundRejections {
  readonly #deps: InboundRejectionsDeps;
  /** The kept rejections by project; '' stands for unknown sources. */
  readonly #kept = new Map<string, ReportedRejection[]>();
  #count = 0;
  #timer: Timer | undefined;

  constructor(deps: InboundRejectionsDeps) {
    this.#deps = deps;
  }

  /** @param trunks - The trunks that the call may have come over. Default: those of its source. */
  report(
    refused: RefusedInvite,
    reason: RejectionReason,
    trunks: readonly Trunk[] = this.#deps.directory.bySource(refused.address, refused.port),
  ): void {
    const { metrics, clock } = this.#deps;
    metrics.inboundRejected(reason, refused.count);
    this.#count += refused.count;
    const [trunk] = trunks.every(({ projectId }) => projectId === trunks[0]?.projectId) ? trunks : [];
    const ofProject = this.#kept.get(trunk?.projectId ?? '') ?? [];
    this.#kept.set(trunk?.projectId ?? '', ofProject);
    if (ofProject.length < MAX_KEPT) {
      ofProject.push({
        at: new Date(clock.now()).toISOString(),
        reason,
        status: refused.status,
        source: `${refused.address}:${refused.port}`,
        from: maskNumber(numberOrUser(userOfHeader(refused.from))),
        to: numberOrUser(userOf(refused.uri), userOfHeader(refused.to)),
        callId: asLine(refused.callId),
        trunkId: trunk?.id,
        projectId: trunk?.projectId,
      });
    }
    if (!this.#timer) this.#flush();
  }

  /** Reports the calls that the SIP server has rejected itself. */
  readonly reportFromServer = (refused: readonly RefusedInvite[]): void => {
    for (const one of refused) if (!NOT_REFUSED.has(one.status)) this.report(one, reasonOf(one.status));
  };

  close(): void {
    this.#timer?.cancel();
    if (this.#kept.size > 0) this.#flush();
    this.#timer?.cancel();
  }

  #flush(): void {
    const { clock, log, onError } = this.#deps;
    const kept = [...this.#kept.values()].flat();
    const shown = kept.find(({ trunkId }) => trunkId !== undefined) ?? kept[0];
    if (shown) {
      const { at: _at, callId: sipCallId, to, ...fields } = shown;
      const more = this.#count > 1 ? this.#count - 1 : undefined;
      log({ ...fields, to: maskNumber(to), sipCallId, more }, 'inbound call refused');
    }
    this.#kept.clear();
    this.#count = 0;
    this.#store(kept.toReversed()).catch((error: unknown) =>
      onError(error, 'refused inbound calls not stored'),
    );
    this.#timer = clock.setTimer(() => {
      this.#timer = undefined;
      if (this.#kept.size > 0) this.#flush();
    }, WINDOW_MS);
  }

  async #store(rejections: readonly ReportedRejection[]): Promise<void> {
    await this.#deps.store.add(await Promise.all(rejections.map((one) => this.#withHolder(one))));
  }

  /** A call from an unknown source is shown to the project whose number it calls. */
  async #withHolder(rejection: ReportedRejection): Promise<ReportedRejection> {
    const number = parseCarrierNumber(rejection.to);
    if (rejection.projectId !== undefined || rejection.reason === 'unknown_number' || !number)
      return rejection;
    const holder = await this.#deps.numbers.findHolder(number);
    return holder && takesCalls(this.#deps, holder)
      ? { ...rejection, projectId: holder.projectId }
      : rejection;
  }
}

/** An INVITE that is refused with this status. */
export function refusedInvite(
  { uri, headers }: SipRequest,
  { address, port }: { readonly address: string; readonly port: number },
  status: number,
): RefusedInvite {
  const read = (name: string) => headers.get(name) ?? '';
  return {
    status,
    address,
    port,
    uri,
    from: read('from'),
    to: read('to'),
    callId: read('call-id'),
    count: 1,
  };
}

/** Returns the reason for which an INVITE from no trunk's address is refused. */
export function strangerReason({ headers }: SipRequest): RejectionReason {
  return CREDENTIALS.some((name) => headers.has(name)) ? 'auth_failed' : 'unknown_source';
}

/** Returns the reason for a response that the SIP server sent by itself: 603 for known scanners, 503 for a limit. */
function reasonOf(status: number): RejectionReason {
  if (status === 603) return 'unknown_source';
  return status >= 500 ? 'overloaded' : 'bad_request';
}

function userOfHeader(value: string): string {
  return userOf(readAddress(value)?.uri ?? '');
}

/** The first that is a number, in E.164; else the first user part. */
function numberOrUser(...users: readonly string[]): string {
  const [number] = users.flatMap((user) => parseCarrierNumber(user) ?? []);
  return number ?? asLine(users.find((user) => user !== '') ?? '', MAX_CHARACTERS);
}
