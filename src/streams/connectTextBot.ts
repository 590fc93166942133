import { limitDigits } from '../base/async/messageLimit.ts';
import type { Clock } from '../base/values/clock.ts';
import { findTextDialect } from '../dialects/index.ts';
import type { ConnectTextBot, TextBot } from '../text/textBot.ts';
import { toConnection } from './serverStream.ts';
import { type DialDeps, dialWebSocket } from './transport/dialWebSocket.ts';
import { readMessages } from './transport/readMessages.ts';
import { CLOSE_NORMAL, CLOSE_POLICY_VIOLATION, CLOSE_WITHOUT_CODE } from './transport/streamSocket.ts';

export interface ConnectTextBotDeps extends DialDeps {
  readonly clock: Clock;
  readonly unseal: (sealed: string) => string;
  /** A message of the bot could not be read and is ignored. */
  readonly onMalformed: (callId: string) => void;
}

/** A bot whose messages cannot be read is told so this often, and then lost. */
const MAX_COMPLAINTS = 100;
/** For the bot's part of the closing handshake. */
const CLOSE_TIMEOUT_MS = 2000;

/** Connects calls to customers' bots that speak a dialect of text turns. */
export function createConnectTextBot(deps: ConnectTextBotDeps): ConnectTextBot {
  const { clock, unseal, onMalformed } = deps;
  return async ({ url, dialect, streamId, sealedHeaders, customParameters }, callId, listener, signal) => {
    const headers = JSON.parse(unseal(sealedHeaders)) as Record<string, string>;
    const target = { url, dialect, streamId, callId, customParameters, headers, canReconnect: false };
    const socket = await dialWebSocket(target, undefined, deps, signal);
    let complaints = 0;
    let isClosed = false;
    const lose = (isOrderly: boolean) => {
      if (isClosed) return;
      isClosed = true;
      listener.closed(isOrderly);
    };
    const client = findTextDialect(dialect).openTextClient(toConnection(socket), target);
    const admitDigits = limitDigits(clock);
    const handler = {
      ...listener,
      sendDigits(digits: string) {
        if (admitDigits(digits.length)) listener.sendDigits(digits);
      },
      malformed() {
        onMalformed(callId);
        complaints += 1;
        if (complaints < MAX_COMPLAINTS) return;
        socket.close(CLOSE_POLICY_VIOLATION, 'too many messages could not be read');
        lose(false);
      },
    };
    readMessages(socket, clock, 'bot', {
      read(message) {
        if (!isClosed) client.read(message, handler);
      },
      onError: handler.malformed,
    });
    socket.on('close', (code: number) => lose(code === CLOSE_NORMAL || code === CLOSE_WITHOUT_CODE));
    const bot: TextBot = {
      words: (text, language) => client.words(text, language),
      dtmf: (digit) => client.dtmf(digit),
      interrupted: (heard, heardMs) => client.interrupted(heard, heardMs),
      close() {
        if (isClosed) return;
        isClosed = true;
        socket.close(CLOSE_NORMAL, 'the call has ended');
        clock.setTimer(() => socket.terminate(), CLOSE_TIMEOUT_MS);
      },
    };
    return bot;
  };
}
