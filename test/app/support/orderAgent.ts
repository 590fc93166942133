import type { TestGateway, TestProject } from '../../support/gateway.ts';
import { type RequestBody, saying, usageChunk } from '../../support/scriptedUpstream.ts';

export type Message = { role: string; content: unknown; tool_calls?: unknown; tool_call_id?: string };

/** The words `order` and `pizza` lead on; each answer names the step that gave it, and what it answers. */
const PATHWAY = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Greeting', prompt: 'Greet them.' } },
    { id: 'order', type: 'conversation', data: { title: 'Order', prompt: 'Take the order.' } },
    { id: 'confirm', type: 'conversation', data: { title: 'Confirm', prompt: 'Confirm it.' } },
  ],
  edges: [
    { id: 'to_order', source: 'start', target: 'order', data: { condition: 'They want to order' } },
    { id: 'to_confirm', source: 'order', target: 'confirm', data: { condition: 'They named a pizza' } },
  ],
};

export const messagesOf = ({ messages }: RequestBody) =>
  messages as readonly { role: string; content: string }[];
export const isVerdict = ({ response_format: format }: RequestBody) => format !== undefined;
const lastWords = (body: RequestBody) =>
  messagesOf(body).findLast(({ role }) => role === 'user')?.content ?? '';
const stepOf = (body: RequestBody) =>
  messagesOf(body)
    .findLast(({ role }) => role === 'system')
    ?.content.match(/step:\n## (\w+)/)?.[1];

/** Plays the model. */
export function answerOrder(body: RequestBody) {
  if (isVerdict(body)) {
    const edge = /order/.test(lastWords(body))
      ? 'to_order'
      : /pizza/.test(lastWords(body))
        ? 'to_confirm'
        : null;
    return { steps: [...saying(JSON.stringify({ edge })).slice(0, -1), usageChunk(100, 5)] };
  }
  return { steps: [...saying(`${stepOf(body)}: `, lastWords(body), '.').slice(0, -1), usageChunk(10, 2)] };
}

/** A project whose agent takes orders, one model request for the edge and one for the answer. */
export async function orderProject(gateway: TestGateway): Promise<TestProject> {
  const project = await gateway.createProject();
  const key = project.developerKey;
  const put = await gateway.api('PUT', `${project.path}/pathway`, { key, body: PATHWAY });
  const patch = await gateway.api('PATCH', `${project.path}/agent`, {
    key,
    body: { executionMode: 'smart' },
  });
  if (put.status !== 200 || patch.status !== 200) throw new Error('no agent');
  return project;
}
