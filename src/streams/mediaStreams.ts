import { requireOrigin, tooManyWidgetSessions, type WidgetSessions } from '../agents/accounts/widgetToken.ts';
import { CallwayError, invalid } from '../base/errors.ts';
import type { Clock } from '../base/values/clock.ts';
import type { NodeAddress, VoiceNode } from '../calls/nodes/voiceNodeRegistry.ts';
import type { CallSessions } from '../calls/setup/callSessions.ts';
import { type DialectName, findDialect } from '../dialects/index.ts';
import { isSignedByTwilio, SIGNATURE_HEADER, type SignedRequest } from '../dialects/twilioSignature.ts';
import {
  makeTicket,
  type RelayGrant,
  STREAM_PATH,
  type StreamGrant,
  type StreamTickets,
  type StreamVisitor,
  TICKET_LIFETIME_MS,
} from './streamTickets.ts';
import { localUrl } from './transport/localListener.ts';

interface OpenStream {
  readonly dialect: DialectName;
  readonly sessionId?: string | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly draft?: boolean;
  readonly captions?: boolean | undefined;
  /** The provider that a new session names. */
  readonly provider?: string | undefined;
  readonly visitor?: (StreamVisitor & { readonly maxConcurrent: number }) | undefined;
}

export interface OpenedStream {
  readonly streamId: string;
  readonly sessionId: string;
  /** The ticket is in the path, since carriers drop query strings. */
  readonly url: string;
  /** Admits one connection. */
  readonly ticket: string;
  readonly expiresAt: string;
}

/** Admits audio streams to our agents. Voice threads serve them. */
export interface MediaStreams {
  /**
   * Issues a ticket for one connection, and creates the session unless it exists.
   *
   * @throws {CallwayError} 400 `session_id_in_use` when variables are given for an existing session; 503 `node_draining`,
   *   `voice_unavailable`, `node_overloaded` for a new session; 409 `audiosocket_disabled` without its port; 429
   *   `call_limit_exceeded` beyond the project's concurrent calls, `widget_concurrency_exceeded` beyond the visitors'
   *   share of them.
   */
  open(projectId: string, request: OpenStream): Promise<OpenedStream>;
  /**
   * Issues a ticket for a call's own stream: a voice thread of this node is told it, for another node it is in Redis.
   *
   * @returns The URL to connect to: `ws+unix:` for a thread of this node, or `ws:` where that has no Unix domain socket.
   */
  openForCall(grant: StreamGrant, node: NodeAddress): Promise<string>;
  /**
   * Issues a ticket for one connection that is passed on to another address of ours.
   *
   * @param baseUrl - The URL of the node that gets the connection. Default: the HTTP API's.
   */
  openRelay(address: string, baseUrl?: string): Promise<Pick<OpenedStream, 'url' | 'expiresAt'>>;
  /**
   * Uses up the ticket of a connection and issues one for the voice thread that will serve it, unless it names another
   * address.
   *
   * @param request - The upgrade request of a WebSocket; not set for other connections.
   * @returns The URL to connect to; undefined when the ticket is unknown, expired or used.
   * @throws {CallwayError} 401 `invalid_signature`, 503 `voice_unavailable`; 403 `origin_not_allowed` for a visitor of
   *   another page.
   */
  forward(ticket: string, request?: UpgradeRequest): Promise<string | undefined>;
}

/** @property origin - The origin of the page that connects; undefined when a program does. */
interface UpgradeRequest extends SignedRequest {
  readonly origin?: string | undefined;
}

/** The concurrent calls of projects, which streams without a call count as. Unrenewed slots expire within a minute. */
export interface StreamSlots {
  /** @throws {CallwayError} 429 `call_limit_exceeded` when none is free. */
  acquire(projectId: string, slotId: string): Promise<void>;
  release(projectId: string, slotId: string): Promise<void>;
}

export interface MediaStreamsDeps {
  readonly slots: StreamSlots;
  readonly widgetSessions: WidgetSessions;
  readonly tickets: StreamTickets;
  readonly sessions: CallSessions;
  /** The project's own token; undefined where it has stored none. */
  readonly twilioToken: (projectId: string) => Promise<string | undefined>;
  /** @throws {CallwayError} 503 `voice_unavailable` */
  readonly selectVoiceNode: () => Promise<Pick<VoiceNode, 'url'>>;
  /** Tells a voice thread of this node the ticket. @returns Its Unix domain socket, if any; undefined for others. */
  readonly admitOwn: (
    nodeId: string,
    ticket: string,
    grant: StreamGrant,
  ) => { readonly socketPath: string | undefined } | undefined;
  /** Why this node takes no new sessions at the moment: it shuts down, cannot speak, or is overloaded. */
  readonly callRefusal: () => CallwayError | undefined;
  readonly clock: Clock;
  readonly makeId: () => string;
  /** Returns the URL at which peers reach the HTTP API. */
  readonly publicUrl: () => string;
  /** `tcp://host:port`, as peers reach it; undefined without a listener. */
  readonly audioSocketUrl: () => string | undefined;
}

