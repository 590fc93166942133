import type { HoldMusicChoice } from '../../agents/transferOptions.ts';
import { allowedTarget, type TransferTarget, type TransferTargetInput } from '../../agents/transferTarget.ts';
import { type Tracer, traceLogFields } from '../../base/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { StreamParty } from '../../conversation/streams/audioStream.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';
import type { MediaSamples } from '../../media/mediaSamples.ts';
import type { MediaReport } from '../../media/mediaSession.ts';
import type { MusicSource } from '../../media/session/holdMusic.ts';
import type { SupervisorAddress } from '../../media/supervision/supervisorStream.ts';
import { type Call, expectsRecording, projectNumber } from '../call.ts';
import type { CallMetrics } from '../callMetrics.ts';
import { callPolicy } from '../callPolicy.ts';
import type { CallStore } from '../callStore.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import { transferHolder } from '../limits/slotHolders.ts';
import type { CallRecordings } from '../recording/callRecordings.ts';
import type { StartedSession, StartSessionDeps } from '../setup/startSession.ts';
import type { Telephony } from '../telephony.ts';
import { dialTransferTarget, type TransferLegDeps } from '../transfer/transferLegs.ts';
import { notListed } from '../transfer/transferPlan.ts';
import type { Trunk } from '../trunks/trunk.ts';
import { selectTrunks, type TrunkSelectionDeps } from '../trunks/trunkSelection.ts';
import { TrunkChannel, type TrunkSlots } from '../trunks/trunkSlots.ts';
import type { CallEnd, CallFinisher } from './callFinisher.ts';
import { CallLeases, type CallLeasesDeps } from './callLeases.ts';
import type { CallState } from './callMachine.ts';
import type { CallResult } from './callResult.ts';
import { CallTelemetry, type CallTelemetryDeps, type LogFields } from './callTelemetry.ts';
import { CallWriter, type CallWriterDeps } from './callWriter.ts';
import { LiveCall } from './liveCall.ts';
import { OutboundLegs, type OutboundLegsDeps } from './outboundLegs.ts';

export interface CallRunnerDeps extends TrunkSelectionDeps, Omit<CallWriterDeps, 'calls'>, CallLeasesDeps {
  readonly telephony: Telephony;
  readonly conversations: Pick<ConversationEngine, 'start' | 'find'>;
  readonly readAhead: StartSessionDeps['readAhead'];
  readonly calls: Pick<CallStore, 'update' | 'find'>;
  readonly slots: TrunkSlots;
  readonly limiter: Pick<
    CallLimiter,
    | 'renewSlot'
    | 'recordUsage'
    | 'mayContinue'
    | 'admitOrder'
    | 'requireAllowedDestination'
    | 'allowedRedirects'
  >;
  /** @see streamTargetOf */
  readonly streamTarget: (call: Call, started: StartedSession | undefined) => Promise<StreamTarget>;
  /** @see partyStreamOf */
  readonly partyStream: (call: Call, party: StreamParty) => Promise<StreamTarget>;
  /** Returns the transfer targets of the session's agent; null allows all targets. */
  readonly transferTargets: (call: Call) => Promise<readonly TransferTargetInput[] | null>;
  /** @returns Undefined for no music. */
  readonly holdMusic: (projectId: string, choice: HoldMusicChoice) => Promise<MusicSource | undefined>;
  /** @see SupervisedCallDeps.supervisorUrl */
  readonly supervisorUrl: (address: SupervisorAddress) => Promise<string>;
  readonly recordings: Pick<CallRecordings, 'workingPath' | 'store'>;
  readonly finisher: CallFinisher;
  readonly metrics: CallMetrics;
  readonly liveEvents?: LiveEvents | undefined;
  /** A call has ended and is stored. */
  readonly onEnded: (call: Call) => void;
  readonly makeId: MakeId;
  readonly clock: Clock;
  readonly tracer: Tracer;
  readonly log: CallTelemetryDeps['log'];
  readonly onError: (error: unknown, what: string, fields: LogFields) => void;
}

/** What this node holds of a call that it runs: opened in the constructor's order, closed in the reverse one. */
export class RunningCall {
  readonly live: LiveCall;
  readonly #deps: CallRunnerDeps;
  readonly #call: Call;
  readonly #onClosed: () => void;
  readonly #telemetry: CallTelemetry;
  readonly #writer: CallWriter;
  /** The call's own channel, and those of its other legs. */
  readonly #channels: TrunkChannel[] = [];
  readonly #leases: CallLeases;
  readonly #onError: (error: unknown, what: string) => void;

