import { Button, Group, Modal, Radio, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';

import { COLON, textsIn } from '../../../texts.ts';
import { ChangeTable, partName } from '../versions/ChangeTable.tsx';
import { type Conflict, conflictsOf, fieldChanges, merged, type Side } from './differences.ts';
import type { Stored } from './editorState.ts';
import { type Graph, withoutLooseEdges } from './graph.ts';

const texts = textsIn({
  en: {
    title: 'Another editor has changed the pathway',
    none: 'You have changed other things: both changes are kept.',
    some: 'You have both changed the following. Choose what to keep; all other changes of both are kept.',
    mine: 'Mine',
    theirs: (version: number) => `Theirs (version ${version})`,
    allMine: 'Mine everywhere',
    allTheirs: 'Theirs everywhere',
    save: 'Save the result',
    discard: 'Discard my changes',
    cancel: 'Cancel',
    removed: 'deleted',
  },
  'zh-TW': {
    title: '其他人已更改此路徑',
    none: '你們更改的地方不同：雙方的更改都會保留。',
    some: '你們都更改了以下項目。請選擇要保留的版本；雙方的其他更改都會保留。',
    mine: '我的',
    theirs: (version: number) => `對方的（第 ${version} 版）`,
    allMine: '全用我的',
    allTheirs: '全用對方的',
    save: '儲存結果',
    discard: '捨棄我的更改',
    cancel: '取消',
    removed: '已刪除',
  },
});

/** Shows both versions of what two editors have changed, and lets the second one choose. */
export function ConflictDialog({
  base,
  mine,
  theirs,
  onMerge,
  onTakeTheirs,
  onClose,
}: {
  base: Graph;
  mine: Graph;
  theirs: Stored;
  onMerge: (graph: Graph) => void;
  onTakeTheirs: () => void;
  onClose: () => void;
}) {
  const conflicts = useMemo(() => conflictsOf(base, mine, theirs.graph), [base, mine, theirs]);
  const [choices, setChoices] = useState<ReadonlyMap<string, Side>>(new Map());
  const chooseAll = (side: Side) => setChoices(new Map(conflicts.map(({ id }) => [id, side])));
  const isDecided = conflicts.every(({ id }) => choices.has(id));
  return (
    <Modal opened onClose={onClose} title={texts.title} size="xl">
      <Stack>
        <Text size="sm">{conflicts.length === 0 ? texts.none : texts.some}</Text>
        {conflicts.length > 1 && (
          <Group gap="xs">
            <Button size="xs" variant="default" onClick={() => chooseAll('mine')}>
              {texts.allMine}
            </Button>
            <Button size="xs" variant="default" onClick={() => chooseAll('theirs')}>
              {texts.allTheirs}
            </Button>
          </Group>
        )}
        {conflicts.map((conflict) => (
          <ConflictChoice
            key={conflict.id}
            conflict={conflict}
            nodes={[...mine.nodes, ...theirs.graph.nodes]}
            version={theirs.version}
            choice={choices.get(conflict.id)}
            onChoose={(side) => setChoices(new Map([...choices, [conflict.id, side]]))}
          />
        ))}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button variant="default" onClick={onTakeTheirs}>
            {texts.discard}
          </Button>
          <Button
            disabled={!isDecided}
            onClick={() => onMerge(withoutLooseEdges(merged(base, mine, theirs.graph, choices)))}
          >
            {texts.save}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function ConflictChoice({
  conflict: { base, mine, theirs },
  nodes,
  version,
  choice,
  onChoose,
}: {
  conflict: Conflict;
  nodes: Graph['nodes'];
  version: number;
  choice: Side | undefined;
  onChoose: (side: Side) => void;
}) {
  const part = base ?? mine ?? theirs;
  const name = part ? partName(part, nodes) : '';
  return (
    <Radio.Group
      label={name}
      value={choice ?? null}
      onChange={(side) => onChoose(side === 'mine' ? 'mine' : 'theirs')}
    >
      {mine && theirs && (
        <ChangeTable
          fields={fieldChanges(theirs, mine)}
          titles={{ before: texts.theirs(version), after: texts.mine }}
        />
      )}
      <Group mt="xs">
        <Radio
          value="theirs"
          label={theirs ? texts.theirs(version) : texts.theirs(version) + COLON + texts.removed}
        />
        <Radio value="mine" label={mine ? texts.mine : texts.mine + COLON + texts.removed} />
      </Group>
    </Radio.Group>
  );
}
