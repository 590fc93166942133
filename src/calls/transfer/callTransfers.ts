import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import { type BilledLeg, type Call, customerNumber } from '../call.ts';
import { callPolicy } from '../callPolicy.ts';
import type { CallEvent } from '../runner/callMachine.ts';
import type { CallTelemetry } from '../runner/callTelemetry.ts';
import type { CallWriter } from '../runner/callWriter.ts';
import type { CallLeg } from '../telephony.ts';
import type { CallParties } from './callParties.ts';
import { startTransfer, type Transfer } from './transfer.ts';
import type { TransferDeps } from './transferDeps.ts';
import { planTransfer, type TransferPlan } from './transferPlan.ts';
import {
  type CallTransfer,
  TRANSFER_REASONS,
  type TransferReport,
  transferAfter,
  transferEvent,
} from './transferReport.ts';

export interface CallTransfersDeps {
  readonly parties: CallParties;
  readonly writer: CallWriter;
  readonly telemetry: CallTelemetry;
  readonly dispatch: (event: CallEvent) => void;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** A transfer that the call machine orders. */
export interface TransferOrder {
  readonly to: string;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** True when legs that the project pays for are allowed; never for the peer's own request. */
  readonly mayDial: boolean;
}

/** The transfers of one call, one at a time: starts them, and keeps what is known of them. */
export class CallTransfers {
  readonly #call: Call;
  readonly #deps: CallTransfersDeps;
  readonly #legs: { readonly to: string; readonly sinceMs: number; untilMs: number | undefined }[] = [];
  #latest: Transfer | undefined;
  #shown: CallTransfer | null = null;
  #isCallerHeld = false;
  /** The time at which the call's recording began; undefined before it. */
  #recordedSinceMs: number | undefined;

  constructor(call: Call, deps: CallTransfersDeps) {
    this.#call = call;
    this.#deps = deps;
  }

  /** Talk time so far, per target that has answered. A leg keeps its index. */
  get billedLegs(): readonly BilledLeg[] {
    const nowMs = this.#deps.clock.now();
    return this.#legs.map(({ to, sinceMs, untilMs = nowMs }) => ({
      to,
      talkTimeMs: Math.max(0, untilMs - sinceMs),
    }));
  }

  /** The call is answered, and its recording begins where it has one. */
  onAnswered(atMs: number): void {
    if (this.#call.settings.record) this.#recordedSinceMs = atMs;
  }

  setCallerHeld(isHeld: boolean): void {
    this.#isCallerHeld = isHeld;
    this.#latest?.setCallerHeld(isHeld);
  }

  /** @param leg - The caller's leg. */
  start({ to, options, mayDial }: TransferOrder, leg: CallLeg, media: MediaSession): void {
    const plan = this.#plan(to, options, leg, mayDial, media);
    if (!plan) return;
    if (!callPolicy(this.#call).dialsTransfers) {
      this.#noteOnly(plan);
      return;
    }
    const { parties, clock, dispatch, onError } = this.#deps;
    const deps: TransferDeps = {
      leg,
      media,
      caller: customerNumber(this.#call),
      music: parties.music(plan.holdMusic),
      parties,
      mayDial,
      clock,
      dispatch,
      startBilling: (target) => this.#startBilling(target),
      report: (report) => this.#report(report),
      onError,
    };
    this.#latest = startTransfer(deps, plan, this.#isCallerHeld);
  }

  /** The call ends. Resolves when no target is left. Idempotent. */
  async cancel(): Promise<void> {
    await this.#latest?.cancel();
  }

  /** A test places no calls: its call ends as if the parties were joined without us. */
  #noteOnly({ targets, mode }: TransferPlan): void {
    const [{ to } = { to: '' }] = targets;
    this.#report({ status: 'joined', to, mode, by: 'refer' });
    this.#deps.dispatch({ type: 'transfer_done' });
  }

  /** @returns Undefined for an order that cannot be carried out. Its failure is then already reported. */
  #plan(
    to: string,
    options: TransferOrder['options'],
    { transferMethod }: CallLeg,
    mayDial: boolean,
    media: MediaSession,
  ): TransferPlan | undefined {
    try {
      // A peer that asks for a transfer calls the target itself.
      return planTransfer(to, mayDial ? options : { mode: 'refer' }, transferMethod);
    } catch (error) {
      const reason = error instanceof CallwayError ? error.message : TRANSFER_REASONS.unreadable;
      const failure = { outcome: 'failed', reason } as const;
      this.#report({ status: 'failed', to, mode: 'blind', by: 'second_leg', ...failure });
      media
        .tellAgent({ kind: 'transfer', status: 'begun', to })
        .then(() => media.tellAgent({ kind: 'transfer', status: 'failed', to, ...failure }))
        .catch((cause: unknown) => this.#deps.onError(cause, 'transfer: agent not told'));
      this.#deps.dispatch({ type: 'transfer_failed' } satisfies CallEvent);
      return undefined;
    }
  }

  #startBilling(to: string): () => void {
    const { clock } = this.#deps;
    const leg = { to, sinceMs: clock.now(), untilMs: undefined as number | undefined };
    this.#legs.push(leg);
    return () => {
      leg.untilMs ??= clock.now();
    };
  }

  #report(report: TransferReport): void {
    const { clock, writer, telemetry } = this.#deps;
    const nowMs = clock.now();
    const at = new Date(nowMs).toISOString();
    const recordingMs = this.#recordedSinceMs === undefined ? undefined : nowMs - this.#recordedSinceMs;
    const event = { type: 'transfer', at, data: transferEvent(report, recordingMs) } as const;
    const transfer = transferAfter(this.#shown, report, at);
    telemetry.transfer(report, transfer !== undefined && transfer.endedAt !== null);
    if (!transfer) {
      writer.addEvent(event);
      return;
    }
    this.#shown = transfer;
    void writer.update({ transfer }, event);
  }
}
