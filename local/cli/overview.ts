import type { EmbeddedAws } from '../aws/index.ts';
import { modelInUse } from './stack.ts';

type Facts = {
  readonly token: string;
  readonly channelId: string | undefined;
  /** Folder of the data; absent when it lives in memory. */
  readonly dataDir: string | undefined;
};

const indent = (text: string): string => text.replace(/^/gm, '  ');

function examples(apiUrl: string, channelId: string): string {
  const url = apiUrl.replace(/\/$/, '');
  const auth = `-w '\\n' -H "authorization: Bearer $TOKEN"`;
  return [
    '# your conversations, and how one of them stands to its context window',
    `curl -s ${auth} ${url}/channels`,
    `curl -s ${auth} ${url}/channels/${channelId}/pressure`,
    '# what a model would be sent; the older part summarized; back again',
    `curl -s ${auth} ${url}/channels/${channelId}/context`,
    `curl -s ${auth} -X POST ${url}/channels/${channelId}/summarize`,
    `curl -s ${auth} -X POST ${url}/channels/${channelId}/undo`,
    '# from now on by itself: the schedule scans every minute',
    `curl -s ${auth} -X PUT -d '{"value":0}' ${url}/admin/settings/auto_compaction_interval_minutes`,
    `curl -s ${auth} -X PUT -d '{"value":true}' ${url}/admin/settings/auto_compaction_enabled`,
  ].join('\n');
}

/** What runs where, and lines to paste. */
export function overview(aws: EmbeddedAws, { token, channelId, dataDir }: Facts): string {
  const width = Math.max(...aws.resources.map(({ type }) => type.length));
  const resources = aws.resources.map(({ type, name, runs }) => `${type.padEnd(width)}  ${name}  ${runs}`);
  return [
    '',
    'Conversation Compaction is running.',
    '',
    indent(resources.join('\n')),
    '',
    `  API    ${aws.apiUrl}`,
    `  AWS    ${aws.gatewayUrl} (for the AWS CLI and SDKs: AWS_ENDPOINT_URL)`,
    `  Model  ${modelInUse(process.env)}`,
    `  Data   ${dataDir ?? 'in memory; it is gone when this ends'}`,
    '',
    `TOKEN=${token}`,
    '',
    ...(channelId === undefined ? [] : [examples(aws.apiUrl, channelId), '']),
    'Ctrl-C stops it. The log of scans and compactions follows.',
  ].join('\n');
}
