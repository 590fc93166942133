import { createEmitter } from '../../src/base/emitter.ts';
import type { ControlEvents, SipControl } from '../../src/telephony/control/control.ts';
import {
  ControlDownError,
  type OutgoingRequest,
  type ResponseHandlers,
} from '../../src/telephony/control/outgoing.ts';
import { readSipText } from '../../src/telephony/sip/message.ts';

/** A SIP server that is a list of what it was asked to send. */
export interface FakeControl extends SipControl {
  readonly sent: readonly SentByFake[];
  /** Breaks and mends the connection. */
  setUp(isUp: boolean): void;
}

export interface SentByFake extends OutgoingRequest {
  /** Answers it as its peer would, or as the SIP server does when nobody answers. */
  answer(status: number, headers?: readonly string[], isFromPeer?: boolean): void;
}

export function createFakeControl(): FakeControl {
  const events = createEmitter<ControlEvents>((error) => {
    throw error;
  });
  const sent: SentByFake[] = [];
  let isUp = true;
  return {
    sent,
    get isConnected() {
      return isUp;
    },
    events,
    setUp(next) {
      isUp = next;
      if (next) events.emit('connected', { endpoints: [], version: 'v0.0.0' });
      else events.emit('disconnected', { reason: 'test' });
    },
    async request(request: OutgoingRequest, handlers: ResponseHandlers) {
      if (!isUp) throw new ControlDownError('down');
      sent.push({
        ...request,
        answer(status, headers = [], isFromPeer = true) {
          const text = readSipText([`SIP/2.0 ${status} Text`, ...headers, '', ''].join('\r\n'));
          const source = { address: isFromPeer ? '192.0.2.1' : '', port: 5060 };
          handlers.onResponse({
            status,
            reason: 'Text',
            text,
            isFromPeer,
            source,
            acknowledge: () => undefined,
          });
        },
      });
      return { text: readSipText(''), uri: request.uri ?? '', transactionId: String(sent.length) };
    },
    requestWhenConnected: () => undefined,
    onDialogRequest: () => () => undefined,
    onInvite: () => undefined,
    close: async () => undefined,
  };
}
