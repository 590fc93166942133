import { attribute, isOn, type OfficePackage } from './officePackage.ts';

/** A style's properties of paragraphs or runs. */
interface WordStyle {
  readonly isHeading: boolean;
  readonly isListItem: boolean;
  readonly isHidden: boolean;
}

/** Styles by their id. */
export type WordStyles = (id: string) => WordStyle;

interface Definition {
  name: string;
  basedOn: string | undefined;
  isHeading: boolean;
  isListItem: boolean;
  isHidden: boolean | undefined;
}

const HEADING_NAME = /^(?:heading ?\d|title)$/i;
/** Styles that name each other in a circle end here. */
const MAX_ANCESTORS = 20;
/** Outline level of body text. @see ECMA-376 part 1, section 17.3.1.20 */
const BODY_LEVEL = 9;

/** Reads the styles; without them, or for one that is not defined, the style's id tells headings. */
export async function readStyles(office: OfficePackage, part: string): Promise<WordStyles> {
  const definitions = new Map<string, Definition>();
  let open: Definition | undefined;
  await office.read(part, {
    open(name, attributes) {
      if (name === 'style') {
        open = { name: '', basedOn: undefined, isHeading: false, isListItem: false, isHidden: undefined };
        definitions.set(attribute(attributes, 'styleId') ?? '', open);
      }
      if (!open) return true;
      const value = attribute(attributes, 'val');
      if (name === 'name') open.name = value ?? '';
      if (name === 'basedOn') open.basedOn = value;
      if (name === 'outlineLvl') open.isHeading = Number(value) < BODY_LEVEL;
      if (name === 'numPr') open.isListItem = true;
      if (name === 'vanish') open.isHidden = isOn(attributes);
      return true;
    },
  });
  return (id) => {
    const chain: Definition[] = [];
    for (let next = definitions.get(id); next && chain.length < MAX_ANCESTORS; ) {
      chain.push(next);
      next = definitions.get(next.basedOn ?? '');
    }
    return {
      isHeading: HEADING_NAME.test(id) || chain.some((one) => one.isHeading || HEADING_NAME.test(one.name)),
      isListItem: chain.some(({ isListItem }) => isListItem),
      isHidden: chain.find(({ isHidden }) => isHidden !== undefined)?.isHidden ?? false,
    };
  };
}
