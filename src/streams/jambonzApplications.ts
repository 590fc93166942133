import { countedAs } from '../base/async/messageLimit.ts';
import type { Clock } from '../base/values/clock.ts';
import type { DialectServer, StreamMessage } from '../dialects/dialect.ts';
import {
  APPLICATION_SUBPROTOCOL,
  acknowledge,
  dtmfCommand,
  HANGUP_VERBS,
  type JambonzMessage,
  readJambonz,
  redirect,
  talkVerbs,
  transferVerbs,
} from '../dialects/jambonzVerbs.ts';
import type { CallCommand } from '../media/agentStream/streamClient.ts';
import { toConnection } from './serverStream.ts';
import {
  type FailedTransfer,
  makeTicket,
  type RelayGrant,
  STREAM_PATH,
  type StreamGrant,
  type StreamTickets,
  TICKET_LIFETIME_MS,
} from './streamTickets.ts';
import { readMessages } from './transport/readMessages.ts';
import {
  CLOSE_NORMAL,
  CLOSE_POLICY_VIOLATION,
  CLOSE_PROTOCOL_ERROR,
  type StreamSocket,
} from './transport/streamSocket.ts';

export interface JambonzApplicationsDeps {
  /** Issues a ticket for the audio, which this voice thread serves. @returns The URL for jambonz. */
  readonly openAudio: (grant: StreamGrant) => Promise<string>;
  readonly clock: Clock;
  readonly makeId: () => string;
  readonly onError: (error: unknown, what: string) => void;
}

/** jambonz sends the session right after connecting. */
const SESSION_TIMEOUT_MS = 5000;
/** The limit for one call, whose status, hooks and errors are a few dozen. */
const MAX_MESSAGES = 2000;

/**
 * Issues the ticket of a call's audio: a public one, which leads to this voice thread.
 *
 * @param nodeUrl - The URL of this voice thread.
 */
export function createAudioOpener(
  tickets: StreamTickets,
  nodeUrl: () => string,
): JambonzApplicationsDeps['openAudio'] {
  const issue = async (grant: StreamGrant | RelayGrant, baseUrl: string) => {
    const ticket = makeTicket();
    await tickets.issue(ticket, grant, TICKET_LIFETIME_MS);
    return `${baseUrl.replace(/^http/, 'ws')}${STREAM_PATH}/${ticket}`;
  };
  return async (grant) => {
    const relayTo = await issue(grant, nodeUrl());
    return await issue({ relayTo }, grant.publicUrl ?? nodeUrl());
  };
}

/** The applications of jambonz that this voice thread serves: each steers the call whose audio comes on a second stream. */
export class JambonzApplications {
  readonly #deps: JambonzApplicationsDeps;
  readonly #calls = new Map<string, JambonzCall>();

  constructor(deps: JambonzApplicationsDeps) {
    this.#deps = deps;
  }

  isApplication(grant: StreamGrant, socket: StreamSocket): boolean {
    return grant.dialect === 'jambonz' && socket.protocol === APPLICATION_SUBPROTOCOL;
  }

  /** Steers a call until it has ended. Never rejects. */
  async serve(grant: StreamGrant, socket: StreamSocket): Promise<void> {
    const id = this.#deps.makeId();
    const call = new JambonzCall(this.#deps, { ...grant, applicationId: id }, socket);
    this.#calls.set(id, call);
    await call.ended;
    this.#calls.delete(id);
  }

  /** The dialect of a call's audio, whose commands go to its application. */
  steered(grant: StreamGrant, dialect: DialectServer): DialectServer {
    const call = grant.applicationId === undefined ? undefined : this.#calls.get(grant.applicationId);
    if (!call) return dialect;
    return {
      confirmsClear: dialect.confirmsClear,
      readStart: (message) => dialect.readStart(message),
      read: (message, gateway) => dialect.read(message, gateway),
      play: (samples) => dialect.play(samples),
      mark: (name) => dialect.mark(name),
      clear: () => dialect.clear(),
      command: (command) => call.command(command),
    };
  }

  /** True for the audio of an application that no longer runs: nothing would count the stream. */
  hasEnded({ applicationId }: StreamGrant): boolean {
    return applicationId !== undefined && !this.#calls.has(applicationId);
  }

  /**
   * A stream carries the audio of an application's call from now on. A call has one: an earlier one is disconnected.
   *
   * @returns Called when the stream has ended; undefined for other streams.
   */
  beginAudio({ applicationId }: StreamGrant, socket: StreamSocket): (() => void) | undefined {
    return applicationId === undefined ? undefined : this.#calls.get(applicationId)?.beginAudio(socket);
  }
}

/** One call's connection to its application. */
class JambonzCall {
  readonly ended: Promise<void>;
  #resolveEnded: () => void = () => undefined;
  readonly #deps: JambonzApplicationsDeps;
  readonly #grant: StreamGrant;
  readonly #socket: StreamSocket;
  readonly #send: (message: string) => void;
  /** The target of the transfer that is not reported yet. */
  #transferTo: string | undefined;
  #messages = 0;
  #hasSession = false;
  #audio: StreamSocket | undefined;
  #isClosed = false;

