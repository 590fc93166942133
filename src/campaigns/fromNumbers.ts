import type { CampaignSettings } from './campaign.ts';

/**
 * Orders the numbers that may call a contact: first the one that its campaign prefers, then those that take its place when
 * it may not call.
 *
 * @param placed - How many calls the campaign has placed.
 */
export function fromNumbersFor(
  { callerId, fromNumbers }: CampaignSettings,
  toNumber: string,
  placed: number,
): readonly string[] {
  switch (callerId) {
    case 'fixed':
      return fromNumbers;
    case 'rotate': {
      const first = fromNumbers.length === 0 ? 0 : placed % fromNumbers.length;
      return [...fromNumbers.slice(first), ...fromNumbers.slice(0, first)];
    }
    case 'local':
      return fromNumbers.toSorted((one, other) => shared(other, toNumber) - shared(one, toNumber));
  }
}

/** Returns the length of the prefix that two numbers share. */
function shared(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
