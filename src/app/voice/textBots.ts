import { invalid } from '../../base/errors.ts';
import { createDnsLookup } from '../../http/lookup.ts';
import { toMusicClip } from '../../media/musicClip.ts';
import { createConnectTextBot } from '../../streams/connectTextBot.ts';
import type { BotAccess } from '../../text/openBotConversation.ts';
import type { FetchClip } from '../../text/textBot.ts';
import type { ThreadContext } from '../node/threadContext.ts';

/** The caller hears nothing meanwhile. */
const CLIP_TIMEOUT_MS = 5000;
const MAX_CLIP_BYTES = 10 * 1024 * 1024;

/** How customers' bots of text turns are reached, and the recordings that they want played. */
export function buildTextBots({ clock, sealer, client, targetPolicy, logger }: ThreadContext): BotAccess {
  const connectBot = createConnectTextBot({
    clock,
    policy: targetPolicy,
    lookup: createDnsLookup(),
    unseal: sealer.open,
    onMalformed: (callId) => logger.warn({ callId }, 'message of a bot could not be read'),
  });
  const fetchClip: FetchClip = async (url, signal) => {
    const request = {
      method: 'GET',
      url,
      timeoutMs: CLIP_TIMEOUT_MS,
      maxResponseBytes: MAX_CLIP_BYTES,
      signal,
    } as const;
    const { status, body } = await client.request(request);
    if (status !== 200) throw invalid('clip_unavailable', `the recording’s server answered ${status}`);
    return await toMusicClip(body);
  };
  return { connectBot, fetchClip };
}