  /**
   * @param trunks - The trunks of an outbound call in the order of trial.
   * @param started - The session of an inbound call.
   * @param onClosed - The call has ended, is stored and holds nothing any more.
   */
  constructor(
    deps: CallRunnerDeps,
    accepted: Call,
    trunks: readonly Trunk[],
    initial: CallState,
    started: StartedSession | undefined,
    onClosed: () => void,
  ) {
    const { clock, makeId, tracer, metrics, log, telephony, conversations, readAhead, recordings } = deps;
    const liveEvents = callPolicy(accepted).publishesEvents ? deps.liveEvents : undefined;
    this.#deps = deps;
    this.#onClosed = onClosed;
    this.#telemetry = new CallTelemetry({ tracer, metrics, liveEvents, now: clock.now, log }, accepted);
    const call = withTraceparent(accepted, this.#telemetry.traceparent);
    const { id, projectId, settings } = call;
    const fields = { callId: id, projectId, ...traceLogFields(settings.traceparent) };
    const onError = (error: unknown, what: string) => deps.onError(error, what, fields);
    this.#call = call;
    this.#onError = onError;
    this.#writer = new CallWriter(deps, call, onError);
    const legs: OutboundLegsDeps = {
      telephony,
      channel: this.#addChannel(id, call.trunkId),
      writer: this.#writer,
      conversations,
      readAhead,
      now: clock.now,
      allowedRedirects: () => this.#allowedRedirects(),
      onError,
    };
    this.live = new LiveCall(
      call,
      initial,
      {
        clock,
        makeId,
        telemetry: this.#telemetry,
        writer: this.#writer,
        liveEvents,
        outboundLegs: new OutboundLegs(legs, call, trunks),
        streamTarget: deps.streamTarget,
        supervisorUrl: deps.supervisorUrl,
        recordingPath: recordings.workingPath,
        partyStream: (party) => deps.partyStream(call, party),
        holdMusic: (choice) => deps.holdMusic(projectId, choice),
        requireAllowedDestination: (to, isPeersWish) => this.#requireAllowed(to, isPeersWish),
        dialTarget: (target, options) => dialTransferTarget(this.#transferLeg(), call, target, options),
        finish: (result, media, endedAt, samples) => this.#close(result, media, endedAt, samples),
        onError,
      },
      started,
    );
    this.#leases = new CallLeases(deps, call, this.#channels, this.live, onError);
  }

  async #close(
    result: CallResult,
    media: MediaReport | undefined,
    endedAt: string,
    samples: MediaSamples,
  ): Promise<void> {
    await this.#leases.stop();
    await this.#writer.run(
      () => this.#storeEnd({ ...result, endedAt, ...storedSamples(samples) }, media),
      'ended call not stored, retrying',
    );
    await this.#channels[0]?.release();
    this.#onClosed();
    this.#telemetry.ended(result, endedAt, media);
    this.#deps.onEnded(this.#call);
  }

  #addChannel(holder: string, trunkId: string | null): TrunkChannel {
    const { slots } = this.#deps;
    const channel = new TrunkChannel({ slots, onError: this.#onError, holder, trunkId });
    this.#channels.push(channel);
    return channel;
  }

  /** A leg to a transfer target or a participant, with a channel of its own: those of earlier legs may still be held. */
  #transferLeg(): TransferLegDeps {
    const { telephony, clock } = this.#deps;
    return {
      telephony,
      trunks: (one) => selectTrunks(this.#deps, this.#call.projectId, projectNumber(this.#call), one),
      admit: (one) => this.#admit(one),
      variables: () => this.#variables(),
      allowedRedirects: () => this.#allowedRedirects(),
      channel: this.#addChannel(transferHolder(this.#call.id, this.#channels.length - 1), null),
      clock,
    };
  }

  #allowedRedirects() {
    return this.#deps.limiter.allowedRedirects(this.#call.projectId);
  }

  async #requireAllowed(to: string, isPeersWish: boolean): Promise<void> {
    await this.#requireListed({ to });
    await this.#deps.limiter.requireAllowedDestination(this.#call.projectId, to, isPeersWish);
  }

  async #admit(target: TransferTarget): Promise<TransferTarget> {
    const listed = await this.#requireListed(target);
    await this.#deps.limiter.admitOrder(this.#call.projectId, listed.to);
    return listed;
  }

  /**
   * Checks the target of a customer's own bot against the agent's list. Targets of the agent and the API were checked
   * earlier.
   */
  async #requireListed(target: TransferTarget): Promise<TransferTarget> {
    if (!this.#call.settings.media) return target;
    const listed = allowedTarget(await this.#deps.transferTargets(this.#call), target);
    if (!listed) throw notListed(target.to);
    return listed;
  }

  /** The session's variables as they are now, where they can be read. */
  async #variables(): Promise<Readonly<Record<string, unknown>>> {
    const { projectId, sessionId, settings } = this.#call;
    const session = await this.#deps.conversations
      .find(projectId, sessionId)
      .catch((error: unknown) => this.#onError(error, 'variables of a call not read'));
    return session?.state.variables ?? settings.dynamicVariables ?? {};
  }

  /** Idempotent. */
  async #storeEnd(
    result: CallResult & Pick<CallEnd, 'endedAt' | 'mediaSamples'>,
    media: MediaReport | undefined,
  ): Promise<void> {
    const { finisher, nodeId, recordings } = this.#deps;
    const ended = await finisher.finish(this.#call, nodeId, {
      ...result,
      mediaQuality: media?.quality ?? null,
    });
    if (!ended || !expectsRecording(ended)) return;
    await finisher.completeRecording(this.#call, await recordings.store(this.#call, media?.recording));
  }
}

function storedSamples(mediaSamples: MediaSamples): Pick<CallEnd, 'mediaSamples'> {
  return mediaSamples.samples.length > 0 ? { mediaSamples } : {};
}

/** The agent's spans become children of the call's span. */
function withTraceparent(call: Call, traceparent: string | undefined): Call {
  return traceparent === undefined ? call : { ...call, settings: { ...call.settings, traceparent } };
}
