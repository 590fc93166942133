import type { TurnTrigger } from '../pathway/selectEdge.ts';
import type { TurnInput } from './turn.ts';
import type { TurnContext } from './turnContext.ts';

/** The tool name of a transfer's outcome, whether a model called the tool or a node transferred. */
const TRANSFER_TOOL = 'transfer_call';

/** Records what the turn answers, in the conversation and in the history. */
export function recordInput({ request, journal }: TurnContext): void {
  const { input } = request;
  for (const message of request.history ?? []) journal.add(message);
  switch (input.kind) {
    case 'words':
      journal.add({ role: 'user', content: input.text });
      return;
    case 'dtmf':
      journal.event('dtmf', { digits: input.digits });
      journal.add({ role: 'user', content: input.digits });
      return;
    case 'silence':
      journal.event('silence', { durationMs: input.durationMs });
      return;
    case 'voicemail': {
      const evidence = input.evidence === undefined ? {} : { evidence: input.evidence };
      journal.event('answering_machine', { kind: 'voicemail', ...evidence });
      return;
    }
    case 'notice':
      journal.event('error', { code: input.code, message: input.message });
      return;
    case 'tool_results':
      for (const { toolCallId, name, content } of input.results) {
        const named = name === undefined ? {} : { name };
        journal.add({ role: 'tool', content, tool_call_id: toolCallId, ...named });
        journal.event('tool_result', { name: name ?? null, ok: true, result: content, by: 'caller' });
      }
      return;
    case 'transfer_failed': {
      const { to, reason } = input;
      journal.event('tool_result', { name: TRANSFER_TOOL, ok: false, result: reason, to });
      // Without it the model assumes that the customer is gone.
      const content = `[The transfer to ${to} failed (${reason}); the customer is back.]`;
      journal.add({ role: 'user', content, internal: true });
      return;
    }
    case 'last_words':
      if (input.text !== '') journal.add({ role: 'user', content: input.text });
      return;
    case 'begin':
    case 'failure':
      return;
  }
}

/** What the pathway reacts to. Results of the client's tools let the current node go on speaking, as `begin` does. */
export function triggerOf(input: TurnInput): TurnTrigger | 'begin' {
  switch (input.kind) {
    case 'begin':
    case 'tool_results':
      return 'begin';
    case 'words':
      return { kind: 'words' };
    case 'notice':
    case 'last_words':
      return { kind: 'passed' };
    case 'transfer_failed':
      return { kind: 'tool_result', ok: false, tool: TRANSFER_TOOL };
    default:
      return input;
  }
}
