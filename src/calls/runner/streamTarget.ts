import type { MakeId } from '../../base/values/ids.ts';
import { omitUndefined } from '../../base/values/omitUndefined.ts';
import type { BotTarget, StreamParty } from '../../conversation/streams/audioStream.ts';
import { findDialect, isTextDialect } from '../../dialects/index.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { CallFacts, Session } from '../../engine/session/session.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';
import { type Call, callFacts, detectsAnsweringMachine } from '../call.ts';
import type { VoiceNode } from '../nodes/voiceNodeRegistry.ts';
import type { VoiceNodeSelector } from '../nodes/voiceNodeSelector.ts';
import type { CallMedia } from '../numbers/callMedia.ts';
import type { StartedSession } from '../setup/startSession.ts';

/** The voice session that a stream to one of our voice nodes is for. */
interface AgentStream {
  readonly projectId: string;
  readonly sessionId: string;
  readonly dialect: 'callway';
  readonly callId: string;
  /** The trace context of the call's span. */
  readonly traceparent?: string;
  /** The first words, which only the call's first stream has. */
  readonly opening?: {
    readonly session: Session;
    readonly readAhead?: string | undefined;
    readonly call: {
      readonly facts: CallFacts;
      readonly detectsAnsweringMachine: boolean;
      readonly noiseSuppression?: boolean | undefined;
    };
  };
  /** The party of the stream; undefined for the conversation with the caller. */
  readonly party?: StreamParty;
  /** The customer's bot of text turns. */
  readonly bot?: BotTarget;
}

export interface StreamTargetDeps {
  readonly conversations: Pick<ConversationEngine, 'find'>;
  readonly voiceNodes: VoiceNodeSelector;
  /** Lets a voice node serve one stream. @returns The URL to connect to. */
  readonly openStream: (stream: AgentStream, node: VoiceNode) => Promise<string>;
  /** The headers with which a bot's WebSocket is opened. */
  readonly mediaHeaders: (projectId: string, media: CallMedia) => Promise<Readonly<Record<string, string>>>;
  /** Encrypts what waits in a store for a voice node. */
  readonly seal: (secret: string) => string;
  readonly makeId: MakeId;
}

/**
 * Returns the destination of a call's audio: the customer's own bot when the call names one, else one of our voice
 * nodes.
 *
 * @param started - The session's start; undefined when it was not read, or when the session has run a turn.
 */
export async function streamTargetOf(
  deps: StreamTargetDeps,
  call: Call,
  started?: StartedSession,
): Promise<StreamTarget> {
  const { id: callId, projectId, sessionId, settings } = call;
  const stream = { streamId: deps.makeId(), callId };
  const trace = omitUndefined({ traceparent: settings.traceparent });
  if (settings.media) {
    const session = started?.session ?? (await deps.conversations.find(projectId, sessionId));
    const variables = session?.state.variables ?? settings.dynamicVariables ?? {};
    const customParameters = { ...parametersOf(call, variables), ...trace };
    const { url, dialect } = settings.media;
    const headers = await deps.mediaHeaders(projectId, settings.media);
    if (isTextDialect(findDialect(dialect))) {
      const sealedHeaders = deps.seal(JSON.stringify(headers));
      const bot = { url, dialect, streamId: stream.streamId, sealedHeaders, customParameters };
      return await voiceNodeTarget(deps, stream, { projectId, sessionId, ...trace, bot });
    }
    return { ...stream, url, dialect, headers, customParameters, canReconnect: false };
  }
  const opening = started && {
    ...started,
    call: {
      facts: callFacts(call),
      detectsAnsweringMachine: detectsAnsweringMachine(call),
      ...omitUndefined({ noiseSuppression: settings.noiseSuppression }),
    },
  };
  return await voiceNodeTarget(deps, stream, {
    projectId,
    sessionId,
    ...trace,
    ...omitUndefined({ opening }),
  });
}

/** A stream to the voice node that has the call's conversation. */
async function voiceNodeTarget(
  { voiceNodes, openStream }: StreamTargetDeps,
  stream: Pick<StreamTarget, 'streamId' | 'callId'>,
  agentStream: Omit<AgentStream, 'dialect' | 'callId'>,
): Promise<StreamTarget> {
  const { callId } = stream;
  const dialect = 'callway';
  const node = await voiceNodes.select(callId);
  const url = await openStream({ ...agentStream, dialect, callId }, node);
  return { ...stream, url, dialect, customParameters: {}, canReconnect: true, isInternal: true };
}

/** A stream to one of our voice nodes for a party of a transfer. Where it breaks, it is not opened again. */
export async function partyStreamOf(
  { voiceNodes, openStream, makeId }: StreamTargetDeps,
  { id: callId, projectId, sessionId, settings }: Call,
  party: StreamParty,
): Promise<StreamTarget> {
  const trace = omitUndefined({ traceparent: settings.traceparent });
  const stream = { projectId, sessionId, dialect: 'callway', callId, party, ...trace } as const;
  const url = await openStream(stream, await voiceNodes.selectForStream());
  return {
    streamId: makeId(),
    callId,
    url,
    dialect: 'callway',
    customParameters: {},
    canReconnect: false,
    isInternal: true,
  };
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
