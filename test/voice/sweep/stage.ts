import { sleep } from '../../../src/base/async/sleep.ts';
import { unavailable } from '../../../src/base/errors.ts';
import { createChatClient } from '../../../src/models/chat/chatClient.ts';
import type { ChatModel, ChatRequest } from '../../../src/models/ports/chatModel.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { asProvider } from '../../support/scriptedModel.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';
import { type SimulatedCall, simulatedCall } from '../support/simulatedCall.ts';
import { type DeadAirWatch, watchDeadAir } from './deadAirWatch.ts';
import { createFaults, type Disturber, type Faults, faultySessions } from './disturbances.ts';
import { type Scene, TOOL_MS } from './scenes.ts';
import { aborted, createWordCaller, createWordVoice, type WordCaller, type WordVoice } from './wordSpeech.ts';

const MODEL_TIMEOUT_MS = 15_000;
const WORD_MS = 40;
const LATE_MS = 1500;

/** A scene's call and its disturber. */
export interface SetStage {
  readonly call: SimulatedCall;
  readonly caller: WordCaller;
  readonly voice: WordVoice;
  readonly disturber: Disturber;
  readonly watch: DeadAirWatch;
  /** Runs the scheduled acts that are due. */
  runDue(): void;
  /** Whether the stream is lost without being closed. */
  isLost(): boolean;
}

export function setStage(scene: Scene): SetStage {
  const clock = createSimulatedClock();
  const faults = createFaults(clock);
  const caller = createWordCaller(clock, () => faults.now('recognizer'));
  const voice = createWordVoice(clock, () => faults.now('voice'));
  const model = createChatClient(asProvider(sceneModel(scene, clock, faults)), {
    clock,
    timeoutMs: MODEL_TIMEOUT_MS,
  });
  const call = simulatedCall({
    answer: () => ({}),
    clock,
    model,
    speechToText: caller,
    textToSpeech: voice,
    fallbackSpeech: voice.reliable,
    pathway: scene.pathway,
    agent: { placeholderMessages: { en: ['One second.'] } },
    ...(scene.tools ? { tools: scene.tools } : {}),
    toolRunner: {
      async run(_tool, _args, _variables, signal) {
        await sleep(clock, TOOL_MS, signal);
        return { ok: true, text: 'found' };
      },
    },
    session: { detectAnsweringMachine: scene.detectAnsweringMachine ?? false },
    async beforeHistoryWrite() {
      if (faults.now('database') === 'fails') throw unavailable('database');
    },
    wrapSessions: (sessions) =>
      faultySessions(
        sessions,
        clock,
        () => faults.now('database'),
        () => unavailable('database'),
      ),
    isAttached: true,
  });
  const watch = watchDeadAir(call);
  const due: { readonly atMs: number; readonly act: () => void }[] = [];
  const nowMs = () => clock.monotonicMs();
  let isLost = false;
  let words = 0;
  const nextWord = () => {
    words += 1;
    return `said${words}x`;
  };
  const say = (text: string, durationMs: number) => call.stream.speak(caller.say(text, durationMs));
  const disturber: Disturber = {
    call,
    caller,
    faults,
    say,
    speak: (count, durationMs) => say(Array.from({ length: count }, nextWord).join(' '), durationMs),
    hangUp: () => call.stream.close(1000, 'the caller hung up'),
    lose: () => {
      isLost = true;
    },
    schedule: (ms, act) => due.push({ atMs: nowMs() + ms, act }),
  };
  return {
    call,
    caller,
    voice,
    disturber,
    watch,
    isLost: () => isLost,
    runDue() {
      for (const one of due.filter(({ atMs }) => atMs <= nowMs())) {
        due.splice(due.indexOf(one), 1);
        if (!call.stream.isClosed()) one.act();
      }
    },
  };
}

/** Streams a word each 40 ms unless it is broken. */
function sceneModel(scene: Scene, clock: SimulatedClock, faults: Faults): ChatModel {
  const faultNow = () => faults.now('model');
  const think = async (signal: AbortSignal) => {
    if (faultNow() === 'hangs') await aborted(signal);
    await sleep(clock, faultNow() === 'is late' ? LATE_MS : WORD_MS, signal);
    if (faultNow() !== 'fails') return;
    throw new ModelError('model_unavailable', 'down', { beforeFirstToken: true });
  };
  return {
    name: 'scene',
    async *stream(request, signal) {
      const { text = '', calls = [] } = scene.answer(lastOf(request));
      for (const word of String(text).split(/(?<= )/)) {
        await think(signal);
        if (faultNow() === 'is empty') break;
        yield { type: 'text', text: word };
      }
      for (const [index, { name, arguments: args = {} }] of calls.entries()) {
        if (faultNow() === 'is empty') break;
        yield { type: 'tool_call', index, id: `call_${index}`, name, arguments: JSON.stringify(args) };
      }
      yield { type: 'end', finishReason: 'stop', model: request.model };
    },
  };
}

/** The last message of the customer or a tool; empty before the first. */
function lastOf({ messages }: ChatRequest): string {
  const last = messages.findLast(({ role }) => role === 'user' || role === 'tool');
  return last ? String(last.content) : '';
}
