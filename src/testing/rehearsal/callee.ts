import { CONTACT_OUTCOMES } from '../../campaigns/contact.ts';

/**
 * What happens to the calls of a rehearsal, in turn, each for one contact. Most people answer; a rehearsal of six contacts
 * has each of them.
 */
const DECK = ['answered', 'machine', 'opt_out', 'answered', 'busy', 'no_answer'] as const;
export type Callee = (typeof DECK)[number];

/** An opt-out is an outcome of its own here; a campaign counts it as `answered`. */
export const REHEARSAL_OUTCOMES = [...CONTACT_OUTCOMES, 'opt_out'] as const;
export type RehearsalOutcome = (typeof REHEARSAL_OUTCOMES)[number];

/** Returns what happens to the contact at this position; the seed decides where the deck begins. */
export function calleeOf(seed: number, position: number): Callee {
  return DECK[(seed + position) % DECK.length] ?? 'answered';
}

export function isAnswering(callee: Callee): callee is Exclude<Callee, 'busy' | 'no_answer'> {
  return callee !== 'busy' && callee !== 'no_answer';
}
