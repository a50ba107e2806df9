import type { MessageContent } from '../../treepath/content.ts';
import { charsOverFour, type Estimator, MESSAGE_OVERHEAD } from './estimator.ts';
import { measured } from './measure.ts';
import { weightedTokens } from './weighted.ts';

export type { Estimator } from './estimator.ts';

function createEstimator(name: string, estimateTokens: (text: string) => number): Estimator {
  return {
    name,
    estimateTokens,
    estimatePath(messages, systemPromptChars) {
      const system = systemPromptChars > 0 ? charsOverFour(systemPromptChars) + MESSAGE_OVERHEAD : 0;
      return messages.reduce((sum, { content }) => {
        const { texts, imageTokens } = measured(content);
        const tokens = texts.reduce((total, text) => total + estimateTokens(text), 0);
        return sum + tokens + imageTokens + MESSAGE_OVERHEAD;
      }, system);
    },
  };
}

/** A11: what the chat interface shows. */
export const chars4 = createEstimator('chars4', (text) => charsOverFour(text.length));

/** D: code points over 2.5, rounded down; 4 for `charsPerToken` gives the document's other figure. */
export const runes = (charsPerToken = 2.5): Estimator =>
  createEstimator('runes2_5', (text) => Math.floor([...text].length / charsPerToken));

/** The default for channels: per-script weights, so that CJK and emoji are not undercounted. */
export const weighted = createEstimator('weighted', weightedTokens);

/** `estimateTokens` of the default estimator. */
export const estimateTokens = weighted.estimateTokens;

/** What is stored on a message: its tokens by the default estimator with overhead, and its UTF-16 length. */
export function measureContent(content: MessageContent): { tokens: number; chars: number } {
  return { tokens: weighted.estimatePath([{ content }], 0), chars: measured(content).chars };
}
