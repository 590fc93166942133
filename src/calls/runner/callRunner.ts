import type { HoldMusicChoice } from '../../agents/transferOptions.ts';
import { allowedTarget, type TransferTarget, type TransferTargetInput } from '../../agents/transferTarget.ts';
import { withTimeout } from '../../base/async/withTimeout.ts';
import { type Tracer, traceLogFields } from '../../base/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';
import type { MediaSamples } from '../../media/mediaSamples.ts';
import type { MediaReport } from '../../media/mediaSession.ts';
import type { MusicSource } from '../../media/session/holdMusic.ts';
import type { SupervisorAddress } from '../../media/supervision/supervisorStream.ts';
import type { StreamParty } from '../../voice/audioStream.ts';
import { type Call, expectsRecording, projectNumber } from '../call.ts';
import type { CallMetrics } from '../callMetrics.ts';
import { callPolicy } from '../callPolicy.ts';
import type { CallStore } from '../callStore.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import { transferHolder } from '../limits/slotHolders.ts';
import type { CallAnswer, CallRequest } from '../nodes/callRequest.ts';
import type { CallRecordings } from '../recording/callRecordings.ts';
import type { StartedSession, StartSessionDeps } from '../setup/startSession.ts';
import type { CallLeg, Telephony } from '../telephony.ts';
import { dialTransferTarget, type TransferLegDeps } from '../transfer/transferLegs.ts';
import { notListed } from '../transfer/transferPlan.ts';
import type { Trunk } from '../trunks/trunk.ts';
import { selectTrunks, type TrunkSelectionDeps } from '../trunks/trunkSelection.ts';
import { TrunkChannel, type TrunkSlots } from '../trunks/trunkSlots.ts';
import type { CallEnd, CallFinisher } from './callFinisher.ts';
import { CallLeases, type CallLeasesDeps } from './callLeases.ts';
import { type CallState, inboundCall, outboundCall } from './callMachine.ts';
import type { CallResult, HangupIntent } from './callResult.ts';
import { CallTelemetry, type CallTelemetryDeps, type LogFields } from './callTelemetry.ts';
import { CallWriter, type CallWriterDeps } from './callWriter.ts';
import { LiveCall } from './liveCall.ts';
import { OutboundLegs } from './outboundLegs.ts';

export interface CallRunnerDeps extends TrunkSelectionDeps, Omit<CallWriterDeps, 'calls'>, CallLeasesDeps {
  readonly telephony: Pick<Telephony, 'dial'>;
  readonly conversations: Pick<ConversationEngine, 'start' | 'find'>;
  readonly readAhead: StartSessionDeps['readAhead'];
  readonly calls: Pick<CallStore, 'update' | 'find'>;
  readonly slots: Pick<TrunkSlots, 'acquire' | 'renew' | 'release'>;
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
  readonly finisher: Pick<CallFinisher, 'finish' | 'completeRecording'>;
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

/** Runs the calls of this node. */
export class CallRunner {
  readonly #deps: CallRunnerDeps;
  readonly #live = new Map<string, LiveCall>();

  constructor(deps: CallRunnerDeps) {
    this.#deps = deps;
  }

  /**
   * Dials a call that this node has claimed.
   *
   * @param trunks - The trunks in the order of trial. The call holds a channel of the first one, its `trunkId`.
   */
  dial(call: Call, trunks: readonly Trunk[]): void {
    this.#start(call, trunks, outboundCall(trunks.length)).dial();
  }

  /** Runs an inbound call, which holds a channel of its trunk. @param started - Its session. */
  accept(call: Call, leg: CallLeg, started: StartedSession | undefined): void {
    this.#start(call, [], inboundCall(), started).follow(leg);
  }

  /** @returns False when this node does not run the call. */
  hangUp(callId: string, intent: HangupIntent): boolean {
    const live = this.#live.get(callId);
    live?.hangUp(intent);
    return live !== undefined;
  }

  /** @returns Undefined when this node does not run the call. @see LiveCall.perform */
  perform(callId: string, request: CallRequest): Promise<CallAnswer> | undefined {
    return this.#live.get(callId)?.perform(request);
  }

  get active(): number {
    return this.#live.size;
  }

