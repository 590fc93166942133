import { withoutBidiControls } from '../../api/bidiControls.ts';

/** The live events of a session that the page shows. */
export type SessionEvent =
  | { readonly type: 'node.entered'; readonly data: { readonly nodeId: string; readonly title: string } }
  | { readonly type: 'variable.set'; readonly data: { readonly name: string; readonly value?: unknown } }
  | { readonly type: 'tool.called'; readonly data: { readonly name: string; readonly arguments: string } }
  | {
      readonly type: 'tool.finished';
      readonly data: {
        readonly name: string | null;
        readonly ok: boolean;
        readonly result: string;
        readonly durationMs?: number;
      };
    }
  | { readonly type: 'turn.interrupted'; readonly data: { readonly turn: number } }
  | {
      readonly type: 'turn.agent';
      readonly data: {
        readonly turn: number;
        readonly latencyMs?: number;
        readonly latencyParts?: Readonly<Record<string, number | string>>;
        readonly latencyDetails?: Readonly<Record<string, number>>;
        readonly interrupted: boolean;
      };
    }
  | { readonly type: 'session.ended'; readonly data: object };

const TYPES: readonly SessionEvent['type'][] = [
  'node.entered',
  'variable.set',
  'tool.called',
  'tool.finished',
  'turn.interrupted',
  'turn.agent',
  'session.ended',
];

/** Listens to a session, also before it begins. A lost connection is made again. @returns Stops. */
export function listenToSession(
  projectId: string,
  sessionId: string,
  onEvent: (event: SessionEvent) => void,
): () => void {
  const query = new URLSearchParams({ sessionId, type: TYPES.join(',') });
  const source = new EventSource(`/v1/projects/${encodeURIComponent(projectId)}/events?${query}`);
  for (const type of TYPES)
    source.addEventListener(type, ({ data }) =>
      onEvent(JSON.parse(withoutBidiControls(data)) as SessionEvent),
    );
  return () => source.close();
}
