import { BundleError } from './bundle.ts';
import { ContextError } from './stages.ts';
import { synthesize } from './synth.ts';

try {
  await synthesize();
} catch (error) {
  if (!(error instanceof ContextError || error instanceof BundleError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
