import { type Invite, OUTCOMES } from '../../test/e2e/support/carrier.ts';
import type { Installation } from './installation.ts';
import type { Line } from './report.ts';
import { isInside, zoneOf } from './windows.ts';

interface Attempt {
  readonly callId: string;
  readonly outcome: string;
  readonly endReason: string | null;
}

/** A contact as the API shows it at the end. */
interface Contact {
  readonly campaign: number;
  readonly toNumber: string;
  readonly status: string;
  readonly outcome?: string;
  readonly skipReason?: string;
  readonly attempts: readonly Attempt[];
}

/**
 * Compares the INVITEs that the carrier has seen with what the API says.
 *
 * @param answered - The times at which additions to the list were answered, from which on they hold.
 */
export async function judge(
  installation: Installation,
  campaigns: readonly string[],
  answered: ReadonlyMap<string, number>,
): Promise<Line[]> {
  const { carrier, api, sql } = installation;
  const contacts: Contact[] = [];
  for (const [campaign, id] of campaigns.entries())
    for (const found of await readAll(api, `/campaigns/${id}/contacts`))
      contacts.push({ ...found, campaign });
  const calls = await sql<{ id: string; sip_call_id: string; to_number: string }>(
    'SELECT id, sip_call_id FROM calls WHERE sip_call_id IS NOT NULL',
  );
  const callOf = new Map(calls.map((call) => [call.sip_call_id, call.id]));
  const inviteOf = new Map(carrier.invites.map((invite) => [callOf.get(invite.callId), invite]));
  const attempts = contacts.flatMap((contact) =>
    contact.attempts.map((attempt) => ({ ...attempt, contact })),
  );
  const campaignOf = new Map(attempts.map(({ callId, contact }) => [callId, contact.campaign]));
  const lost = attempts.filter(({ endReason }) => endReason === 'node_lost');
  const lostInvites = new Set(lost.map(({ callId }) => inviteOf.get(callId)));
  const listed = new Map<string, number>();
  // Threads read the stepped clock some seconds late: of a keypad's opt-out the carrier knows the time.
  for (const { number, at } of await readAll(api, '/do-not-call')) {
    const optOut = carrier.invites.find(
      (invite) => invite.number === number && invite.reaction === 'opt_out' && !lostInvites.has(invite),
    );
    listed.set(number, answered.get(number) ?? optOut?.atMs ?? Date.parse(at));
  }
  const wrong = attempts.filter((attempt) => {
    const reaction = inviteOf.get(attempt.callId)?.reaction;
    return attempt.endReason !== 'node_lost' && (!reaction || OUTCOMES[reaction] !== attempt.outcome);
  });
  const wrongContacts = contacts.filter(
    (contact) => contact.status === 'done' && contact.outcome !== contact.attempts.at(-1)?.outcome,
  );
  const forgotten = contacts.filter(
    ({ status, outcome, skipReason }) => !(status === 'done' ? outcome : status === 'skipped' && skipReason),
  );
  const isOutside = ({ number, callId, atMs }: Invite) => {
    const own = campaignOf.get(callOf.get(callId) ?? '');
    const possible = own === undefined ? campaigns.keys() : [own];
    return ![...possible].some((campaign) => isInside(campaign, zoneOf(number), atMs));
  };
  const isListed = ({ number, atMs }: Invite) => atMs > (listed.get(number) ?? Number.POSITIVE_INFINITY);
  const { invites } = carrier;
  for (const { number, atMs } of invites.filter(isOutside))
    console.error(`outside its window: ${number}, ${zoneOf(number)}, ${new Date(atMs).toISOString()}`);
  for (const { number, atMs } of invites.filter(isListed))
    console.error(
      `listed: ${number}, ${atMs - (listed.get(number) ?? 0)} ms before its INVITE at ${new Date(atMs).toISOString()}`,
    );
  for (const { contact, callId, outcome, endReason } of wrong)
    console.error(
      `outcome ${outcome}, ${endReason}: ${contact.toNumber}, ${JSON.stringify(inviteOf.get(callId) ?? callId)}`,
    );
  for (const { toNumber, outcome, attempts: made } of wrongContacts)
    console.error(`outcome ${outcome}: ${toNumber}, ${JSON.stringify(made)}`);
  const of = `of ${invites.length} INVITEs to ${contacts.length} contacts`;
  return [
    { what: 'dialed twice for one attempt', aim: '0', figure: `${dialedTwice(invites, attempts)} ${of}` },
    {
      what: 'outside its window, by the carrier',
      aim: '0',
      figure: String(invites.filter(isOutside).length),
    },
    {
      what: 'after its opt-out or list addition',
      aim: '0',
      figure: `${invites.filter(isListed).length}; ${listed.size} numbers listed`,
    },
    { what: 'forgotten', aim: '0', figure: String(forgotten.length) },
    {
      what: 'outcome that is not the carrier’s',
      aim: '0',
      figure: `${wrong.length + wrongContacts.length}; ${lost.length} attempts failed with their node`,
    },
    { what: 'contacts by outcome', aim: '', figure: outcomesOf(contacts) },
  ];
}

/** INVITEs to a number beyond the attempts of its contacts. */
function dialedTwice(invites: readonly Invite[], attempts: readonly { readonly contact: Contact }[]): number {
  const left = new Map<string, number>();
  for (const { contact } of attempts) left.set(contact.toNumber, (left.get(contact.toNumber) ?? 0) + 1);
  for (const { number } of invites) left.set(number, (left.get(number) ?? 0) - 1);
  return [...left.values()].reduce((sum, rest) => sum + Math.max(0, -rest), 0);
}

function outcomesOf(contacts: readonly Contact[]): string {
  const counts: Record<string, number> = {};
  for (const { outcome, skipReason, status } of contacts) {
    const end = (status === 'skipped' ? skipReason : outcome) ?? status;
    counts[end] = (counts[end] ?? 0) + 1;
  }
  return Object.entries(counts)
    .toSorted(([, one], [, other]) => other - one)
    .map(([end, count]) => `${end} ${count}`)
    .join(', ');
}

async function readAll(api: Installation['api'], path: string) {
  const found = [];
  for (let cursor = ''; ; ) {
    const page = await api('GET', `${path}?limit=200${cursor && `&cursor=${cursor}`}`);
    found.push(...page.data);
    if (!page.pagination.nextCursor) return found;
    cursor = page.pagination.nextCursor;
  }
}
