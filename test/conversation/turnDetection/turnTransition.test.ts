import { describe, expect, test } from 'vitest';
import type { TurnContext, TurnEvent, TurnState } from '../../../src/conversation/turnDetection/turnState.ts';
import { turnTransition } from '../../../src/conversation/turnDetection/turnTransition.ts';
import { at, context, during, frame, pending } from './support/turnStates.ts';

/** The text is what follows, `phase: effects`; the event is a frame unless it is given. */
type Row = readonly [title: string, TurnState, TurnContext, then: string, TurnEvent?];

const idle: Row[] = [
  ['Silence of 7980 ms is ignored', at('idle'), context(7980), 'idle'],
  [
    'Silence of 8000 ms starts a turn',
    at('idle'),
    context(8000),
    'thinking: discard_utterance, start_turn silence',
  ],
  ['Silence on hold is ignored', at('idle'), context(60_000, { isOnHold: true }), 'idle'],
  [
    'A prompt restarts the wait, and the silence lasts',
    at('idle', { sinceMs: 9000, silentSinceMs: 500 }),
    context(16_980),
    'idle',
  ],
  ['Speech starts the caller’s turn', at('idle'), during(100, 0, 100), 'listening'],
];

const ASKED = 'thinking: discard_utterance, start_turn not_understood';
const wordless = [
  ['700 ms with 400 ms of voice ask for a repeat', 1700, 400, 700, ASKED],
  ['With less voice they wait for more words', 1700, 380, 700, 'listening'],
  ['A shorter one waits for more words', 1680, 680, 2480, 'listening'],
  ['Where none come in 2500 ms, the caller is asked to repeat', 1680, 680, 2500, ASKED],
  ['320 ms of voice are a short word', 1320, 320, 2500, ASKED],
  ['300 ms of voice are a cough', 1300, 300, 700, 'idle: discard_utterance'],
] as const;

const listening: Row[] = [
  ['A pause of 180 ms requests no transcript', at('listening'), during(680, 0, 500), 'listening'],
  [
    'A pause of 200 ms requests the transcript',
    at('listening'),
    during(700, 0, 500),
    'listening: request_transcript',
  ],
  [
    'Speech after the pause cancels the request',
    at('listening', { requestedToMs: 500 }),
    during(900, 0, 900),
    'listening: caller_continued',
  ],
  [
    'The endpointing delay with a transcript ends the turn',
    at('listening', { requestedToMs: 1000, transcript: 'yes' }),
    during(1700, 400, 1000),
    'thinking: discard_utterance, start_turn user_message',
  ],
  [
    'The endpointing delay without a transcript waits for it',
    at('listening', { requestedToMs: 500 }),
    during(1200, 0, 500),
    'listening',
  ],
  [
    'A speech onset delays the end of turn',
    at('listening', { requestedToMs: 1000, transcript: 'yes' }),
    during(1700, 400, 1000, { isSpeechOnset: true }),
    'listening',
  ],
  [
    'A transcript that takes 7980 ms is waited for',
    at('listening', { requestedToMs: 1000, isEndOfTurn: true }),
    during(8980, 400, 1000),
    'listening',
  ],
  [
    'A transcript that takes 8000 ms is given up: the caller is asked to repeat',
    at('listening', { requestedToMs: 1000, isEndOfTurn: true }),
    during(9000, 400, 1000),
    'thinking: await_late_words, discard_utterance, start_turn not_understood',
  ],
  [
    'Its late words are answered in place of that',
    at('speaking'),
    context(12_000, { answering: 'not_understood' }),
    'thinking: interrupt_agent, discard_utterance, start_turn user_message',
    { type: 'late_words', text: 'a table' },
  ],
  [
    'Late words are answered in place of the begin that follows disclosures',
    at('speaking'),
    context(12_000, { answering: 'begin' }),
    'thinking: interrupt_agent, discard_utterance, start_turn user_message',
    { type: 'late_words', text: 'a table' },
  ],
  [
    'Late words are answered after that too',
    at('idle'),
    context(15_000),
    'thinking: discard_utterance, start_turn user_message',
    { type: 'late_words', text: 'a table' },
  ],
  [
    'Late words are dropped while the agent answers others',
    at('speaking'),
    context(12_000, { answering: 'user_message' }),
    'speaking',
    { type: 'late_words', text: 'a table' },
  ],
  [
    'Late words are dropped while the caller speaks',
    at('listening'),
    during(12_000, 11_000, 11_900),
    'listening',
    { type: 'late_words', text: 'a table' },
  ],
  ['An utterance that was noise is discarded', at('listening'), context(900), 'idle: discard_utterance'],
  [
    'An utterance that was noise ends the turn of the speech before it',
    at('listening', { carriedText: 'a table for two' }),
    context(900),
    'thinking: discard_utterance, start_turn user_message',
  ],
  ['A sound of 440 ms may yet be noise', at('listening'), during(1440, 1000, 1200), 'listening'],
  [
    'A sound of 460 ms is known to be none',
    at('listening'),
    during(1460, 1000, 1200),
    'listening: request_transcript',
  ],
  ...wordless.map(
    ([title, lastVoicedMs, voicedMs, silenceMs, then]): Row => [
      title,
      at('listening', { requestedToMs: lastVoicedMs, transcript: '' }),
      context(lastVoicedMs + silenceMs, { utterance: { startMs: 1000, voicedMs, lastVoicedMs } }),
      then,
    ],
  ),
  [
    'An utterance of 45 s ends without a pause',
    at('listening'),
    during(46_000, 1000, 46_000),
    'listening: request_transcript',
  ],
  [
    'Speech after 45 s does not cancel the request',
    at('listening', { requestedToMs: 45_000, isEndOfTurn: true }),
    during(45_020, 0, 45_020),
    'listening',
  ],
];

