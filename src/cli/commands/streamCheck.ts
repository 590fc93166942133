import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Clock, systemClock } from '../../base/values/clock.ts';
import { type DialectName, dialectNames, findDialect, isTextDialect } from '../../dialects/index.ts';
import { concatenated } from '../../media/pcm16.ts';
import { atRate, isSampleRate, SAMPLE_RATES_HZ, type SampleRateHz } from '../../media/resample/resampler.ts';
import {
  type CarrierDialectName,
  carrierDialectName,
  findCarrierDialect,
} from '../../streams/check/carrierDialects.ts';
import { checkBot, SPEECH_RATE_HZ } from '../../streams/check/checkBot.ts';
import { checkGateway } from '../../streams/check/checkGateway.ts';
import { type Finding, fail, pass } from '../../streams/check/finding.ts';
import { connectToBot, listenForGateway } from '../../streams/check/sockets.ts';
import { checkTextBot } from '../../streams/check/text/checkTextBot.ts';
import { checkTextGateway } from '../../streams/check/text/checkTextGateway.ts';
import { createLocalTextToSpeech, FLITE_SAMPLE_RATE_HZ } from '../../vendors/local/textToSpeech.ts';
import { type CliContext, CommandError, EXIT, type ExitCode } from '../command.ts';
import { table } from '../table.ts';

interface StreamCheckOptions {
  readonly dialect: DialectName;
  readonly listen?: number | true;
  readonly host: string;
  readonly wait: number;
  readonly seconds: number;
  readonly rate: SampleRateHz;
  readonly say: string;
  readonly streamId: string;
  readonly param: Readonly<Record<string, string>>;
  readonly header: Readonly<Record<string, string>>;
  readonly listenOnly?: boolean;
  readonly partialPrompts?: boolean;
  readonly json?: boolean;
}

const MARKS: Readonly<Record<Finding['status'], string>> = { pass: 'ok', fail: 'FAIL', skipped: 'skip' };
/** A clock whose timers keep the process alive, even after the connection was lost. */
const clock: Clock = {
  ...systemClock,
  setTimer(callback, delayMs) {
    const handle = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
};
/** Greeting, interruption and key need as much. */
const MIN_SECONDS = 6;
const MAX_SECONDS = 600;

export function streamCheckCommand(
  program: Command,
  { write, writeError }: CliContext,
  end: (code: ExitCode) => void,
): void {
  program
    .command('stream-check')
    .description(
      'play the carrier or the PBX against a bot at its ws:// or tcp:// address, or with --listen the bot against a gateway, and print what the other side does wrong; needs no service',
    )
    .argument('[url]', 'address of the bot')
    .addOption(
      new Option('--dialect <name>', 'protocol of the stream').choices(dialectNames).makeOptionMandatory(),
    )
    .option('--listen [port]', 'wait for a gateway instead, at this port or a free one', toPort)
    .option('--host <address>', 'address that --listen listens on', '127.0.0.1')
    .option('--wait <seconds>', 'how long --listen waits for the gateway', toNumber(1, MAX_SECONDS), 60)
    .option(
      '--seconds <number>',
      'length of the call with the bot, or of text turns with the gateway',
      toNumber(MIN_SECONDS, MAX_SECONDS),
      12,
    )
    .option('--rate <hertz>', 'sample rate, where the dialect leaves it open', toRate, 8000)
    .option('--say <text>', 'what the caller says, twice', 'Hello, can you hear me? I have a question.')
    .option('--stream-id <id>', 'id of the stream; for audiosocket its UUID', randomUUID())
    .option('--param <name=value>', 'custom parameter; may be repeated', toPair('='), {})
    .option('--header <name:value>', 'header of the request; may be repeated', toPair(':'), {})
    .option('--listen-only', 'the bot sends no audio, or no text')
    .option('--partial-prompts', 'tell a bot of text turns what the caller says while it is being said')
    .option('--json', 'print the checks as JSON')
    .action(async (url: string | undefined, options: StreamCheckOptions) => {
      const findings =
        options.listen === undefined
          ? await checkAsCarrier(url, options)
          : await checkAsBot(options, writeError);
      write(options.json ? `${JSON.stringify(findings, null, 2)}\n` : report(findings));
      end(findings.some(({ status }) => status === 'fail') ? EXIT.refused : EXIT.ok);
    });
}

async function checkAsCarrier(
  url: string | undefined,
  options: StreamCheckOptions,
): Promise<readonly Finding[]> {
  const { dialect, header, streamId, param, rate, seconds, say, listenOnly = false } = options;
  const target = { streamId, customParameters: param };
  const text = findDialect(dialect);
  if (isTextDialect(text)) {
    checkAddress(url, false);
    return await checkConnected(url, async () =>
      checkTextBot({
        ...{ dialect: text, target, text: say, clock },
        socket: await connectToBot(url, text, header),
        hasPartialPrompts: options.partialPrompts === true,
        isListenOnly: listenOnly,
      }),
    );
  }
  const name = toCarrierDialect(dialect);
  const client = findCarrierDialect(name);
  checkAddress(url, client.isTcp === true);
  // Before the connection: a bot that speaks first is heard from its first message on.
  const speech = await spoken(say);
  return await checkConnected(url, async () =>
    checkBot({
      dialect: name,
      socket: await connectToBot(url, client, header),
      clock,
      target,
      sampleRateHz: rate,
      durationMs: seconds * 1000,
      speech,
      isListenOnly: listenOnly,
    }),
  );
}

/** Runs a check that connects to a bot. A connection that fails is a finding. */
async function checkConnected(
  url: string,
  check: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return [pass('connect', url), ...(await check())];
  } catch (error) {
    return [fail('connect', error instanceof Error ? error.message : String(error))];
  }
}