  constructor(deps: JambonzApplicationsDeps, { slotId: _slot, ...grant }: StreamGrant, socket: StreamSocket) {
    this.#deps = deps;
    this.#grant = grant;
    this.#socket = socket;
    const connection = toConnection(socket);
    this.#send = (message) => connection.send(message);
    const refuse = () => socket.close(CLOSE_PROTOCOL_ERROR, 'no session was received');
    const timer = deps.clock.setTimer(refuse, SESSION_TIMEOUT_MS);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    socket.on('close', () => {
      timer.cancel();
      this.#isClosed = true;
      this.#endIfOver();
    });
    const read = (message: StreamMessage, data: Buffer) => {
      timer.cancel();
      this.#messages += countedAs(data, typeof message !== 'string');
      if (this.#messages > MAX_MESSAGES)
        socket.close(CLOSE_POLICY_VIOLATION, 'more messages than a call has');
      else this.#read(message);
    };
    const onError = (error: unknown) => deps.onError(error, 'jambonz message not read');
    readMessages(socket, deps.clock, 'carrier', { read, onError });
  }

  command(command: CallCommand): void {
    switch (command.kind) {
      case 'hangup':
        this.#send(redirect(HANGUP_VERBS));
        break;
      case 'transfer':
        this.#transferTo = command.to;
        this.#send(redirect(transferVerbs(command)));
        break;
      case 'send_dtmf':
        for (const digit of command.digits) this.#send(dtmfCommand(digit));
        break;
      default:
    }
  }

  beginAudio(socket: StreamSocket): () => void {
    this.#audio?.terminate();
    this.#audio = socket;
    return () => {
      if (this.#audio !== socket) return;
      this.#audio = undefined;
      this.#endIfOver();
    };
  }

  #read(message: StreamMessage): void {
    const told = readJambonz(message);
    switch (told?.kind) {
      case 'session':
        // Each answer is a ticket; a call has one session.
        if (this.#hasSession) break;
        this.#hasSession = true;
        void this.#talk(told.msgid, undefined);
        break;
      case 'ended':
        for (const socket of [this.#audio, this.#socket]) socket?.close(CLOSE_NORMAL, 'the call has ended');
        break;
      case 'transfer':
        this.#onTransfer(told);
        break;
      case 'hook':
        this.#send(acknowledge(told.msgid));
        break;
      default:
    }
  }

  #onTransfer({ msgid, outcome }: Extract<JambonzMessage, { kind: 'transfer' }>): void {
    const to = this.#transferTo;
    this.#transferTo = undefined;
    if (outcome === undefined) this.#send(acknowledge(msgid, HANGUP_VERBS));
    else if (to === undefined) this.#send(acknowledge(msgid));
    else void this.#talk(msgid, { to, reason: `the call to the target ended with ${outcome}`, outcome });
  }

  /** Lets the caller talk with the agent. @param failed - The transfer after which the agent has the call again. */
  async #talk(msgid: string, failed: FailedTransfer | undefined): Promise<void> {
    try {
      const { opening: _first, ...later } = this.#grant;
      const grant = failed ? { ...later, failedTransfer: failed } : this.#grant;
      this.#send(acknowledge(msgid, talkVerbs(await this.#deps.openAudio(grant))));
    } catch (error) {
      this.#deps.onError(error, 'audio stream of a jambonz application not opened');
      this.#send(acknowledge(msgid, HANGUP_VERBS));
    }
  }

  /** jambonz does not come back with the same ticket. */
  #endIfOver(): void {
    if (this.#isClosed && !this.#audio) this.#resolveEnded();
  }
}