const thinking: Row[] = [
  [
    'Speech before the answer is heard cancels the turn',
    at('thinking'),
    during(900, 620, 860, { answering: 'user_message' }),
    'listening: cancel_turn',
  ],
  [
    '220 ms of sound do not cancel it yet',
    at('thinking', { isHeld: true }),
    during(900, 640, 860, { answering: 'user_message' }),
    'thinking',
  ],
  [
    'Speech does not cancel the greeting',
    at('thinking'),
    during(900, 600, 860, { answering: 'begin' }),
    'thinking',
  ],
  [
    'An answer does not begin over a caller who has begun to speak again',
    at('thinking'),
    during(900, 800, 900, { answering: 'user_message' }),
    'thinking: hold_agent',
  ],
  [
    'It begins 100 ms after what was too short to be speech',
    at('thinking', { isHeld: true }),
    during(1000, 800, 900, { answering: 'user_message' }),
    'thinking: release_agent',
  ],
  [
    'It begins when the sound was noise or an echo',
    at('thinking', { isHeld: true }),
    context(1000, { answering: 'user_message' }),
    'thinking: release_agent',
  ],
  [
    'A held answer whose first sample was on its way is a paused one',
    at('thinking', { isHeld: true }),
    during(900, 800, 900, { answering: 'user_message' }),
    'paused',
    { type: 'agent_started_speaking' },
  ],
  [
    'Noise does not cancel a turn',
    at('thinking'),
    during(1100, 600, 700, { answering: 'user_message' }),
    'thinking: discard_utterance',
  ],
  [
    'Speech during an answer to DTMF digits is kept and does not cancel it',
    at('thinking'),
    during(1300, 400, 1000, { answering: 'dtmf' }),
    'thinking: keep_unanswered, discard_utterance',
  ],
];

const interruption: Row[] = [
  ['Speech over the agent pauses it', at('speaking'), during(900, 500, 900), 'paused: pause_agent'],
  [
    'Speech that started before the agent did pauses it after 240 ms',
    at('speaking', { answeredSpeechEndMs: 600, agentStartedMs: 1100 }),
    during(1240, 1000, 1240),
    'paused: pause_agent',
  ],
  [
    'Speech that started after the agent did needs 400 ms',
    at('speaking', { answeredSpeechEndMs: 600, agentStartedMs: 1000 }),
    during(1240, 1000, 1240),
    'speaking',
  ],
  ['Noise is a false interruption', at('paused'), context(900), 'speaking: discard_utterance, resume_agent'],
  [
    'Speech of 900 ms is an interruption',
    at('paused'),
    during(1400, 500, 1400),
    'listening: interrupt_agent',
  ],
  [
    'A transcript is waited for during 2480 ms',
    at('paused', { requestedToMs: 900 }),
    during(3380, 500, 900),
    'paused',
  ],
  [
    'Silence without a request asks for the transcript first',
    at('paused'),
    during(3400, 500, 900),
    'paused: request_transcript',
  ],
  [
    'Speech without a transcript after 2500 ms is an interruption',
    at('paused', { requestedToMs: 900 }),
    during(3400, 500, 900),
    'listening: interrupt_agent',
  ],
  [
    'Speech whose transcription failed is an interruption',
    at('paused', { requestedToMs: 900 }),
    during(1200, 500, 900),
    'listening: interrupt_agent',
    { type: 'transcription_failed', message: '' },
  ],
  [
    'An outdated transcript is ignored',
    at('paused'),
    during(900, 500, 900),
    'paused',
    { type: 'transcript', text: 'no', isBackchannel: false },
  ],
];