export function createMediaStreams(deps: MediaStreamsDeps): MediaStreams {
  const { tickets, slots, widgetSessions, sessions, clock } = deps;
  const issue = async (
    grant: StreamGrant | RelayGrant,
    baseUrl: string,
    ticket = makeTicket(),
  ): Promise<string> => {
    await tickets.issue(ticket, grant, TICKET_LIFETIME_MS);
    return socketUrl(baseUrl, ticket);
  };
  const expiry = () => new Date(clock.now() + TICKET_LIFETIME_MS).toISOString();
  /** @throws {CallwayError} When the node takes no new session, or the session exists and `variables` are given. */
  const isNewSession = async (projectId: string, sessionId: string, variables: object | undefined) => {
    if (await sessions.exists(projectId, sessionId)) {
      if (variables === undefined) return false;
      const message = `the session ${sessionId} exists; variables are for new sessions only`;
      throw invalid('session_id_in_use', message);
    }
    const refusal = deps.callRefusal();
    if (refusal) throw refusal;
    return true;
  };
  /** @param tcpUrl - AudioSocket has no room for a ticket but its UUID. */
  const issueOpened = async (grant: StreamGrant, streamId: string, tcpUrl: string | undefined) => {
    const ticket = tcpUrl === undefined ? makeTicket() : streamId;
    const url = await issue(grant, deps.publicUrl(), ticket);
    return { ticket, url: tcpUrl ?? url };
  };
  return {
    async open(projectId, { dialect, sessionId = deps.makeId(), variables, draft = false, ...request }) {
      const streamId = deps.makeId();
      const tcpUrl = findDialect(dialect).isTcp ? requireAudioSocket(deps) : undefined;
      const isNew = await isNewSession(projectId, sessionId, variables);
      const { provider, visitor } = request;
      if (visitor && !(await widgetSessions.begin(visitor.tokenId, streamId, visitor.maxConcurrent)))
        throw tooManyWidgetSessions(visitor.maxConcurrent);
      try {
        await slots.acquire(projectId, streamId);
        const captions = request.captions ?? findDialect(dialect).hasCaptions;
        const wanted = {
          projectId,
          sessionId,
          channel: 'web',
          variables: variables ?? {},
          draft,
          provider,
        } as const;
        const opening = isNew ? await sessions.create(wanted) : undefined;
        const expiresAt = expiry();
        const grant: StreamGrant = {
          projectId,
          sessionId,
          dialect,
          slotId: streamId,
          // A jambonz application is answered with the address of its audio.
          publicUrl: dialect === 'jambonz' ? deps.publicUrl() : undefined,
          ...{ opening, captions, visitor },
        };
        return { streamId, sessionId, ...(await issueOpened(grant, streamId, tcpUrl)), expiresAt };
      } catch (error) {
        await slots.release(projectId, streamId);
        if (visitor) await widgetSessions.end(visitor.tokenId, streamId);
        throw error;
      }
    },
    async openForCall(grant, { nodeId, url }) {
      const ticket = makeTicket();
      const own = deps.admitOwn(nodeId, ticket, grant);
      if (!own) return await issue(grant, url, ticket);
      if (own.socketPath === undefined) return socketUrl(url, ticket);
      return localUrl(own.socketPath, `${STREAM_PATH}/${ticket}`);
    },
    async openRelay(address, baseUrl = deps.publicUrl()) {
      const expiresAt = expiry();
      return { url: await issue({ relayTo: address }, baseUrl), expiresAt };
    },
    async forward(ticket, request) {
      const grant = await tickets.redeem(ticket);
      if (!grant) return undefined;
      if ('relayTo' in grant) return grant.relayTo;
      if (grant.visitor) requireOrigin(request?.origin, grant.visitor.allowedOrigins);
      if (findDialect(grant.dialect).isSignedByTwilio) await requireSignature(deps, grant, request);
      return await issue({ ...grant, isAdmitted: true }, (await deps.selectVoiceNode()).url);
    },
  };
}

/** @param baseUrl - `http:` or `https:`. */
function socketUrl(baseUrl: string, ticket: string): string {
  return `${baseUrl.replace(/^http/, 'ws')}${STREAM_PATH}/${ticket}`;
}

/** Without a token of the project there is nothing to check with. */
async function requireSignature(
  { twilioToken, publicUrl }: MediaStreamsDeps,
  { projectId }: StreamGrant,
  request: SignedRequest | undefined,
): Promise<void> {
  const token = await twilioToken(projectId);
  if (token === undefined || (request && isSignedByTwilio(token, request, publicUrl()))) return;
  const problem =
    request?.signature === undefined
      ? `The header ${SIGNATURE_HEADER} is missing`
      : `${SIGNATURE_HEADER} is not of this address with the project’s Twilio token; PUBLIC_URL must be the address that Twilio is given`;
  throw new CallwayError('unauthenticated', 'invalid_signature', problem);
}

function requireAudioSocket({ audioSocketUrl }: MediaStreamsDeps): string {
  const url = audioSocketUrl();
  if (url !== undefined) return url;
  const message = 'the dialect audiosocket needs the setting AUDIOSOCKET_PORT, which this installation lacks';
  throw new CallwayError('conflict', 'audiosocket_disabled', message);
}
