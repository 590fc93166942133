import type { DialectConnection } from './dialect.ts';
import type {
  BotClip,
  TextBotHandler,
  TextClient,
  TextClientCall,
  TextDialect,
  TextGatewayHandler,
  TextPart,
  TextServer,
} from './textDialect.ts';
import { digitsOf, type Fields, fieldsOf, nameOf, numberOf, parseJson, textsOf } from './wire/json.ts';

/** Where Twilio names its customer's account. */
const ACCOUNT = 'callway';
const MAX_TEXT_LENGTH = 10_000;
const MAX_URL_LENGTH = 2000;
const MAX_HANDOFF_LENGTH = 10_000;
/** The number of times that `loop: 0` means. */
const MAX_TIMES = 1000;
const LANGUAGE_TAG = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;

/**
 * Twilio's ConversationRelay: Twilio, or a call of ours in its place, recognizes and speaks, and the agent's words are text.
 *
 * @see https://www.twilio.com/docs/voice/conversationrelay/websocket-messages
 * @see https://www.twilio.com/docs/voice/twiml/connect/conversationrelay for the events `tokens-played` and `speaker-events`
 */
export const conversationRelay: TextDialect = {
  description:
    ': the messages of Twilio ConversationRelay. The connecting side recognizes the caller and speaks; the agent gets `prompt`, `dtmf` and `interrupt`, and sends `text` tokens, `sendDigits`, `language` and `end`, whose `handoffData` is JSON with `reasonCode` (`hangup`, `transfer` or `error`), `sessionId` and of a transfer `to` and its options. `setup.customParameters` become variables of a new session.',
  isSignedByTwilio: true,
  provider: 'conversationrelay',
  openTextServer: openServer,
  openTextClient: openClient,
};

function openServer(connection: DialectConnection): TextServer {
  const send = (message: object) => connection.send(JSON.stringify(message));
  return {
    readStart(message) {
      const fields = parseJson(message);
      if (fields?.type !== 'setup') return undefined;
      return { customParameters: textsOf(fieldsOf(fields.customParameters)) };
    },
    read(message, gateway) {
      const fields = parseJson(message);
      if (fields === undefined || !readGatewayMessage(fields, gateway)) gateway.malformed();
    },
    say: (part) => send(textMessage(part)),
    useLanguage: (tag) => send({ type: 'language', ttsLanguage: tag, transcriptionLanguage: tag }),
    sendDigits: (digits) => send({ type: 'sendDigits', digits }),
    end: (handoff) => send({ type: 'end', handoffData: JSON.stringify(handoff) }),
  };
}

function textMessage({ text, isLast, language, interruptible }: TextPart): object {
  const lang = language === undefined ? {} : { lang: language };
  return { type: 'text', token: text, last: isLast, ...lang, interruptible, preemptible: false };
}

function readGatewayMessage(message: Fields, gateway: TextGatewayHandler): boolean {
  switch (message.type) {
    case 'setup':
      return true;
    case 'prompt': {
      const text = textOf(message.voicePrompt);
      // Without partial prompts, `last` is true or absent.
      if (text !== undefined) gateway.words(text, languageOf(message.lang), message.last !== false);
      return text !== undefined;
    }
    case 'dtmf': {
      const digits = digitsOf(message.digit);
      for (const digit of digits ?? '') gateway.dtmf(digit);
      return digits !== undefined;
    }
    case 'interrupt': {
      const heard = textOf(message.utteranceUntilInterrupt);
      if (heard !== undefined) gateway.interrupted(heard, numberOf(message.durationUntilInterruptMs));
      return heard !== undefined;
    }
    case 'info':
      return readInfo(message, gateway);
    case 'error':
      gateway.fault(textOf(message.description) ?? 'The gateway names no reason');
      return true;
    default:
      return false;
  }
}

/** Reads an event of a `<ConversationRelay>` that has asked for events. */
function readInfo({ name, value }: Fields, gateway: TextGatewayHandler): boolean {
  const text = textOf(value);
  if (name === 'tokensPlayed' && text !== undefined) gateway.played(text);
  if (name === 'agentSpeaking' && value === 'off') gateway.silent();
  return typeof name === 'string';
}

function openClient(connection: DialectConnection, call: TextClientCall): TextClient {
  const send = (message: object) => connection.send(JSON.stringify(message));
  const { fromNumber: from = '', toNumber: to = '', direction = '' } = call.customParameters;
  send({
    type: 'setup',
    sessionId: call.streamId,
    accountSid: ACCOUNT,
    parentCallSid: '',
    callSid: call.callId,
    ...{ from, to, forwardedFrom: '', callType: 'PSTN', callerName: '', direction },
    callStatus: 'IN_PROGRESS',
    customParameters: call.customParameters,
  });
  return {
    words(text, language) {
      const lang = language === undefined ? {} : { lang: language };
      send({ type: 'prompt', voicePrompt: text, ...lang, last: true });
    },
    dtmf: (digit) => send({ type: 'dtmf', digit }),
    interrupted: (heard, heardMs) =>
      send({ type: 'interrupt', utteranceUntilInterrupt: heard, durationUntilInterruptMs: heardMs }),
    read(message, bot) {
      const fields = parseJson(message);
      if (fields !== undefined && readBotMessage(fields, bot)) return;
      send({ type: 'error', description: `Invalid message received: ${excerpt(message)}` });
      bot.malformed();
    },
  };
}

function readBotMessage(message: Fields, bot: TextBotHandler): boolean {
  switch (message.type) {
    case 'text': {
      const text = textOf(message.token);
      if (text === undefined) return false;
      const { last, lang, interruptible } = message;
      bot.say({
        text,
        isLast: last === true,
        language: languageOf(lang),
        interruptible: interruptible !== false && interruptible !== 'none',
      });
      return true;
    }
    case 'play': {
      const clip = clipOf(message);
      if (clip !== undefined) bot.play(clip);
      return clip !== undefined;
    }
    case 'sendDigits': {
      // `w` is a pause of half a second, which we do not have.
      const digits =
        typeof message.digits === 'string' ? digitsOf(message.digits.replace(/w/gi, '')) : undefined;
      if (digits !== undefined) bot.sendDigits(digits);
      return digits !== undefined;
    }
    case 'language': {
      const spoken = languageOf(message.ttsLanguage);
      const understood = languageOf(message.transcriptionLanguage);
      if ((spoken ?? understood) === undefined) return false;
      bot.useLanguage({ spoken, understood });
      return true;
    }
    case 'end': {
      const { handoffData } = message;
      const isText = typeof handoffData === 'string' && handoffData.length <= MAX_HANDOFF_LENGTH;
      bot.end(isText ? handoffData : undefined);
      return true;
    }
    default:
      return false;
  }
}

function clipOf({ source, loop, interruptible }: Fields): BotClip | undefined {
  if (typeof source !== 'string' || source === '' || source.length > MAX_URL_LENGTH) return undefined;
  const times = Math.floor(numberOf(loop) ?? 1);
  return {
    url: source,
    times: times === 0 ? MAX_TIMES : Math.min(times, MAX_TIMES),
    interruptible: interruptible !== false && interruptible !== 'none',
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_TEXT_LENGTH ? value : undefined;
}

function languageOf(value: unknown): string | undefined {
  const tag = nameOf(value);
  return tag !== undefined && LANGUAGE_TAG.test(tag) ? tag : undefined;
}

function excerpt(message: string | Uint8Array): string {
  return typeof message === 'string' ? message.slice(0, 200) : `${message.length} bytes`;
}
