import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps } from '@xyflow/react';
import { memo } from 'react';

import { COLON, textsIn } from '../../../texts.ts';
import type { ChangeKind } from '../pathway/differences.ts';
import type { Finding } from '../pathway/findings.ts';
import { ANY_NODE, type GraphEdge } from '../pathway/graph.ts';
import classes from './canvas.module.css';
import { edgePath } from './edgePath.ts';
import type { Traffic } from './flowParts.ts';

/** Labels of edges from any node stand below it, where no node hides them. */
const FIRST_LABEL = 32;
const LABEL_GAP = 24;
/** That the most taken edge has more than one never taken, in pixels. */
const MOST_WIDTH = 5;

const texts = textsIn({
  en: {
    events: {
      silence: 'Silence',
      not_understood: 'Not understood',
      opt_out: 'Wants no more calls',
      tool_result: 'Tool has answered',
      voicemail: 'Answering machine',
      screening: 'Call screener',
      transfer: 'Transfer came back',
    },
    anyKey: 'Any key',
    key: (digits: string) => `Key ${digits}`,
    expression: 'Expression',
    fallback: 'Otherwise',
    always: 'always',
    anyNode: 'Any node',
  },
  'zh-TW': {
    events: {
      silence: '沉默',
      not_understood: '聽不懂',
      opt_out: '不願再接到來電',
      tool_result: '工具已回覆',
      voicemail: '答錄機',
      screening: '來電過濾服務',
      transfer: '轉接後返回',
    },
    anyKey: '任何按鍵',
    key: (digits: string) => `按鍵 ${digits}`,
    expression: '運算式',
    fallback: '其他情況',
    always: '一律',
    anyNode: '任何節點',
  },
});

export type LineData = {
  readonly edge: GraphEdge;
  readonly lane: number;
  /** Of an edge from any node: its place among them. */
  readonly globalIndex: number | undefined;
  readonly severity: Finding['severity'] | undefined;
  readonly mark: ChangeKind | undefined;
  readonly traffic: Traffic | undefined;
  onSelect: ((id: string) => void) | undefined;
};
export type LineEdge = Edge<LineData, 'line'>;

/** An edge on the canvas, with what it is taken by. */
export const PathwayEdgeLine = memo(function PathwayEdgeLine({
  data,
  selected,
  markerEnd,
  ...ends
}: EdgeProps<LineEdge>) {
  if (!data) return null;
  const { edge, lane, globalIndex, severity, mark, traffic, onSelect } = data;
  const [path, middleX, middleY] = edgePath({ ...ends, lane });
  const [x, y] =
    globalIndex === undefined
      ? [middleX, middleY]
      : [ends.sourceX, ends.sourceY + FIRST_LABEL + globalIndex * LABEL_GAP];
  const text = traffic ? [edgeText(edge), traffic.text].filter(Boolean).join(' · ') : edgeText(edge);
  return (
    <>
      <BaseEdge
        path={path}
        {...(markerEnd !== undefined && { markerEnd })}
        className={classes.edge}
        data-selected={selected || undefined}
        data-global={edge.source === ANY_NODE || undefined}
        data-mark={mark}
        {...(traffic && { style: { strokeWidth: 1 + MOST_WIDTH * traffic.share } })}
        interactionWidth={24}
      />
      {text !== undefined && (
        <EdgeLabelRenderer>
          <div className={classes.place} style={{ left: x, top: y }}>
            {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the edge itself is focusable. */}
            <div
              className={`${classes.label} nodrag nopan`}
              title={text}
              data-selected={selected || undefined}
              data-severity={severity}
              onClick={() => onSelect?.(edge.id)}
            >
              {text}
            </div>
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
});

/** The label of an edge, or what it is taken by. */
export function edgeText({ data }: GraphEdge): string | undefined {
  const { label, condition, fallback } = data;
  if (typeof label === 'string' && label !== '') return label;
  if (fallback === true) return texts.fallback;
  if (typeof condition === 'string') return condition;
  if (typeof condition !== 'object' || condition === null) return undefined;
  const { event, digits } = condition as { event?: unknown; digits?: unknown };
  if (event === undefined) return texts.expression;
  if (event === 'dtmf') return typeof digits === 'string' ? texts.key(digits) : texts.anyKey;
  return texts.events[event as keyof typeof texts.events] ?? String(event);
}

/** For those who do not see the line. */
export function describeEdge(edge: GraphEdge, titles: ReadonlyMap<string, string>): string {
  const end = (id: string) => (id === ANY_NODE ? texts.anyNode : (titles.get(id) ?? id));
  return `${end(edge.source)} → ${end(edge.target)}${COLON}${edgeText(edge) ?? texts.always}`;
}
