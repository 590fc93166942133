import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, parse } from 'node:path';
import { z } from 'zod';
import type { CallingWindow } from '../agents/accounts/callingHours.ts';
import { normalizeNumber } from '../base/values/e164.ts';
import { phoneNumber } from '../calls/numbers/phoneNumber.ts';
import { type CampaignResource, campaignResource } from '../campaigns/campaign.ts';
import { type ContactMapping, importResource } from '../campaigns/imports/contactImport.ts';
import { parseResponse } from './apiClient.ts';
import { type CliContext, CommandError, EXIT } from './command.ts';
import { poll, progressBar, progressLine } from './progress.ts';
import type { ProjectOptions, ProjectSession } from './projectSession.ts';
import { table } from './table.ts';

const IMPORT_POLL_MS = 300;
/** A campaign takes minutes. */
const CAMPAIGN_POLL_MS = 2_000;

export interface CampaignRunOptions extends ProjectOptions {
  readonly map?: Partial<ContactMapping>;
  readonly from?: string;
  readonly name?: string;
  readonly window?: CallingWindow[];
  readonly watch?: boolean;
}

/**
 * Creates a campaign, reads a list into it and starts it. If one of these fails, the campaign is removed.
 *
 * @throws {CommandError}
 */
export async function startCampaign(
  context: CliContext,
  session: ProjectSession,
  file: string,
  options: CampaignRunOptions,
): Promise<{ campaign: CampaignResource; list: z.infer<typeof importResource> }> {
  const { api, path, connection } = session;
  const { map, name = parse(file).name, window: windows } = options;
  if (map?.toNumber === undefined)
    throw new CommandError(EXIT.usage, 'Name the column of the numbers, as in --map toNumber=Phone.');
  const form = new FormData();
  form.set('mapping', JSON.stringify(map));
  form.set('file', await openList(file), basename(file));
  const fromNumbers = [await fromNumber(session, options.from)];
  const created = await api.request('POST', `${path}/campaigns`, {
    name,
    fromNumbers,
    schedule: { windows },
  });
  const { id } = parseResponse(campaignResource, created, connection);
  try {
    const list = await importList(context, session, `${path}/campaigns/${id}/contacts`, form, options);
    const started = await api.request('POST', `${path}/campaigns/${id}/start`);
    return { list, campaign: parseResponse(campaignResource, started, connection) };
  } catch (error) {
    const removed = await api.request('DELETE', `${path}/campaigns/${id}`).then(
      () => true,
      () => false,
    );
    // The start may have been done although its answer was lost.
    if (removed || !(error instanceof CommandError)) throw error;
    const advice = `"callway campaign list" shows whether the campaign ${id} is running.`;
    throw new CommandError(error.exitCode, `${error.message} ${advice}`, { cause: error });
  }
}

/** Shows a campaign until it runs no longer. @throws {CommandError} At Ctrl-C, which leaves it running. */
export async function watchCampaign(
  context: CliContext,
  session: ProjectSession,
  id: string,
  options: CampaignRunOptions,
): Promise<CampaignResource> {
  const { api, path, connection } = session;
  const show = progressLine(context, options);
  const interrupted = new AbortController();
  context.onInterrupt?.(() => interrupted.abort());
  try {
    return await poll(
      async () =>
        parseResponse(campaignResource, await api.request('GET', `${path}/campaigns/${id}`), connection),
      {
        everyMs: CAMPAIGN_POLL_MS,
        isOver: ({ status }) => status !== 'running',
        onValue: (campaign) => show?.(progressOf(campaign), campaign.status !== 'running'),
        signal: interrupted.signal,
      },
    );
  } catch (error) {
    show?.('', true);
    if (!interrupted.signal.aborted) throw error;
    const message = `The campaign goes on. "callway campaign pause ${id}" pauses it.`;
    throw new CommandError(EXIT.interrupted, message, { cause: error });
  }
}

/** Describes the contacts of a campaign: `3 done, 1 skipped; 2 answered, 1 busy`. */
export function countsOf({ counts, outcomes }: CampaignResource): string {
  const { calling, waiting, pending, done, skipped } = counts;
  const statuses = namedCounts({ done, calling, waiting, pending, skipped });
  const called = namedCounts(outcomes);
  return called === '' ? statuses : `${statuses}; ${called}`;
}

function progressOf(campaign: CampaignResource): string {
  const { done, skipped, total } = campaign.counts;
  return `${progressBar(done + skipped, total)} ${countsOf(campaign)}`;
}

function namedCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

/** @throws {CommandError} When the file cannot be read. */
async function openList(file: string): Promise<Blob> {
  try {
    if (!(await stat(file)).isFile()) throw new Error('it is no regular file');
    return await openAsBlob(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(EXIT.usage, `The list ${file} cannot be read: ${reason}`, { cause: error });
  }
}

/** Returns the number that calls: the given one, or else the only active one of the project. @throws {CommandError} */
async function fromNumber({ api, path }: ProjectSession, given: string | undefined): Promise<string> {
  const numbers = await api.list(
    `${path}/phone-numbers`,
    phoneNumber.pick({ number: true, outboundStatus: true }),
  );
  const active = numbers.flatMap(({ number, outboundStatus }) => (outboundStatus === 'active' ? number : []));
  const chosen = given === undefined ? active : active.filter((one) => one === normalizeNumber(given));
  const [number] = chosen;
  if (number !== undefined && chosen.length === 1) return number;
  const names = active.join(', ') || 'none';
  throw new CommandError(
    EXIT.refused,
    given === undefined
      ? `Name the number that calls with --from. The active numbers of the project: ${names}.`
      : `${given} is no active number of the project. It has: ${names}.`,
  );
}

/** Reads a list into a campaign, and tells its skipped rows. @throws {CommandError} When no row can be called. */
async function importList(
  context: CliContext,
  { api, path, connection }: ProjectSession,
  contacts: string,
  form: FormData,
  options: CampaignRunOptions,
): Promise<z.infer<typeof importResource>> {
  const started = z.object({ importId: z.string() });
  const { importId } = parseResponse(started, await api.request('POST', contacts, form), connection);
  const show = progressLine(context, options);
  const list = await poll(
    async () =>
      parseResponse(
        importResource,
        await api.request('GET', `${path}/contact-imports/${importId}`),
        connection,
      ),
    {
      everyMs: IMPORT_POLL_MS,
      isOver: ({ status }) => status !== 'running',
      onValue: ({ rows, status }) => show?.(`${rows} rows read`, status !== 'running'),
    },
  );
  const { errors, skipped, accepted, status, reason } = list;
  const lines = errors.map(({ row, code, message }) => [`row ${row}`, code, message]);
  context.writeError(table(lines));
  if (skipped > errors.length)
    context.writeError(`${skipped - errors.length} more: GET ${path}/contact-imports/${importId}/errors\n`);
  if (status === 'failed') throw new CommandError(EXIT.refused, `The list cannot be read: ${reason}.`);
  if (accepted === 0) throw new CommandError(EXIT.refused, 'The list has no row that can be called.');
  return list;
}