const answeringMachine: Row[] = [
  [
    'A detected machine cancels the running turn',
    at('thinking'),
    context(900),
    'suspended: cancel_turn',
    { type: 'machine_detected' },
  ],
  [
    'A detected machine interrupts a paused agent',
    at('paused'),
    context(900),
    'suspended: interrupt_agent',
    { type: 'machine_detected' },
  ],
  [
    'Words of what was no machine are listened to',
    at('suspended'),
    during(9000, 0, 9000),
    'listening',
    { type: 'machine_refuted' },
  ],
  [
    'After words of what was no machine the agent waits',
    at('suspended'),
    context(9000),
    'idle',
    { type: 'machine_refuted' },
  ],
  ['A machine’s greeting gets no answer', at('suspended'), during(9000, 0, 9000), 'suspended'],
  [
    'A recording machine gets the message',
    at('suspended'),
    context(9000),
    'thinking: discard_utterance, start_turn voicemail',
    { type: 'machine_recording', evidence: 'beep' },
  ],
];

const dtmf: Row[] = [
  [
    'Digits that waited for the agent to be ready interrupt it',
    at('thinking', { pendingDigits: { digits: '7', atMs: 4000 } }),
    context(5000),
    'thinking: interrupt_agent, discard_utterance, start_turn dtmf',
    { type: 'agent_started_speaking' },
  ],
  [
    'Digits that were pressed before the agent spoke interrupt it once they are complete',
    at('speaking'),
    context(5000),
    'thinking: interrupt_agent, discard_utterance, start_turn dtmf',
    { type: 'dtmf_entry', digits: '7' },
  ],
  [
    'An entry during speech requests the transcript of the speech',
    at('listening'),
    during(700, 0, 700),
    'listening: request_transcript',
    { type: 'dtmf_entry', digits: '12' },
  ],
  [
    'A waiting entry keeps the request when the caller continues',
    at('listening', pending),
    during(900, 0, 900),
    'listening',
  ],
  [
    'A waiting entry is answered without a transcript after 1000 ms',
    at('listening', pending),
    during(1700, 0, 1700),
    'thinking: keep_unanswered, discard_utterance, start_turn dtmf',
  ],
  [
    'A waiting entry is answered when the transcription fails',
    at('listening', pending),
    during(800, 0, 700),
    'thinking: discard_utterance, start_turn dtmf',
    { type: 'transcription_failed', message: 'down' },
  ],
  [
    'A waiting entry is answered when the next one follows',
    at('listening', pending),
    during(900, 0, 700),
    'thinking: keep_unanswered, discard_utterance, start_turn dtmf',
    { type: 'dtmf_entry', digits: '3' },
  ],
  [
    'A digit with speech over the agent interrupts it and keeps the speech',
    at('paused'),
    during(1300, 400, 1200),
    'listening: interrupt_agent',
    { type: 'dtmf_digit' },
  ],
  [
    'A digit whose own tone was heard interrupts the agent and discards the tone',
    at('speaking'),
    during(1300, 1100, 1200),
    'idle: interrupt_agent, discard_utterance',
    { type: 'dtmf_digit' },
  ],
  [
    'The tone of a digit is shorter than 240 ms of voice',
    at('speaking'),
    during(1300, 1000, 1240),
    'listening: interrupt_agent',
    { type: 'dtmf_digit' },
  ],
  [
    'An entry after the end is ignored',
    at('ended'),
    context(9000),
    'ended',
    { type: 'dtmf_entry', digits: '1' },
  ],
];

describe.each([
  ['idle', idle],
  ['listening', listening],
  ['thinking', thinking],
  ['interruption', interruption],
  ['answering machine', answeringMachine],
  ['DTMF', dtmf],
])('Turn detection, %s', (_, rows) => {
  test.each(rows.map((row) => [row[0], row] as const))('%s', (_title, row) => {
    const [, before, given, then, event = frame] = row;
    const { state, effects } = turnTransition(before, event, given);
    const done = effects.map((one) =>
      one.type === 'start_turn' ? `start_turn ${one.input.kind}` : one.type,
    );
    expect(done.length > 0 ? `${state.phase}: ${done.join(', ')}` : state.phase).toBe(then);
  });
});
