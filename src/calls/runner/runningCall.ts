import { traceLogFields } from '../../base/tracing.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { MediaSamples } from '../../media/mediaSamples.ts';
import type { MediaReport } from '../../media/mediaSession.ts';
import type { Call } from '../call.ts';
import type { NodeCalls } from '../nodes/nodeCalls.ts';
import type { CallingRulesOf } from '../numbers/doNotCall.ts';
import type { StartedSession } from '../setup/callSessions.ts';
import { CallParties, type CallPartiesDeps } from '../transfer/callParties.ts';
import type { Trunk } from '../trunks/trunk.ts';
import type { TrunkChannel } from '../trunks/trunkSlots.ts';
import { CallLeases } from './callLeases.ts';
import type { CallState } from './callMachine.ts';
import type { CallResult } from './callResult.ts';
import { CallTelemetry, type CallTelemetryDeps, type LogFields } from './callTelemetry.ts';
import { CallWriter } from './callWriter.ts';
import { LiveCall } from './liveCall.ts';
import { OutboundLegs, type OutboundLegsDeps } from './outboundLegs.ts';

export interface CallRunnerDeps extends CallPartiesDeps {
  readonly calls: NodeCalls;
  readonly callingRules: CallingRulesOf;
  readonly telemetry: CallTelemetryDeps;
  readonly campaignRefusal: OutboundLegsDeps['campaignRefusal'];
  readonly makeId: MakeId;
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
  readonly #channel: TrunkChannel;
  readonly #leases: CallLeases;

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
    const {
      calls,
      telephony,
      places,
      limiter,
      sessions,
      callingRules,
      campaignRefusal,
      streams,
      clock,
      makeId,
    } = deps;
    this.#deps = deps;
    this.#onClosed = onClosed;
    this.#telemetry = new CallTelemetry(deps.telemetry, accepted);
    const call = withTraceparent(accepted, this.#telemetry.traceparent);
    const { id, projectId, settings } = call;
    const fields = { callId: id, projectId, ...traceLogFields(settings.traceparent) };
    const onError = (error: unknown, what: string) => deps.onError(error, what, fields);
    this.#call = call;
    const writer = new CallWriter(calls, clock, call, onError);
    this.#writer = writer;
    const channel = places.openChannel(id, call.trunkId, onError);
    this.#channel = channel;
    const parties = new CallParties(deps, call, onError);
    const legs = { telephony, channel, limiter, sessions, callingRules, campaignRefusal, writer, clock };
    this.live = new LiveCall(
      call,
      initial,
      {
        telemetry: this.#telemetry,
        writer,
        outboundLegs: new OutboundLegs(legs, call, trunks),
        parties,
        streams,
        recordingPath: calls.recordingPath(call),
        finish: (result, media, endedAt, samples) => this.#close(result, media, endedAt, samples),
        clock,
        makeId,
        onError,
      },
      started,
    );
    const channels = () => [channel, ...parties.channels];
    this.#leases = new CallLeases({ calls, places, limiter, clock }, call, channels, this.live, onError);
  }

  async #close(
    result: CallResult,
    media: MediaReport | undefined,
    endedAt: string,
    samples: MediaSamples,
  ): Promise<void> {
    await this.#leases.stop();
    const mediaSamples = samples.samples.length > 0 ? samples : undefined;
    const { transfers = [], participants = [] } = this.live.billedLegs;
    const legs = [...transfers, ...participants];
    const end = { ...result, endedAt, mediaQuality: media?.quality ?? null, mediaSamples, legs };
    await this.#writer.run(
      () => this.#deps.calls.end(this.#call, end, media?.recording),
      'ended call not stored, retrying',
    );
    await this.#channel.release();
    this.#telemetry.ended(result, endedAt, media);
    this.#onClosed();
  }
}

/** The agent's spans become children of the call's span. */
function withTraceparent(call: Call, traceparent: string | undefined): Call {
  return traceparent === undefined ? call : { ...call, settings: { ...call.settings, traceparent } };
}