async function checkAsBot(
  { dialect, listen, host, wait, seconds }: StreamCheckOptions,
  writeError: CliContext['writeError'],
): Promise<readonly Finding[]> {
  const bot = findDialect(dialect);
  const listener = await listenForGateway(bot, host, listen === true ? 0 : (listen ?? 0)).catch((cause) => {
    throw new CommandError(EXIT.unavailable, `Cannot listen on ${host}: ${String(cause)}`, { cause });
  });
  writeError(`listening on ${bot.isTcp ? 'tcp' : 'ws'}://${host}:${listener.port}\n`);
  const timeout = new Promise<undefined>((resolve) => {
    systemClock.setTimer(() => resolve(undefined), wait * 1000);
  });
  try {
    const socket = await Promise.race([listener.connection, timeout]);
    if (socket === undefined) return [fail('connect', `no gateway connected within ${wait} s`)];
    const findings = isTextDialect(bot)
      ? await checkTextGateway({ dialect: bot, socket, clock, durationMs: seconds * 1000 })
      : await checkGateway({ dialect, socket, clock });
    return [pass('connect', socket.protocol || 'without a subprotocol'), ...findings];
  } finally {
    listener.close();
  }
}

function toCarrierDialect(name: DialectName): CarrierDialectName {
  const { success, data } = carrierDialectName.safeParse(name);
  if (success) return data;
  throw new CommandError(EXIT.usage, `Bots can be checked in all dialects but ${name}`);
}

function checkAddress(url: string | undefined, isTcp: boolean): asserts url is string {
  const example = isTcp ? 'tcp://host:port' : 'ws://host/path or wss://host/path';
  const isValid = url !== undefined && URL.canParse(url) && (isTcp ? /^tcp:.*:\d+$/ : /^wss?:/).test(url);
  if (!isValid) throw new CommandError(EXIT.usage, `Give the bot's address, as ${example}, or --listen`);
}

/** The words as the offline voice speaks them. */
async function spoken(text: string): Promise<Int16Array> {
  const voice = createLocalTextToSpeech();
  try {
    const parts: Int16Array[] = [];
    for await (const samples of voice.synthesize({ text }, new AbortController().signal)) parts.push(samples);
    return atRate(concatenated(parts), FLITE_SAMPLE_RATE_HZ, SPEECH_RATE_HZ);
  } finally {
    await voice.close();
  }
}

function report(findings: readonly Finding[]): string {
  return table(findings.map(({ check, status, detail }) => [MARKS[status], check, detail]));
}

function toPort(text: string): number {
  return toNumber(0, 65_535)(text);
}

function toNumber(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number of ${min} to ${max}.`);
  };
}

function toRate(text: string): SampleRateHz {
  const rateHz = Number(text);
  if (isSampleRate(rateHz)) return rateHz;
  throw new InvalidArgumentError(`It must be one of ${SAMPLE_RATES_HZ.join(', ')}.`);
}

function toPair(separator: string) {
  return (text: string, earlier: Readonly<Record<string, string>>): Record<string, string> => {
    const at = text.indexOf(separator);
    if (at <= 0) throw new InvalidArgumentError(`It must have the form name${separator}value.`);
    return { ...earlier, [text.slice(0, at).trim()]: text.slice(at + 1).trim() };
  };
}
