import { Alert, Box, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { getHotkeyHandler, useHotkeys } from '@mantine/hooks';
import { usePrefetchQuery } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { ReactFlowProvider, useReactFlow } from '@xyflow/react';
import { type ClipboardEvent, type KeyboardEvent, Suspense, useMemo, useRef, useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { FormError } from '../../../components/FormError.tsx';
import { apiDocumentQuery } from '../../../schemaForm/jsonSchema.ts';
import { textsIn } from '../../../texts.ts';
import { errorsByPointer, useKnownNames } from '../agentQueries.ts';
import { type CanvasEdits, PathwayCanvas } from '../canvas/PathwayCanvas.tsx';
import { EditorToolbar } from './EditorToolbar.tsx';
import classes from './editor.module.css';
import { FindingList } from './FindingList.tsx';
import { findingsOf } from './findings.ts';
import {
  clipboardGraph,
  copyOf,
  type Graph,
  type GraphNode,
  isNode,
  movedTo,
  NODE_HEIGHT,
  NODE_WIDTH,
  partOf,
  pasteInto,
  replacePart,
  withEdge,
  withoutParts,
} from './graph.ts';
import { type PathwayEditor as Editor, isConflict } from './usePathwayEditor.ts';

const texts = textsIn({
  en: {
    canvas: 'Pathway',
    behind: (version: number) => `Another editor has saved version ${version}.`,
    compare: 'Compare both versions',
  },
  'zh-TW': {
    canvas: '路徑',
    behind: (version: number) => `其他人已同時儲存第 ${version} 版。`,
    compare: '比較兩個版本',
  },
});

// The forms are loaded with the first part that is selected.
const PartPanel = lazyRouteComponent(() => import('./PartPanel.tsx'), 'PartPanel');
const ConflictDialog = lazyRouteComponent(() => import('./ConflictDialog.tsx'), 'ConflictDialog');

const NONE: ReadonlySet<string> = new Set();
const FOCUS_ZOOM = 1;
/** As the style sheet has it. */
const PANEL_WIDTH = 400;

export interface PathwayEditorProps {
  readonly projectId: string;
  readonly editor: Editor;
  readonly isReadOnly: boolean;
  /** Where a conversation is now. */
  readonly activeNodeId?: string;
}

/** The pathway on a canvas, with the fields of what is selected. */
export function PathwayEditor(props: PathwayEditorProps) {
  return (
    <ReactFlowProvider>
      <EditorWithCanvas {...props} />
    </ReactFlowProvider>
  );
}

function EditorWithCanvas({ projectId, editor, isReadOnly, activeNodeId }: PathwayEditorProps) {
  const { graph, dispatch, save, problems, theirs, base } = editor;
  const known = useKnownNames(useApi(), projectId);
  const flow = useReactFlow();
  // Forms are made of it.
  usePrefetchQuery(apiDocumentQuery);
  const [selected, setSelected] = useState(NONE);
  const [isComparing, setIsComparing] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);

  const refused = save.error && !isConflict(save.error) ? save.error : null;
  const findings = useMemo(
    () => findingsOf(graph, problems, errorsByPointer(refused)),
    [graph, problems, refused],
  );
  const [onlyId = ''] = selected.size === 1 ? selected : [];
  const part = partOf(graph, onlyId);

  const edit = (change: (graph: Graph) => Graph, step?: string) =>
    dispatch({ kind: 'edit', change, ...(step !== undefined && { step }) });
  const addAnd = <Made extends { readonly id: string }>([next, made]: readonly [Graph, Made]) => {
    edit(() => next);
    setSelected(new Set([made.id]));
  };
  const connect = (source: string, target: string) => addAnd(withEdge(graph, source, target));
  const remove = () => {
    edit((before) => withoutParts(before, selected));
    setSelected(NONE);
    box.current?.querySelector<HTMLElement>('.react-flow__node')?.focus();
  };
  const saveNow = () => {
    if (isReadOnly || !editor.hasChanges || save.isPending) return;
    if (theirs) setIsComparing(true);
    else
      save.mutate(
        { graph, version: base.version },
        { onError: (error) => setIsComparing(isConflict(error)) },
      );
  };
  const lookAt = ({ position: { x, y } }: GraphNode, zoom: number, duration = 200) =>
    void flow.setCenter(x + NODE_WIDTH / 2, y + NODE_HEIGHT / 2, { zoom, duration });
  /** A node which its panel would cover, or which lies outside; at once, as a hidden one loses the focus. */
  const uncover = (node: GraphNode) => {
    const { left, top, right, bottom } = box.current?.getBoundingClientRect() ?? new DOMRect();
    const from = flow.flowToScreenPosition(node.position);
    const zoom = flow.getZoom();
    const [toX, toY] = [from.x + NODE_WIDTH * zoom, from.y + NODE_HEIGHT * zoom];
    const isSeen = from.x >= left && toX <= right - PANEL_WIDTH && from.y >= top && toY <= bottom;
    if (!isSeen) lookAt(node, zoom, 0);
  };
  const uncoverTarget = (target: EventTarget) => {
    const element = target instanceof Element ? target.closest<HTMLElement>('.react-flow__node') : null;
    const node = partOf(graph, element?.dataset.id ?? '');
    if (node && isNode(node)) uncover(node);
  };
  const show = (id: string) => {
    setSelected(new Set([id]));
    const found = partOf(graph, id);
    const node = found && !isNode(found) ? partOf(graph, found.target) : found;
    if (node && isNode(node)) lookAt(node, FOCUS_ZOOM);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: they read the graph when they are called.
  const edits = useMemo<CanvasEdits | undefined>(
    () =>
      isReadOnly
        ? undefined
        : {
            connect,
            move: (positions, isDrag) =>
              edit((before) => movedTo(before, positions), isDrag ? undefined : 'arrows'),
          },
    [isReadOnly, graph],
  );

  const closePanel = () => {
    setSelected(NONE);
    box.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(onlyId)}"]`)?.focus();
  };
  const onCanvasKey = (event: KeyboardEvent) => {
    if (
      event.key === 'Enter' &&
      part &&
      event.target instanceof HTMLElement &&
      event.target.dataset.id === onlyId
    ) {
      box.current?.querySelector<HTMLElement>(`.${classes.panel}`)?.focus();
    }
    if (isReadOnly || selected.size === 0) return;
    if (event.key === 'Delete' || event.key === 'Backspace') remove();
  };
  const onCopy = (event: ClipboardEvent) => {
    const copy = copyOf(graph, selected);
    if (copy.nodes.length === 0) return;
    event.clipboardData.setData('text/plain', JSON.stringify(copy));
    event.preventDefault();
    if (event.type === 'cut') remove();
  };
  const onPaste = (event: ClipboardEvent) => {
    const pasted = clipboardGraph(event.clipboardData.getData('text/plain'));
    if (isReadOnly || pasted.nodes.length === 0) return;
    event.preventDefault();
    const [next, copies] = pasteInto(graph, pasted);
    edit(() => next);
    setSelected(copies);
    const [first] = next.nodes.filter(({ id }) => copies.has(id));
    if (first) uncover(first);
  };
  const shortcuts = getHotkeyHandler([
    ['mod+Z', () => dispatch({ kind: 'undo' })],
    ['mod+shift+Z', () => dispatch({ kind: 'redo' })],
    ['mod+Y', () => dispatch({ kind: 'redo' })],
    ['mod+F', () => search.current?.focus()],
  ]);
  // Wherever the focus is: the browser would save the page.
  useHotkeys([['mod+S', saveNow]], []);
  const selectAll = getHotkeyHandler([
    ['mod+A', () => setSelected(new Set(graph.nodes.map(({ id }) => id)))],
  ]);

  return (
    <Stack gap="xs" onKeyDown={shortcuts}>
      <EditorToolbar
        {...{ editor, isReadOnly, findings, search }}
        selectedNode={part && isNode(part) ? part : undefined}
        onAdd={(made) => {
          addAnd(made);
          uncover(made[1]);
        }}
        onShow={show}
        onSave={saveNow}
        viewCenter={() => {
          const { left = 0, top = 0, width = 0, height = 0 } = box.current?.getBoundingClientRect() ?? {};
          return flow.screenToFlowPosition({ x: left + width / 2, y: top + height / 2 });
        }}
      />
      {theirs && (
        <Alert color="orange" variant="light" p="xs">
          <Group justify="space-between">
            <Text size="sm" c="var(--mantine-color-text)">
              {texts.behind(theirs.version)}
            </Text>
            <Button size="xs" variant="default" onClick={() => setIsComparing(true)}>
              {texts.compare}
            </Button>
          </Group>
        </Alert>
      )}
      <FormError error={refused} />
      <FindingList findings={findings.get('') ?? []} />
      <Box ref={box} className={classes.editor ?? ''}>
        <Box
          component="section"
          aria-label={texts.canvas}
          className={classes.canvas ?? ''}
          onClick={({ target }) => uncoverTarget(target)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' || event.key === ' ') uncoverTarget(event.target);
            selectAll(event);
            onCanvasKey(event);
          }}
          onCopy={onCopy}
          onCut={onCopy}
          onPaste={onPaste}
        >
          <PathwayCanvas {...{ graph, findings, selected, edits, activeNodeId }} onSelect={setSelected} />
        </Box>
        {part && (
          <Suspense fallback={<Paper className={classes.panel} withBorder />}>
            <PartPanel
              {...{ part, graph, known, isReadOnly }}
              findings={findings.get(part.id) ?? []}
              onChange={(next, field) =>
                edit((before) => replacePart(before, next), field && `${part.id} ${field}`)
              }
              onConnect={connect}
              onSelect={(id) => setSelected(new Set([id]))}
              onRemove={remove}
              onClose={closePanel}
            />
          </Suspense>
        )}
      </Box>
      {theirs && isComparing && (
        <Suspense>
          <ConflictDialog
            base={base.graph}
            mine={graph}
            theirs={theirs}
            onClose={() => setIsComparing(false)}
            onTakeTheirs={() => {
              dispatch({ kind: 'load', stored: theirs });
              save.reset();
              setIsComparing(false);
            }}
            onMerge={(graphOfBoth) => {
              edit(() => graphOfBoth);
              setIsComparing(false);
              save.mutate(
                { graph: graphOfBoth, version: theirs.version },
                { onError: (error) => setIsComparing(isConflict(error)) },
              );
            }}
          />
        </Suspense>
      )}
    </Stack>
  );
}
