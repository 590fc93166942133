import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startSimulator } from '../../src/app/simulator/simulator.ts';
import type { BehaviourInput } from '../../src/testing/simulator/script.ts';
import type { createClient } from '../../test/support/gateway.ts';
import { multipartForm } from '../../test/support/knowledge.ts';
import { AGENT } from './agent.ts';

/** Pause between two requests of one client: the machine is to be busy, not overloaded. */
const CHAT_PAUSE_MS = 100;
const DOCUMENT_PAUSE_MS = 5_000;
const CALL_POLL_MS = 250;
const KEYS_PER_CALL = 6;
const TURNS_PER_SESSION = 10;
const SENTENCES = 60;
const KNOWLEDGE = { name: 'Soak', type: 'pgvector', embeddingModelName: 'text-embedding-3-small' };
const FROM = '+886223456789';
const FINAL: readonly string[] = ['completed', 'busy', 'no_answer', 'failed', 'canceled'];

export interface Load {
  /** Times since the previous call of this function, in ms. */
  take(): { readonly chatMs: readonly number[]; readonly turnMs: readonly number[] };
  readonly done: { readonly chats: number; readonly calls: number; readonly documents: number };
  /** What failed. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

type Client = Awaited<ReturnType<typeof createClient>>;

const CALLEE: BehaviourInput = {
  kind: 'answers',
  afterMs: 200,
  script: [
    ...Array.from({ length: KEYS_PER_CALL }, () => [
      { do: 'listen', quietMs: 400 } as const,
      { do: 'send_dtmf', digits: '1' } as const,
    ]).flat(),
    { do: 'listen', quietMs: 400 },
    { do: 'hang_up' },
  ],
};

/** Chats, calls to simulated people over real SIP and RTP, and documents, repeatedly. */
export async function startLoad(
  client: Client,
  size: { readonly chats: number; readonly calls: number },
): Promise<Load> {
  const project = await client.createProject('Soak');
  const callLimits = { maxConcurrentCalls: null, maxCallsPerMinute: null };
  await client.api('PATCH', project.path, { body: { callLimits } });
  const key = project.developerKey;
  const api = async (method: string, path: string, request: Parameters<Client['api']>[2] = {}) => {
    const answer = await client.api(method, path, { key, ...request });
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  let times: { chatMs: number[]; turnMs: number[] } = { chatMs: [], turnMs: [] };
  const done = { chats: 0, calls: 0, documents: 0 };
  const failures: string[] = [];
  const pressed = new Map<string, number>();
  const carrier = await startSimulator({
    logger: pino({ level: 'silent' }),
    onEvent(number, event) {
      const sinceMs = pressed.get(number);
      if (event.kind === 'digits_sent') pressed.set(number, performance.now());
      else if (event.kind === 'speech_started' && sinceMs !== undefined) {
        times.turnMs.push(performance.now() - sinceMs);
        pressed.delete(number);
      }
    },
  });

  await api('PUT', `${project.path}/pathway`, { body: AGENT });
  await api('PATCH', `${project.path}/agent`, { body: { status: 'published' } });
  const trunk = {
    name: 'Carrier',
    host: '127.0.0.1',
    port: carrier.sipPort,
    callsPerSecond: 20,
    maxChannels: 50,
  };
  const { id: trunkId } = await api('POST', `${project.path}/trunks`, { body: trunk });
  await api('POST', `${project.path}/phone-numbers`, { body: { number: FROM, trunkIds: [trunkId] } });
  await api('POST', `${project.path}/knowledgebases`, { body: KNOWLEDGE });
  const [knowledgebase] = await api('GET', `${project.path}/knowledgebases`);
  const documents = `${project.path}/knowledgebases/${knowledgebase.id}/datasets`;

  const chat = async (who: number, round: number) => {
    const beganMs = performance.now();
    await api('POST', `${project.path}/chat/completions`, {
      headers: { 'x-session-id': `chat-${who}-${Math.floor(round / TURNS_PER_SESSION)}` },
      body: { messages: [{ role: 'user', content: `Hello for the ${round}th time` }] },
    });
    times.chatMs.push(performance.now() - beganMs);
    done.chats += 1;
    await sleep(CHAT_PAUSE_MS);
  };
  const call = async (who: number) => {
    const toNumber = `+8869${String(10_000_000 + who)}`;
    carrier.phones.set(toNumber, CALLEE);
    const body = { projectId: project.id, fromNumber: FROM, toNumber };
    const { callId } = await api('POST', '/v1/calls/outbound', { body });
    for (;;) {
      await sleep(CALL_POLL_MS);
      const { status } = await api('GET', `${project.path}/calls/${callId}`);
      if (!FINAL.includes(status)) continue;
      if (status !== 'completed') failures.push(`a call ended ${status}`);
      done.calls += 1;
      return;
    }
  };
  const document = async (_who: number, round: number) => {
    const text = Array.from(
      { length: SENTENCES },
      (_, n) => `Kettle ${round} of model ${n} boils a litre of water.`,
    );
    const { body, type } = multipartForm(`kettles-${round}.txt`, text.join('\n'));
    const { datasetId } = await api('POST', documents, { body, headers: { 'content-type': type } });
    for (let status = ''; status !== 'ready'; ) {
      await sleep(CALL_POLL_MS);
      status = (await api('GET', `${documents}/${datasetId}`)).status;
      if (status === 'failed') throw new Error('a document could not be read');
    }
    await api('DELETE', `${documents}/${datasetId}`);
    done.documents += 1;
    await sleep(DOCUMENT_PAUSE_MS);
  };

  let isStopping = false;
  const again = async (work: (who: number, round: number) => Promise<void>, who: number) => {
    for (let round = 0; !isStopping; round += 1) {
      await work(who, round).catch(async (error: unknown) => {
        failures.push(error instanceof Error ? error.message : String(error));
        await sleep(1000);
      });
    }
  };
  const everything = Promise.all([
    ...Array.from({ length: size.chats }, (_, who) => again(chat, who)),
    ...Array.from({ length: size.calls }, (_, who) => again(call, who)),
    again(document, 0),
  ]);
  return {
    take() {
      const taken = times;
      times = { chatMs: [], turnMs: [] };
      return taken;
    },
    done,
    failures,
    async stop() {
      isStopping = true;
      await everything;
      await carrier.close();
    },
  };
}
