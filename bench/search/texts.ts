import type { Session, SessionMessage } from '../../src/engine/session/session.ts';
import { newSessionState } from '../../src/engine/session/session.ts';

/** In one session only. */
export const RARE = 'xylophone 4711';
/** In every eightieth session. */
const UNCOMMON_EVERY = 80;
export const UNCOMMON = 'second molar';

const PHRASES = [
  'I would like to book an appointment for next week.',
  'Could you tell me what the treatment costs?',
  'The dentist has time on Tuesday at ten in the morning.',
  'That is fine with me, thank you very much.',
  'May I have your name and your telephone number, please?',
  'Of course, one moment please, I am looking that up for you.',
  'My insurance card is with my wife, is that a problem?',
  'We are in the house with the blue door, on the second floor.',
  'Is there a place to park a car nearby?',
  'I have been in pain since the day before yesterday.',
  'Please do not eat anything two hours before the treatment.',
  'Then I will see you on Thursday, have a good day.',
];
const NAMES = [
  'Ada',
  'Ben',
  'Chloe',
  'Dmitri',
  'Elif',
  'Farid',
  'Greta',
  'Hiro',
  'Inés',
  'Jörg',
  'Kim',
  '陳怡君',
];
const MESSAGES = 12;

/** A repeatable pseudo-random sequence. @see Knuth, The Art of Computer Programming, 3.3.4 */
function randomFrom(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A session in mid-conversation, about 1.4 KB of JSON. */
export function talkingSession(
  index: number,
  fixed: Pick<Session, 'projectId' | 'pathwayId' | 'releaseId' | 'instanceId'>,
  beganMs: number,
): Session {
  const random = randomFrom(index + 1);
  const pick = (list: readonly string[]) => list[random(list.length)] ?? '';
  const at = (second: number) => new Date(beganMs + index * 1000 + second * 1000).toISOString();
  const messages = Array.from({ length: MESSAGES }, (_, turn): SessionMessage => {
    const words = turn === 5 && index % UNCOMMON_EVERY === 7 ? `It is the ${UNCOMMON}.` : pick(PHRASES);
    const rare = index === 4711 && turn === 3 ? ` ${RARE}` : '';
    return { role: turn % 2 === 0 ? 'user' : 'assistant', content: words + rare, at: at(turn) };
  });
  return {
    ...fixed,
    sessionId: `customer-${index}`,
    channel: 'chat',
    provider: 'website',
    callId: null,
    release: null,
    turn: MESSAGES / 2,
    startedAt: at(0),
    lastActivityAt: at(MESSAGES),
    state: {
      ...newSessionState({ name: pick(NAMES), birthYear: 1940 + random(80), isNew: random(2) === 0 }),
      messages,
      currentNodeId: 'conversation',
    },
  };
}
