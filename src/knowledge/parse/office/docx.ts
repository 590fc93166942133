import { type Block, type BlockReader, DocumentError } from '../block.ts';
import { isOn, type OfficePackage, openOfficePackage } from './officePackage.ts';
import { readStyles } from './wordStyles.ts';
import { WordText } from './wordText.ts';

/** Headings, paragraphs, lists and tables; then the page headers and footers that are shown, and the notes. */
export const readDocx: BlockReader = async function* ({ path }) {
  const office = await openOfficePackage(path, 'word/document.xml');
  try {
    if (office.main === undefined)
      throw new DocumentError('The Word document is damaged: the part with its text is missing');
    const relations = await office.relations(office.main);
    const partsOf = (type: string) => relations.filter((one) => one.type === type);
    const styles = await readStyles(office, partsOf('styles')[0]?.target ?? 'word/styles.xml');
    const body = new WordText(styles);
    yield* office.readItems(office.main, body, () => body.take());

    const hasEvenPages = await distinguishesEvenPages(office, partsOf('settings')[0]?.target);
    const shown = new Set(body.pageParts(hasEvenPages));
    /** The headers and footers that were read; most sections repeat the same ones. */
    const seen = new Set<string>();
    for (const { target } of [...partsOf('header'), ...partsOf('footer')].filter(({ id }) => shown.has(id))) {
      for await (const block of partBlocks(office, target, styles)) {
        if (!seen.has(block.text)) yield block;
        seen.add(block.text);
      }
    }
    for (const type of ['footnotes', 'endnotes'])
      yield* partBlocks(office, partsOf(type)[0]?.target ?? `word/${type}.xml`, styles);
  } finally {
    office.close();
  }
};

function partBlocks(office: OfficePackage, part: string, styles: ConstructorParameters<typeof WordText>[0]) {
  const text = new WordText(styles);
  return office.readItems<Block>(part, text, () => text.take());
}

async function distinguishesEvenPages(
  office: OfficePackage,
  settings = 'word/settings.xml',
): Promise<boolean> {
  let found = false;
  await office.read(settings, {
    open(name, attributes) {
      if (name === 'evenAndOddHeaders') found = isOn(attributes);
      return true;
    },
  });
  return found;
}
