import { Button, type ButtonProps, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { PlayIcon } from '@radix-ui/react-icons';

import { textsIn } from '../../../texts.ts';
import { RunForm, type RunSubject } from './RunForm.tsx';

const texts = textsIn({
  en: { run: 'Run', title: (name: string) => `Run “${name}”`, label: (name: string) => `Run ${name}` },
  'zh-TW': {
    run: '執行',
    title: (name: string) => `執行「${name}」`,
    label: (name: string) => `執行 ${name}`,
  },
});

interface RunButtonProps extends ButtonProps {
  projectId: string;
  subject: RunSubject;
}

/** Asks how a suite or a case is to be run, and shows the run. */
export function RunButton({ projectId, subject, ...props }: RunButtonProps) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button
        leftSection={<PlayIcon />}
        onClick={open}
        aria-label={texts.label(subject.name)}
        flex="none"
        {...props}
      >
        {texts.run}
      </Button>
      <Modal opened={isOpen} onClose={close} title={texts.title(subject.name)} centered>
        <RunForm projectId={projectId} subject={subject} />
      </Modal>
    </>
  );
}
