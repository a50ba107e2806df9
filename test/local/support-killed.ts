import { execFileSync } from 'node:child_process';
import { startEmbeddedAws } from '../../local/aws/index.ts';
import { callAws } from '../../local/aws/support/aws-json.ts';

/**
 * Started by a test that kills it: runs a table, a queue with a message in flight and two functions, one of which never
 * yields, and prints their pids.
 */
const [assemblyDir = '', dataDir = ''] = process.argv.slice(2);

const lambda = {
  Type: 'AWS::Lambda::Function',
  Properties: {
    Code: { S3Bucket: 'assets', S3Key: 'fn.zip' },
    Handler: 'index.handler',
    Runtime: 'nodejs24.x',
    Timeout: 60,
  },
};

const aws = await startEmbeddedAws({
  template: {
    Resources: {
      Table: {
        Type: 'AWS::DynamoDB::Table',
        Properties: {
          KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }],
          AttributeDefinitions: [{ AttributeName: 'PK', AttributeType: 'S' }],
        },
      },
      Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'queue', VisibilityTimeout: 600 } },
      Busy: lambda,
      Idle: lambda,
    },
  },
  assemblyDir,
  dataDir,
});
const caller = { endpoint: aws.gatewayUrl, region: aws.region, accessKeyId: 'test' };
const QueueUrl = `${aws.gatewayUrl}/000000000000/queue`;
await callAws(caller, 'dynamodb', 'PutItem', { TableName: 'local-Table', Item: { PK: { S: 'kept' } } });
await callAws(caller, 'sqs', 'SendMessage', { QueueUrl, MessageBody: 'in flight' });
await callAws(caller, 'sqs', 'ReceiveMessage', { QueueUrl });
await aws.invoke('Busy', {});
await aws.invoke('Idle', {});
void aws.invoke('Busy', { block: true });

const children = execFileSync('ps', ['-o', 'pid=,comm=', '--ppid', String(process.pid)], {
  encoding: 'utf8',
});
const pids = children
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))
  .filter(([, name]) => name !== 'ps' && name !== 'sh')
  .map(([pid]) => Number(pid));
console.log(JSON.stringify(pids));
