import type { Clock, Timer } from '../base/clock.ts';
import { withTimeout } from '../base/withTimeout.ts';
import type {
  ConnectStream,
  StreamClient,
  StreamHandler,
  StreamRequest,
} from '../media/agentStream/streamClient.ts';
import { pcmu } from '../media/codecs/g711.ts';
import { frameLength } from '../media/resample/frameResampler.ts';
import { createFrameBundle } from './dialects/wire/frameBundle.ts';
import { readL16, writeL16 } from './dialects/wire/pcm16.ts';
import { createGatewayMessages } from './gatewayMessages.ts';
import { readMessage, type StreamMessage } from './messages.ts';
import { type DialDeps, dialWebSocket } from './transport/dialWebSocket.ts';
import { FOREIGN_PING_INTERVAL_MS, OWN_PING_INTERVAL_MS, startHeartbeat } from './transport/heartbeat.ts';
import {
  CLOSE_NORMAL,
  CLOSE_WITHOUT_CODE,
  CLOSING,
  OPEN,
  type StreamSocket,
} from './transport/streamSocket.ts';

export interface ConnectStreamDeps extends DialDeps {
  readonly clock: Clock;
  /** What came that is no message, or no audio; counted and passed over. */
  readonly onMalformed?: (callId: string) => void;
}

/** Twilio's streams have this rate and no other. */
const TWILIO_RATE_HZ = 8000;
/** How long an engine may take to put its talk away after `stop`, before the socket is closed on it. */
const STOP_TIMEOUT_MS = 2000;
/** And how long over its part of the closing. */
const CLOSE_TIMEOUT_MS = 500;

/** The gateway's end of the bridge: the client of our own engine, or of anybody's bot. */
export function createConnectStream(deps: ConnectStreamDeps): ConnectStream {
  return async (request, receiver) => {
    const socket = await dialWebSocket(request.target, deps, request.signal);
    return createStreamClient(socket, request, receiver, deps);
  };
}

/** Takes over a socket that is open. Exported for the tests of both ends. */
export function createStreamClient(
  socket: StreamSocket,
  { target, sampleRateHz: naturalRateHz }: Pick<StreamRequest, 'target' | 'sampleRateHz'>,
  receiver: StreamHandler,
  deps: Pick<ConnectStreamDeps, 'clock' | 'onMalformed'>,
): StreamClient {
  const isTwilio = target.dialect === 'twilio';
  const sampleRateHz = isTwilio ? TWILIO_RATE_HZ : naturalRateHz;
  const messages = createGatewayMessages({ ...target, sampleRateHz });
  const codec = pcmu.open();
  let isLeaving = false;
  let wasHungUp = false;
  let closing: Timer | undefined;

  const send = (data: string | Uint8Array | undefined) => {
    if (data === undefined) return;
    if (socket.readyState === OPEN) socket.send(data, { binary: typeof data !== 'string' });
    else if (socket.readyState === CLOSING && !isLeaving) closing ??= endSoon();
  };
  /** A bot that has said goodbye and does not read on leaves the connection open, and the caller in silence. */
  const endSoon = () => deps.clock.setTimer(() => socket.terminate(), CLOSE_TIMEOUT_MS);
  const malformed = () => deps.onMalformed?.(target.callId);
  const heartbeat = startHeartbeat({
    clock: deps.clock,
    intervalMs: target.isInternal ? OWN_PING_INTERVAL_MS : FOREIGN_PING_INTERVAL_MS,
    ping: () => {
      if (socket.readyState === OPEN) socket.ping();
    },
    onSilent: () => socket.terminate(),
  });

  const take = (message: StreamMessage | undefined) => {
    switch (message?.event) {
      case 'media': {
        const bytes = Buffer.from(message.payload, 'base64');
        if (!isTwilio || bytes.length === 0) return malformed();
        const samples = new Int16Array(bytes.length);
        codec.decode(bytes, samples);
        return receiver.audio(samples);
      }
      case 'mark':
        return receiver.mark(message.name);
      case 'clear':
        return receiver.clear();
      case 'dtmf':
        return receiver.command({ kind: 'send_dtmf', digits: message.digits });
      case 'transfer':
        return receiver.command({ kind: 'transfer', to: message.to });
      case 'standby':
        // A bot of somebody else that is gone is not sought again, so that nobody would hear it.
        if (!target.isInternal) return malformed();
        return receiver.failoverPrompts({ waiting: l16Of(message.waiting), apology: l16Of(message.apology) });
      case 'hangup':
        wasHungUp = true;
        return receiver.command({ kind: 'hangup' });
      default:
        return malformed();
    }
  };

  const gone = new Promise<void>((resolve) => {
    socket.on('close', (code, reason) => {
      heartbeat.stop();
      closing?.cancel();
      codec.close();
      resolve();
      if (isLeaving) return;
      isLeaving = true;
      const wasClosed = code === CLOSE_NORMAL || code === CLOSE_WITHOUT_CODE;
      const how = wasClosed || wasHungUp ? 'stopped' : 'broken';
      receiver.closed({ how, code, reason: reason.toString('utf8') });
    });
  });
  // A socket that fails closes as well, and that is what counts.
  socket.on('error', () => {});
  socket.on('pong', () => heartbeat.heard());
  socket.on('message', (data, isBinary) => {
    heartbeat.heard();
    if (isLeaving) return;
    if (!isBinary) return take(readMessage(data.toString('utf8')));
    if (isTwilio || data.length < 2) return malformed();
    if (data.length % 2 === 1) malformed();
    receiver.audio(readL16(data));
  });

  send(messages.connected());
  send(messages.start());
  const muLaw = new Uint8Array(frameLength(sampleRateHz));
  const bundle = createFrameBundle(frameLength(sampleRateHz) * Int16Array.BYTES_PER_ELEMENT, send);
  /** A message about the stream is understood as said after all audio before it. */
  const say = (text: string | undefined) => {
    bundle.flush();
    send(text);
  };

  return {
    sampleRateHz,
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    sendAudio(samples, position) {
      if (isLeaving) return;
      if (!isTwilio) {
        bundle.add(writeL16(samples));
        // A bot of somebody else is given each frame as it comes.
        if (!target.isInternal) bundle.flush();
        return;
      }
      const room = samples.length <= muLaw.length ? muLaw : new Uint8Array(samples.length);
      codec.encode(samples, room);
      send(messages.media(room.subarray(0, samples.length), (position * 1000) / sampleRateHz));
    },
    sendDtmf: (digit) => say(messages.dtmf(digit)),
    sendHold: (isHeld) => say(messages.hold(isHeld)),
    sendTransfer: (progress) => say(messages.transferStatus(progress)),
    sendMark: (mark) => say(messages.mark(mark)),
    sendCleared: (position) => say(messages.cleared(position)),
    async close(code, reason) {
      if (!isLeaving) {
        isLeaving = true;
        say(messages.stop());
        // Our own dialect lets the engine close once it has put the talk away; Twilio closes by itself.
        if (!isTwilio) await withTimeout(deps.clock, gone, STOP_TIMEOUT_MS);
        socket.close(code, reason);
      }
      await withTimeout(deps.clock, gone, CLOSE_TIMEOUT_MS);
      socket.terminate();
      await gone;
    },
  };
}

function l16Of(base64: string): Int16Array {
  return readL16(Buffer.from(base64, 'base64'));
}
