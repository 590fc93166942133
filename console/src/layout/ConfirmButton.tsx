import { Alert, Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';

import { textsIn } from '../texts.ts';

const texts = textsIn({ en: { cancel: 'Cancel' }, 'zh-TW': { cancel: '取消' } });

export interface ConfirmButtonProps extends ButtonProps {
  /** Of the button, and of the one that confirms. */
  label: string;
  /** What would happen. */
  question: ReactNode;
  /** The question closes when it resolves, and shows the error when it rejects. */
  onConfirm: () => Promise<unknown>;
  isPending: boolean;
  error: Error | null;
  /** The accessible name, where many buttons have the same label. */
  'aria-label'?: string;
}

/** A button for what cannot be undone: it asks first. */
export function ConfirmButton({
  label,
  question,
  onConfirm,
  isPending,
  error,
  ...props
}: ConfirmButtonProps) {
  const [isOpen, { open, close }] = useDisclosure();
  const confirm = () => onConfirm().then(close, () => undefined);
  return (
    <>
      <Button variant="default" {...props} onClick={open}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={label} centered>
        <Stack>
          <Text component="div" style={{ overflowWrap: 'anywhere' }}>
            {question}
          </Text>
          {error && (
            <Alert color="red" variant="outline">
              {error.message}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              {texts.cancel}
            </Button>
            <Button color="red" onClick={confirm} loading={isPending}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
