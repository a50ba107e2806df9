import { synthesize } from '../../cdk/synth.ts';
import { type EmbeddedAws, type EmbeddedAwsOptions, startEmbeddedAws } from '../aws/index.ts';

type Options = Omit<EmbeddedAwsOptions, 'template' | 'assemblyDir' | 'environment'>;

/** Where the model is to be found; passed on as the stack's own context values. */
function modelContext(env: NodeJS.ProcessEnv): Record<string, string> {
  return {
    ...(env.MODEL_BASE_URL ? { modelBaseUrl: env.MODEL_BASE_URL } : {}),
    ...(env.MODEL_ID ? { modelId: env.MODEL_ID } : {}),
    ...(env.MODEL_PROVIDER ? { modelProvider: env.MODEL_PROVIDER } : {}),
  };
}

/** What will summarize, in words. */
export function modelInUse(env: NodeJS.ProcessEnv): string {
  if (env.MODEL_PROVIDER === 'extractive' || !(env.ANTHROPIC_API_KEY || env.MODEL_BASE_URL)) {
    return 'extractive (no model; set ANTHROPIC_API_KEY or MODEL_BASE_URL for one)';
  }
  return `${env.MODEL_ID ?? 'the default Claude model'} at ${env.MODEL_BASE_URL ?? 'Anthropic'}, extractive as fallback`;
}

/** Synthesizes the stack and runs the template on this machine. Throws `EmbeddedAwsError`. */
export async function startStack(
  options: Options,
  env: NodeJS.ProcessEnv = process.env,
): Promise<EmbeddedAws> {
  const { template, assemblyDir, stackName } = await synthesize({ context: modelContext(env) });
  return startEmbeddedAws({
    stackName,
    ...options,
    template,
    assemblyDir,
    environment: env.ANTHROPIC_API_KEY ? { ANTHROPIC_API_KEY: env.ANTHROPIC_API_KEY } : {},
  });
}