  /** Waits up to `graceMs` for the calls to end, then hangs up the rest. Resolves when no call is left. */
  async drain(graceMs: number): Promise<void> {
    const allEnded = () => Promise.all([...this.#live.values()].map(({ ended }) => ended));
    await withTimeout(this.#deps.clock, allEnded(), graceMs);
    for (const live of this.#live.values()) live.hangUp('api_hangup');
    await allEnded();
  }

  #start(accepted: Call, trunks: readonly Trunk[], initial: CallState, started?: StartedSession): LiveCall {
    const { clock, telephony, conversations, readAhead, limiter, slots } = this.#deps;
    const liveEvents = callPolicy(accepted).publishesEvents ? this.#deps.liveEvents : undefined;
    const telemetry = new CallTelemetry({ ...this.#deps, liveEvents, now: clock.now }, accepted);
    const call = withTraceparent(accepted, telemetry.traceparent);
    const { id, projectId } = call;
    const fields = { callId: id, projectId, ...traceLogFields(call.settings.traceparent) };
    const onError = (error: unknown, what: string) => this.#deps.onError(error, what, fields);
    const writer = new CallWriter(this.#deps, call, onError);
    const channel = new TrunkChannel({ slots, onError, holder: id, trunkId: call.trunkId });
    const channels = [channel];
    const allowedRedirects = () => limiter.allowedRedirects(projectId);
    const live = new LiveCall(
      call,
      initial,
      {
        clock,
        telemetry,
        writer,
        outboundLegs: new OutboundLegs(
          { telephony, channel, writer, conversations, readAhead, now: clock.now, allowedRedirects, onError },
          call,
          trunks,
        ),
        streamTarget: this.#deps.streamTarget,
        supervisorUrl: this.#deps.supervisorUrl,
        makeId: this.#deps.makeId,
        requireAllowedDestination: async (to, isPeersWish) => {
          await this.#requireListed(call, { to });
          await limiter.requireAllowedDestination(projectId, to, isPeersWish);
        },
        recordingPath: this.#deps.recordings.workingPath,
        partyStream: (party) => this.#deps.partyStream(call, party),
        holdMusic: (choice) => this.#deps.holdMusic(projectId, choice),
        liveEvents: this.#deps.liveEvents,
        dialTarget: (target, options) => {
          const channel = new TrunkChannel({
            slots,
            onError,
            // Those of earlier legs may not be released yet.
            holder: transferHolder(id, channels.length - 1),
            trunkId: null,
          });
          channels.push(channel);
          const deps: TransferLegDeps = {
            telephony,
            trunks: (one) => selectTrunks(this.#deps, projectId, projectNumber(call), one),
            admit: async (one) => {
              const listed = await this.#requireListed(call, one);
              await limiter.admitOrder(projectId, listed.to);
              return listed;
            },
            variables: () => this.#variablesOf(call, onError),
            allowedRedirects,
            channel,
            clock,
          };
          return dialTransferTarget(deps, call, target, options);
        },
        finish: async (result, media, endedAt, samples) => {
          await leases.stop();
          await writer.run(
            () => this.#storeEnd(call, { ...result, endedAt, ...storedSamples(samples) }, media),
            'ended call not stored, retrying',
          );
          await channel.release();
          this.#live.delete(id);
          telemetry.ended(result, endedAt, media);
          this.#deps.onEnded(call);
        },
        onError,
      },
      started,
    );
    const leases = new CallLeases(this.#deps, call, channels, live, onError);
    this.#live.set(id, live);
    return live;
  }

  /**
   * Checks the target of a customer's own bot against the agent's list. Targets of the agent and the API were checked
   * earlier.
   */
  async #requireListed(call: Call, target: TransferTarget): Promise<TransferTarget> {
    if (!call.settings.media) return target;
    const listed = allowedTarget(await this.#deps.transferTargets(call), target);
    if (!listed) throw notListed(target.to);
    return listed;
  }

  /** The session's variables as they are now, where they can be read. */
  async #variablesOf(
    { projectId, sessionId, settings }: Call,
    onError: (error: unknown, what: string) => void,
  ): Promise<Readonly<Record<string, unknown>>> {
    const session = await this.#deps.conversations
      .find(projectId, sessionId)
      .catch((error: unknown) => onError(error, 'variables of a call not read'));
    return session?.state.variables ?? settings.dynamicVariables ?? {};
  }

  /** Idempotent. */
  async #storeEnd(
    call: Call,
    result: CallResult & Pick<CallEnd, 'endedAt' | 'mediaSamples'>,
    media: MediaReport | undefined,
  ): Promise<void> {
    const { finisher, nodeId, recordings } = this.#deps;
    const ended = await finisher.finish(call, nodeId, { ...result, mediaQuality: media?.quality ?? null });
    if (!ended || !expectsRecording(ended)) return;
    await finisher.completeRecording(call, await recordings.store(call, media?.recording));
  }
}

function storedSamples(mediaSamples: MediaSamples): Pick<CallEnd, 'mediaSamples'> {
  return mediaSamples.samples.length > 0 ? { mediaSamples } : {};
}

/** The agent's spans become children of the call's span. */
function withTraceparent(call: Call, traceparent: string | undefined): Call {
  return traceparent === undefined ? call : { ...call, settings: { ...call.settings, traceparent } };
}
