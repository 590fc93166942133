import { Button, type ButtonProps, Group, Modal, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { textsIn } from '../texts.ts';
import { FormError } from './FormError.tsx';

const texts = textsIn({ en: { cancel: 'Cancel' }, 'zh-TW': { cancel: '取消' } });

interface ConfirmButtonProps extends ButtonProps {
  /** What is lost, as a question. */
  readonly question: string;
  readonly action: () => Promise<unknown>;
  readonly children: ReactNode;
  readonly 'aria-label'?: string;
}

/** A button that asks before it does what cannot be undone. */
export function ConfirmButton({ question, action, children, ...button }: ConfirmButtonProps) {
  const [isOpen, dialog] = useDisclosure();
  const { mutate, isPending, error, reset } = useMutation({ mutationFn: action, onSuccess: dialog.close });
  const open = () => {
    reset();
    dialog.open();
  };
  return (
    <>
      <Button variant="default" size="xs" {...button} onClick={open}>
        {children}
      </Button>
      <Modal
        opened={isOpen}
        onClose={dialog.close}
        title={question}
        centered
        style={{ overflowWrap: 'anywhere' }}
      >
        <Stack>
          <FormError error={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={dialog.close} data-autofocus>
              {texts.cancel}
            </Button>
            <Button color="red" loading={isPending} onClick={() => mutate()}>
              {children}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
