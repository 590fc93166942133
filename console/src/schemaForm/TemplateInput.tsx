import { Combobox, Textarea, useCombobox } from '@mantine/core';
import { useRef, useState } from 'react';

const MAX_SUGGESTIONS = 8;
/** An output whose variable is being typed, up to the cursor. */
const OPEN_OUTPUT = /\{\{-?\s*([\p{L}\p{M}\p{N}_.]*)$/u;

/** A text with `{{ variables }}`, which are suggested while one is typed. */
export function TemplateInput({
  value,
  onChange,
  variables,
  isLong,
  ...props
}: {
  value: string;
  onChange: (value: string) => void;
  variables: readonly string[];
  isLong: boolean;
  label: string;
  description: string | undefined;
  error: string | undefined;
  withAsterisk: boolean;
  readOnly: boolean;
}) {
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  const input = useRef<HTMLTextAreaElement>(null);
  /** What is typed of the variable's name; undefined outside of `{{`. */
  const [typed, setTyped] = useState<string>();
  const suggestions = typed === undefined ? [] : suggested(variables, typed);

  const track = ({ value: text, selectionStart, selectionEnd }: HTMLTextAreaElement) => {
    const [, name] = OPEN_OUTPUT.exec(text.slice(0, selectionStart)) ?? [];
    setTyped(selectionStart === selectionEnd ? name : undefined);
    if (name === undefined) combobox.closeDropdown();
    else combobox.openDropdown();
    combobox.updateSelectedOptionIndex();
  };
  const insert = (name: string) => {
    const element = input.current;
    if (!element || typed === undefined) return;
    const end = element.selectionStart;
    const rest = value.slice(end);
    const before = `${value.slice(0, end - typed.length).replace(/\{\{-?$/, '$& ')}${name}${/^\s*-?\}\}/.test(rest) ? '' : ' }}'}`;
    onChange(before + rest);
    setTyped(undefined);
    combobox.closeDropdown();
    requestAnimationFrame(() => element.setSelectionRange(before.length, before.length));
  };
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={insert}
      position="bottom-start"
      width={280}
      withinPortal={false}
    >
      <Combobox.Target
        withKeyboardNavigation={suggestions.length > 0}
        withAriaAttributes={suggestions.length > 0}
      >
        <Textarea
          {...props}
          ref={input}
          value={value}
          autosize
          minRows={isLong ? 3 : 1}
          maxRows={16}
          onChange={(event) => {
            onChange(event.currentTarget.value);
            track(event.currentTarget);
          }}
          onBlur={() => combobox.closeDropdown()}
          spellCheck
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={suggestions.length === 0}>
        <Combobox.Options>
          {suggestions.map((name) => (
            <Combobox.Option key={name} value={name}>
              {`{{ ${name} }}`}
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

/** Names that begin so go before those that only contain it. */
function suggested(variables: readonly string[], typed: string): readonly string[] {
  const wanted = typed.toLowerCase();
  const place = (name: string) => name.toLowerCase().indexOf(wanted);
  return variables
    .filter((name) => place(name) >= 0)
    .toSorted((a, b) => Math.sign(place(a)) - Math.sign(place(b)))
    .slice(0, MAX_SUGGESTIONS);
}
