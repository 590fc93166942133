import { ThemeIcon, Tooltip } from '@mantine/core';
import {
  CrossCircledIcon,
  ExclamationTriangleIcon,
  GlobeIcon,
  MinusIcon,
  Pencil1Icon,
  PlusIcon,
} from '@radix-ui/react-icons';
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { type CSSProperties, memo } from 'react';

import { textsIn } from '../../../texts.ts';
import { lookOf } from '../nodeTypes.ts';
import type { ChangeKind } from '../pathway/differences.ts';
import { type Finding, worst } from '../pathway/findings.ts';
import { type GraphNode, titleOf } from '../pathway/graph.ts';
import classes from './canvas.module.css';
import type { Traffic } from './flowParts.ts';

const texts = textsIn({
  en: {
    active: 'current',
    anyNode: 'Any node',
    added: 'added',
    removed: 'removed',
    changed: 'changed',
    problems: (count: number) => (count === 1 ? '1 finding' : `${count} findings`),
  },
  'zh-TW': {
    active: '目前',
    anyNode: '任何節點',
    added: '新增',
    removed: '移除',
    changed: '變更',
    problems: (count: number) => `${count} 項問題`,
  },
});

export type CardData = {
  readonly node: GraphNode;
  readonly findings: readonly Finding[];
  readonly mark: ChangeKind | undefined;
  readonly traffic: Traffic | undefined;
  readonly isActive: boolean;
  readonly isConnectable: boolean;
};
export type CardNode = Node<CardData, 'card'>;

/** A node on the canvas. */
export const PathwayNodeCard = memo(function PathwayNodeCard({ data, selected }: NodeProps<CardNode>) {
  const { node, findings, mark, traffic, isActive, isConnectable } = data;
  const { name, Icon, color } = lookOf(node.type);
  const { prompt } = node.data;
  const severity = worst(findings);
  return (
    <div
      className={classes.node}
      style={accent(color)}
      data-selected={selected || undefined}
      data-active={isActive || undefined}
      data-mark={mark}
    >
      {node.type !== 'start' && (
        <Handle
          type="target"
          position={Position.Top}
          className={classes.handle ?? ''}
          isConnectable={isConnectable}
        />
      )}
      <div className={classes.kind}>
        <Icon />
        <span>{isActive ? `${name} · ${texts.active}` : name}</span>
        <span className={classes.badges}>
          {mark && <MarkIcon mark={mark} />}
          {severity && (
            <Tooltip label={findings.map(({ message }) => message).join('\n')} multiline maw={320}>
              <ThemeIcon
                size={18}
                radius="xl"
                variant="light"
                color={severity === 'error' ? 'red' : 'orange'}
                aria-label={texts.problems(findings.length)}
                role="img"
              >
                {severity === 'error' ? <CrossCircledIcon /> : <ExclamationTriangleIcon />}
              </ThemeIcon>
            </Tooltip>
          )}
        </span>
      </div>
      <div className={classes.title}>{titleOf(node)}</div>
      {traffic && (
        <div className={classes.traffic} style={widthOf(traffic)}>
          {traffic.text}
        </div>
      )}
      {!traffic && typeof prompt === 'string' && prompt !== '' && (
        <div className={classes.prompt}>{prompt}</div>
      )}
      {node.type !== 'end' && (
        <Handle
          type="source"
          position={Position.Bottom}
          className={classes.handle ?? ''}
          isConnectable={isConnectable}
        />
      )}
    </div>
  );
});

export type AnyNodeCardNode = Node<Record<string, never>, 'any'>;

/** Where the edges begin that leave every node. */
export const AnyNodeCard = memo(function AnyNodeCard() {
  return (
    <div className={classes.node} style={{ ...accent('yellow'), width: 140 }}>
      <div className={classes.kind}>
        <GlobeIcon />
        <span>{texts.anyNode}</span>
      </div>
      <Handle
        type="source"
        position={Position.Bottom}
        className={classes.handle ?? ''}
        isConnectable={false}
      />
    </div>
  );
});

const MARK_ICONS = { added: PlusIcon, removed: MinusIcon, changed: Pencil1Icon };
const MARK_COLORS = { added: 'teal', removed: 'red', changed: 'orange' };

export function MarkIcon({ mark }: { mark: ChangeKind }) {
  const Icon = MARK_ICONS[mark];
  return (
    <ThemeIcon
      size={18}
      radius="xl"
      variant="light"
      color={MARK_COLORS[mark]}
      role="img"
      aria-label={texts[mark]}
    >
      <Icon />
    </ThemeIcon>
  );
}

function accent(color: string): CSSProperties {
  const tones = {
    '--accent': `var(--mantine-color-${color}-6)`,
    '--accent-text': `light-dark(color-mix(in srgb, var(--mantine-color-${color}-9) 60%, black), var(--mantine-color-${color}-3))`,
  };
  return tones as CSSProperties;
}

const widthOf = ({ share }: Traffic) => ({ '--share': `${Math.round(100 * share)}%` }) as CSSProperties;
