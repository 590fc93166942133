import type { DueDisclosure } from '../../agents/disclosures.ts';
import type { MakeId } from '../../base/values/ids.ts';
import { omitUndefined } from '../../base/values/omitUndefined.ts';
import type { BotTarget, StreamParty } from '../../conversation/streams/audioStream.ts';
import { findDialect, isTextDialect } from '../../dialects/index.ts';
import type { CallFacts, Session } from '../../engine/session/session.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';
import type { SupervisorAddress } from '../../media/supervision/supervisorStream.ts';
import { type Call, callFacts, detectsAnsweringMachine } from '../call.ts';
import type { VoiceNode } from '../nodes/voiceNodeRegistry.ts';
import type { VoiceNodeSelector } from '../nodes/voiceNodeSelector.ts';
import type { CallMedia } from '../numbers/callMedia.ts';
import type { CallSessions, StartedSession } from '../setup/callSessions.ts';

/** The voice session that a stream to one of our voice nodes is for. */
interface AgentStream {
  readonly projectId: string;
  readonly sessionId: string;
  readonly dialect: 'callway';
  readonly callId: string;
  /** The trace context of the call's span. */
  readonly traceparent?: string | undefined;
  /** The first words, which only the call's first stream has. */
  readonly opening?:
    | {
        readonly session: Session;
        readonly readAhead?: string | undefined;
        readonly call: {
          readonly facts: CallFacts;
          readonly detectsAnsweringMachine: boolean;
          readonly noiseSuppression?: boolean | undefined;
        };
      }
    | undefined;
  /** What the agent has still to say first. */
  readonly disclosures?: readonly DueDisclosure[] | undefined;
  /** The party of the stream; undefined for the conversation with the caller. */
  readonly party?: StreamParty;
  /** The customer's bot of text turns. */
  readonly bot?: BotTarget;
}

export interface CallStreamsDeps {
  readonly sessions: CallSessions;
  readonly voiceNodes: VoiceNodeSelector;
  /** Lets a voice node serve one stream. @returns The URL to connect to. */
  readonly openStream: (stream: AgentStream, node: VoiceNode) => Promise<string>;
  /** The headers with which a bot's WebSocket is opened. */
  readonly mediaHeaders: (projectId: string, media: CallMedia) => Promise<Readonly<Record<string, string>>>;
  /** Encrypts what waits in a store for a voice node. */
  readonly seal: (secret: string) => string;
  /** Returns the URL at which other nodes reach a supervisor's place on this one. */
  readonly supervisorUrl: (address: SupervisorAddress) => Promise<string>;
  readonly makeId: MakeId;
}

/** Where the audio of this node's calls goes: to our voice nodes, to customers' bots, and to supervisors. */
export class CallStreams {
  readonly supervisorUrl: CallStreamsDeps['supervisorUrl'];
  readonly #deps: CallStreamsDeps;

  constructor(deps: CallStreamsDeps) {
    this.#deps = deps;
    this.supervisorUrl = deps.supervisorUrl;
  }

  /**
   * Returns the destination of a call's audio: the customer's own bot when the call names one, else one of our voice
   * nodes. It is called for each attempt.
   *
   * @param call - Its disclosures are those that the agent has still to say.
   * @param started - The session's start; undefined when it was not read, or when the session has run a turn.
   */
  async agent(call: Call, started?: StartedSession): Promise<StreamTarget> {
    const { id: callId, projectId, sessionId, settings, disclosures } = call;
    const { traceparent, media, noiseSuppression } = settings;
    if (!media) {
      const facts = { facts: callFacts(call), detectsAnsweringMachine: detectsAnsweringMachine(call) };
      const opening = started && { ...started, call: { ...facts, noiseSuppression } };
      return await this.#toVoiceNode(callId, { projectId, sessionId, traceparent, opening, disclosures });
    }
    const { sessions, mediaHeaders, seal, makeId } = this.#deps;
    const streamId = makeId();
    const variables = started?.session.state.variables ?? (await sessions.variables(call));
    const customParameters = omitUndefined({ ...parametersOf(call, variables), traceparent });
    const { url, dialect } = media;
    const headers = await mediaHeaders(projectId, media);
    if (!isTextDialect(findDialect(dialect)))
      return { streamId, callId, url, dialect, headers, customParameters, canReconnect: false };
    const bot = { url, dialect, streamId, sealedHeaders: seal(JSON.stringify(headers)), customParameters };
    return await this.#toVoiceNode(callId, { projectId, sessionId, traceparent, bot }, streamId);
  }

  /** A stream to one of our voice nodes for a party of a transfer. Where it breaks, it is not opened again. */
  async party(
    { id: callId, projectId, sessionId, settings }: Call,
    party: StreamParty,
  ): Promise<StreamTarget> {
    const { voiceNodes, openStream, makeId } = this.#deps;
    const { traceparent } = settings;
    const stream = { projectId, sessionId, dialect: 'callway', callId, party, traceparent } as const;
    const url = await openStream(stream, await voiceNodes.selectForStream());
    return { ...ownTarget(makeId(), callId, url), canReconnect: false };
  }

  /** The call has ended. */
  forget(callId: string): void {
    this.#deps.voiceNodes.forget(callId);
  }

  /** A stream to the voice node that has the call's conversation. */
  async #toVoiceNode(
    callId: string,
    stream: Omit<AgentStream, 'dialect' | 'callId'>,
    streamId = this.#deps.makeId(),
  ): Promise<StreamTarget> {
    const { voiceNodes, openStream } = this.#deps;
    const node = await voiceNodes.select(callId);
    const url = await openStream({ ...stream, dialect: 'callway', callId }, node);
    return { ...ownTarget(streamId, callId, url), canReconnect: true };
  }
}

function ownTarget(streamId: string, callId: string, url: string) {
  return { streamId, callId, url, dialect: 'callway', customParameters: {}, isInternal: true } as const;
}

/**
 * Returns the call's parameters for a bot. They are texts, as Twilio's are: each variable and each entry of `metadata`
 * by its name, and both objects as JSON for bots that need the types.
 */
function parametersOf(call: Call, variables: Readonly<Record<string, unknown>>): Record<string, string> {
  const { id, projectId, sessionId, fromNumber, toNumber, direction, trunkId, metadata } = call;
  return {
    ...textsOf(metadata),
    ...textsOf(variables),
    metadata: JSON.stringify(metadata),
    dynamicVariables: JSON.stringify(variables),
    ...textsOf({
      callId: id,
      sessionId,
      projectId,
      fromNumber,
      toNumber,
      direction,
      trunkId,
      channel: 'phone',
    }),
  };
}

function textsOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(values).flatMap(([name, value]) => {
    if (value === null || value === undefined) return [];
    return [[name, typeof value === 'string' ? value : JSON.stringify(value)] as const];
  });
  return Object.fromEntries(texts);
}
