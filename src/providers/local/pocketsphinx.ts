import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { ModelError } from '../ports/modelError.ts';
import type {
  RecognitionOptions,
  RecognitionStream,
  SpeechToText,
  Transcript,
} from '../ports/speechToText.ts';
import { answerGrammar } from './grammar.ts';
import { findPocketsphinx, type PocketsphinxInstallation } from './pocketsphinxInstallation.ts';
import { type RecogniserProcess, startRecogniser } from './recogniserProcess.ts';
import { createRecogniserFeed, RECOGNISER_RATE_HZ } from './spectralFolding.ts';

/** Debian's and Ubuntu's. */
export const POCKETSPHINX_COMMAND = 'sudo apt-get install -y pocketsphinx pocketsphinx-en-us';
/** Longest run of samples that is converted in one piece, in seconds. */
const FEED_SECONDS = 1;
/** The recogniser wants a little quiet before and after the words. */
const MARGIN_SAMPLES = RECOGNISER_RATE_HZ / 10;

export interface PocketsphinxDeps {
  readonly clock: Clock;
  /** Where programs are looked for, as in `PATH`. */
  readonly searchPath: string;
}

interface Toolbox {
  readonly installation: PocketsphinxInstallation;
  /** @returns Arguments that choose the grammar of these answers, else the general model. */
  languageOf(expectedAnswers: readonly string[]): Promise<readonly string[]>;
}

/**
 * Recognition without any network: English, with a process for each utterance. Where the answers are known it hears
 * one of them and nothing else, quickly and well; else the general model is tried.
 *
 * Where the recogniser is not installed, every question fails and says how to install it; keys and silence still work.
 */
export function createPocketsphinx(deps: PocketsphinxDeps): SpeechToText {
  const folder = lazily(() => mkdtemp(join(tmpdir(), 'callway-grammars-')));
  const toolbox = lazily(async (): Promise<Toolbox> => {
    const installation = await findPocketsphinx(deps.searchPath);
    if (!installation) throw notInstalled();
    return { installation, languageOf: languages(installation, folder.get) };
  });
  const open = new Set<RecognitionStream>();
  // Found, and its dictionary read, before the first caller waits for it; whoever needs it in vain is told why.
  toolbox.get().catch(() => undefined);
  return {
    name: 'pocketsphinx',
    openStream(request) {
      const transcription = openTranscription(request, toolbox.get, deps.clock, () =>
        open.delete(transcription),
      );
      open.add(transcription);
      return transcription;
    },
    async close() {
      for (const transcription of open) transcription.close();
      if (folder.isAsked()) await rm(await folder.get(), { recursive: true, force: true });
    },
  };
}

function openTranscription(
  request: RecognitionOptions,
  toolbox: () => Promise<Toolbox>,
  clock: Clock,
  onClose: () => void,
): RecognitionStream {
  const feed = createRecogniserFeed(request.sampleRateHz, request.sampleRateHz * FEED_SECONDS);
  const heard: Int16Array[] = [new Int16Array(MARGIN_SAMPLES)];
  let isOpen = true;
  let isAsked = false;
  let running: Promise<RecogniserProcess> | undefined;
  let current: RecogniserProcess | undefined;

  const start = async (): Promise<RecogniserProcess> => {
    const { installation, languageOf } = await toolbox();
    const language = await languageOf(request.expectedAnswers ?? []);
    if (!isOpen) throw new Error('the utterance was closed');
    const process = startRecogniser(installation, language, clock);
    current = process;
    for (const samples of heard) process.write(samples);
    return process;
  };
  const stop = () => {
    current?.kill();
    current = undefined;
    running = undefined;
  };
  const begin = () => {
    running ??= start();
    running.catch(() => undefined);
    return running;
  };
  begin();

  return {
    push(samples) {
      if (!isOpen) return;
      const converted = feed.convert(samples);
      heard.push(converted);
      // Once asked, what follows may be silence alone: a new process is started when it is known to be speech.
      if (!isAsked) begin();
      current?.write(converted);
    },
    async finalize(signal): Promise<Transcript> {
      signal.throwIfAborted();
      isAsked = true;
      const process = await begin();
      // What comes from now on is for another process, which hears all from the begin.
      running = undefined;
      current = undefined;
      const kill = () => {
        process.kill();
        // The question was dropped since the person went on: all of it has to be heard anew.
        if (isOpen) begin();
      };
      signal.addEventListener('abort', kill, { once: true });
      try {
        if (signal.aborted) kill();
        process.write(new Int16Array(MARGIN_SAMPLES));
        const text = await process.finish();
        signal.throwIfAborted();
        request.onInterim?.(text);
        return { text };
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        signal.removeEventListener('abort', kill);
      }
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      stop();
      onClose();
    },
  };
}

/**
 * Writes the files of a grammar once for each set of answers: with a dictionary of its own words, a recogniser is ready
 * in a tenth of the time that the whole one takes.
 */
function languages({ dictionary, languageModel }: PocketsphinxInstallation, folder: () => Promise<string>) {
  // A second's work, better done before a call than in the middle of one.
  const pronunciations = lazily(async () => readPronunciations(await readFile(dictionary, 'utf8')));
  pronunciations.get().catch(() => undefined);
  const written = new Map<string, Promise<readonly string[]>>();
  const general = ['-dict', dictionary, '-lm', languageModel];
  return async (expectedAnswers: readonly string[]): Promise<readonly string[]> => {
    if (expectedAnswers.length === 0) return general;
    const known = await pronunciations.get();
    const grammar = answerGrammar(expectedAnswers, (word) => known.has(word));
    if (!grammar) return general;
    const name = createHash('sha256').update(grammar.text).digest('hex').slice(0, 32);
    const lines = [...grammar.words].flatMap((word) => known.get(word) ?? []);
    const language =
      written.get(name) ?? folder().then((path) => writeLanguage(join(path, name), grammar.text, lines));
    written.set(name, language);
    language.catch(() => written.delete(name));
    return await language;
  };
}

/** @returns The lines of a dictionary by their word: one for each way to say it. */
function readPronunciations(dictionary: string): ReadonlyMap<string, readonly string[]> {
  const lines = new Map<string, string[]>();
  for (const line of dictionary.split('\n')) {
    const word = line.slice(0, line.indexOf(' ')).replace(/\(\d+\)$/, '');
    const known = lines.get(word);
    if (known) known.push(line);
    else lines.set(word, [line]);
  }
  return lines;
}

async function writeLanguage(path: string, grammar: string, dictionary: readonly string[]) {
  const files = { grammar: `${path}.gram`, dictionary: `${path}.dict` };
  await writeFile(files.grammar, grammar);
  await writeFile(files.dictionary, [...dictionary, ''].join('\n'));
  return ['-dict', files.dictionary, '-jsgf', files.grammar];
}

function notInstalled(): ModelError {
  return new ModelError(
    'model_rejected',
    `Speech is not recognised, as pocketsphinx is not installed. Install it with: ${POCKETSPHINX_COMMAND}`,
    { beforeFirstToken: true },
  );
}

/** Does something once, when it is first asked for; a failure is not remembered. */
function lazily<Value>(make: () => Promise<Value>) {
  let made: Promise<Value> | undefined;
  return {
    isAsked: () => made !== undefined,
    get(): Promise<Value> {
      made ??= make().catch((error: unknown) => {
        made = undefined;
        throw error;
      });
      return made;
    },
  };
}
