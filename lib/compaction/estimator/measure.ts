import { blocksOf, type ContentBlock, type MessageContent, toolResultText } from '../../treepath/content.ts';

/** What providers charge for a picture of usual size; the reference itself says nothing of its pixels. */
const IMAGE_TOKENS = 1_600;

/** Everything in a block that the model would read as text. */
function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'thinking':
      return block.thinking;
    case 'image':
      return '';
    case 'tool_use':
      return `${block.name} ${JSON.stringify(block.input) ?? ''}`;
    case 'tool_result':
      return toolResultText(block);
  }
}

const imagesOf = (block: ContentBlock): number => {
  if (block.type === 'image') return 1;
  if (block.type !== 'tool_result' || !Array.isArray(block.content)) return 0;
  return block.content.filter((part) => part.type === 'image').length;
};

export type Measured = {
  readonly texts: readonly string[];
  readonly chars: number;
  readonly imageTokens: number;
};

/** The texts, their UTF-16 length, and the tokens of the images of a content. */
export function measured(content: MessageContent): Measured {
  const blocks = blocksOf(content);
  const texts = blocks.map(blockText);
  return {
    texts,
    chars: texts.reduce((sum, text) => sum + text.length, 0),
    imageTokens: blocks.reduce((sum, block) => sum + imagesOf(block), 0) * IMAGE_TOKENS,
  };
}
