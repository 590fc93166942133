import {
  ChatBubbleIcon,
  ExitIcon,
  FileTextIcon,
  GearIcon,
  PlayIcon,
  ShuffleIcon,
  SpeakerLoudIcon,
  ThickArrowRightIcon,
} from '@radix-ui/react-icons';
import type { ComponentType } from 'react';

import { textsIn } from '../../texts.ts';
import type { NodeType } from './pathway/graph.ts';

const names = textsIn({
  en: {
    start: 'Start',
    conversation: 'Conversation',
    say: 'Say',
    condition: 'Condition',
    tool: 'Tool',
    knowledge: 'Knowledge',
    transfer: 'Transfer',
    end: 'End',
  },
  'zh-TW': {
    start: '開始',
    conversation: '對話',
    say: '說出',
    condition: '條件',
    tool: '工具',
    knowledge: '知識',
    transfer: '轉接',
    end: '結束',
  },
});

const icons: Readonly<Record<NodeType, ComponentType>> = {
  start: PlayIcon,
  conversation: ChatBubbleIcon,
  say: SpeakerLoudIcon,
  condition: ShuffleIcon,
  tool: GearIcon,
  knowledge: FileTextIcon,
  transfer: ThickArrowRightIcon,
  end: ExitIcon,
};

/** Of Mantine's colors. */
const colors: Readonly<Record<NodeType, string>> = {
  start: 'teal',
  conversation: 'cyan',
  say: 'indigo',
  condition: 'grape',
  tool: 'orange',
  knowledge: 'lime',
  transfer: 'pink',
  end: 'gray',
};

/** How a type of node is shown. */
export function lookOf(type: NodeType): { name: string; Icon: ComponentType; color: string } {
  return { name: names[type], Icon: icons[type], color: colors[type] };
}
